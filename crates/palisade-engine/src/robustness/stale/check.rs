//! The verdict.

use super::asked::Asked;
use super::counted::robust_with_counters;
use super::steps::GraphViolation;
use super::together::Together;
use crate::decide::schedule::CHECK;
use crate::robustness::one_exploration::{Question, Shown};
use palisade_evidence::{StaleCertificate, StaleClaim};
use palisade_exploration::instrumented::Fault;
use palisade_exploration::instrumented::stale::StaleSystem;
use palisade_model::limits::{Halt, Limits, StopReason};
use palisade_model::program::{Copies, Instruction, Ordering, Program};
use palisade_semantics::graphs::{Axioms, by_language, not_in_language};

/// Whether a program is robust against a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaleVerdict {
    /// Every execution is one of an interleaving, and none has a race.
    Robust,
    /// Some execution is not.
    NotRobust,
    /// Some execution has a race of plain data, which is undefined behaviour.
    Racy,
    /// It has a violation if the accesses whose orderings are not known are relaxed, and none if
    /// they are sequentially consistent.
    RestsOnUnknown,
    /// Not known.
    Unknown(StopReason),
}

/// How a program is checked.
#[derive(Clone, Debug)]
pub struct StaleOptions {
    /// Against what.
    pub axioms: Axioms,
    /// How many distinct values a register or an address may take without a domain.
    pub values: usize,
    /// Whether a robust program gets a certificate.
    pub certifies: bool,
    /// The limits.
    pub limits: Limits,
}

/// What a check has found.
#[derive(Debug)]
pub struct StaleCheck {
    /// The verdict.
    pub verdict: StaleVerdict,
    /// What shows that the program is robust, where that is asked for.
    pub certificate: Option<StaleCertificate>,
    /// An execution graph that shows that it is not, or that it has a race.
    pub violation: Option<GraphViolation>,
    /// How many configurations were explored.
    pub configurations: usize,
}

/// What is decided exactly: robustness against the axioms in which sequentially consistent accesses
/// give fewer guarantees.
pub(crate) enum StaleAnswer {
    /// The program is robust, by a certificate where one is asked for.
    Robust(Option<StaleCertificate>),
    /// It is not. The axioms in full need not admit the violation
    /// ([`GraphViolation::is_admitted`]).
    NotRobust(Box<GraphViolation>),
    /// A limit was reached.
    Unknown(StopReason),
}

/// Checks a program.
///
/// # Errors
///
/// When a step that is reached has no value, or when values grow without end and no violation was
/// found among the first of them.
///
/// # Panics
///
/// If the program has no execution graphs ([`not_in_language`]).
pub fn check_stale(program: &Program, options: &StaleOptions) -> Result<StaleCheck, Fault> {
    let found = check_stated(program, options)?;
    let Some(strong) = strengthened(program).filter(|_| found.violation.is_some()) else { return Ok(found) };
    // What violates the program whose unknown orderings are the strongest ones violates it whatever
    // they are.
    let strong = check_stated(&strong, options)?;
    match strong.verdict {
        StaleVerdict::Robust => Ok(StaleCheck { verdict: StaleVerdict::RestsOnUnknown, certificate: None, ..strong }),
        _ => Ok(strong),
    }
}

/// Why the violation of a program that has one is none to act on, if it is not: it may rest on
/// accesses whose orderings are not known.
pub(crate) fn doubt(program: &Program, options: &StaleOptions) -> Result<Option<StopReason>, Fault> {
    let Some(strong) = strengthened(program) else { return Ok(None) };
    Ok(match check_stated(&strong, options)?.verdict {
        StaleVerdict::Robust | StaleVerdict::RestsOnUnknown => Some(StopReason::Orderings),
        StaleVerdict::Unknown(reason) => Some(reason),
        StaleVerdict::NotRobust | StaleVerdict::Racy => None,
    })
}

/// The program in which the accesses whose orderings are not known are sequentially consistent;
/// nothing where all are known.
fn strengthened(program: &Program) -> Option<Program> {
    let is_assumed = |own: &Instruction| program.listed(own).is_some_and(|listed| listed.is_assumed);
    let mut strong = program.clone();
    let mut is_changed = false;
    for (own, thread) in strong.threads.iter_mut().zip(&program.threads) {
        for (new, old) in own.instructions.iter_mut().zip(&thread.instructions).filter(|(_, old)| is_assumed(old)) {
            if let Some(mut operation) = old.operation() {
                operation.set_orderings(Ordering::SeqCst, Some(Ordering::SeqCst));
                new.set_operation(operation);
                is_changed = true;
            }
        }
    }
    is_changed.then_some(strong)
}

/// Checks a program as it stands.
fn check_stated(program: &Program, options: &StaleOptions) -> Result<StaleCheck, Fault> {
    let (answer, configurations) = decide_stale(program, options)?;
    let (verdict, certificate, violation) = match answer {
        StaleAnswer::Robust(certificate) => (StaleVerdict::Robust, certificate, None),
        // The axioms in full do not admit it: whether they admit another one is not known.
        StaleAnswer::NotRobust(violation) if !violation.is_admitted => {
            (StaleVerdict::Unknown(StopReason::Inconclusive), None, None)
        }
        StaleAnswer::NotRobust(violation) => {
            let verdict = match violation.claim {
                StaleClaim::BeyondSc => StaleVerdict::NotRobust,
                StaleClaim::Race => StaleVerdict::Racy,
            };
            (verdict, None, Some(*violation))
        }
        StaleAnswer::Unknown(reason) => (StaleVerdict::Unknown(reason), None, None),
    };
    Ok(StaleCheck { verdict, certificate, violation, configurations })
}

/// Decides about a program; with how many configurations were explored.
///
/// # Errors
///
/// As [`check_stale`].
///
/// # Panics
///
/// As [`check_stale`].
pub(crate) fn decide_stale(program: &Program, options: &StaleOptions) -> Result<(StaleAnswer, usize), Fault> {
    assert!(not_in_language(program).is_none(), "callers ask whether the program has execution graphs");
    let stated = by_language(program);
    let together = Together::of(&stated);
    let has_fixed = program.threads.iter().any(|thread| matches!(thread.copies, Copies::Exactly(1..)));
    let spare = program.is_parameterized().then_some(u32::from(!has_fixed));
    let StaleOptions { axioms, values, certifies, ref limits } = *options;
    let make = |growth, spare| {
        let system = StaleSystem::new(&together.program, axioms, growth, spare);
        Asked { system, stated: &stated, together: &together, axioms, certifies }
    };
    let mut question = Question::new(values, limits, spare, make);
    let answer = if spare.is_none() { question.enumerate() } else { question.answer(CHECK) };
    let answered = match answer {
        Err(Halt::Fault(fault)) if fault.is_growth() => match question.among_first_values() {
            Ok(Some(violation)) => Ok(Shown::NotRobust(violation)),
            Ok(None) => {
                match robust_with_counters(program, &together.program, (axioms, values, limits), &mut question.explored)
                {
                    Some(certificate) => Ok(Shown::Robust(certifies.then_some(certificate))),
                    None => Err(Halt::Fault(fault)),
                }
            }
            Err(halt) => Err(halt),
        },
        answered => answered,
    };
    let answer = match answered {
        Ok(Shown::Robust(certificate)) => StaleAnswer::Robust(certificate),
        Ok(Shown::NotRobust(violation)) => StaleAnswer::NotRobust(Box::new(violation)),
        Err(Halt::Stopped(reason)) => StaleAnswer::Unknown(reason),
        Err(Halt::Fault(fault)) => return Err(fault),
    };
    Ok((answer, question.explored))
}
