//! When the stores of a buffer reach memory: what makes TSO and PSO different.
//!
//! Under TSO the oldest store of a thread reaches memory next. Under PSO any store may that is the
//! oldest one to its address and has no mark of `sfence` before it.

use super::machine::{Model, ThreadState};
use super::step::{Refusal, StepKind};
use palisade_model::program::Value;
use smallvec::SmallVec;

impl Model {
    /// Whether stores wait in buffers.
    pub fn has_buffers(self) -> bool {
        self != Self::Sc
    }

    /// Whether `sfence` marks the buffer.
    pub(super) fn has_marks(self) -> bool {
        self == Self::Pso
    }

    /// The flushes that a thread may take, with the index in its buffer of the store that reaches
    /// memory.
    #[inline]
    pub(super) fn flushes(self, thread: &ThreadState) -> SmallVec<[(StepKind, usize); 4]> {
        if self == Self::Pso {
            return thread
                .flushable_stores()
                .map(|(index, address)| (StepKind::FlushAddress(address), index))
                .collect();
        }
        (!thread.buffer.is_empty()).then_some((StepKind::Flush, 0)).into_iter().collect()
    }

    /// The index in the buffer of the store that reaches memory by the flush of a buffer (TSO), or
    /// of that of an address (PSO).
    pub(super) fn flushed(self, thread: &ThreadState, address: Option<Value>) -> Result<usize, Refusal> {
        match (self, address) {
            (Self::Pso, None) => Err(Refusal::FlushesByAddress),
            (Self::Sc | Self::Tso, Some(_)) => Err(Refusal::FlushesInOrder),
            (_, None) if thread.buffer.is_empty() => Err(Refusal::BufferEmpty),
            (_, None) => Ok(0),
            (Self::Pso, Some(address)) => {
                let waits = || thread.buffer.iter().any(|store| store.0 == address);
                let refusal = || if waits() { Refusal::BehindMark } else { Refusal::BufferEmpty };
                thread.flushable(address).ok_or_else(refusal)
            }
        }
    }
}

impl ThreadState {
    /// The index in the buffer of the store that reaches memory when the buffer of an address is
    /// flushed under PSO: the oldest one to this address, unless a mark stands before it.
    pub fn flushable(&self, address: Value) -> Option<usize> {
        self.buffer[..self.before_marks()].iter().position(|store| store.0 == address)
    }

    /// The addresses whose buffers can be flushed under PSO, in the order of their oldest stores.
    #[inline]
    pub fn flushable_addresses(&self) -> SmallVec<[Value; 4]> {
        self.flushable_stores().map(|(_, address)| address).collect()
    }

    /// The oldest store to each address that no mark stands before, by its index in the buffer.
    #[inline]
    fn flushable_stores(&self) -> impl Iterator<Item = (usize, Value)> {
        let stores = &self.buffer[..self.before_marks()];
        let is_oldest = |(index, store): &(usize, &(Value, Value))| stores[..*index].iter().all(|it| it.0 != store.0);
        stores.iter().enumerate().filter(is_oldest).map(|(index, store)| (index, store.0))
    }

    /// How many stores stand before all marks.
    fn before_marks(&self) -> usize {
        self.marks.first().unwrap_or(self.buffer.len())
    }

    /// Takes a store out of the buffer: one that [`Model::flushed`] has given.
    pub(super) fn leaves(&mut self, index: usize) {
        self.buffer.remove(index);
        self.marks.store_leaves();
    }
}
