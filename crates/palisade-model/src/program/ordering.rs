//! Orderings, and what a text in the words of C and Rust says of an instruction beyond what x86
//! makes of it.

use super::expression::Expression;
use super::ids::LabelId;
use super::queue::{Patience, Queue};

/// How an access or a fence is ordered: the orders of C11 and Rust, and plain data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ordering {
    /// No atomic access: a conflicting access at the same time is a data race.
    Plain,
    /// Atomic, and orders nothing.
    Relaxed,
    /// Loads and fences: what was released comes before it.
    Acquire,
    /// Stores and fences: what comes before it is released.
    Release,
    /// Both, of updates and fences.
    AcqRel,
    /// Sequentially consistent.
    SeqCst,
}

impl Ordering {
    /// All of them, from weak to strong.
    pub const ALL: [Self; 6] = [Self::Plain, Self::Relaxed, Self::Acquire, Self::Release, Self::AcqRel, Self::SeqCst];

    /// The word for it in the native language.
    pub fn word(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Relaxed => "relaxed",
            Self::Acquire => "acquire",
            Self::Release => "release",
            Self::AcqRel => "acq_rel",
            Self::SeqCst => "seq_cst",
        }
    }

    /// The ordering with a word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ordering| ordering.word() == word)
    }

    /// Whether a load or a fence with it acquires.
    #[inline]
    pub fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcqRel | Self::SeqCst)
    }

    /// Whether a store or a fence with it releases.
    #[inline]
    pub fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcqRel | Self::SeqCst)
    }

    /// Whether it gives every guarantee that another one gives.
    pub fn is_at_least(self, other: Self) -> bool {
        self.join(other) == self
    }

    /// The weakest ordering that gives the guarantees of both.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Acquire, Self::Release) | (Self::Release, Self::Acquire) => Self::AcqRel,
            _ => self.max(other),
        }
    }

    /// The ordering of an update's load when nothing is stored, where the text gives one ordering
    /// alone, as in C.
    pub fn of_failure(self) -> Self {
        match self {
            Self::Release => Self::Relaxed,
            Self::AcqRel => Self::Acquire,
            other => other,
        }
    }
}

impl std::fmt::Display for Ordering {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

/// What a text says of an instruction beyond what x86 makes of it. Made by
/// [`Operation::compiled`](super::Operation::compiled) and read by
/// [`Instruction::operation`](super::Instruction::operation).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stated {
    /// The ordering of the access or fence, where the text gives one; of an update, when it stores.
    pub(super) ordering: Option<Ordering>,
    /// The ordering of an update that does not store.
    pub(super) failure: Option<Ordering>,
    /// What the access waits for: a condition in which [`Expression::Old`] is the value read.
    pub(super) until: Option<Expression>,
    /// Where a weak `cas` goes that fails for no reason.
    pub(super) spurious: Option<LabelId>,
    /// Whether an exchange on x86 is a store of the language.
    pub(super) is_store: bool,
    /// What it does to those who sleep at an address.
    pub(super) queue: Option<Queue>,
    /// Who may wait for ever here.
    pub(super) patience: Patience,
}

impl Stated {
    /// What is left without orderings; nothing if that is nothing.
    pub(super) fn without_orderings(self) -> Option<Box<Self>> {
        let Self { until, queue, patience, .. } = self;
        let left = Self { until, queue, patience, ..Self::default() };
        (left != Self::default()).then(|| Box::new(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_are_least_upper_bounds() {
        for one in Ordering::ALL {
            for other in Ordering::ALL {
                let join = one.join(other);
                assert!(join.is_at_least(one) && join.is_at_least(other), "{one} and {other}");
                for bound in Ordering::ALL.into_iter().filter(|it| it.is_at_least(one) && it.is_at_least(other)) {
                    assert!(bound.is_at_least(join), "{one} and {other}: {bound}");
                }
            }
        }
        assert!(!Ordering::Release.is_at_least(Ordering::Acquire) && !Ordering::Acquire.is_at_least(Ordering::Release));
    }
}
