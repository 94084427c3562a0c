//! Controls: memory, lock and phase, hash-consed.

use crate::lazy::Interner;
use palisade_model::program::Value;

/// A memory valuation: the addresses whose value differs from the initial one, sorted by address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Memory {
    /// `(address, value)`.
    pub changed: Vec<(Value, Value)>,
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

/// The number of the memory after a value is written to an address.
pub(crate) fn written(
    memories: &mut Interner<Memory>,
    initial: Value,
    memory: u32,
    (address, value): (Value, Value),
) -> u32 {
    let before = memories.get(memory);
    if lookup(&before.changed, address).unwrap_or(initial) == value {
        return memory;
    }
    let mut changed = before.changed.clone();
    if value == initial {
        changed.retain(|pair| pair.0 != address);
    } else {
        set(&mut changed, address, value);
    }
    debug_assert!(changed.is_sorted_by(|a, b| a.0 < b.0), "a memory lists each address once, in order");
    memories.intern(Memory { changed }).0
}

/// The phase of a computation of the form of [ESOP13, Fig. 4].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// τ1: everyone under SC.
    Sc,
    /// isu · τ2: the attacker (a number of the attacker table) delays its stores.
    Delayed(u32),
    /// τ3: helpers only (a number of the table of [`Helped`](super::Helped)).
    Helped(u32),
}

/// A control state. `P` is what the memory model keeps in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Control<P> {
    /// A number of the memory table.
    pub memory: u32,
    /// Whether a locked section is open.
    pub locked: bool,
    /// The phase of the attack, and what else the model knows.
    pub phase: P,
}
