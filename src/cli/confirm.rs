//! Verdicts are confirmed before they are reported: their evidence goes through `verify` in the process that found it.
//!
//! `--verify` asks for that; debug builds, and with them all tests of the command line, always do it.

use super::{Exit, guard};
use crate::concurrency::ConcurrencyVerdict;
use crate::coverability::Outcome;
use crate::limits::{Limits, StopReason, processor_time};
use crate::net::Problem;
use crate::program::Program;
use crate::properties::races::{RaceVerdict, Races};
use crate::properties::{Proof, Violation};
use crate::report::documents::{ConfirmationDocument, EvidenceVerdict};
use crate::robustness::{Check, PsoCheck, TaskCheck, certificate, witness_evidence};
use crate::semantics::Question;
use crate::verify::{
    CheckFailure, check_concurrency_certificate, check_concurrency_witness, check_net_certificate, check_net_run,
    check_posted_property, check_property, check_property_witness, check_pso_certificate, check_pso_witness,
    check_race, check_race_free, check_robust_certificate, check_task_certificate, check_task_witness, check_witness,
    threads_that_say,
};
use std::time::Instant;

/// A check of evidence that has all it needs, so that it can run on a thread of its own.
pub(super) type EvidenceCheck = Box<dyn FnOnce() -> Result<(), CheckFailure> + Send>;

/// Checks the certificate of a robust program, or the witness of a violation; nothing for `unknown`.
pub fn confirm_check(program: &Program, checked: &Check<'_>) -> Option<Result<(), CheckFailure>> {
    evidence_check(program, checked).map(|check| check())
}

/// Checks the certificate or the interleaving of a verdict on robustness against concurrency; nothing for `unknown`.
pub fn confirm_concurrency(program: &Program, verdict: &ConcurrencyVerdict) -> Option<Result<(), CheckFailure>> {
    concurrency_check(program, verdict).map(|check| check())
}

/// The check of the evidence for a verdict on robustness against concurrency; nothing for `unknown`.
pub(super) fn concurrency_check(program: &Program, verdict: &ConcurrencyVerdict) -> Option<EvidenceCheck> {
    let own = program.clone();
    Some(match verdict {
        ConcurrencyVerdict::Robust(certificate) => {
            let certificate = certificate.clone();
            Box::new(move || check_concurrency_certificate(&own, &certificate))
        }
        ConcurrencyVerdict::NotRobust(violation) => {
            let witness = violation.witness.clone();
            Box::new(move || check_concurrency_witness(&own, &witness))
        }
        ConcurrencyVerdict::Unknown(_) | ConcurrencyVerdict::TooManyPending(_) => return None,
    })
}

/// Checks the certificate or the computation of an event-driven program's check against TSO; nothing for `unknown`.
pub fn confirm_tasks(program: &Program, checked: &TaskCheck) -> Option<Result<(), CheckFailure>> {
    tasks_check(program, checked).map(|check| check())
}

/// The check of the evidence of an event-driven program's check against TSO; nothing for `unknown`.
pub(super) fn tasks_check(program: &Program, checked: &TaskCheck) -> Option<EvidenceCheck> {
    let own = program.clone();
    if let Some(certificate) = checked.certificate.clone() {
        return Some(Box::new(move || check_task_certificate(&own, &certificate)));
    }
    let witness = checked.witness.clone()?;
    Some(Box::new(move || check_task_witness(&own, &witness).map(drop)))
}

/// Checks the certificate or the computation of a check against PSO; nothing for `unknown`.
pub fn confirm_pso(program: &Program, checked: &PsoCheck) -> Option<Result<(), CheckFailure>> {
    pso_check(program, checked).map(|check| check())
}

/// The check of the evidence of a check against PSO; nothing for `unknown`.
pub(super) fn pso_check(program: &Program, checked: &PsoCheck) -> Option<EvidenceCheck> {
    let own = program.clone();
    if let Some(certificate) = checked.certificate.clone() {
        return Some(Box::new(move || check_pso_certificate(&own, &certificate)));
    }
    let witness = witness_evidence(checked.violation.as_ref()?);
    Some(Box::new(move || check_pso_witness(&own, &witness)))
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

/// Checks the evidence for all answers of a proof; nothing where there is none.
pub fn confirm_proof(
    program: &Program,
    question: Option<&Question>,
    proof: &Proof,
) -> Option<Result<(), CheckFailure>> {
    proof_check(program, question, proof).map(|check| check())
}

/// The check of the evidence for all answers of a proof; nothing where there is none.
pub(super) fn proof_check(program: &Program, question: Option<&Question>, proof: &Proof) -> Option<EvidenceCheck> {
    let (own, question, proof_model) = (program.clone(), question.cloned(), proof.model);
    let (evidence, witnesses) = (proof.evidence(), proof.violations().map(Violation::witness).collect::<Vec<_>>());
    if evidence.is_none() && witnesses.is_empty() {
        return None;
    }
    Some(Box::new(move || {
        // Evidence about events and tasks is about the threads that say them.
        let threads = own.is_event_driven().then(|| threads_that_say(&own, proof_model)).transpose()?;
        if let Some(evidence) = &evidence {
            match &threads {
                Some(threads) => check_posted_property(&own, threads, evidence)?,
                None => check_property(&own, question.as_ref(), evidence)?,
            };
        }
        let program = threads.as_ref().unwrap_or(&own);
        witnesses.iter().try_for_each(|witness| check_property_witness(program, question.as_ref(), witness))
    }))
}

/// Checks the closed set of a program without triangular races, or the race of another one; nothing for `unknown`.
pub fn confirm_races(program: &Program, races: &Races) -> Option<Result<(), CheckFailure>> {
    races_check(program, races).map(|check| check())
}

/// The check of the evidence for an answer about triangular races; nothing for `unknown`.
pub(super) fn races_check(program: &Program, races: &Races) -> Option<EvidenceCheck> {
    let own = program.clone();
    match &races.verdict {
        RaceVerdict::Free(set) => {
            let set = set.clone();
            Some(Box::new(move || check_race_free(&own, &set)))
        }
        RaceVerdict::Racy(race) => {
            let witness = race.witness();
            Some(Box::new(move || check_race(&own, &witness)))
        }
        RaceVerdict::Unknown(_) => None,
    }
}

/// The check of the evidence for an answer about a net; nothing for `unknown`. Nets and proofs are too large to be
/// copied for it.
pub(super) fn answer_check(problem: &'static Problem, outcome: &'static Outcome) -> Option<EvidenceCheck> {
    let is_answer = !matches!(outcome, Outcome::Unknown(_));
    is_answer.then(|| Box::new(move || confirm_answer(problem, outcome).unwrap_or(Ok(()))) as EvidenceCheck)
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
    /// Confirms the verdict about a file where the options say so, or always in debug builds. A debug build's own check is
    /// given up at a limit.
    pub(super) fn of(
        file: &str,
        asked: bool,
        limits: &Limits,
        check: impl FnOnce() -> Option<EvidenceCheck>,
    ) -> Option<Self> {
        if !asked && !cfg!(debug_assertions) {
            return None;
        }
        let (start, used) = (Instant::now(), processor_time());
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

    /// Says loudly that the evidence about a file is rejected, if it is, and what the process ends with then.
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
