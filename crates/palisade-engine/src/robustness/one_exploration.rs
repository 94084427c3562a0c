//! Robustness as one question about all delayed stores together: instances that grow and the search
//! among any number take turns.
//!
//! Event-driven programs against TSO and threads against PSO are decided like this, each by an
//! instrumented program of its own.

use crate::decide::schedule::{CUT_IN_ONE_EXPLORATION, FIRST_VALUES, INSTANCES};
use crate::decide::{Method, Round, Schedule, Turn, decide};
use palisade_exploration::instrumented::Fault;
use palisade_exploration::instrumented::system::{Growth, Root};
use palisade_exploration::lazy::{Exploration, Mode, NetError};
use palisade_model::limits::{Budget, Halt, Limits, StopReason};

/// An instrumented program with the attacks of all stores, as a lazily built net.
pub(super) trait Instrumented: Sized {
    /// What shows that the program is robust.
    type Certificate;
    /// What shows that it is not.
    type Violation;

    /// Looks at these limits while it lists steps.
    fn limit(&mut self, limits: &Limits);
    /// The initial configurations; none when there are too many, or too many copies to count.
    fn roots(&mut self) -> Result<Option<Vec<Root>>, Fault>;
    /// Explores until an attack has succeeded, and where.
    fn explore(&mut self, explored: &mut Exploration, budget: &Budget) -> Result<Option<u32>, Halt<Fault>>;
    /// The certificate, when the net was explored to the end.
    fn certificate(&self, explored: &Exploration) -> Self::Certificate;
    /// The computation behind a success; it says whether all smaller instances are known to have
    /// none.
    fn violation(
        &mut self,
        explored: &Exploration,
        success: u32,
        is_minimal: bool,
    ) -> Result<Self::Violation, Halt<Fault>>;
}

/// An answer with what shows it.
pub(super) enum Shown<C, V> {
    Robust(C),
    NotRobust(V),
}

type ShownBy<S> = Shown<<S as Instrumented>::Certificate, <S as Instrumented>::Violation>;

/// Makes the instrumented program, with so many spare copies or any number of them.
type Make<'p, S> = dyn Fn(Growth, Option<u32>) -> S + 'p;

/// A net with what was explored of it, and the configuration of a success.
type Explored<S> = (S, Exploration, Option<u32>);

/// The question, with what turns so far have shown.
pub(super) struct Question<'p, S> {
    make: Box<Make<'p, S>>,
    growth: Growth,
    limits: &'p Limits,
    /// How many copies and occurrences the next instance has of what there is any number of;
    /// nothing when there is nothing such.
    spare: Option<u32>,
    /// Whether the instance of a violation that was found is known to be a smallest one.
    pub(super) is_minimal: bool,
    /// Whether the search among any number has found a violation.
    not_robust: bool,
    /// How many configurations were explored.
    pub(super) explored: usize,
}

impl<'p, S: Instrumented> Question<'p, S> {
    /// The question about an instrumented program in which a register or an address takes so many
    /// values at most, whose first instance has so many spare copies.
    pub(super) fn new(
        values: usize,
        limits: &'p Limits,
        spare: Option<u32>,
        make: impl Fn(Growth, Option<u32>) -> S + 'p,
    ) -> Self {
        let growth = Growth::Fault(values);
        Self { make: Box::new(make), growth, limits, spare, is_minimal: false, not_robust: false, explored: 0 }
    }

    /// Enumerates what a program without spare copies may reach, as far as the limits allow: for
    /// one that cannot grow but in its values, such as one of threads alone.
    pub(super) fn enumerate(&mut self) -> Result<ShownBy<S>, Halt<Fault>> {
        Ok(match self.explore(self.growth, None, Mode::Exact, u64::MAX)? {
            (mut system, explored, Some(success)) => Shown::NotRobust(system.violation(&explored, success, false)?),
            (system, explored, None) => Shown::Robust(system.certificate(&explored)),
        })
    }

    /// Lets both methods take turns.
    pub(super) fn answer(&mut self, schedule: Schedule) -> Result<ShownBy<S>, Halt<Fault>> {
        let methods = [
            Method { name: "small-instances", turn: Self::instances },
            Method { name: "karp-miller", turn: Self::any_number },
        ];
        decide(self, &methods, schedule).map(|decision| decision.answer)
    }

    fn explore(
        &mut self,
        growth: Growth,
        spare: Option<u32>,
        mode: Mode,
        work: u64,
    ) -> Result<Explored<S>, Halt<Fault>> {
        let mut system = (self.make)(growth, spare);
        let mut explored = Exploration::new(mode);
        system.limit(self.limits);
        for root in system.roots().map_err(NetError::halt)?.ok_or(StopReason::TooLarge)? {
            explored.add_root(root.control, &root.entries, 0);
        }
        let budget = Budget::within(self.limits).with_work(work);
        let success = system.explore(&mut explored, &budget);
        self.explored += explored.len();
        Ok((system, explored, success?))
    }

    /// Instances with one copy or occurrence more each. One that does not come to an end, as where
    /// tasks are posted without one, does not keep larger ones from their turn: these get less work
    /// each, and a violation in them is not known to be in a smallest instance.
    fn instances(&mut self, round: Round) -> Turn<ShownBy<S>, Fault> {
        let first = self.spare.unwrap_or(0);
        let mut work = round.work;
        self.is_minimal = self.spare.is_some();
        for spare in (first..).take(INSTANCES) {
            match self.explore(self.growth, Some(spare), Mode::Exact, work) {
                Ok((mut system, explored, Some(success))) => {
                    return Ok(Some(Shown::NotRobust(system.violation(&explored, success, self.is_minimal)?)));
                }
                Ok((system, explored, None)) => match &mut self.spare {
                    None => return Ok(Some(Shown::Robust(system.certificate(&explored)))),
                    Some(next) if self.is_minimal => *next += 1,
                    Some(_) => {}
                },
                Err(halt) if halt.is_budget() && self.spare.is_some() => {
                    self.is_minimal = false;
                    work = (work / 4).max(1);
                }
                Err(halt) => return Err(halt),
            }
        }
        Ok(None)
    }

    /// The search among any number, until it has come to an end once.
    fn any_number(&mut self, round: Round) -> Turn<ShownBy<S>, Fault> {
        if self.not_robust {
            return Ok(None);
        }
        let (system, explored, success) = self.explore(self.growth, None, Mode::Omega, round.work)?;
        self.not_robust = success.is_some();
        Ok((!self.not_robust).then(|| Shown::Robust(system.certificate(&explored))))
    }

    /// A violation among the first values of data that grows, in instances with few copies.
    pub(super) fn among_first_values(&mut self) -> Result<Option<S::Violation>, Halt<Fault>> {
        let most = if self.spare.is_some() { 3 } else { 0 };
        for spare in 0..=most {
            let found = self.explore(Growth::Cut(CUT_IN_ONE_EXPLORATION), Some(spare), Mode::Exact, FIRST_VALUES);
            if let Ok((mut system, explored, Some(success))) = found {
                return system.violation(&explored, success, false).map(Some);
            }
        }
        Ok(None)
    }
}
