//! The attacks of one program, divided among jobs, and the one certificate of all parts.

use super::command::Command;
use super::evidence::{Accepted, write};
use crate::cli::verify::accepted_kind;
use crate::cli::{Exit, SharedOptions};
use crate::evidence::{Evidence, ProgramSubject, RobustCertificate};
use crate::report::documents::{EvidenceText, ResultDocument};
use crate::robustness::combine;
use std::path::Path;

/// The option of a job that is about a part, which is its last argument.
pub(super) const OPTION: &str = "--attacks=";

/// The command line that a job's is a part of: without the attacks, and how the plan has divided it.
pub(super) fn whole(arguments: &[String]) -> &[String] {
    match arguments {
        [whole @ .., last] if last.starts_with(OPTION) => whole,
        whole => whole,
    }
}

/// Whether the job of a command line is a part.
pub(super) fn is_part(arguments: &[String]) -> bool {
    whole(arguments).len() < arguments.len()
}

/// The evidence of a part in which no attack is feasible; none of other results.
pub(super) fn part(result: &ResultDocument) -> Option<(ProgramSubject, RobustCertificate)> {
    if result.exit != Exit::Unknown.code() {
        return None;
    }
    let [only] = result.evidence.as_slice() else { return None };
    match Evidence::read(only.text.as_bytes()) {
        Ok(Evidence::Robust(subject, certificate)) => Some((subject, certificate)),
        _ => None,
    }
}

/// Puts the parts of a program together and checks the certificate that comes out, which it writes into a folder; why it does not count.
pub(super) fn accept(
    parts: Vec<(ProgramSubject, RobustCertificate)>,
    command: &Command,
    folder: &Path,
    shared: &SharedOptions,
) -> Result<Accepted, String> {
    let loaded = command.program().ok_or("the program cannot be read")?;
    let subject = loaded.subject();
    if parts.iter().any(|(other, _)| *other != subject) {
        return Err("a part is about something else than the job".to_owned());
    }
    let evidence = Evidence::Robust(subject, combine(parts.into_iter().map(|(_, certificate)| certificate)));
    let mut text = Vec::new();
    evidence.write(&mut text).map_err(|error| error.to_string())?;
    let text = String::from_utf8(text).map_err(|error| error.to_string())?;
    let stem = Path::new(&command.path()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let file = EvidenceText { name: format!("{stem}.robust.json"), text };
    write(folder, std::slice::from_ref(&file)).map_err(|error| error.to_string())?;
    let path = folder.join(&file.name).display().to_string();
    let kind = accepted_kind(&path, shared)?;
    Ok(Accepted { kinds: vec![kind.to_owned()], paths: vec![path] })
}
