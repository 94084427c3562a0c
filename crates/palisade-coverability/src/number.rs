//! Numbers of tokens for the inner loops: a machine word that never wraps, or exact at any size.

use palisade_model::limits::Halt;
use palisade_model::net::Count;
use std::fmt::Debug;
use std::hash::Hash;

/// A count did not fit the number type: compute again with a larger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Overflow;

/// Why an inner loop ended without an answer: a budget ran out, the method is at its end, or a
/// count did not fit.
pub(super) type Stop = Halt<Overflow>;

/// A natural number of tokens whose arithmetic either is exact or says that it is not.
pub(super) trait Number: Clone + Ord + Hash + Debug + Send + Sync + 'static {
    /// 0.
    const ZERO: Self;

    /// The number of a count, if it fits.
    fn of(count: &Count) -> Result<Self, Stop>;

    /// The count of the number.
    fn count(&self) -> Count;

    /// `self + other`, if it fits.
    fn plus(&self, other: &Self) -> Result<Self, Stop>;

    /// `self − other`, or 0 when `other` is larger.
    fn monus(&self, other: &Self) -> Self;

    /// Whether it is 0.
    fn is_zero(&self) -> bool;

    /// A weight for orders of search, where precision does not matter.
    fn rough(&self) -> u64;
}

impl Number for u32 {
    const ZERO: Self = 0;

    fn of(count: &Count) -> Result<Self, Stop> {
        count.to_u64().and_then(|value| u32::try_from(value).ok()).ok_or(Stop::Fault(Overflow))
    }

    fn count(&self) -> Count {
        Count::from(u64::from(*self))
    }

    fn plus(&self, other: &Self) -> Result<Self, Stop> {
        self.checked_add(*other).ok_or(Stop::Fault(Overflow))
    }

    fn monus(&self, other: &Self) -> Self {
        self.saturating_sub(*other)
    }

    fn is_zero(&self) -> bool {
        *self == 0
    }

    fn rough(&self) -> u64 {
        u64::from(*self)
    }
}

impl Number for Count {
    const ZERO: Self = Count::ZERO;

    fn of(count: &Count) -> Result<Self, Stop> {
        Ok(count.clone())
    }

    fn count(&self) -> Count {
        self.clone()
    }

    fn plus(&self, other: &Self) -> Result<Self, Stop> {
        Ok(Count::plus(self, other))
    }

    fn monus(&self, other: &Self) -> Self {
        self.saturating_minus(other)
    }

    fn is_zero(&self) -> bool {
        Count::is_zero(self)
    }

    fn rough(&self) -> u64 {
        self.to_u64().unwrap_or(u64::MAX).min(1 << 40)
    }
}
