//! Numbers of tokens: exact at any size, and ω.

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::ToPrimitive;
use std::cmp::Ordering;
use std::fmt;

/// A number of tokens or an arc weight: a machine word while it fits, a big number beyond. No count
/// ever wraps.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Count(Repr);

// Invariant: `Large` holds only numbers that do not fit 64 bits, so that equality is structural.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Repr {
    Small(u64),
    Large(Box<BigUint>),
}

impl Count {
    /// No tokens.
    pub const ZERO: Count = Count(Repr::Small(0));
    /// One token.
    pub const ONE: Count = Count(Repr::Small(1));

    /// Whether the count is zero.
    #[inline]
    pub fn is_zero(&self) -> bool {
        self.0 == Repr::Small(0)
    }

    /// The count as a machine word, when it fits.
    #[inline]
    pub fn to_u64(&self) -> Option<u64> {
        match &self.0 {
            Repr::Small(value) => Some(*value),
            Repr::Large(_) => None,
        }
    }

    /// The count as a big number.
    pub fn to_big(&self) -> BigUint {
        match &self.0 {
            Repr::Small(value) => BigUint::from(*value),
            Repr::Large(value) => (**value).clone(),
        }
    }

    /// `self + other`.
    #[inline]
    #[must_use]
    pub fn plus(&self, other: &Count) -> Count {
        if let (Repr::Small(a), Repr::Small(b)) = (&self.0, &other.0)
            && let Some(sum) = a.checked_add(*b)
        {
            return Count(Repr::Small(sum));
        }
        self.plus_big(other)
    }

    #[cold]
    fn plus_big(&self, other: &Count) -> Count {
        (self.to_big() + other.to_big()).into()
    }

    /// `self · other`.
    #[must_use]
    #[inline]
    pub fn times(&self, other: &Count) -> Count {
        if let (Repr::Small(a), Repr::Small(b)) = (&self.0, &other.0)
            && let Some(product) = a.checked_mul(*b)
        {
            return Count(Repr::Small(product));
        }
        (self.to_big() * other.to_big()).into()
    }

    /// `self / other`, rounded up.
    ///
    /// # Panics
    ///
    /// When `other` is zero.
    #[must_use]
    pub fn div_ceil(&self, other: &Count) -> Count {
        match (&self.0, &other.0) {
            (Repr::Small(a), Repr::Small(b)) => u64::div_ceil(*a, *b).into(),
            _ => self.to_big().div_ceil(&other.to_big()).into(),
        }
    }

    /// `self − other`, or nothing when `other` is larger.
    #[inline]
    pub fn minus(&self, other: &Count) -> Option<Count> {
        match (&self.0, &other.0) {
            (Repr::Small(a), Repr::Small(b)) => a.checked_sub(*b).map(Count::from),
            _ => self.minus_big(other),
        }
    }

    #[cold]
    fn minus_big(&self, other: &Count) -> Option<Count> {
        (self >= other).then(|| (self.to_big() - other.to_big()).into())
    }

    /// `self − other`, or zero when `other` is larger.
    #[must_use]
    #[inline]
    pub fn saturating_minus(&self, other: &Count) -> Count {
        self.minus(other).unwrap_or(Count::ZERO)
    }
}

impl From<u64> for Count {
    #[inline]
    fn from(value: u64) -> Self {
        Count(Repr::Small(value))
    }
}

impl From<BigUint> for Count {
    fn from(value: BigUint) -> Self {
        match value.to_u64() {
            Some(small) => Count(Repr::Small(small)),
            None => Count(Repr::Large(Box::new(value))),
        }
    }
}

impl std::str::FromStr for Count {
    type Err = num_bigint::ParseBigIntError;

    #[inline]
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // Most numbers have one digit.
        if let [digit @ b'0'..=b'9'] = text.as_bytes() {
            return Ok(u64::from(digit - b'0').into());
        }
        match text.parse::<u64>() {
            Ok(value) => Ok(value.into()),
            Err(_) => Ok(text.parse::<BigUint>()?.into()),
        }
    }
}

impl PartialOrd for Count {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Count {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Small(a), Repr::Small(b)) => a.cmp(b),
            (Repr::Small(_), Repr::Large(_)) => Ordering::Less,
            (Repr::Large(_), Repr::Small(_)) => Ordering::Greater,
            (Repr::Large(a), Repr::Large(b)) => a.cmp(b),
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Small(value) => value.fmt(f),
            Repr::Large(value) => value.fmt(f),
        }
    }
}

/// A number of tokens, or ω: as many as one likes. Every finite count is less than ω.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OmegaCount {
    /// So many.
    Finite(Count),
    /// ω.
    Omega,
}

impl OmegaCount {
    /// Whether at least `count` tokens are there.
    #[inline]
    pub fn covers(&self, count: &Count) -> bool {
        match self {
            Self::Finite(own) => own >= count,
            Self::Omega => true,
        }
    }
}

impl fmt::Display for OmegaCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finite(count) => count.fmt(f),
            Self::Omega => f.write_str("ω"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_do_not_wrap() {
        let max = Count::from(u64::MAX);
        let beyond = max.plus(&Count::ONE);
        assert_eq!(beyond.to_string(), "18446744073709551616");
        assert_eq!(beyond.minus(&Count::ONE), Some(max.clone()));
        assert_eq!(max.times(&Count::from(2)).to_string(), "36893488147419103230");
        assert_eq!("18446744073709551616".parse::<Count>().unwrap(), beyond);
        assert_eq!(Count::from(7).div_ceil(&Count::from(2)), Count::from(4));
        assert_eq!(beyond.div_ceil(&max), Count::from(2));
    }
}
