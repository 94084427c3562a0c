//! The attacks of one program, divided among jobs, and the one certificate of all parts.

use crate::cli::Exit;
use crate::evidence::{Evidence, ProgramSubject, RobustCertificate};
use crate::report::documents::{EvidenceText, ResultDocument};
use crate::robustness::combine;
use std::path::Path;

/// The option of a job that is about a part, which is its last argument.
pub(super) const OPTION: &str = "--attacks=";

/// The command line that a job's is a part of: without the attacks, and how the plan has divided
/// it.
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

/// The certificate of all parts of a program, one after the other, not checked; nothing where one
/// of them does not show its attacks infeasible, or they are about different programs.
pub(super) fn join<'r>(results: impl Iterator<Item = &'r ResultDocument>) -> Option<EvidenceText> {
    let (mut subjects, mut are_shown) = (Vec::new(), true);
    let certificates = results.map_while(|result| {
        let part = part(result);
        are_shown &= part.is_some();
        let (subject, certificate) = part?;
        subjects.push(subject);
        Some(certificate)
    });
    let certificate = combine(certificates);
    let subject = subjects.pop().filter(|one| are_shown && subjects.iter().all(|other| other == one))?;
    let stem = Path::new(&subject.input.path).file_name().unwrap_or_default().to_string_lossy().into_owned();
    Some(EvidenceText { name: format!("{stem}.robust.json"), text: Evidence::Robust(subject, certificate).to_text() })
}
