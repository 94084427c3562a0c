//! Verdicts are confirmed before they are reported: their evidence goes through `verify` in the process that found it.
//!
//! `--verify` asks for that; debug builds, and with them all tests of the command line, always do it.

use crate::coverability::Outcome;
use crate::limits::processor_time;
use crate::net::Problem;
use crate::program::Program;
use crate::report::documents::{ConfirmationDocument, EvidenceVerdict};
use crate::robustness::{Check, certificate, witness_evidence};
use crate::verify::{CheckFailure, check_net_certificate, check_net_run, check_robust_certificate, check_witness};
use std::time::Instant;

/// Checks the certificate of a robust program, or the witness of a violation; nothing for `unknown`.
pub fn confirm_check(program: &Program, checked: &Check<'_>) -> Option<Result<(), CheckFailure>> {
    match &checked.violation {
        Some(violation) => Some(check_witness(program, &witness_evidence(violation))),
        None => certificate(program, checked).map(|certificate| check_robust_certificate(program, &certificate)),
    }
}

/// Checks the certificate or the run of an answer about a net; nothing for `unknown`.
pub fn confirm_answer(problem: &Problem, outcome: &Outcome) -> Option<Result<(), CheckFailure>> {
    match outcome {
        Outcome::Coverable(run) => Some(check_net_run(problem, run)),
        Outcome::Uncoverable(certificate) => Some(check_net_certificate(problem, certificate)),
        Outcome::Unknown(_) => None,
    }
}

/// How the evidence of a verdict fared.
pub(super) struct Confirmation {
    seconds: f64,
    cpu_seconds: f64,
    rejected: Option<String>,
}

impl Confirmation {
    /// Confirms where that is asked for, or always in debug builds.
    pub(super) fn of(asked: bool, confirm: impl FnOnce() -> Option<Result<(), CheckFailure>>) -> Option<Self> {
        if !asked && !cfg!(debug_assertions) {
            return None;
        }
        let (start, used) = (Instant::now(), processor_time());
        let rejected = confirm()?.err().map(|failure| failure.to_string());
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
