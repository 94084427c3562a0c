//! What the listing of a build in source order says of accesses.

use palisade_model::program::{Action, Instruction, Program};

/// An ordering of C++ and Rust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ordering {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

impl Ordering {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "Relaxed" => Self::Relaxed,
            "Acquire" => Self::Acquire,
            "Release" => Self::Release,
            "AcqRel" => Self::AcqRel,
            "SeqCst" => Self::SeqCst,
            _ => return None,
        })
    }

    /// Whether nothing that comes later may be moved before it.
    pub(super) fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcqRel | Self::SeqCst)
    }

    /// Whether nothing that comes earlier may be moved behind it.
    pub(super) fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcqRel | Self::SeqCst)
    }
}

/// What the source does at an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    Load(Ordering),
    Store(Ordering),
    ReadModifyWrite(Ordering),
    CompareExchange {
        success: Ordering,
        failure: Ordering,
    },
    Fence(Ordering),
    /// A load or a store without atomics.
    Plain,
}

impl Said {
    /// What is said of an access; nothing where nothing is known, or where it does not fit the instruction.
    pub(super) fn of(program: &Program, instruction: &Instruction) -> Option<Self> {
        let line = program.source.slice(instruction.span);
        let word = line.split_whitespace().rev().nth(1)?;
        let said = Self::read(word)?;
        let fits = match (said, &instruction.action) {
            (Self::Load(_), Action::Load { .. })
            | (Self::CompareExchange { .. }, Action::Cas { .. })
            | (Self::Fence(Ordering::SeqCst), Action::Fence) => true,
            (Self::Store(ordering), Action::Rmw { .. }) => ordering == Ordering::SeqCst,
            (Self::Store(ordering), Action::Store { .. }) => ordering != Ordering::SeqCst,
            (Self::Plain, Action::Load { .. }) => word == "load:plain",
            (Self::Plain, Action::Store { .. }) => word == "store:plain",
            // What x86 has no instruction for is a load and a loop around `cmpxchg`; on memory of the thread's own it is a fence.
            (
                Self::ReadModifyWrite(_),
                Action::Load { .. } | Action::Cas { .. } | Action::Rmw { .. } | Action::Fence,
            ) => true,
            _ => false,
        };
        fits.then_some(said)
    }

    fn read(word: &str) -> Option<Self> {
        let (kind, orderings) = word.split_once(':')?;
        if let ("cas", Some((success, failure))) = (kind, orderings.split_once('/')) {
            let (success, failure) = (Ordering::named(success)?, Ordering::named(failure)?);
            return Some(Self::CompareExchange { success, failure });
        }
        if orderings == "plain" {
            return Some(Self::Plain);
        }
        let ordering = Ordering::named(orderings)?;
        match kind {
            "load" => Some(Self::Load(ordering)),
            "store" => Some(Self::Store(ordering)),
            "rmw" => Some(Self::ReadModifyWrite(ordering)),
            "fence" => Some(Self::Fence(ordering)),
            _ => None,
        }
    }

    /// Whether all its orderings are sequentially consistent, if it is an access by an atomic.
    pub(super) fn is_sequentially_consistent(self) -> bool {
        match self {
            Self::Load(ordering) | Self::Store(ordering) | Self::ReadModifyWrite(ordering) | Self::Fence(ordering) => {
                ordering == Ordering::SeqCst
            }
            Self::CompareExchange { success, failure } => [success, failure] == [Ordering::SeqCst; 2],
            Self::Plain => true,
        }
    }
}

/// Whether an action is an access to shared memory, or drains the store buffer.
pub(super) fn is_access(action: &Action) -> bool {
    action.address().is_some() || matches!(action, Action::Fence | Action::StoreFence | Action::Lock | Action::Unlock)
}
