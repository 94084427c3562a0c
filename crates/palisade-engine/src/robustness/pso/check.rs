//! The verdict.

use super::refused::not_for_pso;
use crate::decide::Schedule;
use crate::decide::schedule::{CHECK, UNLIMITED};
use crate::robustness::check::Verdict;
use crate::robustness::one_exploration::{Question, Shown};
use crate::robustness::witness::Violation;
use palisade_evidence::PsoCertificate;
use palisade_exploration::instrumented::Fault;
use palisade_exploration::instrumented::pso::PsoSystem;
use palisade_model::limits::{Halt, Limits};
use palisade_model::program::{Copies, Program};

/// Whether a program is robust against PSO.
#[derive(Debug)]
pub struct PsoCheck {
    /// The verdict.
    pub verdict: Verdict,
    /// What shows that it is robust.
    pub certificate: Option<PsoCertificate>,
    /// A computation under PSO that shows that it is not.
    pub violation: Option<Violation>,
    /// How many configurations were explored.
    pub configurations: usize,
}

/// Checks a program, with as many distinct values of a register or an address as `values` without a
/// domain.
///
/// # Errors
///
/// When a step that is reached has no value, or when values grow without end and no violation was
/// found among the first of them.
///
/// # Panics
///
/// If robustness against PSO is not decided for the program ([`not_for_pso`]).
pub fn check_pso(program: &Program, values: usize, limits: &Limits) -> Result<PsoCheck, Fault> {
    check_pso_within(program, values, limits, UNLIMITED)
}

/// Like [`check_pso`], with explorations of so many configurations at most.
///
/// # Errors
///
/// As [`check_pso`].
///
/// # Panics
///
/// As [`check_pso`].
pub(crate) fn check_pso_within(
    program: &Program,
    values: usize,
    limits: &Limits,
    most: u64,
) -> Result<PsoCheck, Fault> {
    assert!(not_for_pso(program).is_none(), "callers ask whether the program can be decided");
    let is_any = program.is_parameterized();
    let has_fixed = program.threads.iter().any(|thread| matches!(thread.copies, Copies::Exactly(1..)));
    let spare = is_any.then_some(u32::from(!has_fixed));
    let mut question = Question::new(values, limits, spare, |growth, spare| PsoSystem::new(program, growth, spare));
    let answered = match question.answer(Schedule { most, ..CHECK }) {
        Err(Halt::Fault(fault)) if fault.is_growth() => match question.among_first_values() {
            Ok(Some(violation)) => Ok(Shown::NotRobust(violation)),
            Ok(None) => Err(Halt::Fault(fault)),
            Err(halt) => Err(halt),
        },
        answered => answered,
    };
    let (verdict, certificate, violation) = match answered {
        Ok(Shown::Robust(certificate)) => (Verdict::Robust, Some(certificate), None),
        Ok(Shown::NotRobust(violation)) => (Verdict::NotRobust, None, Some(violation)),
        Err(Halt::Stopped(reason)) => (Verdict::Unknown(reason), None, None),
        Err(Halt::Fault(fault)) => return Err(fault),
    };
    Ok(PsoCheck { verdict, certificate, violation, configurations: question.explored })
}
