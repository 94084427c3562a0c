//! States of event-driven programs, and the steps between them.

use crate::BufferedStore;
use palisade_model::program::{Executor, InstructionId, LabelId, ThreadId, Value};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// An invocation, by its number in order of creation: those of threads first, then handlers when
/// their events occur and tasks when they are posted.
pub type InvocationId = usize;

/// Who executes an invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Worker {
    /// The main thread.
    Main,
    /// A thread of the invocation's own.
    Own,
}

impl From<Executor> for Worker {
    fn from(executor: Executor) -> Self {
        match executor {
            Executor::Main => Self::Main,
            Executor::Any => Self::Own,
        }
    }
}

/// How far an invocation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// Posted, and not yet begun.
    Pending,
    /// Begun, and not yet returned.
    Running,
    /// It has come to `fail` and goes no further.
    Failed,
    /// It has returned.
    Returned,
}

/// One invocation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InvocationState {
    /// The thread, event or task that it runs.
    pub template: ThreadId,
    /// Who runs it.
    pub worker: Worker,
    /// The occurrence of an event that it belongs to (none for threads), by number in order of
    /// occurrence, then its place in the tree of posts: the number of the post by each ancestor.
    /// The lexicographic order of two paths of one event is that of the serial run.
    pub path: SmallVec<[u32; 4]>,
    /// Whether it belongs to a thread and not to an event.
    pub is_of_thread: bool,
    /// How far it is.
    pub status: Status,
    /// Its label.
    pub label: LabelId,
    /// The values of its registers.
    pub registers: SmallVec<[Value; 4]>,
    /// How many posts it has made.
    pub posts: u32,
    /// The stores that wait in the buffer of its own thread, oldest first.
    pub buffer: SmallVec<[BufferedStore; 2]>,
}

/// A state of an event-driven program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskState {
    /// The addresses that do not hold 0, with their values.
    pub(super) memory: BTreeMap<Value, Value>,
    /// How often each event has occurred, by template.
    pub(super) occurrences: Vec<u64>,
    /// All invocations, in order of creation.
    pub(super) invocations: Vec<InvocationState>,
    /// What runs on the main thread.
    pub(super) on_main: Option<InvocationId>,
    /// The stores that wait in the main thread's buffer, oldest first.
    pub(super) main_buffer: SmallVec<[BufferedStore; 2]>,
    /// Who holds the lock.
    pub(super) holder: Option<InvocationId>,
}

impl TaskState {
    /// The value in memory at an address.
    pub fn memory(&self, address: Value) -> Value {
        self.memory.get(&address).copied().unwrap_or(0)
    }

    /// The addresses that do not hold 0, with their values.
    pub fn nonzero_memory(&self) -> &BTreeMap<Value, Value> {
        &self.memory
    }

    /// All invocations, in order of creation.
    pub fn invocations(&self) -> &[InvocationState] {
        &self.invocations
    }

    /// What runs on the main thread.
    pub fn on_main(&self) -> Option<InvocationId> {
        self.on_main
    }

    /// Who holds the lock.
    pub fn holder(&self) -> Option<InvocationId> {
        self.holder
    }

    /// The stores that wait in the buffer of an invocation's thread, oldest first.
    pub fn buffer(&self, invocation: InvocationId) -> &[BufferedStore] {
        match self.invocations[invocation].worker {
            Worker::Main => &self.main_buffer,
            Worker::Own => &self.invocations[invocation].buffer,
        }
    }

    /// The buffer of an invocation's thread.
    pub(super) fn buffer_mut(&mut self, invocation: InvocationId) -> &mut SmallVec<[BufferedStore; 2]> {
        let own = &mut self.invocations[invocation];
        match own.worker {
            Worker::Main => &mut self.main_buffer,
            Worker::Own => &mut own.buffer,
        }
    }

    /// The stores that wait in the main thread's buffer, oldest first.
    pub fn main_buffer(&self) -> &[BufferedStore] {
        &self.main_buffer
    }

    pub(super) fn write(&mut self, address: Value, value: Value) {
        if value == 0 {
            self.memory.remove(&address);
        } else {
            self.memory.insert(address, value);
        }
    }
}

/// What happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaskStep {
    /// An event occurs, and its handler begins on the main thread.
    Occur {
        /// The event.
        event: ThreadId,
    },
    /// A pending invocation begins.
    Begin {
        /// Which one.
        invocation: InvocationId,
    },
    /// An invocation executes an instruction at its label; for a store under TSO that is the issue.
    Execute {
        /// The invocation.
        invocation: InvocationId,
        /// The instruction.
        instruction: InstructionId,
        /// The value chosen by `r <- *`; nothing for every other instruction.
        chosen: Option<Value>,
    },
    /// An invocation that has come to its end returns.
    Return {
        /// Which one.
        invocation: InvocationId,
    },
    /// The oldest store in the buffer of an invocation's own thread reaches memory.
    Flush {
        /// The invocation.
        invocation: InvocationId,
    },
    /// The oldest store in the main thread's buffer reaches memory.
    FlushMain,
}

/// What a step does to memory and tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TaskEffect {
    /// Nothing that others see: a local instruction, a fence, a begin or a return.
    Local,
    /// A read, also that of a guard, with the value read and whether it came from the own store
    /// buffer.
    Read {
        /// The address.
        address: Value,
        /// The value.
        value: Value,
        /// Whether it came from the own store buffer.
        early: bool,
    },
    /// A store enters a buffer (TSO).
    Issue {
        /// The address.
        address: Value,
        /// The value.
        value: Value,
    },
    /// A store reaches memory.
    Write {
        /// The address.
        address: Value,
        /// The value.
        value: Value,
    },
    /// A locked update.
    Update {
        /// The address.
        address: Value,
        /// The value read.
        old: Value,
        /// The value written; nothing when a `cas` fails.
        new: Option<Value>,
    },
    /// `lock`.
    Lock,
    /// `unlock`.
    Unlock,
    /// A task is posted.
    Post {
        /// Its invocation.
        invocation: InvocationId,
    },
    /// `ensure` of a false condition, or `fail`.
    Violation,
}
