//! The changes that repairs choose among.

use super::{InstructionId, LabelId, Ordering, Program, Sites, ThreadId};
use crate::text::Span;

/// A change of a program that keeps a thread from delaying stores.
///
/// Each of them takes computations away and adds none: a fence and a locked exchange are a fence or
/// a store that finds, or leaves, the buffer empty.
///
/// Where the program's labels are grouped by [`Sites`], a measure is a change of the source. It
/// stands for the changes of all labels or instructions of a site, and names the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// A fence at a label: the label's instructions move to a fresh label, to which a fence leads
    /// from the old one, so that control passes it before any of them [ESOP13, §7].
    Fence {
        /// The thread.
        thread: ThreadId,
        /// The label.
        label: LabelId,
    },
    /// A store fence (`sfence`) at a label: under PSO no store behind it reaches memory before one
    /// in front of it. Placement for properties offers it, robustness does not.
    StoreFence {
        /// The thread.
        thread: ThreadId,
        /// The label.
        label: LabelId,
    },
    /// A store made a locked exchange whose result is discarded: it is not delayed, and no store is
    /// delayed over it.
    Exchange {
        /// The thread.
        thread: ThreadId,
        /// The store.
        store: InstructionId,
    },
    /// A fence that the program has, of either kind, kept. Where this is on offer and not taken,
    /// nothing happens in the fence's place.
    Kept {
        /// The thread.
        thread: ThreadId,
        /// The fence.
        fence: InstructionId,
    },
    /// An access or a fence of a language that has at least some ordering. Where the ordering that
    /// the text gives is on offer and not taken, the access is relaxed, and a fence is none. It
    /// stands for all instructions that come from one place of the text: copies that say `self`,
    /// and inlined calls.
    Ordered {
        /// The thread.
        thread: ThreadId,
        /// The access or the fence.
        access: InstructionId,
        /// Whether it is about an update that does not store.
        failing: bool,
        /// The ordering.
        ordering: Ordering,
    },
}

impl Measure {
    /// The measure at the site of this one; none where the source has no room for it.
    #[must_use]
    pub fn at_site(self, sites: &Sites) -> Option<Self> {
        Some(match self {
            Self::Fence { thread, label } => {
                let (thread, label) = sites.first_label(thread, label)?;
                Self::Fence { thread, label }
            }
            Self::StoreFence { thread, label } => {
                let (thread, label) = sites.first_label(thread, label)?;
                Self::StoreFence { thread, label }
            }
            Self::Exchange { thread, store } => {
                let (thread, store) = sites.first_instruction(thread, store);
                Self::Exchange { thread, store }
            }
            Self::Kept { thread, fence } => {
                let (thread, fence) = sites.first_instruction(thread, fence);
                Self::Kept { thread, fence }
            }
            Self::Ordered { thread, access, failing, ordering } => {
                let (thread, access) = sites.first_access(thread, access);
                Self::Ordered { thread, access, failing, ordering }
            }
        })
    }

    /// The changes of labels and instructions that it stands for.
    pub fn parts(self, sites: &Sites) -> Vec<Self> {
        let labels = |thread, label| sites.labels(thread, label).into_iter();
        let instructions = |thread, instruction| sites.instructions(thread, instruction).into_iter();
        match self {
            Self::Fence { thread, label } => {
                labels(thread, label).map(|(thread, label)| Self::Fence { thread, label }).collect()
            }
            Self::StoreFence { thread, label } => {
                labels(thread, label).map(|(thread, label)| Self::StoreFence { thread, label }).collect()
            }
            Self::Exchange { thread, store } => {
                instructions(thread, store).map(|(thread, store)| Self::Exchange { thread, store }).collect()
            }
            Self::Kept { thread, fence } => {
                instructions(thread, fence).map(|(thread, fence)| Self::Kept { thread, fence }).collect()
            }
            Self::Ordered { thread, access, failing, ordering } => {
                let accesses = sites.accesses(thread, access).into_iter();
                accesses.map(|(thread, access)| Self::Ordered { thread, access, failing, ordering }).collect()
            }
        }
    }

    /// The thread it changes, the first one where it changes several.
    pub fn thread(self) -> ThreadId {
        match self {
            Self::Fence { thread, .. }
            | Self::StoreFence { thread, .. }
            | Self::Exchange { thread, .. }
            | Self::Kept { thread, .. }
            | Self::Ordered { thread, .. } => thread,
        }
    }

    /// The label it stands at.
    pub fn label(self, program: &Program) -> LabelId {
        match self {
            Self::Fence { label, .. } | Self::StoreFence { label, .. } => label,
            Self::Exchange { thread, store: instruction }
            | Self::Kept { thread, fence: instruction }
            | Self::Ordered { thread, access: instruction, .. } => {
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
        program.source.position(self.span(program).start).line
    }

    /// The instruction at which it stands in the program's text.
    pub fn span(self, program: &Program) -> Span {
        let thread = program.thread(self.thread());
        match self {
            Self::Fence { label, .. } | Self::StoreFence { label, .. } => thread
                .instructions
                .iter()
                .find(|instruction| instruction.source == label)
                .map_or(thread.label(label).span, |instruction| instruction.span),
            Self::Exchange { store: instruction, .. }
            | Self::Kept { fence: instruction, .. }
            | Self::Ordered { access: instruction, .. } => thread.instruction(instruction).span,
        }
    }
}
