//! Answers are confirmed before they are reported: their evidence goes through `verify` in the
//! process that found it.
//!
//! `--verify` asks for that; debug builds, and with them all tests of the command line, always do
//! it.

use super::{Exit, guard};
use crate::coverability::Outcome;
use crate::limits::{Limits, StopReason, processor_time};
use crate::net::Problem;
use crate::questions::{About, Evident, Named, PART, check_evidence};
use crate::report::documents::{ConfirmationDocument, EvidenceVerdict};
use crate::verify::{CheckFailure, check_net_certificate, check_net_run};
use std::sync::Arc;
use std::time::Instant;

/// A check of evidence that has all it needs, so that it can run on a thread of its own.
pub(super) type EvidenceCheck = Box<dyn FnOnce() -> Result<(), CheckFailure> + Send>;

/// The check of all pieces of evidence for an answer about a program; nothing where there are none.
pub(super) fn evidence_check(about: &About<'_>, evidence: Arc<Vec<Named>>) -> Option<EvidenceCheck> {
    // A part of the attacks shows nothing by itself: `merge` checks it with the others.
    let is_whole = |(word, _): &&Named| word != PART;
    if !evidence.iter().any(|own| is_whole(&own)) {
        return None;
    }
    let (program, condition) = (about.program.clone(), about.condition.cloned());
    let check = move || {
        let whole = evidence.iter().filter(is_whole);
        whole.map(|(_, own)| own).try_for_each(|own| check_evidence(&program, condition.as_ref(), own))
    };
    Some(Box::new(check))
}

/// The check of the evidence for an answer that carries it.
pub(super) fn answer_check(about: &About<'_>, answer: &impl Evident) -> Option<EvidenceCheck> {
    evidence_check(about, Arc::new(answer.evidence(about)))
}

/// Checks the certificate or the run of an answer about a net; nothing for `unknown`.
pub fn confirm_net(problem: &Problem, outcome: &Outcome) -> Option<Result<(), CheckFailure>> {
    match outcome {
        Outcome::Coverable(run) => Some(check_net_run(problem, run)),
        Outcome::Uncoverable(certificate) => Some(check_net_certificate(problem, certificate)),
        Outcome::Unknown(_) => None,
    }
}

/// The check of the evidence for an answer about a net; nothing for `unknown`. Nets and proofs are
/// too large to be copied for it.
pub(super) fn net_check(problem: &'static Problem, outcome: &'static Outcome) -> Option<EvidenceCheck> {
    let is_answer = !matches!(outcome, Outcome::Unknown(_));
    is_answer.then(|| Box::new(move || confirm_net(problem, outcome).unwrap_or(Ok(()))) as EvidenceCheck)
}

/// Checks the evidence about a file under limits; a rejection in words.
pub(super) fn check_within(
    file: &str,
    limits: &Limits,
    check: EvidenceCheck,
) -> Result<Result<(), String>, StopReason> {
    guard::within(file, limits, check).map(|checked| match checked {
        Ok(checked) => checked.map_err(|failure| failure.to_string()),
        Err(broken) => Err(broken.to_string()),
    })
}

/// How the evidence of a verdict fared.
pub(super) struct Confirmation {
    seconds: f64,
    cpu_seconds: f64,
    rejected: Option<String>,
    stopped: Option<StopReason>,
}

impl Confirmation {
    /// Whether evidence is checked: where the options say so, or always in debug builds.
    pub(super) fn is_due(asked: bool) -> bool {
        asked || cfg!(debug_assertions)
    }

    /// Confirms the verdict about a file where that is due. A debug build's own check is given up
    /// at a limit, and not begun where too little time is left: what is given up takes a processor
    /// from the writing of the evidence.
    pub(super) fn of(
        file: &str,
        asked: bool,
        limits: &Limits,
        check: impl FnOnce() -> Option<EvidenceCheck>,
    ) -> Option<Self> {
        if !Self::is_due(asked) {
            return None;
        }
        let (start, used) = (Instant::now(), processor_time());
        if !asked && limits.remaining().is_some_and(|left| left < used / 2) {
            return None;
        }
        let (rejected, stopped) = match check_within(file, limits, check()?) {
            Ok(checked) => (checked.err(), None),
            Err(reason) if asked => (None, Some(reason)),
            Err(_) => return None,
        };
        let cpu_seconds = processor_time().saturating_sub(used).as_secs_f64();
        Some(Self { seconds: start.elapsed().as_secs_f64(), cpu_seconds, rejected, stopped })
    }

    /// The limit that was reached before the evidence was checked. Then there is no verdict.
    pub(super) fn stopped(&self) -> Option<StopReason> {
        self.stopped
    }

    /// For `--json`.
    pub(super) fn document(&self) -> ConfirmationDocument {
        ConfirmationDocument {
            verdict: match (&self.rejected, self.stopped) {
                (Some(_), _) => EvidenceVerdict::Rejected,
                (None, Some(_)) => EvidenceVerdict::Unknown,
                (None, None) => EvidenceVerdict::Accepted,
            },
            reason: self.rejected.clone().or_else(|| self.stopped.map(|reason| reason.to_string())),
            seconds: self.seconds,
            cpu_seconds: self.cpu_seconds,
        }
    }

    /// Says loudly that the evidence about a file is rejected, if it is, and what the process ends
    /// with then.
    pub(super) fn say_if_rejected(&self, file: &str, exit: &mut Exit, remarks: &mut String) {
        if let Some(alarm) = self.alarm(file) {
            remarks.push_str(&alarm);
            *exit = Exit::Rejected;
        }
    }

    /// What to say loudly when the evidence is rejected.
    pub(super) fn alarm(&self, file: &str) -> Option<String> {
        let reason = self.rejected.as_ref()?;
        Some(format!("Error: {file}: the verdict's own evidence is rejected, do not rely on it: {reason}\n"))
    }
}
