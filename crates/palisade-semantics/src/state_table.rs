//! The states that a search has found, by number.
//!
//! A state is a row of the numbers of its memory, of the holder of its lock and of what each copy
//! is, so that what states have in common is kept once.

use super::machine::{Memory, State, ThreadState};
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;
use std::hash::{BuildHasher, Hash};

/// A state by the numbers of its parts.
pub(super) type Row = SmallVec<[u32; 6]>;

/// Distinct parts, by number.
#[derive(Debug)]
struct Parts<T> {
    parts: Vec<T>,
    numbers: HashTable<u32>,
}

impl<T> Default for Parts<T> {
    fn default() -> Self {
        Self { parts: Vec::new(), numbers: HashTable::new() }
    }
}

impl<T: Clone + Eq + Hash> Parts<T> {
    fn number(&mut self, part: &T) -> u32 {
        let Self { parts, numbers } = self;
        let hash = FxBuildHasher.hash_one(part);
        if let Some(number) = numbers.find(hash, |number| parts[*number as usize] == *part) {
            return *number;
        }
        let number = small(parts.len());
        parts.push(part.clone());
        numbers.insert_unique(hash, number, |number| FxBuildHasher.hash_one(&parts[*number as usize]));
        number
    }
}

/// The states found, in the order in which they are.
#[derive(Debug, Default)]
pub(super) struct StateTable {
    memories: Parts<Memory>,
    threads: Parts<ThreadState>,
    /// The numbers in a row.
    width: usize,
    rows: Vec<u32>,
    numbers: HashTable<u32>,
}

impl StateTable {
    /// The row of a state.
    pub(super) fn row(&mut self, state: &State) -> Row {
        let mut row = Row::with_capacity(2 + state.threads().len());
        row.push(self.memories.number(&state.memory));
        row.push(state.holder().map_or(0, |position| small(position) + 1));
        row.extend(state.threads().iter().map(|thread| self.threads.number(thread)));
        row
    }

    /// The number of a row, if its state was found.
    pub(super) fn number(&self, row: &Row) -> Option<u32> {
        self.numbers.find(FxBuildHasher.hash_one(&row[..]), |number| self.row_at(*number) == &row[..]).copied()
    }

    /// Adds the state of a row; whether it is new.
    pub(super) fn insert(&mut self, row: &Row) -> bool {
        if self.number(row).is_some() {
            return false;
        }
        self.width = row.len();
        let number = small(self.len());
        self.rows.extend_from_slice(row);
        let (rows, width) = (&self.rows, self.width);
        let hash = |number: &u32| FxBuildHasher.hash_one(&rows[*number as usize * width..][..width]);
        self.numbers.insert_unique(hash(&number), number, hash);
        true
    }

    /// The state with a number.
    pub(super) fn state(&self, number: u32) -> State {
        let row = self.row_at(number);
        let threads = row[2..].iter().map(|thread| self.threads.parts[*thread as usize].clone()).collect();
        let holder = row[1].checked_sub(1).map(|position| position as usize);
        State { memory: self.memories.parts[row[0] as usize].clone(), holder, threads }
    }

    /// How many states were found.
    pub(super) fn len(&self) -> usize {
        self.rows.len().checked_div(self.width).unwrap_or(0)
    }

    fn row_at(&self, number: u32) -> &[u32] {
        &self.rows[number as usize * self.width..][..self.width]
    }
}

fn small(number: usize) -> u32 {
    u32::try_from(number).expect("fewer than 2^32 states fit in memory")
}
