//! Fences put into threads.

use super::{Action, ByLabel, Instruction, InstructionId, Label, LabelId, Thread};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

/// Fences put into one thread, one after the other.
#[derive(Debug)]
pub struct Insertion {
    /// What stood at its labels at first.
    at_first: ByLabel,
    /// The fence put in last at a label: what stands there now, where there is one.
    fences: FxHashMap<LabelId, InstructionId>,
    /// The names of its labels.
    names: FxHashSet<SmolStr>,
}

impl Insertion {
    /// A thread into which no fence was put yet.
    pub fn of(thread: &Thread) -> Self {
        let names = thread.labels.iter().map(|label| label.name.clone()).collect();
        Self { at_first: thread.instructions_by_label(), fences: FxHashMap::default(), names }
    }

    /// Puts a fence at one of the labels that the thread had at first: the instructions there move to a fresh label, which the fence leads to [ESOP13, §7].
    /// Instructions keep their numbers; fences come after them.
    pub fn insert(&mut self, thread: &mut Thread, label: LabelId, fence: Action) {
        let moved = LabelId::from_index(thread.labels.len());
        let Label { name, span, .. } = thread.label(label);
        let (mut name, mut span) = ([name.as_str(), "_fenced"].concat(), *span);
        while self.names.contains(name.as_str()) {
            name.push('_');
        }
        let name = SmolStr::from(name);
        self.names.insert(name.clone());
        thread.labels.push(Label { name, span, fence_cost: None });
        let before = self.fences.insert(label, InstructionId::from_index(thread.instructions.len()));
        for id in before.as_ref().map_or(&self.at_first[label.index()], std::slice::from_ref) {
            let instruction = &mut thread.instructions[id.index()];
            instruction.source = moved;
            span = instruction.span;
        }
        thread.instructions.push(Instruction { source: label, target: moved, action: fence, span });
    }
}
