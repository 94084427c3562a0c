//! Evidence about event-driven programs under TSO: an invariant of their instrumented semantics, or
//! a computation.

use crate::{Level, LocalIndex, LocalState, MemoryIndex, Tokens};
use palisade_model::program::{RegisterId, ThreadId, Value};
use palisade_semantics::tasks::TaskStep;

/// Why an event-driven program is robust against TSO: a set of configurations of its instrumented
/// semantics that contains the initial ones, is closed under all steps and has no success.
/// CERTIFICATE.md restates the semantics in full.
///
/// ω and downward closure are as in [`RobustCertificate`](crate::RobustCertificate).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskCertificate {
    /// For each thread, event and task and each of its labels, the registers (ascending) whose
    /// values may matter from there on.
    pub live: Vec<Vec<Vec<RegisterId>>>,
    /// The local states that configurations refer to.
    pub locals: Vec<LocalState>,
    /// The memories that configurations refer to.
    pub memories: Vec<Vec<(Value, Value)>>,
    /// The set.
    pub configurations: Vec<TaskConfiguration>,
}

/// A configuration of an event-driven program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaskConfiguration {
    /// The memory, without what an attacker has delayed.
    pub memory: MemoryIndex,
    /// Whether a locked section is open.
    pub locked: bool,
    /// The main thread.
    pub main: MainState,
    /// Whether the main thread is on the happens-before path.
    pub main_joined: bool,
    /// The phase.
    pub phase: TaskPhase,
    /// How many there are of what, each at most once.
    pub tokens: Vec<(TaskToken, Tokens)>,
}

/// What the main thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MainState {
    /// Nothing.
    Idle,
    /// It runs an invocation, in a local state.
    Runs(LocalIndex),
    /// Its invocation never returns.
    Blocked,
}

/// The phase of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TaskPhase {
    /// Everyone under SC.
    Sc,
    /// One thread delays stores.
    Delayed {
        /// Whether it is the main thread.
        on_main: bool,
        /// Its local state; nothing for the main thread between two invocations.
        local: Option<LocalIndex>,
        /// The last value delayed for each address, ascending by address.
        buffer: Vec<(Value, Value)>,
        /// The address of the first delayed store.
        store_address: Value,
    },
    /// After the load, or the plain post, that oversteps the delayed stores.
    Helped {
        /// The address of the first delayed store.
        store_address: Value,
        /// The strongest access on the happens-before path by address, ascending.
        levels: Vec<(Value, Level)>,
        /// The accesses of the open section of who is not on the path, ascending by address.
        section: Vec<(Value, Level)>,
    },
}

/// What configurations count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TaskToken {
    /// Threads, and tasks on threads of their own, in a local state; whether they are on the
    /// happens-before path.
    Own(LocalIndex, bool),
    /// Tasks posted to the main thread that have not begun, by the local state in which they will
    /// act on memory first.
    Pending(LocalIndex, bool),
    /// How often an event may still occur.
    Start(ThreadId),
}

/// A TSO computation of an event-driven program whose happens-before is cyclic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskWitness {
    /// How many copies of each thread run and how often each event may occur, by template; 0 for
    /// tasks.
    pub instance: Vec<u64>,
    /// The computation. Invocations are meant by their numbers in order of creation.
    pub steps: Vec<TaskStep>,
}
