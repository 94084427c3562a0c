//! The verdict.

use crate::decide::schedule::CHECK;
use crate::robustness::check::Verdict;
use crate::robustness::one_exploration::{Question, Shown};
use palisade_evidence::{TaskCertificate, TaskWitness};
use palisade_exploration::instrumented::Fault;
use palisade_exploration::instrumented::tasks::TaskSystem;
use palisade_model::limits::{Halt, Limits};
use palisade_model::program::{Copies, Program};

/// Whether an event-driven program is robust against TSO.
#[derive(Debug)]
pub struct TaskCheck {
    /// The verdict.
    pub verdict: Verdict,
    /// What shows that it is robust.
    pub certificate: Option<TaskCertificate>,
    /// What shows that it is not.
    pub witness: Option<TaskWitness>,
    /// Whether every instance with fewer copies and occurrences in all, of what there is any number
    /// of, is robust.
    pub is_minimal: bool,
    /// How many configurations were explored.
    pub configurations: usize,
}

/// Checks an event-driven program, with as many distinct values of a register or an address as
/// `values` without a domain.
///
/// # Errors
///
/// When a step that is reached has no value, or values grow.
///
/// # Panics
///
/// If the program has neither events nor tasks.
pub fn check_tasks(program: &Program, values: usize, limits: &Limits) -> Result<TaskCheck, Fault> {
    assert!(program.is_event_driven(), "programs of threads alone are checked as such");
    let is_any = program.threads.iter().any(|thread| thread.copies == Copies::Any);
    let make = |growth, spare| TaskSystem::new(program, growth, spare);
    let mut question = Question::new(values, limits, is_any.then_some(0), make);
    let (verdict, certificate, witness) = match question.answer(CHECK) {
        Ok(Shown::Robust(certificate)) => (Verdict::Robust, Some(certificate), None),
        Ok(Shown::NotRobust(witness)) => (Verdict::NotRobust, None, Some(witness)),
        Err(Halt::Stopped(reason)) => (Verdict::Unknown(reason), None, None),
        Err(Halt::Fault(fault)) => return Err(fault),
    };
    let is_minimal = question.is_minimal && witness.is_some();
    Ok(TaskCheck { verdict, certificate, witness, is_minimal, configurations: question.explored })
}
