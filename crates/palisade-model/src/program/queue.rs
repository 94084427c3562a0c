//! What instructions do to sleepers, and who may wait for ever.

use super::expression::Expression;

/// What an instruction does to the copies that sleep at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Queue {
    /// The copy falls asleep at the address if the update stores.
    Sleep {
        /// The address slept at.
        address: Expression,
    },
    /// Sleepers at the address go on.
    Wake {
        /// The address.
        address: Expression,
        /// Whether all of them do, or one, whichever it is.
        all: bool,
    },
}

impl Queue {
    /// The address whose sleepers it is about.
    #[inline]
    pub fn address(&self) -> &Expression {
        match self {
            Self::Sleep { address } | Self::Wake { address, .. } => address,
        }
    }
}

/// Who may wait for ever at an instruction that waits or sleeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Patience {
    /// Nobody.
    #[default]
    Finite,
    /// Anybody: `idle`.
    Idle,
    /// Nobody does, as time runs out at some time: `timed`.
    Timed,
}

impl Patience {
    /// The word for it, where there is one.
    pub const fn word(self) -> Option<&'static str> {
        match self {
            Self::Finite => None,
            Self::Idle => Some("idle"),
            Self::Timed => Some("timed"),
        }
    }

    /// What a word stands for.
    pub fn named(word: &str) -> Option<Self> {
        [Self::Idle, Self::Timed].into_iter().find(|patience| patience.word() == Some(word))
    }
}
