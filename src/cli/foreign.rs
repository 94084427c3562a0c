//! What to do with files that people have and that are no texts of programs: sources in C and Rust,
//! executables, nets.

use crate::net::Format;
use std::io::Read;
use std::path::Path;

/// How a file of roles begins.
const ROLES: &str = "name its functions in a file of roles, `roles.toml`: `image = \"FILE\"`, then for each `[[role]]`, \
                     `function = \"NAME\"`, `copies = \"*\"`; and check that file";

/// What to do about a file whose extension tells no format.
pub(super) fn advice(path: &str) -> String {
    let extension = Path::new(path).extension().and_then(|it| it.to_str()).unwrap_or_default();
    match extension {
        "rs" => {
            "machine code is checked, not Rust: add `palisade-harness` to the crate, say in a test what runs at the \
                 same time, and type `cargo palisade`"
                .to_owned()
        }
        "c" | "cc" | "cpp" | "cxx" | "h" | "hpp" => {
            format!("machine code is checked, not C: compile it with `-g`, {ROLES}")
        }
        _ if Format::of_name(path).is_some() => "nets are asked about by `palisade cover`".to_owned(),
        _ if is_executable(path) => ROLES.replace("FILE", path),
        _ => "say `--from native`, `--from trencher`, `--from litmus`, `--from memorax`, `--from tpl` or `--from machine`"
            .to_owned(),
    }
}

/// What to do about a file whose extension tells no format of nets.
pub(super) fn advice_about_nets(path: &str) -> String {
    let of_program = crate::syntax::Format::of_path(Path::new(path));
    if of_program.is_some() {
        return "programs are asked about by `palisade check`".to_owned();
    }
    "say `--from spec`, `--from tts`, `--from pnml`, `--from lola` or `--from net`".to_owned()
}

/// Whether a file is an ELF file.
fn is_executable(path: &str) -> bool {
    let mut magic = [0; 4];
    std::fs::File::open(path).is_ok_and(|mut file| file.read_exact(&mut magic).is_ok()) && magic == *b"\x7fELF"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_fits_the_file() {
        assert!(advice("queue.c").contains("compile it with `-g`"));
        assert!(advice("src/main.rs").contains("`cargo palisade`"));
        assert_eq!(advice("lock.pnml.gz"), "nets are asked about by `palisade cover`");
        assert_eq!(advice_about_nets("lock.pal"), "programs are asked about by `palisade check`");
        assert!(advice_about_nets("two.unknown").starts_with("say `--from spec`"));
        assert!(advice("two.unknown").starts_with("say `--from native`"));
        let own = std::env::current_exe().expect("the test itself");
        let own = own.to_str().expect("a plain path");
        assert_eq!(advice(own).contains(own), cfg!(target_os = "linux"));
    }
}
