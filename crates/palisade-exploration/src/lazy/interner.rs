//! Hash-consing: equal values get one number.

use super::numbers::Numbers;
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
