//! Fences put into threads.

use super::{Action, ByLabel, Instruction, InstructionId, Label, LabelId, Thread};
use rustc_hash::FxHashSet;
use smol_str::SmolStr;

/// What follows the name of a label in that of a fresh one behind its fence.
const FENCED: &str = "_fenced";

/// Fences put into one thread, one after the other.
#[derive(Debug)]
pub struct Insertion {
    /// What stood at its labels at first.
    at_first: ByLabel,
    /// The fence put in last at each of these labels: what stands there now, where there is one.
    fences: Vec<Option<InstructionId>>,
    /// The names of its labels that a fresh one may meet.
    names: FxHashSet<SmolStr>,
}

impl Insertion {
    /// A thread into which no fence was put yet.
    pub fn of(thread: &Thread) -> Self {
        let names = thread.labels.iter().map(|label| &label.name).filter(|name| is_like_fresh(name)).cloned().collect();
        Self { at_first: thread.instructions_by_label(), fences: vec![None; thread.labels.len()], names }
    }

    /// Puts a fence at one of the labels that the thread had at first: the instructions there move
    /// to a fresh label, which the fence leads to [ESOP13, §7]. Instructions keep their numbers;
    /// fences come after them.
    pub fn insert(&mut self, thread: &mut Thread, label: LabelId, fence: Action) {
        let moved = LabelId::from_index(thread.labels.len());
        let Label { name, span, naming, .. } = thread.label(label);
        let (mut name, mut span, naming) = ([name.as_str(), FENCED].concat(), *span, naming.clone());
        while self.names.contains(name.as_str()) {
            name.push('_');
        }
        let name = SmolStr::from(name);
        self.names.insert(name.clone());
        // For people it is still where it was.
        thread.labels.push(Label { naming, ..Label::new(name, span) });
        let before = self.fences[label.index()].replace(InstructionId::from_index(thread.instructions.len()));
        for id in before.as_ref().map_or(&self.at_first[label.index()], std::slice::from_ref) {
            let instruction = &mut thread.instructions[id.index()];
            instruction.source = moved;
            span = instruction.span;
        }
        thread.instructions.push(Instruction::new(label, moved, fence, span));
    }
}

/// Whether a name is of the form of fresh ones. Most names are told apart by their last letter.
fn is_like_fresh(name: &str) -> bool {
    matches!(name.as_bytes().last(), Some(b'd' | b'_')) && name.trim_end_matches('_').ends_with(FENCED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_name_is_like_fresh_ones() {
        for name in ["a_fenced", "a_fenced_fenced__", "_fenced", "ä_fenced_"] {
            assert!(is_like_fresh(name), "{name}");
        }
        for name in ["", "a", "fenced", "a_fence", "_fenced_a", "d", "__"] {
            assert!(!is_like_fresh(name), "{name}");
        }
    }
}
