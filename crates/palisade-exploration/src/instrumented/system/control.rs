//! Controls: memory, lock and phase, hash-consed.

use crate::lazy::Interner;
use palisade_evidence::Level;
use palisade_model::program::{LabelId, ThreadId, Value};

/// A memory valuation: the addresses whose value differs from the initial one, sorted by address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Memory {
    /// `(address, value)`.
    pub changed: Vec<(Value, Value)>,
}

/// The attacker while it delays.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Attacker {
    /// Its thread.
    pub thread: ThreadId,
    /// Where it is.
    pub label: LabelId,
    /// Its registers, dead ones 0.
    pub registers: Box<[Value]>,
    /// The latest value buffered for each address, sorted by address (Eqs. 1, 3).
    pub buffer: Vec<(Value, Value)>,
    /// The address of st_A.
    pub store_address: Value,
}

/// What is known after ld_A.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Helped {
    /// The address of st_A.
    pub store_address: Value,
    /// Access levels, sorted by address.
    pub levels: Vec<(Value, Level)>,
    /// The accesses of the open section of a thread that has not joined, sorted by address.
    pub section: Vec<(Value, Level)>,
}

impl Helped {
    /// The level of an address.
    pub fn level(&self, address: Value) -> Option<Level> {
        level_of(&self.levels, address)
    }

    /// Whether the address of st_A has been accessed: the happens-before cycle is closed (Eq. 13).
    pub fn is_closed(&self) -> bool {
        self.level(self.store_address).is_some()
    }
}

fn level_of(levels: &[(Value, Level)], address: Value) -> Option<Level> {
    levels.binary_search_by_key(&address, |entry| entry.0).ok().map(|index| levels[index].1)
}

/// Raises the level of an address.
pub(crate) fn raise(levels: &mut Vec<(Value, Level)>, address: Value, level: Level) {
    match levels.binary_search_by_key(&address, |entry| entry.0) {
        Ok(index) => levels[index].1 = levels[index].1.max(level),
        Err(index) => levels.insert(index, (address, level)),
    }
}

/// The value of an address in a sorted list of pairs.
pub(crate) fn lookup(pairs: &[(Value, Value)], address: Value) -> Option<Value> {
    pairs.binary_search_by_key(&address, |pair| pair.0).ok().map(|index| pairs[index].1)
}

/// Sets the value of an address in a sorted list of pairs.
pub(crate) fn set(pairs: &mut Vec<(Value, Value)>, address: Value, value: Value) {
    match pairs.binary_search_by_key(&address, |pair| pair.0) {
        Ok(index) => pairs[index].1 = value,
        Err(index) => pairs.insert(index, (address, value)),
    }
}

/// The phase of a computation of the form of Fig. 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// τ1: everyone under SC.
    Sc,
    /// isu · τ2: the attacker (a number of the attacker table) delays its stores.
    Delayed(u32),
    /// τ3: helpers only (a number of the table of [`Helped`]).
    Helped(u32),
}

/// A control state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Control {
    /// A number of the memory table.
    pub memory: u32,
    /// Whether a locked section is open.
    pub locked: bool,
    /// The phase.
    pub phase: Phase,
}

/// The tables of controls and their parts.
#[derive(Clone, Debug, Default)]
pub(super) struct Controls {
    pub(super) memories: Interner<Memory>,
    pub(super) attackers: Interner<Attacker>,
    pub(super) helped: Interner<Helped>,
    pub(super) controls: Interner<Control>,
}
