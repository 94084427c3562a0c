//! The `palisade` command.

/// Memory of a command that is linked with musl, whose own allocator is slow to start.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> std::process::ExitCode {
    palisade::cli::main()
}
