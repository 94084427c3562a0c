//! Store buffers and queues of snapshots, hash-consed, and the orders in which models let stores
//! reach memory.

use crate::lazy::Interner;
use palisade_evidence::BufferEntry;
use palisade_model::program::Value;
use palisade_semantics::Model;
use smallvec::SmallVec;

/// When a store reaches memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// At once.
    Sc,
    /// After all older stores of its thread.
    Tso,
    /// After all older stores of its thread to its address, and those before a mark.
    Pso,
    /// At once, and the loads that overtake it under TSO lag behind on snapshots of memory.
    Snapshots,
    /// At once; a buffer notes what a thread has stored since it last drained its buffer. This is
    /// how races are sought.
    Noted,
}

impl Order {
    /// Whether every store reaches memory at once.
    pub(super) fn is_interleaving(self) -> bool {
        matches!(self, Self::Sc | Self::Noted)
    }
}

impl From<Model> for Order {
    fn from(model: Model) -> Self {
        match model {
            Model::Sc => Self::Sc,
            Model::Tso => Self::Tso,
            Model::Pso => Self::Pso,
        }
    }
}

/// A store that can reach memory next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flush {
    /// Its position in the buffer.
    pub(crate) index: u32,
    /// Its address.
    pub(crate) address: Value,
    /// Its value.
    pub(crate) value: Value,
    /// The number of the buffer without it.
    pub(crate) rest: u32,
}

/// The table of buffers. Number 0 is the empty one.
///
/// Under PSO the order of stores to different addresses has no meaning where no mark stands between
/// them. So stores between two marks are ascending by address, those to one address oldest first;
/// and no mark stands first or next to another.
#[derive(Clone, Debug)]
pub struct Buffers {
    order: Order,
    table: Interner<Box<[BufferEntry]>>,
}

impl Buffers {
    /// The number of the empty buffer.
    pub const EMPTY: u32 = 0;

    /// The table with the empty buffer.
    pub(crate) fn new(order: Order) -> Self {
        let mut table = Interner::default();
        table.intern(Box::default());
        Self { order, table }
    }

    /// The entries of a buffer, oldest first.
    pub fn entries(&self, buffer: u32) -> &[BufferEntry] {
        self.table.get(buffer)
    }

    /// How many stores wait in a buffer.
    pub(crate) fn stores(&self, buffer: u32) -> usize {
        self.entries(buffer).iter().filter(|entry| matches!(entry, BufferEntry::Store(..))).count()
    }

    /// The value that the thread itself sees at an address, if it comes from the buffer.
    pub fn youngest(&self, buffer: u32, address: Value) -> Option<Value> {
        if self.order == Order::Noted {
            return None;
        }
        self.entries(buffer).iter().rev().find_map(|entry| match entry {
            BufferEntry::Store(of, value) if *of == address => Some(*value),
            _ => None,
        })
    }

    /// How many snapshots a queue has.
    pub(super) fn snapshots(&self, queue: u32) -> usize {
        self.entries(queue).iter().filter(|entry| matches!(entry, BufferEntry::Snapshot(_))).count()
    }

    /// The number of a buffer or queue with these entries.
    pub(super) fn intern(&mut self, entries: &[BufferEntry]) -> u32 {
        self.table.intern(entries.into()).0
    }

    /// The buffer after one more store.
    pub(crate) fn push(&mut self, buffer: u32, address: Value, value: Value) -> u32 {
        let mut longer = self.entries(buffer).to_vec();
        let is_before = |entry: &BufferEntry| match entry {
            BufferEntry::Mark | BufferEntry::Snapshot(_) => true,
            BufferEntry::Store(of, _) => self.order != Order::Pso || *of <= address,
        };
        let end = longer.iter().rposition(is_before).map_or(0, |last| last + 1);
        longer.insert(end, BufferEntry::Store(address, value));
        self.table.intern(longer.into()).0
    }

    /// The buffer after one more mark.
    pub(crate) fn mark(&mut self, buffer: u32) -> u32 {
        let entries = self.entries(buffer);
        if matches!(entries.last(), None | Some(BufferEntry::Mark)) {
            return buffer;
        }
        let longer = [entries, &[BufferEntry::Mark]].concat();
        self.table.intern(longer.into()).0
    }

    /// The note after one more store: the address that all stores so far went to, or that there
    /// were several.
    pub(super) fn note(&mut self, note: u32, address: Value) -> u32 {
        let entry = match self.entries(note) {
            [] => BufferEntry::Store(address, 0),
            [BufferEntry::Store(other, _)] if *other == address => return note,
            _ => BufferEntry::Mark,
        };
        self.table.intern(Box::new([entry])).0
    }

    /// Whether a note tells of a store to another address than this one.
    pub(super) fn notes_another(&self, note: u32, address: Value) -> bool {
        match self.entries(note) {
            [] => false,
            [BufferEntry::Store(other, _)] => *other != address,
            _ => true,
        }
    }

    /// The stores of a buffer that can reach memory next.
    pub(crate) fn flushes(&mut self, buffer: u32) -> SmallVec<[Flush; 2]> {
        let entries: SmallVec<[BufferEntry; 8]> = SmallVec::from_slice(self.entries(buffer));
        let mut flushes: SmallVec<[Flush; 2]> = SmallVec::new();
        for (entry, index) in entries.iter().zip(0..) {
            let BufferEntry::Store(address, value) = *entry else { break };
            if flushes.iter().any(|older| older.address == address || self.order != Order::Pso) {
                continue;
            }
            let mut rest = entries.to_vec();
            rest.remove(index as usize);
            if rest.first() == Some(&BufferEntry::Mark) {
                rest.remove(0);
            }
            let rest = self.table.intern(rest.into()).0;
            flushes.push(Flush { index, address, value, rest });
        }
        flushes
    }
}
