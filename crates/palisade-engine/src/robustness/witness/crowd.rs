//! A violation of a program that has a crowd as a thread of its own, as one of the program whose
//! copies the crowd is.

use super::{Violation, cycle};
use crate::robustness::crowds::Crowd;
use palisade_model::program::Program;
use palisade_semantics::{Machine, Model, StepKind, replay_on};

impl Violation {
    /// Whether a step stands for many.
    pub fn has_crowd(&self) -> bool {
        self.steps.iter().any(|step| matches!(step.kind, StepKind::Crowd { .. }))
    }

    /// The violation of a program with one more thread, the last, as one of `program`, where a
    /// crowd does what that thread does; nothing where it does nothing, or acts when the attacker
    /// delays, or where there are not so many copies.
    pub(in crate::robustness) fn with_crowd(self, program: &Program, crowd: Crowd) -> Option<Self> {
        let retold = crowd.retold(program, &self.instance, &self.steps)?;
        if retold.moves >= self.issue {
            return None;
        }
        let machine = Machine::of_copies(program, retold.acting.clone(), Model::Tso);
        let replay = replay_on(&machine, &retold.steps).ok()?;
        let position = machine.position(self.attacker)?;
        let cycle = cycle(&replay.trace, position, retold.steps.len() - self.store);
        let (instance, acting, steps) = (retold.instance, retold.acting, retold.steps);
        Some(Self { instance, acting, steps, replay, cycle, instance_minimal: false, ..self })
    }
}
