//! Store buffers, hash-consed, and the orders in which models let stores reach memory.

use crate::exploration::Interner;
use palisade_evidence::BufferEntry;
use palisade_model::program::Value;
use palisade_model::semantics::Model;
use smallvec::SmallVec;

/// When a store reaches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// At once.
    Sc,
    /// After all older stores of its thread.
    Tso,
}

impl From<Model> for Order {
    fn from(model: Model) -> Self {
        match model {
            Model::Sc => Self::Sc,
            Model::Tso => Self::Tso,
        }
    }
}

/// A store that can reach memory next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flush {
    /// Its position in the buffer.
    pub(super) index: u32,
    /// Its address.
    pub(super) address: Value,
    /// Its value.
    pub(super) value: Value,
    /// The number of the buffer without it.
    pub(super) rest: u32,
}

/// The table of buffers. Number 0 is the empty one.
#[derive(Clone, Debug)]
pub(super) struct Buffers {
    table: Interner<Box<[BufferEntry]>>,
}

impl Buffers {
    /// The number of the empty buffer.
    pub(super) const EMPTY: u32 = 0;

    /// The table with the empty buffer.
    pub(super) fn new() -> Self {
        let mut table = Interner::default();
        table.intern(Box::default());
        Self { table }
    }

    /// The entries of a buffer, oldest first.
    pub(super) fn entries(&self, buffer: u32) -> &[BufferEntry] {
        self.table.get(buffer)
    }

    /// How many stores wait in a buffer.
    pub(super) fn stores(&self, buffer: u32) -> usize {
        self.entries(buffer).iter().filter(|entry| matches!(entry, BufferEntry::Store(..))).count()
    }

    /// The value that the thread itself sees at an address, if it comes from the buffer.
    pub(super) fn youngest(&self, buffer: u32, address: Value) -> Option<Value> {
        self.entries(buffer).iter().rev().find_map(|entry| match entry {
            BufferEntry::Store(of, value) if *of == address => Some(*value),
            _ => None,
        })
    }

    /// The buffer after one more store.
    pub(super) fn push(&mut self, buffer: u32, address: Value, value: Value) -> u32 {
        let longer = [self.entries(buffer), &[BufferEntry::Store(address, value)]].concat();
        self.table.intern(longer.into()).0
    }

    /// The stores of a buffer that can reach memory next.
    pub(super) fn flushes(&mut self, buffer: u32) -> SmallVec<[Flush; 2]> {
        let entries = self.entries(buffer);
        let first = entries.iter().zip(0..).find_map(|(entry, index)| match entry {
            BufferEntry::Store(address, value) => Some((index, *address, *value)),
            BufferEntry::Mark => None,
        });
        let Some((index, address, value)) = first else { return SmallVec::new() };
        let rest = entries[index as usize + 1..].into();
        let rest = self.table.intern(rest).0;
        SmallVec::from_slice(&[Flush { index, address, value, rest }])
    }
}
