//! Which states make others superfluous: from them everything can be done that can be done from the
//! others.
//!
//! A state *covers* another one of the same *shape* – memory, stage, λ, what runs, what is pending
//! – when
//!
//! - events may still occur at least as often,
//! - more has been done by events on the path, in the event that runs, and to what λ must meet,
//! - less has been done by and after the cut main task, or none is cut at all, and fewer tasks
//!   happen after it.
//!
//! Then each step of the covered state is one of the covering state with the same label, and leads
//! to a state that covers the one after it: accesses are only ever added, a guess is as free as
//! before, and only an access that meets H, or a late task, closes a branch. A state that is
//! covered by an accepting one may accept; one that covers an accepting one accepts. So the search
//! leaves out what is covered by a state it has, and as it goes breadth first, it still finds an
//! accepting state in as few steps as there can be.

use crate::state::{Monitor, Pending, Run, State};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// The states found so far, by shape.
#[derive(Debug, Default)]
pub(super) struct Antichains {
    /// By the hash of a shape the numbers of the states that have it.
    by_shape: FxHashMap<u64, SmallVec<[u32; 2]>>,
}

impl Antichains {
    /// Whether a state that has been entered covers this one.
    pub(super) fn covers(&self, states: &[State], state: &State) -> bool {
        let same = self.by_shape.get(&shape(state));
        same.is_some_and(|numbers| numbers.iter().any(|number| covers(&states[*number as usize], state)))
    }

    /// Enters a state under its number.
    pub(super) fn enter(&mut self, number: usize, state: &State) {
        let number = u32::try_from(number).expect("states are numbered with 32 bits");
        self.by_shape.entry(shape(state)).or_default().push(number);
    }

    /// Whether one of several states is covered by another one of them; of two equal ones the later
    /// is.
    pub(super) fn is_superfluous(&self, states: &[State], number: usize) -> bool {
        let state = &states[number];
        self.by_shape[&shape(state)].iter().map(|other| *other as usize).any(|other| {
            other != number && covers(&states[other], state) && (other < number || !covers(state, &states[other]))
        })
    }
}

/// Whether everything that can be done from a state can be done from this one.
fn covers(this: &State, other: &State) -> bool {
    this.memory == other.memory
        && this.starts.iter().zip(&other.starts).all(|(left, less)| left >= less)
        && monitor_covers(&this.monitor, &other.monitor)
        && run_covers(this.run.as_ref(), other.run.as_ref(), other.monitor.cut.is_none())
        && tasks_cover(&this.stack, &other.stack)
}

fn monitor_covers(this: &Monitor, other: &Monitor) -> bool {
    let less_cut = match (&this.cut, &other.cut) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(less), Some(more)) => less.is_within(more),
    };
    less_cut
        && (this.stage, this.pivot) == (other.stage, other.pivot)
        && (this.on || !other.on)
        && other.path.is_within(&this.path)
        && other.spoiling.is_within(&this.spoiling)
        && other.current.is_within(&this.current)
}

/// What a main task has done itself matters if it may still be cut.
fn run_covers(this: Option<&Run>, other: Option<&Run>, may_be_cut: bool) -> bool {
    match (this, other) {
        (None, None) => true,
        (Some(this), Some(other)) => {
            (this.main, this.local, this.begun) == (other.main, other.local, other.begun)
                && (!this.late || other.late)
                && (!may_be_cut || this.own.is_within(&other.own))
                && tasks_cover(&this.kids, &other.kids)
        }
        _ => false,
    }
}

fn tasks_cover(these: &[Pending], others: &[Pending]) -> bool {
    let covers = |(this, other): (&Pending, &Pending)| {
        (this.main, this.local) == (other.main, other.local) && (!this.late || other.late)
    };
    these.len() == others.len() && these.iter().zip(others).all(covers)
}

/// A hash of what states have in common when one of them covers the other.
fn shape(state: &State) -> u64 {
    let mut hasher = FxHasher::default();
    let State { memory, monitor, run, stack, .. } = state;
    (memory, monitor.stage, monitor.pivot).hash(&mut hasher);
    let task = |task: &Pending| (task.main, task.local);
    run.as_ref().map(|run| (run.main, run.local, run.begun)).hash(&mut hasher);
    run.iter().flat_map(|run| &run.kids).for_each(|kid| task(kid).hash(&mut hasher));
    stack.len().hash(&mut hasher);
    stack.iter().for_each(|pending| task(pending).hash(&mut hasher));
    hasher.finish()
}
