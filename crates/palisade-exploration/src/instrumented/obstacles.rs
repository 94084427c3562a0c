//! What a set of measures forbids a delaying attacker, in its control flow and in the searches.

use super::fault::Fault;
use super::system::Phase;
use super::tso::System;
use crate::lazy::{Entry, Exploration, LazyNet, Step, Visit};
use fixedbitset::FixedBitSet;
use palisade_model::limits::{Budget, Halt, Limits};
use palisade_model::program::{ByLabel, InstructionId, LabelId, Thread};
use std::collections::VecDeque;

/// Labels and instructions that the attacker cannot pass while it delays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Obstacles {
    /// The labels, by number.
    pub labels: FixedBitSet,
    /// The instructions, by number.
    pub instructions: FixedBitSet,
}

impl Obstacles {
    /// No obstacles for a thread.
    pub fn none(thread: &Thread) -> Self {
        Self {
            labels: FixedBitSet::with_capacity(thread.labels.len()),
            instructions: FixedBitSet::with_capacity(thread.instructions.len()),
        }
    }

    /// Whether there are none.
    pub(super) fn are_none(&self) -> bool {
        self.labels.is_clear() && self.instructions.is_clear()
    }

    /// Whether the attacker cannot execute the instruction while it delays, or cannot go on from
    /// its target.
    pub fn stop(&self, instruction: InstructionId, target: LabelId) -> bool {
        self.instructions.contains(instruction.index()) || self.labels.contains(target.index())
    }
}

/// A thread's control flow while a store is delayed: its instructions without those that drain the
/// buffer.
#[derive(Clone, Debug)]
pub struct DelayFlow<'p> {
    thread: &'p Thread,
    by_label: ByLabel,
}

impl<'p> DelayFlow<'p> {
    /// The control flow of a thread.
    pub fn of(thread: &'p Thread) -> Self {
        Self { thread, by_label: thread.instructions_by_label() }
    }

    /// Whether control leads from the delayed store to the load past the obstacles.
    pub fn leads(&self, store: InstructionId, load: InstructionId, obstacles: &Obstacles) -> bool {
        self.labels_after(store, obstacles).contains(self.thread.instruction(load).source.index())
    }

    /// A shortest way of control from the delayed store to the load past the obstacles: the store
    /// and what follows it up to the load.
    pub fn way(&self, store: InstructionId, load: InstructionId, obstacles: &Obstacles) -> Option<Vec<InstructionId>> {
        let goal = self.thread.instruction(load).source;
        let mut reached = FixedBitSet::with_capacity(self.thread.labels.len());
        let mut open = VecDeque::from([vec![store]]);
        while let Some(way) = open.pop_front() {
            let id = way[way.len() - 1];
            let target = self.thread.instruction(id).target;
            if obstacles.stop(id, target) || reached.put(target.index()) {
                continue;
            }
            if target == goal {
                return Some(way);
            }
            let next = self.by_label[target.index()].iter();
            let next = next.filter(|id| !self.thread.instruction(**id).action.drains_buffer());
            open.extend(next.map(|next| [way.as_slice(), &[*next]].concat()));
        }
        None
    }

    /// The labels control leads to from the delayed store past the obstacles.
    pub(super) fn labels_after(&self, store: InstructionId, obstacles: &Obstacles) -> FixedBitSet {
        let mut reached = FixedBitSet::with_capacity(self.thread.labels.len());
        let mut open = vec![store];
        while let Some(id) = open.pop() {
            let target = self.thread.instruction(id).target;
            if obstacles.stop(id, target) || reached.put(target.index()) {
                continue;
            }
            open.extend(
                self.by_label[target.index()].iter().filter(|id| !self.thread.instruction(**id).action.drains_buffer()),
            );
        }
        reached
    }

    /// The labels *involved* in an attack [ESOP13, §7.1]: those on a way from the store to the
    /// load.
    pub fn involved(&self, store: InstructionId, load: InstructionId) -> FixedBitSet {
        let forwards = self.labels_after(store, &Obstacles::none(self.thread));
        let mut backwards = FixedBitSet::with_capacity(self.thread.labels.len());
        backwards.insert(self.thread.instruction(load).source.index());
        let mut grew = true;
        while grew {
            grew = false;
            for instruction in self.thread.instructions.iter().rev() {
                if !instruction.action.drains_buffer()
                    && backwards.contains(instruction.target.index())
                    && !backwards.put(instruction.source.index())
                {
                    grew = true;
                }
            }
        }
        backwards.intersect_with(&forwards);
        backwards
    }
}

/// The instrumented program whose delaying attacker meets obstacles. Helpers do not notice them:
/// they run under SC.
pub struct Obstructed<'s, 'p> {
    /// The instrumented program.
    pub system: &'s mut System<'p>,
    /// What its attacker cannot pass.
    pub obstacles: &'s Obstacles,
}

impl Obstructed<'_, '_> {
    /// Explores everything, past the obstacles.
    pub fn explore(&mut self, explored: &mut Exploration, budget: &Budget) -> Result<(), Halt<Fault>> {
        explored.run(self, budget, |_, _, _| Visit::Expand).map(|_| ())
    }
}

impl LazyNet for Obstructed<'_, '_> {
    type Error = Fault;

    fn limit(&mut self, limits: &Limits) {
        self.system.limit(limits);
    }

    fn steps(&mut self, control: u32, entries: &[Entry], steps: &mut Vec<Step>) -> Result<(), Fault> {
        let first = steps.len();
        self.system.steps(control, entries, steps)?;
        let mut kept = first;
        for index in first..steps.len() {
            let step = steps[index];
            if step.take.is_some() || !is_stopped(self.system, self.obstacles, &step) {
                steps[kept] = step;
                kept += 1;
            }
        }
        steps.truncate(kept);
        Ok(())
    }

    fn is_unbounded(&self, place: u32) -> bool {
        self.system.is_unbounded(place)
    }

    fn repeats(&mut self, step: &Step) -> Result<bool, Fault> {
        self.system.repeats(step)
    }
}

/// Whether obstacles forbid a step of the attacker itself.
pub fn is_stopped(system: &System<'_>, obstacles: &Obstacles, step: &Step) -> bool {
    attackers_move(system, step).is_some_and(|(instruction, target)| obstacles.stop(instruction, target))
}

/// The instruction of a step of the attacker itself, and where it stands then.
pub(super) fn attackers_move(system: &System<'_>, step: &Step) -> Option<(InstructionId, LabelId)> {
    let (_, instruction) = system.label(step);
    attacker_label(system, step.control).map(|target| (instruction, target))
}

/// Where the delaying attacker of a control stands.
pub fn attacker_label(system: &System<'_>, control: u32) -> Option<LabelId> {
    match system.control(control).phase {
        Phase::Delayed(number) => Some(system.attacker(number).label),
        _ => None,
    }
}
