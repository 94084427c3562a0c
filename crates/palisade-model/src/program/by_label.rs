//! The instructions of a thread by the labels that they stand at or lead to, in one table.

use super::ids::{InstructionId, LabelId};
use super::instruction::Instruction;
use std::ops::Index;

/// For each label of a thread, instructions in text order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByLabel {
    /// Where the instructions of each label end in the table; those of the first begin at its
    /// start.
    ends: Vec<u32>,
    /// The instructions of all labels, label by label.
    instructions: Vec<InstructionId>,
}

impl ByLabel {
    /// The instructions by one of their two labels.
    pub(super) fn of(labels: usize, instructions: &[Instruction], label: impl Fn(&Instruction) -> LabelId) -> Self {
        let mut ends = vec![0u32; labels + 1];
        for instruction in instructions {
            ends[label(instruction).index() + 1] += 1;
        }
        for index in 1..=labels {
            ends[index] += ends[index - 1];
        }
        // Each entry is now where the instructions of its label begin, and ends where those of the
        // next one do.
        let mut table = vec![InstructionId::from_index(0); instructions.len()];
        for (index, instruction) in instructions.iter().enumerate() {
            let next = &mut ends[label(instruction).index()];
            table[*next as usize] = InstructionId::from_index(index);
            *next += 1;
        }
        ends.truncate(labels);
        Self { ends, instructions: table }
    }

    /// How many labels there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no label.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The instructions of a label; nothing where there is no such label.
    #[inline]
    pub fn get(&self, label: usize) -> Option<&[InstructionId]> {
        let end = *self.ends.get(label)? as usize;
        let start = label.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        Some(&self.instructions[start..end])
    }

    /// The instructions of each label, in the order of labels.
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[InstructionId]> + DoubleEndedIterator {
        (0..self.len()).map(|label| &self[label])
    }
}

impl Index<usize> for ByLabel {
    type Output = [InstructionId];

    #[inline]
    fn index(&self, label: usize) -> &[InstructionId] {
        self.get(label).expect("the thread has the label")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Action;
    use crate::text::Span;

    #[test]
    fn instructions_are_grouped_in_text_order() {
        let from_to = |source, target| {
            Instruction::new(LabelId::from_index(source), LabelId::from_index(target), Action::Nop, Span::default())
        };
        let instructions = [from_to(2, 0), from_to(0, 2), from_to(2, 2), from_to(0, 3)];
        let numbers = |table: &ByLabel| -> Vec<Vec<usize>> {
            table.iter().map(|own| own.iter().map(|id| id.index()).collect()).collect()
        };
        let at = ByLabel::of(4, &instructions, |own| own.source);
        assert_eq!(numbers(&at), [vec![1, 3], vec![], vec![0, 2], vec![]]);
        let to = ByLabel::of(4, &instructions, |own| own.target);
        assert_eq!(numbers(&to), [vec![0], vec![], vec![1, 2], vec![3]]);
        assert_eq!(at.get(4), None);
    }
}
