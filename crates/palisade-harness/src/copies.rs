//! How many copies of a role run.

use std::ops::RangeFull;

/// A number of copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies {
    /// So many.
    Exactly(u64),
    /// Any number, `..`.
    Any,
}

impl From<RangeFull> for Copies {
    fn from(_: RangeFull) -> Self {
        Self::Any
    }
}

impl From<u64> for Copies {
    fn from(count: u64) -> Self {
        Self::Exactly(count)
    }
}

impl From<usize> for Copies {
    fn from(count: usize) -> Self {
        Self::Exactly(count as u64)
    }
}

impl From<i32> for Copies {
    /// # Panics
    ///
    /// When the number is negative.
    fn from(count: i32) -> Self {
        Self::Exactly(u64::try_from(count).expect("a number of copies is not negative"))
    }
}

impl std::fmt::Display for Copies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exactly(count) => write!(f, "{count}"),
            Self::Any => write!(f, "*"),
        }
    }
}
