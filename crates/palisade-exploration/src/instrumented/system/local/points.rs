//! Points of the local graph of one thread.

use crate::lazy::Numbers;
use palisade_model::program::{LabelId, Value};
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher as _;

/// Labels with as many registers each, numbered as they come. They stand in one row after the
/// other, so that millions of them are freed at once.
#[derive(Debug)]
pub(crate) struct Points {
    /// How many registers each has.
    registers: usize,
    /// A label, and then the registers.
    rows: Vec<Value>,
    numbers: Numbers,
}

impl Points {
    /// None, of a thread with so many registers.
    pub(crate) fn of(registers: usize) -> Self {
        Self { registers, rows: Vec::new(), numbers: Numbers::default() }
    }

    /// The number of a point, and whether it is new.
    ///
    /// # Panics
    ///
    /// If it has more or fewer registers than the others.
    pub(crate) fn intern(&mut self, label: LabelId, registers: &[Value]) -> (u32, bool) {
        assert_eq!(registers.len(), self.registers, "points of one thread have the same registers");
        let hash = FxBuildHasher.hash_one((label, registers));
        if let Some(number) = self.numbers.find(hash, |number| self.get(number) == (label, registers)) {
            return (number, false);
        }
        let number = u32::try_from(self.len()).expect("fewer than 2^32 points fit in memory");
        self.rows.push(Value::try_from(label.index()).expect("a label's number fits a value"));
        self.rows.extend_from_slice(registers);
        self.numbers.insert(hash, number);
        (number, true)
    }

    /// A point by its number.
    pub(crate) fn get(&self, number: u32) -> (LabelId, &[Value]) {
        let (label, registers) = self.rows[number as usize * (self.registers + 1)..][..=self.registers]
            .split_first()
            .expect("a row has a label");
        (LabelId::from_index(usize::try_from(*label).expect("it was an index")), registers)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len() / (self.registers + 1)
    }

    /// How many bytes the table takes more when the next point is new.
    pub(crate) fn growth(&self) -> usize {
        self.numbers.growth()
    }
}
