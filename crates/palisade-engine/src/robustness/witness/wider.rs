//! A violation in integers as one in a domain that its values do not leave.

use super::{Violation, cycle};
use palisade_model::program::Program;
use palisade_semantics::{Machine, Model, replay_on};

impl Violation {
    /// The violation as one of the program with a domain; nothing where a value leaves that, and
    /// steps then mean something else.
    pub(in crate::robustness) fn in_domain(self, program: &Program) -> Option<Self> {
        let machine = Machine::of_copies(program, self.acting.clone(), Model::Tso);
        let replay = replay_on(&machine, &self.steps).ok()?;
        if replay.events != self.replay.events {
            return None;
        }
        let cycle = cycle(&replay.trace, self.attacker_position(), self.steps.len() - self.store);
        Some(Self { replay, cycle, ..self })
    }
}
