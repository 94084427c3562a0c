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
fn part(result: &ResultDocument) -> Option<(ProgramSubject, RobustCertificate)> {
    if result.exit != Exit::Unknown.code() {
        return None;
    }
    let [only] = result.evidence.as_slice() else { return None };
    match Evidence::read(only.text.as_bytes()) {
        Ok(Evidence::Robust(subject, certificate)) => Some((subject, certificate)),
        _ => None,
    }
}

/// Whether a result shows that no attack of its part is feasible.
pub(super) fn is_shown(result: &ResultDocument) -> bool {
    part(result).is_some()
}

/// What the parts of a program come to.
pub(super) struct Joined {
    /// What each part is about.
    subjects: Vec<ProgramSubject>,
    /// The certificate of all of them, not checked.
    certificate: RobustCertificate,
}

/// Puts the parts of a program together, one after the other; nothing where one of them does not show its attacks infeasible.
pub(super) fn join<'r>(results: impl Iterator<Item = &'r ResultDocument>) -> Option<Joined> {
    let (mut subjects, mut are_shown) = (Vec::new(), true);
    let certificates = results.map_while(|result| {
        let part = part(result);
        are_shown &= part.is_some();
        let (subject, certificate) = part?;
        subjects.push(subject);
        Some(certificate)
    });
    let certificate = combine(certificates);
    are_shown.then_some(Joined { subjects, certificate })
}

/// Checks the certificate that the parts of a program come to, which it writes into a folder; why it does not count.
pub(super) fn accept(
    joined: Joined,
    command: &Command,
    folder: &Path,
    shared: &SharedOptions,
) -> Result<Accepted, String> {
    let loaded = command.program().ok_or("the program cannot be read")?;
    let subject = loaded.subject();
    if joined.subjects.iter().any(|other| *other != subject) {
        return Err("a part is about something else than the job".to_owned());
    }
    let stem = Path::new(&command.path()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = format!("{stem}.robust.json");
    // What the checker needs memory for it reads itself.
    write(
        folder,
        &[EvidenceText { name: name.clone(), text: Evidence::Robust(subject, joined.certificate).to_text() }],
    )
    .map_err(|error| error.to_string())?;
    let path = folder.join(name).display().to_string();
    let kind = accepted_kind(&path, shared)?;
    Ok(Accepted { kinds: vec![kind.to_owned()], paths: vec![path] })
}
