//! The `cargo palisade` command: checks the harnesses of a package.

fn main() -> std::process::ExitCode {
    palisade::cli::cargo()
}
