//! A set of registers for each label of a thread, as analyses of control flow make them, in one
//! table of bits.

use super::{Instruction, LabelId, RegisterId, Thread};

/// Bits in a word.
const BITS: usize = u64::BITS as usize;

/// A set of registers for each label of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterSets {
    labels: usize,
    /// How many words a set has.
    stride: usize,
    /// The sets, label by label.
    words: Vec<u64>,
}

impl RegisterSets {
    /// An empty set for each label.
    #[inline]
    pub fn empty(thread: &Thread) -> Self {
        let (labels, stride) = (thread.labels.len(), thread.registers.len().div_ceil(BITS));
        Self { labels, stride, words: vec![0; labels * stride] }
    }

    /// How many labels there are.
    pub fn labels(&self) -> usize {
        self.labels
    }

    /// Whether a register is in the set of a label.
    #[inline]
    pub fn contains(&self, label: LabelId, register: RegisterId) -> bool {
        let (word, bit) = self.place(label, register);
        self.words[word] & bit != 0
    }

    /// Adds a register to the set of a label; whether it is new there.
    #[inline]
    pub fn insert(&mut self, label: LabelId, register: RegisterId) -> bool {
        let (word, bit) = self.place(label, register);
        let is_new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        is_new
    }

    /// The registers in the set of a label, ascending.
    #[inline]
    pub fn at(&self, label: LabelId) -> impl Iterator<Item = RegisterId> + '_ {
        let words = &self.words[label.index() * self.stride..][..self.stride];
        words.iter().enumerate().flat_map(|(number, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                Some(RegisterId::from_index(number * BITS + bit))
            })
        })
    }

    /// Adds to the set before an instruction what is in the set after it and is not written by the
    /// instruction; whether that is more.
    #[inline]
    pub fn flow_back(&mut self, instruction: &Instruction) -> bool {
        let (source, target) = (instruction.source.index() * self.stride, instruction.target.index() * self.stride);
        let written = instruction.action.written_register().map(RegisterId::index);
        let mut grew = false;
        for number in 0..self.stride {
            let mut flowing = self.words[target + number];
            if let Some(written) = written.filter(|written| written / BITS == number) {
                flowing &= !(1 << (written % BITS));
            }
            grew |= flowing & !self.words[source + number] != 0;
            self.words[source + number] |= flowing;
        }
        grew
    }

    /// Adds to the set before an instruction what the instruction reads; whether that is more.
    #[inline]
    pub fn add_read(&mut self, instruction: &Instruction) -> bool {
        let mut grew = false;
        for expression in instruction.expressions() {
            expression.for_each_register(&mut |register| grew |= self.insert(instruction.source, register));
        }
        grew
    }

    #[inline]
    fn place(&self, label: LabelId, register: RegisterId) -> (usize, u64) {
        (label.index() * self.stride + register.index() / BITS, 1 << (register.index() % BITS))
    }
}
