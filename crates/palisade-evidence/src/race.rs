//! Evidence that a program has a triangular race.
//!
//! That it has none is shown by a [`BufferInvariant`](crate::BufferInvariant) under SC, in which a
//! buffer is a note of what the thread has stored since it last drained its buffer: nothing,
//! `[address, 0]` when all those stores were to one address, or a mark when they were to several.
//! CERTIFICATE.md states the semantics in full.

use palisade_semantics::{Instance, Step};

/// A computation under SC that ends in a triangular race.
///
/// One of its steps is a load by a thread copy that has stored to another address since its last
/// instruction that drains the buffer. What follows are steps of one other copy, the last of which
/// stores to the address that was loaded: this step alone, or a `lock` and the section as far as
/// that step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaceWitness {
    /// How many copies of each thread run: as many as the program says where it says so.
    pub instance: Instance,
    /// The computation.
    pub steps: Vec<Step>,
    /// The load, by its index.
    pub load_step: usize,
}
