//! Configurations of the instrumented program.

use crate::tokens;
use palisade_evidence::Level;
use palisade_model::program::{LabelId, Value};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The values of addresses that do not hold their initial value.
pub(super) type Memory = BTreeMap<Value, Value>;

/// A configuration of the instrumented program.
pub(super) type Configuration = tokens::Configuration<Control, Token>;

/// A downward-closed set of configurations.
pub(super) type DownSet = tokens::DownSet<Control, Token>;

/// Everything but the threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Control {
    /// The number of the memory in the model.
    pub(super) memory: u32,
    /// Whether some thread holds the lock.
    pub(super) locked: bool,
    /// The number of the phase in the model.
    pub(super) phase: u32,
}

/// The state of one thread, by its number in the model, and whether the thread is on the
/// happens-before path (never outside phase Helped).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Token {
    pub(super) local: u32,
    pub(super) joined: bool,
}

/// The phases of the instrumented program: the parts τ1, τ2 and τ3 of [ESOP13, Fig. 4].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// Before an attacker delays stores.
    Sc,
    /// While it does.
    Delayed(Rc<DelayingThread>),
    /// After its load.
    Helped(Rc<Path>),
}

/// The attacker.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct DelayingThread {
    pub(super) label: LabelId,
    pub(super) registers: Vec<Value>,
    /// The last value delayed for each address.
    pub(super) buffer: BTreeMap<Value, Value>,
    /// The address of the first delayed store.
    pub(super) store_address: Value,
}

/// The happens-before path from the attacker's load.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Path {
    /// The address of the first delayed store.
    pub(super) store_address: Value,
    /// The strongest access on the path by address.
    pub(super) levels: BTreeMap<Value, Level>,
    /// The accesses of the open section of a thread that is not on the path.
    pub(super) section: BTreeMap<Value, Level>,
}

impl Path {
    /// The path of a delayed store to an address, before it begins.
    pub(super) fn of(store_address: Value) -> Self {
        Self { store_address, levels: BTreeMap::new(), section: BTreeMap::new() }
    }
}
