//! Evidence about robustness against concurrency: the states of the monitored serial program, or an
//! interleaving.

use crate::LocalState;
use palisade_model::program::{InstructionId, RegisterId, ThreadId, Value};
use palisade_semantics::tasks::TaskStep;

/// A program is robust against concurrency: a set of states of its serial runs with the monitor
/// that contains the initial one, is closed, and in which none accepts. CERTIFICATE.md says what
/// leads from a state to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConcurrencyCertificate {
    /// For each template and label, the live registers, ascending.
    pub live: Vec<Vec<Vec<RegisterId>>>,
    /// The local states that the others refer to.
    pub locals: Vec<LocalState>,
    /// The memories that states refer to: the addresses that do not hold 0, ascending, with their
    /// values.
    pub memories: Vec<Vec<(Value, Value)>>,
    /// The accesses that states remember as λ.
    pub pivots: Vec<PivotAccess>,
    /// The states.
    pub states: Vec<SerialState>,
}

/// An access that is taken at the end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PivotAccess {
    /// The event or task.
    pub template: ThreadId,
    /// Its instruction: an access, or the `lock` that opens a section.
    pub instruction: InstructionId,
    /// The values of its registers there.
    pub registers: Vec<Value>,
}

/// Where a state is with respect to the pivot's event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PivotStage {
    /// It is still to come.
    Before,
    /// It runs.
    In,
    /// It is over.
    After,
}

/// The addresses accessed, ascending, with whether they were written.
pub type AccessLevels = Vec<(Value, bool)>;

/// A state of the serial program with its monitor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SerialState {
    /// Memory, by its place in the table.
    pub memory: usize,
    /// For each event that occurs so many times only, in order of the text, how often it still may.
    pub starts: Vec<u64>,
    /// Where the pivot's event is.
    pub stage: PivotStage,
    /// λ, by its place in the table.
    pub pivot: Option<usize>,
    /// The accesses of events on the path from the pivot's.
    pub path: AccessLevels,
    /// The accesses of, and after, the main task that was cut.
    pub cut: Option<AccessLevels>,
    /// What λ must meet.
    pub spoiling: AccessLevels,
    /// The accesses of the event that runs, after the pivot's.
    pub current: AccessLevels,
    /// Whether that event is on the path.
    pub on: bool,
    /// What runs.
    pub run: Option<SerialRun>,
    /// What is pending in the event that runs, the next one last.
    pub stack: Vec<PendingTask>,
}

/// A task that has been posted and has not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PendingTask {
    /// Whether it is to run on the main thread.
    pub main: bool,
    /// Its local state, by its place in the table.
    pub local: usize,
    /// Whether it happens after the main task that was cut.
    pub late: bool,
}

/// An invocation that runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SerialRun {
    /// Where it is.
    pub task: PendingTask,
    /// Whether it has accessed memory or posted.
    pub begun: bool,
    /// What it has accessed, on the main thread while none is cut.
    pub own: AccessLevels,
    /// What it has posted, in order.
    pub kids: Vec<PendingTask>,
}

/// A program is not robust against concurrency: an interleaving, and why it has no serial
/// permutation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConcurrencyWitness {
    /// The interleaving, under SC.
    pub steps: Vec<TaskStep>,
    /// Why.
    pub reason: ConcurrencyReason,
}

/// Why an interleaving has no serial permutation. Accesses are given by the steps that make them,
/// from 0; those of an open section do not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConcurrencyReason {
    /// Events that are each to come before the next, in a cycle: for each edge an access of the
    /// one, and a later access of the next that conflicts.
    Serializability(Vec<(usize, usize)>),
    /// Two conflicting accesses of one event, the first by an invocation that the serial run puts
    /// behind that of the second.
    Determinism(usize, usize),
}
