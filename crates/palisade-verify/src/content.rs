//! Checks that a file is the one that evidence is about.

use super::CheckFailure;
use palisade_evidence::{InputFile, sha256};
use palisade_invariants::reject;

/// Checks that the content of the file at hand, `name`, has the hash that the evidence states for
/// its input.
pub fn check_content(input: &InputFile, name: &str, content: &[u8]) -> Result<(), CheckFailure> {
    let (path, stated, actual) = (&input.path, &input.sha256, sha256(content));
    if actual == *stated {
        return Ok(());
    }
    if path == name {
        reject!(Subject, "the evidence is about `{path}` with other content: SHA-256 {stated}, the file has {actual}");
    }
    reject!(Subject, "the evidence is about `{path}` with SHA-256 {stated}, and `{name}` has SHA-256 {actual}")
}
