//! Stores that need not be delayed, and stores that need not be made.
//!
//! *Dead delay*: when no load can be executed after a store before the buffer is drained, nothing
//! that the thread does while the store is buffered depends on memory. Its steps in between can
//! wait until the store reaches memory, so a store into an empty buffer reaches memory at once.
//!
//! *Silent store*: where only one copy of one thread writes an address, and it stores the value
//! that it sees there, memory at this address is the same before and after this store reaches it,
//! and nobody can tell whether it does.

use super::buffer::Order;
use super::range::Range;
use super::slice::addresses_of;
use super::values::Values;
use fixedbitset::FixedBitSet;
use palisade_model::program::{Action, Copies, Program, Thread, ThreadId, Value};
use std::collections::BTreeSet;

/// For each thread, the labels from which an access that a delayed store can be overtaken by is
/// executed before a drain.
pub(crate) fn overtaking_labels(program: &Program, order: Order) -> Vec<FixedBitSet> {
    program.threads.iter().map(|thread| overtaking(thread, order)).collect()
}

fn overtaking(thread: &Thread, order: Order) -> FixedBitSet {
    let mut found = FixedBitSet::with_capacity(thread.labels.len());
    let mut grew = true;
    while grew {
        grew = false;
        for instruction in thread.instructions.iter().rev() {
            let overtakes = match instruction.action {
                Action::Load { .. } => order != Order::Sc,
                Action::Store { .. } => order == Order::Pso,
                _ => false,
            };
            let goes_on = !instruction.action.drains_buffer() && found.contains(instruction.target.index());
            if (overtakes || goes_on) && !found.put(instruction.source.index()) {
                grew = true;
            }
        }
    }
    found
}

/// Addresses that are candidates for silent stores are sought in accesses to no more addresses than
/// this.
const MOST_ADDRESSES: u128 = 256;

/// The addresses that one copy of one thread writes, and nobody else.
pub fn single_writer_addresses(program: &Program, bounds: Option<&Values<'_>>) -> BTreeSet<Value> {
    let mut written: Vec<(ThreadId, Range)> = Vec::new();
    for (id, thread) in program.thread_ids().filter(|(_, thread)| thread.copies != Copies::Exactly(0)) {
        for instruction in &thread.instructions {
            if let Action::Store { address, .. } | Action::Cas { address, .. } | Action::Rmw { address, .. } =
                &instruction.action
            {
                written.push((id, addresses_of(bounds, id, address)));
            }
        }
    }
    let has_one_writer = |address: &Value| {
        let by_whom = written.iter().filter(|(_, addresses)| addresses.contains(i128::from(*address)));
        let mut writers = by_whom.map(|(thread, _)| *thread);
        let Some(first) = writers.next() else { return false };
        program.thread(first).copies == Copies::Exactly(1) && writers.all(|writer| writer == first)
    };
    let few = written.iter().map(|(_, addresses)| addresses).filter(|addresses| addresses.count() <= MOST_ADDRESSES);
    few.flat_map(Range::values).filter(has_one_writer).collect()
}
