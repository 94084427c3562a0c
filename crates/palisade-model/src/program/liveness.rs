//! Live registers: a register that is not read before it is written again must not multiply states.

use super::{LabelId, RegisterId, RegisterSets, Thread, Value};

/// The registers of a thread that are live at each label: the least solution of
/// `live(source) ⊇ use(instruction) ∪ (live(target) ∖ def(instruction))` over all instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Liveness {
    live: RegisterSets,
}

impl Liveness {
    /// Solves the equations for a thread. It looks at an instruction again when more is live at its
    /// target: as often as the thread has registers at most.
    #[inline]
    pub fn of(thread: &Thread) -> Self {
        Self::with_observed_at(thread, &[], |_| false)
    }

    /// Like [`of`](Self::of), when these registers are looked at where the thread has come to its
    /// end, a label without instructions.
    #[inline]
    pub fn with_observed(thread: &Thread, observed: &[RegisterId]) -> Self {
        let by_label = thread.instructions_by_label();
        Self::with_observed_at(thread, observed, |label| by_label[label.index()].is_empty())
    }

    /// Like [`of`](Self::of), when all registers are looked at where the thread stands at some
    /// labels.
    pub fn observed_at(thread: &Thread, is_looked_at: impl Fn(LabelId) -> bool) -> Self {
        let all: Vec<RegisterId> = (0..thread.registers.len()).map(RegisterId::from_index).collect();
        Self::with_observed_at(thread, &all, is_looked_at)
    }

    fn with_observed_at(thread: &Thread, observed: &[RegisterId], is_looked_at: impl Fn(LabelId) -> bool) -> Self {
        let mut live = RegisterSets::empty(thread);
        if !observed.is_empty() {
            let looked_at = (0..thread.labels.len()).map(LabelId::from_index).filter(|label| is_looked_at(*label));
            for label in looked_at {
                observed.iter().for_each(|register| {
                    live.insert(label, *register);
                });
            }
        }
        thread.instructions.iter().for_each(|instruction| {
            live.add_read(instruction);
        });
        let to_label = thread.instructions_by_target();
        // Backwards, as most control flows forwards through the text: one pass, and then what has
        // changed since.
        let mut open: Vec<_> = thread.instruction_ids().map(|(id, _)| id).collect();
        while let Some(id) = open.pop() {
            let instruction = thread.instruction(id);
            if live.flow_back(instruction) {
                open.extend(&to_label[instruction.source.index()]);
            }
        }
        Self { live }
    }

    /// The number of labels.
    pub(super) fn labels(&self) -> usize {
        self.live.labels()
    }

    /// Whether the register is live at the label.
    #[inline]
    pub fn is_live(&self, label: LabelId, register: RegisterId) -> bool {
        self.live.contains(label, register)
    }

    /// The live registers at a label, ascending.
    #[inline]
    pub fn at(&self, label: LabelId) -> impl Iterator<Item = RegisterId> + '_ {
        self.live.at(label)
    }

    /// The live registers of each label.
    pub fn by_label(&self) -> Vec<Vec<RegisterId>> {
        (0..self.labels()).map(|label| self.at(LabelId::from_index(label)).collect()).collect()
    }

    /// Sets the dead registers of a valuation to 0.
    #[inline]
    pub fn forget_dead(&self, label: LabelId, registers: &mut [Value]) {
        for (index, value) in registers.iter_mut().enumerate() {
            if !self.is_live(label, RegisterId::from_index(index)) {
                *value = 0;
            }
        }
    }
}
