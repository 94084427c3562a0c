//! States of the processor before and after an instruction, and random ones to start from.

use super::forms::Mode;

/// A flag that the reader models. `Less` is SF ≠ OF, which it keeps as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flag {
    Zero,
    Sign,
    Carry,
    Overflow,
    Less,
}

/// All flags with the instruction that shows them.
pub(super) const FLAGS: [(Flag, &str); 5] =
    [(Flag::Zero, "sete"), (Flag::Sign, "sets"), (Flag::Carry, "setb"), (Flag::Overflow, "seto"), (Flag::Less, "setl")];

impl Flag {
    /// The flag in the processor's register of flags.
    pub(super) fn of(self, flags: u64) -> bool {
        let bit = |number: u32| (flags >> number) & 1 == 1;
        match self {
            Self::Carry => bit(0),
            Self::Zero => bit(6),
            Self::Sign => bit(7),
            Self::Overflow => bit(11),
            Self::Less => bit(7) != bit(11),
        }
    }
}

/// The registers that a state has.
pub(super) const REGISTERS: [&str; 6] = ["rax", "rcx", "rdx", "rbx", "rsi", "r9"];

/// The registers, in the order of [`REGISTERS`], and the location's eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    pub(super) registers: [u64; 6],
    pub(super) memory: u64,
}

impl State {
    /// The state with what a mode cannot start with cut off.
    pub(super) fn for_mode(mut self, mode: Mode) -> Self {
        if mode != Mode::Wide {
            for register in &mut self.registers {
                *register &= 0xffff_ffff;
            }
        }
        self
    }
}

/// Random numbers, by SplitMix64.
pub(super) struct Random(pub(super) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One of the things given.
    fn choice(&mut self, among: &[u64]) -> Option<u64> {
        let count = u64::try_from(among.len()).ok().filter(|count| *count > 0)?;
        usize::try_from(self.next() % count).ok().map(|index| among[index])
    }

    /// The low bits of a random width.
    fn mask(&mut self) -> u64 {
        self.choice(&[0xff, 0xffff, 0xffff_ffff, u64::MAX]).expect("there are four")
    }

    /// A number that is often at a boundary, or equal in its low bits to one that was there before.
    fn number(&mut self, earlier: &[u64]) -> u64 {
        let boundary = (1u64 << (self.next() & 63)).wrapping_add(self.next() & 3).wrapping_sub(1);
        let (mask, copied) = (self.mask(), self.choice(earlier));
        match (self.next() & 7, copied) {
            (0, _) => self.next() & 3,
            (1, _) => boundary,
            (2, _) => boundary.wrapping_neg(),
            (3, _) => (self.next() & mask) ^ !mask,
            (4, Some(copied)) => copied,
            (5, Some(copied)) => (copied & mask) | (self.next() & !mask),
            // The low byte as the high one.
            (6, Some(copied)) => (self.next() & !0xff00) | ((copied & 0xff) << 8),
            _ => self.next(),
        }
    }

    /// A state.
    pub(super) fn state(&mut self) -> State {
        let mut numbers = Vec::with_capacity(7);
        for _ in 0..7 {
            let number = self.number(&numbers);
            numbers.push(number);
        }
        // Counts of shifts that matter.
        if self.next() & 1 == 0 {
            numbers[1] = (numbers[1] & !0xff) | (self.next() % 67);
        }
        // A location that equals the accumulator, or the low bits of it.
        if self.next().is_multiple_of(4) {
            let mask = self.mask();
            numbers[6] = (numbers[0] & mask) | (numbers[6] & !mask);
        }
        let mut registers = [0; 6];
        registers.copy_from_slice(&numbers[..6]);
        State { registers, memory: numbers[6] }
    }
}
