//! Computations: steps with the state to which they lead.

use super::machine::{Machine, State};
use super::step::Event;

/// A computation from the initial state; it may end while stores are buffered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Computation {
    /// The steps with their effects.
    pub events: Vec<Event>,
    /// The state after them.
    pub last: State,
    /// Whether no computation to the same end is known to be possible in fewer steps.
    pub shortest: bool,
}

impl Computation {
    /// The computation in which nothing has happened.
    pub(super) fn empty(machine: &Machine<'_>) -> Self {
        Self { events: Vec::new(), last: machine.initial_state(), shortest: false }
    }

    /// One more step.
    pub(super) fn push(&mut self, machine: &Machine<'_>, event: Event) {
        machine.take(&mut self.last, &event);
        self.events.push(event);
    }
}
