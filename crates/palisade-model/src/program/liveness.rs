//! Live registers: a register that is not read before it is written again must not multiply states.

use super::{LabelId, RegisterId, Thread, Value};
use fixedbitset::FixedBitSet;

/// The registers of a thread that are live at each label: the least solution of
/// `live(source) ⊇ use(instruction) ∪ (live(target) ∖ def(instruction))` over all instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Liveness {
    live: Vec<FixedBitSet>,
}

impl Liveness {
    /// Solves the equations for a thread. It looks at an instruction again when more is live at its target: as often as the
    /// thread has registers at most.
    pub fn of(thread: &Thread) -> Self {
        Self::with_observed(thread, &[])
    }

    /// Like [`of`](Self::of), when these registers are looked at where the thread has come to its end, a label without
    /// instructions.
    pub fn with_observed(thread: &Thread, observed: &[RegisterId]) -> Self {
        let mut live = vec![FixedBitSet::with_capacity(thread.registers.len()); thread.labels.len()];
        let mut is_end = vec![true; thread.labels.len()];
        thread.instructions.iter().for_each(|instruction| is_end[instruction.source.index()] = false);
        for label in is_end.iter().zip(&mut live).filter(|(is_end, _)| **is_end).map(|(_, live)| live) {
            label.extend(observed.iter().map(|register| register.index()));
        }
        let mut to_label: Vec<Vec<u32>> = vec![Vec::new(); thread.labels.len()];
        for (number, instruction) in (0u32..).zip(&thread.instructions) {
            to_label[instruction.target.index()].push(number);
        }
        // Backwards, as most control flows forwards through the text.
        let mut open: Vec<u32> = (0u32..).take(thread.instructions.len()).collect();
        while let Some(number) = open.pop() {
            let instruction = &thread.instructions[number as usize];
            let mut wanted = live[instruction.target.index()].clone();
            if let Some(register) = instruction.action.written_register() {
                wanted.remove(register.index());
            }
            for expression in instruction.action.expressions() {
                expression.for_each_register(&mut |register| wanted.insert(register.index()));
            }
            let source = &mut live[instruction.source.index()];
            if !wanted.is_subset(source) {
                source.union_with(&wanted);
                open.extend(&to_label[instruction.source.index()]);
            }
        }
        Self { live }
    }

    /// The number of labels.
    pub(super) fn labels(&self) -> usize {
        self.live.len()
    }

    /// Whether the register is live at the label.
    pub fn is_live(&self, label: LabelId, register: RegisterId) -> bool {
        self.live[label.index()].contains(register.index())
    }

    /// The live registers at a label, ascending.
    pub fn at(&self, label: LabelId) -> impl Iterator<Item = RegisterId> + '_ {
        self.live[label.index()].ones().map(RegisterId::from_index)
    }

    /// The live registers of each label.
    pub fn by_label(&self) -> Vec<Vec<RegisterId>> {
        self.live.iter().map(|live| live.ones().map(RegisterId::from_index).collect()).collect()
    }

    /// Sets the dead registers of a valuation to 0.
    pub fn forget_dead(&self, label: LabelId, registers: &mut [Value]) {
        let live = &self.live[label.index()];
        for (index, value) in registers.iter_mut().enumerate() {
            if !live.contains(index) {
                *value = 0;
            }
        }
    }
}
