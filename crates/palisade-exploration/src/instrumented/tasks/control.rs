//! Controls of the instrumented program of events and tasks: memory, lock, phase and the main thread.

use crate::instrumented::system::{Helped, Memory};
use crate::lazy::Interner;
use palisade_model::program::Value;

/// What the main thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Main {
    /// Nothing: an event may occur, and a pending task may begin.
    Idle,
    /// It runs an invocation, in a local state.
    Runs(u32),
    /// Its invocation never returns: it has stopped, or it is the attacker, or was.
    Blocked,
}

/// The attacker while it delays.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Attacker {
    /// Whether it is the main thread.
    pub on_main: bool,
    /// Its local state; nothing for the main thread between two invocations, where posts are plain.
    pub local: Option<u32>,
    /// The latest value buffered for each address, sorted by address.
    pub buffer: Vec<(Value, Value)>,
    /// The address of the first delayed store.
    pub store_address: Value,
}

/// The phase of a computation of the form of [ESOP13, Fig. 4].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Everyone under SC.
    Sc,
    /// One thread (a number of the table of attackers) delays its stores.
    Delayed(u32),
    /// Helpers only (a number of the table of what is known after the attack's load).
    Helped(u32),
}

/// A control state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Control {
    /// A number of the table of memories.
    pub memory: u32,
    /// Whether a locked section is open.
    pub locked: bool,
    /// The main thread.
    pub main: Main,
    /// Whether the main thread is on the happens-before path. It stays there from one invocation to the next.
    pub main_joined: bool,
    /// The phase.
    pub phase: Phase,
}

/// The tables of controls and their parts.
#[derive(Clone, Debug, Default)]
pub(super) struct Controls {
    /// Memories.
    pub(super) memories: Interner<Memory>,
    /// Delaying attackers.
    pub(super) attackers: Interner<Attacker>,
    /// What is known after the attack's load.
    pub(super) helped: Interner<Helped>,
    /// Controls, which refer to the other tables.
    pub(super) controls: Interner<Control>,
}
