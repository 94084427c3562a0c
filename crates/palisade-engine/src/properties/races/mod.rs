//! Triangular races: a measure of programs that is coarser than robustness \[ECOOP10\].
//!
//! An SC computation has a *triangular race* when a thread stores to an address y, then loads
//! another address x without draining its buffer in between, and another thread stores to x right
//! after that load. The store to x may be locked: a section that stores to x counts as one step. A
//! program without triangular races is robust, if it has no such sections: under TSO such a load is
//! the only step that shows whether the store to y has reached memory. The converse fails, as a
//! race need not be part of a cycle.
//!
//! A race is a state under SC, so that one exploration decides a program: a token is a local state
//! with a *note* of what the thread has stored since it last drained its buffer. A note is nothing,
//! one address, or several addresses ([`Order::Noted`]). Which of several they are does not matter,
//! as no load is from all of them.
//!
//! DIVERGENCE \[ECOOP10\]: the paper has no locked sections longer than one instruction, and its
//! theorem does not hold with them ([`implies_robustness`]).
//!
//! * `search`: one exploration, until a race is found
//!   ([`Racing`](palisade_exploration::buffered::Racing)) or to the end;
//! * `replay`: the race that was found as a computation of the program;
//! * `fences`: the cheapest fences that stop all races.
//!
//! [`Order::Noted`]: palisade_exploration::buffered::Order::Noted

mod fences;
mod replay;
mod search;

pub use fences::{RaceFences, RaceFencesError, race_fences};
pub use replay::Race;

use crate::decide::schedule::{CUTS, FIRST_VALUES, INSTANCES, RACES};
use crate::decide::{Method, Round, Turn, decide};
use palisade_evidence::{BufferInvariant, RaceWitness};
use palisade_exploration::buffered::{Order, Shape};
use palisade_exploration::instrumented::Fault;
use palisade_exploration::instrumented::system::Growth;
use palisade_model::limits::{Budget, Halt, Limits, StopReason};
use palisade_model::program::{Action, Copies, Program};
use search::{Found, search};

/// How to look for races.
#[derive(Clone, Debug)]
pub struct RaceOptions {
    /// Distinct values of a register or an address admitted in a program without a domain.
    pub values: usize,
    /// Time, memory, interruption.
    pub limits: Limits,
}

impl Default for RaceOptions {
    fn default() -> Self {
        Self { values: crate::robustness::DEFAULT_VALUES, limits: Limits::none() }
    }
}

/// Whether a program has a triangular race.
#[derive(Clone, Debug)]
pub enum RaceVerdict {
    /// It has none, because this set of configurations is closed.
    Free(BufferInvariant),
    /// It has one.
    Racy(Box<Race>),
    /// A limit was reached.
    Unknown(StopReason),
}

/// What was found out about the races of a program.
#[derive(Clone, Debug)]
pub struct Races {
    /// Whether there is one.
    pub verdict: RaceVerdict,
    /// Configurations explored in all.
    pub states: usize,
}

impl Race {
    /// The computation as evidence.
    pub fn witness(&self) -> RaceWitness {
        RaceWitness {
            instance: self.instance.clone(),
            steps: self.events.iter().map(|event| event.step).collect(),
            load_step: self.load_step,
        }
    }
}

/// Decides whether a program has a triangular race.
///
/// # Errors
///
/// A [`Fault`] when a reachable step has no meaning, or when values grow without end and no race
/// was found among the first of them.
pub fn races(program: &Program, options: &RaceOptions) -> Result<Races, Fault> {
    assert!(!program.is_event_driven(), "races are those of threads, and the program has events or tasks");
    let mut asking = Asking::new(program, options);
    let verdict = match asking.take_turns() {
        Ok(verdict) => verdict,
        Err(Halt::Stopped(reason)) => RaceVerdict::Unknown(reason),
        Err(Halt::Fault(fault)) if fault.is_growth() => match asking.among_first_values() {
            Some(race) => RaceVerdict::Racy(race),
            None => return Err(fault),
        },
        Err(Halt::Fault(fault)) => return Err(fault),
    };
    Ok(Races { verdict, states: asking.states })
}

