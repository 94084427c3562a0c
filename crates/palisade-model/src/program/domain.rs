//! Data values and the range they live in (LANGUAGE.md, "Values").

use super::Program;
use thiserror::Error;

/// A data value or an address.
pub type Value = i64;

/// Where a domain came from; verdicts under a domain say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DomainOrigin {
    /// Declared in the program text.
    File,
    /// Given on the command line.
    Option,
}

/// The finite range of data values `low..=high`; zero is always inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Domain {
    /// The least value, at most 0.
    pub low: Value,
    /// The greatest value, at least 0.
    pub high: Value,
    /// Whether arithmetic is modular into the range; otherwise leaving the range is an error.
    pub wrap: bool,
    /// Where it comes from.
    pub origin: DomainOrigin,
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Error)]
pub enum EvaluationError {
    /// The value is outside the declared domain, which does not wrap.
    #[error("the value {value} is outside the domain {low}..{high}")]
    OutsideDomain {
        /// The value computed.
        value: i128,
        /// The least value of the domain.
        low: Value,
        /// The greatest value of the domain.
        high: Value,
    },
    /// The value does not fit 64 bits (no domain is declared).
    #[error("the value does not fit 64 bits")]
    Overflow,
    /// Division or remainder by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// A shift by a negative amount or by more than 127.
    #[error("shift by {0}")]
    Shift(i128),
}

impl Program {
    /// What helps where a value leaves the domain. Wrapping would change constants that lie outside
    /// already.
    pub fn domain_advice(&self) -> &'static str {
        let mut is_larger = false;
        let all = self.threads.iter().flat_map(|thread| &thread.instructions);
        for expression in all.flat_map(|instruction| instruction.expressions()) {
            expression.for_each_constant(&mut |value| {
                is_larger |= self.domain.is_some_and(|domain| !domain.contains(value));
            });
        }
        if is_larger {
            "give a domain that has all constants of the program: `domain LOW..HIGH`, or `--domain LOW..HIGH`"
        } else {
            "declare a larger domain, or let it wrap: `domain LOW..HIGH wrap`, or `--wrap` on the command line"
        }
    }
}

impl Domain {
    /// The number of values.
    #[inline]
    pub fn size(self) -> u128 {
        (i128::from(self.high) - i128::from(self.low) + 1).unsigned_abs()
    }

    /// Whether `value` is in the range.
    #[inline]
    pub fn contains(self, value: Value) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// `value` taken modulo the size of the domain into its range.
    #[inline]
    pub fn wrapped(self, value: i128) -> Value {
        let low = i128::from(self.low);
        let size = i128::from(self.high) - low + 1;
        Value::try_from(low + (value - low).rem_euclid(size)).expect("a wrapped value lies in the domain")
    }

    /// `value` as a data value of the domain: wrapped, or an error when it is outside.
    #[inline]
    pub fn admit(self, value: i128) -> Result<Value, EvaluationError> {
        if self.wrap {
            return Ok(self.wrapped(value));
        }
        match Value::try_from(value) {
            Ok(value) if self.contains(value) => Ok(value),
            _ => Err(EvaluationError::OutsideDomain { value, low: self.low, high: self.high }),
        }
    }

    /// All values, ascending.
    pub fn values(self) -> impl Iterator<Item = Value> {
        self.low..=self.high
    }
}

/// A number as a data value: of the domain, or of 64 bits.
#[inline]
pub fn admitted(value: i128, domain: Option<Domain>) -> Result<Value, EvaluationError> {
    match domain {
        Some(domain) => domain.admit(value),
        None => Value::try_from(value).map_err(|_| EvaluationError::Overflow),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping_is_modular_into_the_range() {
        let domain = Domain { low: -4, high: 3, wrap: true, origin: DomainOrigin::File };
        assert_eq!(domain.wrapped(4), -4);
        assert_eq!(domain.wrapped(-5), 3);
        assert_eq!(domain.wrapped(0), 0);
        assert_eq!(domain.size(), 8);
    }
}
