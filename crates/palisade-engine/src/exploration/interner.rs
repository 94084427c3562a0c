//! Hash-consing: equal values get one number.

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::{BuildHasher, Hash};

/// A table of distinct values, numbered in order of insertion.
#[derive(Clone, Debug)]
pub struct Interner<T> {
    values: Vec<T>,
    numbers: Numbers,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self { values: Vec::new(), numbers: Numbers::default() }
    }
}

impl<T: Hash + Eq> Interner<T> {
    /// The number of a value, and whether it is new.
    pub fn intern(&mut self, value: T) -> (u32, bool) {
        let hash = FxBuildHasher.hash_one(&value);
        if let Some(number) = self.numbers.find(hash, |number| self.values[number as usize] == value) {
            return (number, false);
        }
        let number = u32::try_from(self.values.len()).expect("fewer than 2^32 distinct values fit in memory");
        self.values.push(value);
        self.numbers.insert(hash, number);
        (number, true)
    }

    /// The value with a number.
    pub fn get(&self, number: u32) -> &T {
        &self.values[number as usize]
    }

    /// All values, in the order of their numbers.
    pub fn into_values(self) -> Vec<T> {
        self.values
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

/// Numbers by the hashes of what they number. Half of its hash is kept beside each, so that to make room takes no look at the
/// values; and so a compiler translates that once, not for each type of them.
#[derive(Clone, Debug, Default)]
struct Numbers {
    table: HashTable<Numbered>,
}

#[derive(Clone, Copy, Debug)]
struct Numbered {
    hash: u32,
    number: u32,
}

impl Numbers {
    /// The number with this hash that is meant.
    fn find(&self, hash: u64, mut is_meant: impl FnMut(u32) -> bool) -> Option<u32> {
        let hash = half(hash);
        let found = self.table.find(spread(hash), |known| known.hash == hash && is_meant(known.number));
        found.map(|found| found.number)
    }

    /// Adds a number that is not there.
    fn insert(&mut self, hash: u64, number: u32) {
        let hash = half(hash);
        self.table.insert_unique(spread(hash), Numbered { hash, number }, |known| spread(known.hash));
    }
}

/// A hash of half the size.
#[expect(clippy::cast_possible_truncation, reason = "the other half is mixed in")]
fn half(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
}

/// A hash for the table, which looks at the lowest and at the highest bits.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_one_hash_are_told_apart() {
        let mut numbers = Numbers::default();
        for number in 0..1_000 {
            assert_eq!(numbers.find(7, |known| known == number), None);
            numbers.insert(7, number);
        }
        assert!((0..1_000).all(|number| numbers.find(7, |known| known == number) == Some(number)));
        assert_eq!(numbers.find(8, |_| true), None);
    }
}