/// Whether a program without triangular races is robust: where no thread has a section. In `x←1;
/// r←y` beside a section of `s←cas(x,0,1)` and a store to y if that succeeds, the load of y can
/// come before the section and the store of x after it, so that no interleaving of steps and
/// sections explains it; but where the store of x comes first, the section does not store to y.
pub fn implies_robustness(program: &Program) -> bool {
    let mut running = program.threads.iter().filter(|thread| !thread.is_left_out());
    !running.any(|thread| thread.instructions.iter().any(|own| own.action == Action::Lock))
}

/// A program that is asked about.
struct Asking<'p> {
    program: &'p Program,
    options: &'p RaceOptions,
    /// Configurations explored so far.
    states: usize,
    /// Any number of copies: how many the next instance has.
    copies: u32,
    /// Whether all smaller instances have been explored.
    is_minimal: bool,
    /// Whether the search among any number has found a race.
    is_racy: bool,
}

impl<'p> Asking<'p> {
    fn new(program: &'p Program, options: &'p RaceOptions) -> Self {
        let has_fixed = program.threads.iter().any(|thread| matches!(thread.copies, Copies::Exactly(1..)));
        Self { program, options, states: 0, copies: u32::from(!has_fixed), is_minimal: true, is_racy: false }
    }

    /// Small instances where the program has any number of copies, which show races, in turn with
    /// the program as it is.
    fn take_turns(&mut self) -> Result<RaceVerdict, Halt<Fault>> {
        let methods = [
            Method { name: "small-instances", turn: Self::instances },
            Method { name: "all-copies", turn: Self::all_copies },
        ];
        decide(self, &methods, RACES).map(|decision| decision.answer)
    }

    fn instances(&mut self, round: Round) -> Turn<RaceVerdict, Fault> {
        for _ in 0..if self.program.is_parameterized() { INSTANCES } else { 0 } {
            match self.explore(self.shape(Some(self.copies)), round.work) {
                Ok(Found::Race(race)) => {
                    let instance_minimal = self.is_minimal;
                    return Ok(Some(RaceVerdict::Racy(Box::new(Race { instance_minimal, ..*race }))));
                }
                Ok(Found::Nothing | Found::Closed(_) | Found::SomeRace) => self.copies += 1,
                Err(halt) if halt.is_budget() => {
                    (self.copies, self.is_minimal) = (self.copies + 1, false);
                    break;
                }
                Err(halt) => return Err(halt),
            }
        }
        Ok(None)
    }

    fn all_copies(&mut self, round: Round) -> Turn<RaceVerdict, Fault> {
        if self.is_racy {
            return Ok(None);
        }
        Ok(match self.explore(self.shape(None), round.work)? {
            Found::Closed(set) => Some(RaceVerdict::Free(*set)),
            Found::Race(race) => Some(RaceVerdict::Racy(race)),
            Found::SomeRace => {
                self.is_racy = true;
                None
            }
            Found::Nothing => unreachable!("no step was left out"),
        })
    }

    fn shape(&self, spare: Option<u32>) -> Shape {
        let growth = Growth::Fault(self.options.values);
        Shape { order: Order::Noted, capacity: usize::MAX, growth, spare }
    }

    fn explore(&mut self, shape: Shape, nodes: u64) -> Result<Found, Halt<Fault>> {
        let budget = Budget::within(&self.options.limits).with_work(nodes);
        let (found, states) = search(self.program, shape, &budget);
        self.states += states;
        found
    }

    /// A race with the first values of data that grows.
    fn among_first_values(&mut self) -> Option<Box<Race>> {
        let spare = self.program.is_parameterized().then_some(2);
        CUTS.into_iter().find_map(|cut| {
            let shape = Shape { growth: Growth::Cut(cut), ..self.shape(spare) };
            match self.explore(shape, FIRST_VALUES) {
                Ok(Found::Race(race)) => Some(race),
                _ => None,
            }
        })
    }
}
