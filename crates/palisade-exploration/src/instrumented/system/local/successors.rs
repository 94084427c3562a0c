//! Where local instructions lead.

use palisade_model::program::{RegisterId, Value};
use std::ops::RangeInclusive;

/// The register valuations after a local instruction, made one by one: there are as many as the
/// domain has values where any may be chosen.
#[derive(Clone, Debug)]
pub struct LocalSuccessors {
    /// The registers, but for one.
    pub(super) before: Box<[Value]>,
    /// The register that takes all the values; where there is none, each value stands for the
    /// registers as they are.
    pub(super) register: Option<RegisterId>,
    pub(super) values: RangeInclusive<Value>,
}

impl LocalSuccessors {
    /// One valuation.
    pub(super) fn one(registers: Box<[Value]>) -> Self {
        Self { before: registers, register: None, values: 0..=0 }
    }

    /// None.
    pub(super) fn none() -> Self {
        Self { before: Box::default(), register: None, values: RangeInclusive::new(1, 0) }
    }

    /// Whether there is none left.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The valuation with a value. The last one takes the registers themselves.
    fn with(&mut self, value: Value) -> Box<[Value]> {
        let mut registers = if self.values.is_empty() { std::mem::take(&mut self.before) } else { self.before.clone() };
        if let Some(register) = self.register {
            registers[register.index()] = value;
        }
        registers
    }
}

impl Iterator for LocalSuccessors {
    type Item = Box<[Value]>;

    fn next(&mut self) -> Option<Box<[Value]>> {
        let value = self.values.next()?;
        Some(self.with(value))
    }
}

impl DoubleEndedIterator for LocalSuccessors {
    fn next_back(&mut self) -> Option<Box<[Value]>> {
        let value = self.values.next_back()?;
        Some(self.with(value))
    }
}
