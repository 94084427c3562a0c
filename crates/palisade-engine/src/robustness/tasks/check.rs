//! The verdict: instances that grow and the search among any number take turns.

use super::certificate::certificate;
use super::replay::replay;
use super::system::TaskSystem;
use crate::decide::schedule::INSTANCES;
use crate::decide::{Method, Round, Schedule, Turn, decide};
use crate::exploration::{Exploration, Mode, Visit};
use crate::robustness::check::Verdict;
use crate::robustness::fault::Fault;
use crate::robustness::system::Growth;
use palisade_evidence::{TaskCertificate, TaskWitness};
use palisade_model::limits::{Budget, Halt, Limits, StopReason};
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
    /// Whether every instance with fewer copies and occurrences in all, of what there is any number of, is robust.
    pub is_minimal: bool,
    /// How many configurations were explored.
    pub configurations: usize,
}

/// Checks an event-driven program, with as many distinct values of a register or an address as `values` without a domain.
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
    let growth = Growth::Fault(values);
    let spare = is_any.then_some(0);
    let mut question = Question { program, growth, limits, spare, not_robust: false, explored: 0 };
    let methods = [
        Method { name: "small-instances", turn: Question::instances },
        Method { name: "karp-miller", turn: Question::any_number },
    ];
    let (verdict, found) = match decide(&mut question, &methods, Schedule::CHECK) {
        Ok(decision) => match decision.answer {
            Answer::Robust(certificate) => (Verdict::Robust, (Some(certificate), None)),
            Answer::NotRobust(witness) => (Verdict::NotRobust, (None, Some(witness))),
        },
        Err(Halt::Stopped(reason)) => (Verdict::Unknown(reason), (None, None)),
        Err(Halt::Fault(fault)) => return Err(fault),
    };
    let (certificate, witness) = found;
    // An instance is explored when all smaller ones have been, to the end.
    let is_minimal = is_any && witness.is_some();
    Ok(TaskCheck { verdict, certificate, witness, is_minimal, configurations: question.explored })
}

/// What decides the question.
enum Answer {
    Robust(TaskCertificate),
    NotRobust(TaskWitness),
}

/// The question, with what turns so far have shown.
struct Question<'a> {
    program: &'a Program,
    growth: Growth,
    limits: &'a Limits,
    /// How many occurrences and copies the next instance has, of what there is any number of; nothing when there is nothing such.
    spare: Option<u32>,
    /// Whether the search among any number has found a violation.
    not_robust: bool,
    /// How many configurations were explored.
    explored: usize,
}

/// A system with what was explored of it, and the configuration of a success.
type Explored<'p> = (TaskSystem<'p>, Exploration, Option<u32>);

impl<'a> Question<'a> {
    fn explore(&mut self, spare: Option<u32>, mode: Mode, work: u64) -> Result<Explored<'a>, Halt<Fault>> {
        let mut system = TaskSystem::new(self.program, self.growth, spare);
        let mut explored = Exploration::new(mode);
        for root in system.roots().map_err(Halt::Fault)?.ok_or(StopReason::TooLarge)? {
            explored.add_root(root.control, &root.entries, 0);
        }
        let budget = Budget::within(self.limits).with_work(work);
        let visit = |system: &TaskSystem<'a>, control: u32| {
            if system.is_success(control) { Visit::Stop } else { Visit::Expand }
        };
        let success = explored.run(&mut system, &budget, |system, control, _| visit(system, control));
        self.explored += explored.len();
        Ok((system, explored, success?))
    }

    /// Instances with one occurrence or copy more each.
    fn instances(&mut self, round: Round) -> Turn<Answer, Fault> {
        for _ in 0..INSTANCES {
            let spare = Some(self.spare.unwrap_or(0));
            let (mut system, explored, success) = self.explore(spare, Mode::Exact, round.work)?;
            if let Some(success) = success {
                return Ok(Some(Answer::NotRobust(replay(&mut system, &explored, success)?)));
            }
            let Some(spare) = &mut self.spare else {
                return Ok(Some(Answer::Robust(certificate(&system, &explored))));
            };
            *spare += 1;
        }
        Ok(None)
    }

    /// The search among any number, until it has come to an end once.
    fn any_number(&mut self, round: Round) -> Turn<Answer, Fault> {
        if self.not_robust {
            return Ok(None);
        }
        let (system, explored, success) = self.explore(None, Mode::Omega, round.work)?;
        self.not_robust = success.is_some();
        Ok((!self.not_robust).then(|| Answer::Robust(certificate(&system, &explored))))
    }
}
