//! `palisade verify --proved`: has evidence about a net checked once more, by the checker that Coq
//! has proved.

use std::path::Path;
use std::process::Command;

/// The checker's name, looked for along `PATH`.
const CHECKER: &str = "palisade-proved";

/// What a reader has to trust when that checker accepts.
pub(super) const TRUSTED: &str =
    "trusted: Coq's kernel and extraction, OCaml, the reader in proofs/checker, and proofs/nets/Net.v";

/// How that checker fared.
pub(super) enum Proved {
    /// It accepted, in its words.
    Accepted(String),
    /// It rejected, in its words.
    Rejected(String),
    /// It did not check, and why.
    Unchecked(String),
}

/// Runs the checker on evidence about a net and the net's file.
pub(super) fn run(evidence: &str, net: &Path, query: Option<&Path>) -> Proved {
    if evidence == "-" {
        return Proved::Unchecked("the proved checker reads evidence from files alone".to_owned());
    }
    let output = match Command::new(CHECKER).arg(evidence).arg(net).args(query).output() {
        Ok(output) => output,
        Err(error) => {
            return Proved::Unchecked(format!(
                "`{CHECKER}` does not start: {error} (`make -C proofs install` installs it)"
            ));
        }
    };
    let said = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
    let words = said.strip_prefix(&format!("{evidence}: ")).unwrap_or(&said).to_owned();
    match output.status.code() {
        Some(0) => Proved::Accepted(words),
        Some(4) => Proved::Rejected(words),
        _ => Proved::Unchecked(format!("`{CHECKER}`: {}", String::from_utf8_lossy(&output.stderr).trim_end())),
    }
}
