//! What happens-before leads to from a store that waits in a buffer.
//!
//! Happens-before grows with a computation. A new access comes behind all others; an edge into an
//! older one arises only when a buffered store reaches memory: from the store that was the last one
//! at its address, and from those that read that. So a cycle closes exactly when a store reaches
//! memory and a path leads from it to one of these. [`Reach`] has, for each buffered store, what
//! paths lead to among all that can still get outgoing edges: the last nodes of threads, posts
//! whose tasks have not begun, and at each address the last store and its readers.

use super::Level;
use crate::tasks::InvocationId;
use palisade_model::ordered::CollectOrdered;
use palisade_model::program::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::iter;

/// A thread: the main one, or that of an invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Line {
    /// The main thread.
    Main,
    /// A thread of its own.
    Own(InvocationId),
}

/// A buffered store, by its number in order of issue.
pub(super) type StoreId = usize;

/// What paths lead to from one buffered store.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    /// The store's thread.
    pub line: Line,
    /// Its address.
    address: Value,
    /// The threads whose last node is reached.
    pub lines: BTreeSet<Line>,
    /// Posts whose tasks have not begun.
    pub posts: BTreeSet<InvocationId>,
    /// Addresses: the last store (`Write`), or only reads of it (`Read`).
    pub memory: BTreeMap<Value, Level>,
    /// Other buffered stores (`Write`), or only reads of them by their own threads (`Read`).
    pub stores: BTreeMap<StoreId, Level>,
}

/// What paths lead to from all buffered stores.
#[derive(Clone, Debug, Default)]
pub(super) struct Reach {
    /// The buffered stores.
    pub waiting: BTreeMap<StoreId, Waiting>,
    /// How many stores have been issued.
    issued: usize,
    /// Whether a cycle has been closed.
    pub is_cyclic: bool,
}

fn raise<K: Ord>(levels: &mut BTreeMap<K, Level>, at: K, level: Level) {
    levels.entry(at).and_modify(|before| *before = level.max(*before)).or_insert(level);
}

impl Reach {
    /// A thread reads from memory and writes to it, all at once. What it writes comes behind the
    /// last store and its readers.
    pub(super) fn access(&mut self, line: Line, reads: &BTreeSet<Value>, writes: &BTreeSet<Value>) {
        for waiting in self.waiting.values_mut() {
            let is_reached = waiting.lines.contains(&line)
                || reads.iter().any(|address| waiting.memory.get(address) == Some(&Level::Write))
                || writes.iter().any(|address| waiting.memory.contains_key(address));
            waiting.memory.retain(|address, _| !writes.contains(address));
            if is_reached {
                waiting.lines.insert(line);
                reads.iter().for_each(|address| raise(&mut waiting.memory, *address, Level::Read));
                writes.iter().for_each(|address| raise(&mut waiting.memory, *address, Level::Write));
            }
        }
    }

    /// A thread issues a store.
    pub(super) fn issue(&mut self, line: Line, address: Value) {
        let id = self.issued;
        self.issued += 1;
        for waiting in self.waiting.values_mut().filter(|waiting| waiting.lines.contains(&line)) {
            waiting.stores.insert(id, Level::Write);
        }
        let (lines, posts) = (iter::once(line).collect_set(), BTreeSet::new());
        self.waiting
            .insert(id, Waiting { line, address, lines, posts, memory: BTreeMap::new(), stores: BTreeMap::new() });
    }

    /// A thread reads its own newest buffered store to an address.
    pub(super) fn read_early(&mut self, line: Line, address: Value) {
        let newest = self.waiting.iter().rev().find(|(_, it)| it.line == line && it.address == address);
        let source = *newest.expect("the thread has buffered a store there").0;
        for (id, waiting) in &mut self.waiting {
            if *id != source && waiting.lines.contains(&line) {
                raise(&mut waiting.stores, source, Level::Read);
            }
        }
    }

    /// The oldest store of a thread's buffer reaches memory.
    pub(super) fn flush(&mut self, line: Line) {
        let oldest = self.waiting.iter().find(|(_, it)| it.line == line).map(|(id, _)| *id);
        let id = oldest.expect("the thread has buffered a store");
        let flushed = self.waiting.remove(&id).expect("the store is there");
        let address = flushed.address;
        self.is_cyclic |= flushed.memory.contains_key(&address);
        for (other, waiting) in &mut self.waiting {
            let mut level = waiting.stores.remove(&id);
            // The store comes behind the last one at its address and behind what has read that.
            if waiting.memory.remove(&address).is_some() {
                level = Some(Level::Write);
                waiting.lines.extend(&flushed.lines);
                waiting.posts.extend(&flushed.posts);
                flushed.memory.iter().for_each(|(at, level)| raise(&mut waiting.memory, *at, *level));
                let others = flushed.stores.iter().filter(|(store, _)| *store != other);
                others.for_each(|(store, level)| raise(&mut waiting.stores, *store, *level));
            }
            if let Some(level) = level {
                waiting.memory.insert(address, level);
            }
        }
    }

    /// A thread posts a task.
    pub(super) fn post(&mut self, line: Line, task: InvocationId) {
        for waiting in self.waiting.values_mut().filter(|waiting| waiting.lines.contains(&line)) {
            waiting.posts.insert(task);
        }
    }

    /// A posted task begins on a thread.
    pub(super) fn begin(&mut self, line: Line, task: InvocationId) {
        for waiting in self.waiting.values_mut() {
            if waiting.posts.remove(&task) {
                waiting.lines.insert(line);
            }
        }
    }

    /// A thread has come to its end: nothing comes behind it in program order.
    pub(super) fn end(&mut self, line: Line) {
        for waiting in self.waiting.values_mut() {
            waiting.lines.remove(&line);
        }
    }
}
