//! A violation as one of a program with more fences and exchanges, which do not stand in its way.
//!
//! Such measures take computations away and add none, so the steps are those of the program without
//! them. Each copy executes the fences on its way just before the instruction that they guard,
//! which it can at any time while its buffer is empty; an exchange has nothing to flush.

use super::{Violation, cycle};
use palisade_model::program::{Action, InstructionId, LabelId, Program, Thread};
use palisade_semantics::{CopyId, Machine, Model, Step, StepKind, replay_on};
use std::collections::{BTreeMap, VecDeque};

impl Violation {
    /// The violation of `program` as one of `changed`, which has its instructions under the same
    /// numbers; nothing when a measure stands in its way.
    pub(crate) fn in_changed(self, program: &Program, changed: &Program) -> Option<Self> {
        let mut following = Following { program, changed, copies: BTreeMap::new(), steps: Vec::new() };
        let mut places = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            places.push(following.follow(*step)?);
        }
        let steps = following.steps;
        let place = |step: usize| match places[step] {
            Followed::At(place) => Some(place),
            Followed::AlreadyStored => None,
        };
        let (issue, load, store) = (place(self.issue)?, place(self.load)?, place(self.store)?);
        let machine = Machine::of_copies(changed, self.acting.clone(), Model::Tso);
        let replay = replay_on(&machine, &steps).ok()?;
        let cycle = cycle(&replay.trace, self.attacker_position(), steps.len() - store);
        Some(Self { instance_minimal: false, shortest: false, steps, issue, load, store, replay, cycle, ..self })
    }
}

/// The steps of a program in one with more measures.
struct Following<'p> {
    program: &'p Program,
    changed: &'p Program,
    copies: BTreeMap<CopyId, Copy>,
    /// The steps in the changed program.
    steps: Vec<Step>,
}

/// What has become of a step.
enum Followed {
    /// It is the step with this number.
    At(usize),
    /// It flushes what an exchange has stored already.
    AlreadyStored,
}

/// Where a copy is.
struct Copy {
    /// Its label in the changed program.
    label: LabelId,
    /// For each store in its buffer in the program without the changes, whether it is there in the
    /// other one, too.
    buffered: VecDeque<bool>,
}

impl Following<'_> {
    /// Takes a step, after the fences before it; nothing when control does not lead there.
    fn follow(&mut self, step: Step) -> Option<Followed> {
        let thread = self.changed.thread(step.copy.thread);
        let start = || Copy { label: thread.initial, buffered: VecDeque::new() };
        let copy = self.copies.entry(step.copy).or_insert_with(start);
        match step.kind {
            StepKind::Flush if !copy.buffered.pop_front()? => return Some(Followed::AlreadyStored),
            StepKind::Flush => {}
            // Not under TSO.
            StepKind::FlushAddress(_) => return None,
            StepKind::Execute { instruction, .. } | StepKind::Crowd { instruction, .. } => {
                let executed = thread.instruction(instruction);
                while copy.label != executed.source {
                    let fence = fence_at(thread, copy.label)?;
                    let kind = StepKind::Execute { instruction: fence, chosen: None };
                    self.steps.push(Step { copy: step.copy, kind });
                    copy.label = thread.instruction(fence).target;
                }
                copy.label = executed.target;
                let before = &self.program.thread(step.copy.thread).instruction(instruction).action;
                if matches!(before, Action::Store { .. }) {
                    copy.buffered.push_back(matches!(executed.action, Action::Store { .. }));
                }
            }
        }
        self.steps.push(step);
        Some(Followed::At(self.steps.len() - 1))
    }
}

/// The fence at a label where nothing else stands.
fn fence_at(thread: &Thread, label: LabelId) -> Option<InstructionId> {
    let mut here = thread.instruction_ids().filter(|(_, instruction)| instruction.source == label);
    here.next().filter(|(_, instruction)| instruction.action == Action::Fence).map(|(id, _)| id)
}
