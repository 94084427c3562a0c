//! Random choices for programs that are written as texts.

/// Random numbers below a bound, from a seed.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % bound
    }

    /// One of so many places.
    pub(super) fn place(&mut self, length: usize) -> usize {
        let bound = u64::try_from(length).expect("few places");
        usize::try_from(self.below(bound)).expect("few places")
    }

    pub(super) fn one_of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.place(choices.len())]
    }
}
