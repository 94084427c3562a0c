//! Verdicts are confirmed before they are reported: their evidence goes through `verify` in the process that found it.
//!
//! `--verify` asks for that; debug builds, and with them all tests of the command line, always do it.

use super::guard;
use crate::coverability::Outcome;
use crate::limits::processor_time;
use crate::net::Problem;
use crate::program::Program;
use crate::report::documents::{ConfirmationDocument, EvidenceVerdict};
use crate::robustness::{Check, certificate, witness_evidence};
use crate::verify::{CheckFailure, check_net_certificate, check_net_run, check_robust_certificate, check_witness};
use std::time::Instant;

/// A check of evidence that has all it needs, so that it can run on a thread of its own.
pub(super) type EvidenceCheck = Box<dyn FnOnce() -> Result<(), CheckFailure> + Send>;

/// Checks the certificate of a robust program, or the witness of a violation; nothing for `unknown`.
pub fn confirm_check(program: &Program, checked: &Check<'_>) -> Option<Result<(), CheckFailure>> {
    evidence_check(program, checked).map(|check| check())
}

/// Checks the certificate or the run of an answer about a net; nothing for `unknown`.
pub fn confirm_answer(problem: &Problem, outcome: &Outcome) -> Option<Result<(), CheckFailure>> {
    match outcome {
        Outcome::Coverable(run) => Some(check_net_run(problem, run)),
        Outcome::Uncoverable(certificate) => Some(check_net_certificate(problem, certificate)),
        Outcome::Unknown(_) => None,
    }
}

/// The check of the evidence for a verdict about a program; nothing for `unknown`.
pub(super) fn evidence_check(program: &Program, checked: &Check<'_>) -> Option<EvidenceCheck> {
    let own = program.clone();
    Some(match &checked.violation {
        Some(violation) => {
            let witness = witness_evidence(violation);
            Box::new(move || check_witness(&own, &witness))
        }
        None => {
            let certificate = certificate(program, checked)?;
            Box::new(move || check_robust_certificate(&own, &certificate))
        }
    })
}

/// The check of the evidence for an answer about a net; nothing for `unknown`. Nets and proofs are too large to be
/// copied for it.
pub(super) fn answer_check(problem: &'static Problem, outcome: &'static Outcome) -> Option<EvidenceCheck> {
    let is_answer = !matches!(outcome, Outcome::Unknown(_));
    is_answer.then(|| Box::new(move || confirm_answer(problem, outcome).unwrap_or(Ok(()))) as EvidenceCheck)
}

/// How the evidence of a verdict fared.
pub(super) struct Confirmation {
    seconds: f64,
    cpu_seconds: f64,
    rejected: Option<String>,
}

impl Confirmation {
    /// Confirms the verdict about a file where that is asked for, or always in debug builds.
    pub(super) fn of(file: &str, asked: bool, check: impl FnOnce() -> Option<EvidenceCheck>) -> Option<Self> {
        if !asked && !cfg!(debug_assertions) {
            return None;
        }
        let (start, used) = (Instant::now(), processor_time());
        let rejected = match guard::run(file, check()?) {
            Ok(checked) => checked.err().map(|failure| failure.to_string()),
            Err(broken) => Some(broken.to_string()),
        };
        let cpu_seconds = processor_time().saturating_sub(used).as_secs_f64();
        Some(Self { seconds: start.elapsed().as_secs_f64(), cpu_seconds, rejected })
    }

    /// For `--json`.
    pub(super) fn document(&self) -> ConfirmationDocument<'_> {
        ConfirmationDocument {
            verdict: if self.rejected.is_some() { EvidenceVerdict::Rejected } else { EvidenceVerdict::Accepted },
            reason: self.rejected.as_deref(),
            seconds: self.seconds,
            cpu_seconds: self.cpu_seconds,
        }
    }

    /// What to say loudly when the evidence is rejected.
    pub(super) fn alarm(&self, file: &str) -> Option<String> {
        let reason = self.rejected.as_ref()?;
        Some(format!("Error: {file}: the verdict's own evidence is rejected, do not rely on it: {reason}\n"))
    }
}
