//! The verdict: instances that grow and the search among any number take turns.

use super::certificate::certificate;
use super::refused::not_for_pso;
use super::replay::replay;
use super::system::PsoSystem;
use crate::decide::schedule::{FIRST_VALUES, INSTANCES, UNLIMITED};
use crate::decide::{Method, Round, Schedule, Turn, decide};
use crate::exploration::{Exploration, Mode, Visit};
use crate::robustness::check::Verdict;
use crate::robustness::fault::Fault;
use crate::robustness::system::Growth;
use crate::robustness::witness::Violation;
use palisade_evidence::PsoCertificate;
use palisade_model::limits::{Budget, Halt, Limits, StopReason};
use palisade_model::program::{Copies, Program};

/// How many values of a register or an address are tried where values grow, for violations among the first of them.
const FEW_VALUES: usize = 4;

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

/// Checks a program, with as many distinct values of a register or an address as `values` without a domain.
///
/// # Errors
///
/// When a step that is reached has no value, or when values grow without end and no violation was found among the first of them.
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
    let mut question =
        Question { program, growth: Growth::Fault(values), limits, spare, not_robust: false, explored: 0 };
    let methods = [
        Method { name: "small-instances", turn: Question::instances },
        Method { name: "karp-miller", turn: Question::any_number },
    ];
    let answered = match decide(&mut question, &methods, Schedule { most, ..Schedule::CHECK }) {
        Ok(decision) => Ok(decision.answer),
        Err(Halt::Fault(fault)) if fault.is_growth() => question.among_first_values()?.ok_or(Halt::Fault(fault)),
        Err(halt) => Err(halt),
    };
    let (verdict, certificate, violation) = match answered {
        Ok(Answer::Robust(certificate)) => (Verdict::Robust, Some(certificate), None),
        Ok(Answer::NotRobust(violation)) => (Verdict::NotRobust, None, Some(*violation)),
        Err(Halt::Stopped(reason)) => (Verdict::Unknown(reason), None, None),
        Err(Halt::Fault(fault)) => return Err(fault),
    };
    Ok(PsoCheck { verdict, certificate, violation, configurations: question.explored })
}

/// What decides the question.
enum Answer {
    Robust(PsoCertificate),
    NotRobust(Box<Violation>),
}

/// The question, with what turns so far have shown.
struct Question<'a> {
    program: &'a Program,
    growth: Growth,
    limits: &'a Limits,
    /// How many copies the replicated threads have together in the next instance; nothing where all copies are fixed.
    spare: Option<u32>,
    /// Whether the search among any number has found a violation.
    not_robust: bool,
    /// How many configurations were explored.
    explored: usize,
}

/// A system with what was explored of it, and the configuration of a success.
type Explored<'p> = (PsoSystem<'p>, Exploration, Option<u32>);

impl<'a> Question<'a> {
    fn explore(
        &mut self,
        growth: Growth,
        spare: Option<u32>,
        mode: Mode,
        work: u64,
    ) -> Result<Explored<'a>, Halt<Fault>> {
        let mut system = PsoSystem::new(self.program, growth, spare);
        let mut explored = Exploration::new(mode);
        for root in system.roots().map_err(Halt::Fault)?.ok_or(StopReason::TooLarge)? {
            explored.add_root(root.control, &root.entries, 0);
        }
        let budget = Budget::within(self.limits).with_work(work);
        let visit = |system: &PsoSystem<'a>, control: u32| {
            if system.is_success(control) { Visit::Stop } else { Visit::Expand }
        };
        let success = explored.run(&mut system, &budget, |system, control, _| visit(system, control));
        self.explored += explored.len();
        Ok((system, explored, success?))
    }

    /// Instances with one copy more each.
    fn instances(&mut self, round: Round) -> Turn<Answer, Fault> {
        for _ in 0..INSTANCES {
            let spare = Some(self.spare.unwrap_or(0));
            let (mut system, explored, success) = self.explore(self.growth, spare, Mode::Exact, round.work)?;
            if let Some(success) = success {
                let violation = replay(&mut system, &explored, success, self.spare.is_some()).map_err(Halt::Fault)?;
                return Ok(Some(Answer::NotRobust(violation.into())));
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
        let (system, explored, success) = self.explore(self.growth, None, Mode::Omega, round.work)?;
        self.not_robust = success.is_some();
        Ok((!self.not_robust).then(|| Answer::Robust(certificate(&system, &explored))))
    }

    /// A violation among the first values of data that grows, in instances with few copies.
    fn among_first_values(&mut self) -> Result<Option<Answer>, Fault> {
        let most = if self.spare.is_some() { 3 } else { 0 };
        for spare in 0..=most {
            let found = self.explore(Growth::Cut(FEW_VALUES), Some(spare), Mode::Exact, FIRST_VALUES);
            if let Ok((mut system, explored, Some(success))) = found {
                let violation = replay(&mut system, &explored, success, false)?;
                return Ok(Some(Answer::NotRobust(violation.into())));
            }
        }
        Ok(None)
    }
}
