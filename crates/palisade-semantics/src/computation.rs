//! Computations: steps with the states between them.

use super::machine::{Machine, State};
use super::step::Event;

/// A computation from the initial state; it may end while stores are buffered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Computation {
    /// The steps with their effects.
    pub events: Vec<Event>,
    /// The initial state and the one after each step.
    pub states: Vec<State>,
    /// Whether no computation to the same end is known to be possible in fewer steps.
    pub shortest: bool,
}

impl Computation {
    /// The computation in which nothing has happened.
    pub(super) fn empty(machine: &Machine<'_>) -> Self {
        Self { events: Vec::new(), states: vec![machine.initial_state()], shortest: false }
    }

    /// One more step.
    pub(super) fn push(&mut self, machine: &Machine<'_>, event: Event) {
        let state = self.states.last().expect("there is an initial state");
        let after = machine.successor(state, &event);
        self.events.push(event);
        self.states.push(after);
    }
}
