//! Controls of the instrumented program of events and tasks: memory, lock, phase and the main
//! thread.

use crate::instrumented::system::{Control, Phase};
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

/// What a control has besides memory and the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TaskPhase {
    /// The main thread.
    pub main: Main,
    /// Whether the main thread is on the happens-before path. It stays there from one invocation to
    /// the next.
    pub main_joined: bool,
    /// The phase of the attack.
    pub attack: Phase,
}

/// A control of the instrumented program.
pub type TaskControl = Control<TaskPhase>;

impl TaskControl {
    /// The control with another state of the main thread.
    pub(super) fn with_main(self, main: Main) -> Self {
        Self { phase: TaskPhase { main, ..self.phase }, ..self }
    }

    /// The control with another phase of the attack.
    pub(super) fn with_attack(self, attack: Phase) -> Self {
        Self { phase: TaskPhase { attack, ..self.phase }, ..self }
    }

    /// The control with the main thread on the path, or not.
    pub(super) fn with_main_joined(self, main_joined: bool) -> Self {
        Self { phase: TaskPhase { main_joined, ..self.phase }, ..self }
    }
}
