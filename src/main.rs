//! The `palisade` command.

/// The memory of a command that is linked with musl: with musl's own allocator, small questions
/// take twice as long.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> std::process::ExitCode {
    palisade::cli::main()
}
