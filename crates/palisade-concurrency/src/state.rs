//! The states of the serial search: memory, monitor, and the stack of what is to run.

use crate::levels::Levels;
use smallvec::SmallVec;

/// The number of a local state.
pub(super) type LocalId = u32;

/// The number of a memory.
pub(super) type MemoryId = u32;

/// Where the search is with respect to the pivot's event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    /// It is still to come.
    Before,
    /// It runs.
    In,
    /// It is over.
    After,
}

/// A task that is posted and not begun.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Pending {
    /// Whether it runs on the main thread.
    pub(super) main: bool,
    /// Its local state.
    pub(super) local: LocalId,
    /// Whether it happens after the cut main task.
    pub(super) late: bool,
}

/// The invocation that runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Run {
    /// Whether it runs on the main thread.
    pub(super) main: bool,
    /// Its local state.
    pub(super) local: LocalId,
    /// Whether it happens after the cut main task from here on.
    pub(super) late: bool,
    /// Whether it has accessed memory or posted.
    pub(super) begun: bool,
    /// What it has accessed, if it runs on the main thread and none is cut yet.
    pub(super) own: Levels,
    /// What it has posted, in order.
    pub(super) kids: SmallVec<[Pending; 2]>,
}

/// What the monitor remembers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Monitor {
    /// Where the pivot's event is.
    pub(super) stage: Stage,
    /// λ: the local state, and the instruction of it, that is taken at the end.
    pub(super) pivot: Option<Pivot>,
    /// T: the accesses of events on a path from the pivot's event.
    pub(super) path: Levels,
    /// H: the accesses of and after the cut main task; none if there is no such task.
    pub(super) cut: Option<Levels>,
    /// What λ must meet to spoil the trace: in its event the accesses of later invocations,
    /// afterwards those of events on the path. Only those to λ's address, unless λ is a section.
    pub(super) spoiling: Levels,
    /// C: the accesses of the event that runs, after the pivot's.
    pub(super) current: Levels,
    /// Whether that event is on the path.
    pub(super) on: bool,
}

/// λ as it is remembered: the access at a point of a local state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Pivot {
    /// The local state from which λ's task went on.
    pub(super) local: LocalId,
    /// Which of its points λ is.
    pub(super) point: u32,
    /// The number of the address it is to; nothing for a section.
    pub(super) address: Option<usize>,
}

/// A state of the serial search.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    /// Memory.
    pub(super) memory: MemoryId,
    /// For each event that may occur so many times only, how often it still may.
    pub(super) starts: SmallVec<[u64; 4]>,
    /// The monitor.
    pub(super) monitor: Monitor,
    /// What runs.
    pub(super) run: Option<Run>,
    /// What is pending in the event that runs, the next one last. Nothing runs and nothing is
    /// pending: no event runs.
    pub(super) stack: Vec<Pending>,
}

impl State {
    /// Whether no event runs.
    pub(super) fn is_idle(&self) -> bool {
        self.run.is_none() && self.stack.is_empty()
    }
}

/// What leads from a state to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Label {
    /// An event occurs: its number among the events, and whether it is the pivot's.
    Occur(u32, bool),
    /// The next pending task begins.
    Begin,
    /// The next pending task never begins.
    Skip,
    /// What runs goes on to a point of its local state and takes the access or makes the post, with
    /// the outcome of that number.
    Point(u32, u32),
    /// What runs returns.
    Return,
    /// What runs goes no further.
    Cut,
    /// What runs goes no further than to a point, whose access is λ.
    Pivot(u32),
}
