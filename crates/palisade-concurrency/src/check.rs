//! The search: is an accepting state reached?

use crate::certificate;
use crate::cover::Antichains;
use crate::state::{Label, State};
use crate::system::System;
use crate::witness::{ConcurrencyViolation, violation};
use palisade_engine::robustness::{DEFAULT_VALUES, Fault};
use palisade_evidence::ConcurrencyCertificate;
use palisade_model::limits::{Limits, StopReason};
use palisade_model::program::{Program, ThreadId};
use rustc_hash::FxHashMap;

/// What to decide and how far.
#[derive(Clone, Debug)]
pub struct ConcurrencyOptions {
    /// Distinct values of a register or address admitted in a program without a domain.
    pub values: usize,
    /// How many tasks may be pending at once before the search gives up.
    pub pending: usize,
    /// Time and memory.
    pub limits: Limits,
}

impl Default for ConcurrencyOptions {
    fn default() -> Self {
        Self { values: DEFAULT_VALUES, pending: 64, limits: Limits::none() }
    }
}

/// The answer.
#[derive(Clone, Debug)]
pub enum ConcurrencyVerdict {
    /// Every interleaving has a serial permutation; the evidence.
    Robust(ConcurrencyCertificate),
    /// One has none.
    NotRobust(ConcurrencyViolation),
    /// A limit was reached.
    Unknown(StopReason),
    /// More tasks were pending at once than admitted; the one of which there are most.
    TooManyPending(ThreadId),
}

/// The answer with what it took.
#[derive(Clone, Debug)]
pub struct ConcurrencyCheck {
    /// The answer.
    pub verdict: ConcurrencyVerdict,
    /// States explored.
    pub states: usize,
}

/// Decides whether a program is robust against concurrency.
///
/// # Errors
///
/// A [`Fault`] when a reachable step has no meaning, or when values grow without end.
///
/// # Panics
///
/// If the program has threads with copies: they belong to no event.
pub fn check(program: &Program, options: &ConcurrencyOptions) -> Result<ConcurrencyCheck, Fault> {
    let has_threads = program.threads.iter().any(|thread| thread.is_thread() && !thread.is_left_out());
    assert!(!has_threads, "robustness against concurrency is about events and tasks");
    let mut search = Search::new(System::new(program, options.values)?);
    search.system.locals.limit(&options.limits);
    let verdict = match search.explore(options) {
        Ok(Some(accepting)) => {
            let violation = {
                let (way, state) = (search.way_to(accepting), search.states[accepting].clone());
                violation(&mut search.system, &way, &state)?
            };
            ConcurrencyVerdict::NotRobust(violation)
        }
        Ok(None) => ConcurrencyVerdict::Robust(search.certificate()),
        Err(Stop::Fault(fault)) => return Err(fault),
        Err(Stop::Pending(task)) => ConcurrencyVerdict::TooManyPending(task),
        Err(Stop::Limit(reason)) => ConcurrencyVerdict::Unknown(reason),
    };
    Ok(ConcurrencyCheck { verdict, states: search.states.len() })
}

/// Why an exploration ends early.
enum Stop {
    Fault(Fault),
    Pending(ThreadId),
    Limit(StopReason),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        match fault.stopped() {
            Some(reason) => Self::Limit(reason),
            None => Self::Fault(fault),
        }
    }
}

impl From<StopReason> for Stop {
    fn from(reason: StopReason) -> Self {
        Self::Limit(reason)
    }
}

/// The states explored, breadth first, with how each was reached first. None is covered by an
/// earlier one.
struct Search<'p> {
    system: System<'p>,
    states: Vec<State>,
    found: Antichains,
    /// The state before, and what led from there; nothing for the initial one.
    parents: Vec<Option<(usize, Label)>>,
}

impl<'p> Search<'p> {
    fn new(mut system: System<'p>) -> Self {
        let initial = system.initial();
        let mut found = Antichains::default();
        found.enter(0, &initial);
        Self { system, states: vec![initial], found, parents: vec![None] }
    }

    /// Explores until a state accepts; its number.
    fn explore(&mut self, options: &ConcurrencyOptions) -> Result<Option<usize>, Stop> {
        let mut next = 0;
        while next < self.states.len() {
            options.limits.check()?;
            let state = self.states[next].clone();
            for (label, after) in self.system.successors(&state)? {
                if after.stack.len() > options.pending {
                    return Err(Stop::Pending(self.most_pending(&after)));
                }
                if self.found.covers(&self.states, &after) {
                    continue;
                }
                let accepts = self.system.is_accepting(&after)?;
                let number = self.states.len();
                self.found.enter(number, &after);
                self.states.push(after);
                self.parents.push(Some((next, label)));
                if accepts {
                    return Ok(Some(number));
                }
            }
            next += 1;
        }
        Ok(None)
    }

    /// The states as evidence, without those that others cover.
    fn certificate(&mut self) -> ConcurrencyCertificate {
        let needed = (0..self.states.len()).filter(|number| !self.found.is_superfluous(&self.states, *number));
        let states: Vec<&State> = needed.map(|number| &self.states[number]).collect();
        certificate::of(&mut self.system, &states)
    }

    /// The task that is pending most often.
    fn most_pending(&self, state: &State) -> ThreadId {
        let mut counts: FxHashMap<ThreadId, usize> = FxHashMap::default();
        for pending in &state.stack {
            *counts.entry(self.system.locals.get(pending.local).template).or_default() += 1;
        }
        let most = self.system.program.thread_ids().map(|(id, _)| id).max_by_key(|id| counts.get(id).copied());
        most.expect("a program has templates")
    }

    /// The states on the way to one, with what leads to the next.
    fn way_to(&self, mut number: usize) -> Vec<(State, Label)> {
        let mut way = Vec::new();
        while let Some((before, label)) = self.parents[number] {
            way.push((self.states[before].clone(), label));
            number = before;
        }
        way.reverse();
        way
    }
}
