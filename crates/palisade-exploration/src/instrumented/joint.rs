//! All attacks as one question of reachability \[ESOP13, §8\]: the instrumented program with the
//! steps between its phases.
//!
//! Under SC any thread may begin to delay any of its stores, and a delaying attacker may be halted
//! at any load.

use super::attacks::Attack;
use super::fault::Fault;
use super::system::{Phase, Place};
use super::tso::System;
use crate::lazy::{Entry, Exploration, LazyNet, Step};
use palisade_model::limits::{Budget, Halt, Limits};
use palisade_model::program::{InstructionId, ThreadId};
use std::collections::BTreeSet;

/// The instrumented program with the steps between its phases.
pub struct Joint<'p> {
    /// The instrumented program.
    pub system: System<'p>,
    /// The stores of attacks.
    stores: Vec<(ThreadId, InstructionId)>,
    /// The loads of attacks.
    loads: BTreeSet<(ThreadId, InstructionId)>,
}

impl LazyNet for Joint<'_> {
    type Error = Fault;

    fn limit(&mut self, limits: &Limits) {
        self.system.limit(limits);
    }

    fn steps(&mut self, control: u32, entries: &[Entry], steps: &mut Vec<Step>) -> Result<(), Fault> {
        match self.system.control(control).phase {
            Phase::Sc => {
                for index in 0..self.stores.len() {
                    let (thread, store) = self.stores[index];
                    self.delay(control, entries, thread, store, steps)?;
                }
            }
            Phase::Delayed(attacker) => {
                let thread = self.system.attacker(attacker).thread;
                for (load, control) in self.system.attack_loads(control)? {
                    if self.loads.contains(&(thread, load)) {
                        let label = self.system.number_label((thread, load));
                        steps.push(Step { control, take: None, put: None, label });
                    }
                }
            }
            Phase::Helped(_) => {}
        }
        self.system.steps(control, entries, steps)
    }

    fn is_unbounded(&self, place: u32) -> bool {
        self.system.is_unbounded(place)
    }

    fn repeats(&mut self, step: &Step) -> Result<bool, Fault> {
        // A token that becomes the attacker does so once.
        if step.put.is_none() { Ok(false) } else { self.system.repeats(step) }
    }
}

impl<'p> Joint<'p> {
    /// The attacks of a system's program.
    pub fn new(system: System<'p>, attacks: &[Attack]) -> Self {
        let mut stores: Vec<_> = attacks.iter().map(|attack| (attack.thread, attack.store)).collect();
        stores.dedup();
        let loads = attacks.iter().map(|attack| (attack.thread, attack.load)).collect();
        Self { system, stores, loads }
    }

    /// Explores until an attack has succeeded, and where.
    pub fn explore(&mut self, explored: &mut Exploration, budget: &Budget) -> Result<Option<u32>, Halt<Fault>> {
        explored.run_until(self, budget, |joint, control| joint.system.is_success(control))
    }

    /// The steps in which a token becomes the attacker by delaying a store.
    fn delay(
        &mut self,
        control: u32,
        entries: &[Entry],
        thread: ThreadId,
        store: InstructionId,
        steps: &mut Vec<Step>,
    ) -> Result<(), Fault> {
        for entry in entries {
            if entry.place != Place::SPARE.number() && !self.system.may_delay(entry.place, thread, store) {
                continue;
            }
            let label = self.system.number_label((thread, store));
            for start in self.system.delay_starts(control, std::slice::from_ref(entry), thread, store)? {
                steps.push(Step { control: start.control, take: Some(entry.place), put: None, label });
            }
        }
        Ok(())
    }
}
