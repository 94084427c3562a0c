//! What certificates say of single threads: where they stand, what they delay, and how many there
//! are.

use palisade_model::program::{LabelId, ThreadId, Value};

/// A position in [`RobustCertificate::locals`](super::RobustCertificate::locals).
pub type LocalIndex = u32;

/// A state of one thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LocalState {
    /// The thread.
    pub thread: ThreadId,
    /// Where it stands.
    pub label: LabelId,
    /// The values of all its registers, 0 for those that are not live at the label.
    pub registers: Vec<Value>,
    /// Whether it has executed `lock` and not yet `unlock`.
    pub holding: bool,
}

/// How many threads are in a local state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tokens {
    /// So many, at least 1.
    Finite(u64),
    /// Any number; only for threads with any number of copies.
    Omega,
}

/// A thread that delays its stores.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Attacker {
    /// Where it stands.
    pub label: LabelId,
    /// The values of all its registers, 0 for those that are not live at the label.
    pub registers: Vec<Value>,
    /// The last value it has delayed for each address, ascending by address.
    pub buffer: Vec<(Value, Value)>,
    /// The address of the first delayed store; in the buffer.
    pub store_address: Value,
}

/// The kind of access to an address on the happens-before path; a store counts for more than a
/// load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Loaded, not stored.
    Load,
    /// Stored.
    Store,
}
