//! The changes fence insertion chooses among.

use palisade_model::program::{InstructionId, LabelId, Program, ThreadId};

/// A change of a program that keeps a thread from delaying stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// A fence at a label [ESOP13, §7]: control passes it before any instruction of the label.
    Fence {
        /// The thread.
        thread: ThreadId,
        /// The label.
        label: LabelId,
    },
    /// A store fence (`sfence`) at a label: under PSO no store behind it reaches memory before one in front of it. Placement
    /// for properties offers it, robustness does not.
    StoreFence {
        /// The thread.
        thread: ThreadId,
        /// The label.
        label: LabelId,
    },
    /// A store made a locked exchange whose result is discarded: it is not delayed, and no store is delayed over it.
    Exchange {
        /// The thread.
        thread: ThreadId,
        /// The store.
        store: InstructionId,
    },
    /// A fence that the program has already, kept.
    Kept {
        /// The thread.
        thread: ThreadId,
        /// The fence.
        fence: InstructionId,
    },
}

impl Measure {
    /// The thread it changes.
    pub fn thread(self) -> ThreadId {
        match self {
            Self::Fence { thread, .. }
            | Self::StoreFence { thread, .. }
            | Self::Exchange { thread, .. }
            | Self::Kept { thread, .. } => thread,
        }
    }

    /// The label it stands at.
    pub fn label(self, program: &Program) -> LabelId {
        match self {
            Self::Fence { label, .. } | Self::StoreFence { label, .. } => label,
            Self::Exchange { thread, store: instruction } | Self::Kept { thread, fence: instruction } => {
                program.thread(thread).instruction(instruction).source
            }
        }
    }

    /// `thread.label`, as patterns and reports name it.
    pub fn name(self, program: &Program) -> String {
        let thread = program.thread(self.thread());
        format!("{}.{}", thread.name, thread.label(self.label(program)).name)
    }

    /// The line it stands on in the program's text.
    pub fn line(self, program: &Program) -> usize {
        let thread = program.thread(self.thread());
        let span = match self {
            Self::Fence { label, .. } | Self::StoreFence { label, .. } => thread
                .instructions
                .iter()
                .find(|instruction| instruction.source == label)
                .map_or(thread.label(label).span, |instruction| instruction.span),
            Self::Exchange { store: instruction, .. } | Self::Kept { fence: instruction, .. } => {
                thread.instruction(instruction).span
            }
        };
        program.source.position(span.start).line
    }
}
