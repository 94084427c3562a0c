//! What fences cost: exact positive numbers.

use num_bigint::{BigInt, BigUint};
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use thiserror::Error;

/// A cost: zero for nothing at all, otherwise positive. Decimal numbers are kept exactly, so that
/// `0.1 + 0.2` ties with `0.3`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cost(BigRational);

/// Why a cost is no cost.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CostError {
    /// It cannot be read as a decimal number.
    #[error("`{0}` is not a number")]
    NotANumber(String),
    /// It is 0 or less.
    #[error("the cost `{0}` is not greater than 0")]
    NotPositive(String),
    /// It has too many digits or too large an exponent.
    #[error("the cost `{0}` is out of range: its exponent must lie between -300 and 300")]
    OutOfRange(String),
    /// A profile gives no cost for a label at which a fence may have to stand.
    #[error("the profile gives no cost for `{0}`, where a fence may be needed")]
    Missing(String),
}

impl Cost {
    /// The cost of nothing.
    pub fn zero() -> Self {
        Self(BigRational::zero())
    }

    /// The cost of one fence, when all cost the same.
    pub fn one() -> Self {
        Self(BigRational::one())
    }

    /// So many times the cost of one fence.
    pub(crate) fn of_count(count: usize) -> Self {
        Self(BigRational::from_integer(BigInt::from(count)))
    }

    /// The cost as the nearest floating-point number.
    pub fn to_f64(&self) -> f64 {
        self.0.to_f64().unwrap_or(f64::INFINITY)
    }

    /// A cost so many times as high.
    #[must_use]
    pub fn times(&self, factor: &Cost) -> Self {
        Self(&self.0 * &factor.0)
    }

    /// Ten to a power.
    pub(crate) fn power_of_ten(exponent: usize) -> Self {
        Self(BigRational::from_integer(BigInt::from(10u8).pow(u32::try_from(exponent).expect("loops nest shallowly"))))
    }

    /// The cost of an annotation, in the decimal form that people write.
    pub(crate) fn of_number(number: f64) -> Result<Self, CostError> {
        number.to_string().parse()
    }

    /// Costs as integers in a common unit, which is that part of 1.
    pub(crate) fn in_common_unit(costs: &[Cost]) -> (Vec<BigUint>, BigInt) {
        let parts = costs.iter().fold(BigInt::one(), |parts, cost| num_integer::lcm(parts, cost.0.denom().clone()));
        let counts = costs.iter().map(|cost| {
            let count = cost.0.numer() * (&parts / cost.0.denom());
            count.to_biguint().expect("costs are not negative")
        });
        (counts.collect(), parts)
    }

    /// How many units it is, each the given part of 1, when it is a whole number of them.
    pub(crate) fn in_units(&self, parts: &BigInt) -> Option<BigUint> {
        let count = &self.0 * BigRational::from_integer(parts.clone());
        count.is_integer().then(|| count.to_integer().to_biguint()).flatten()
    }

    /// So many units, each the given part of 1.
    pub(crate) fn of_units(count: &BigUint, parts: &BigInt) -> Self {
        Self(BigRational::new(BigInt::from(count.clone()), parts.clone()))
    }
}

impl std::str::FromStr for Cost {
    type Err = CostError;

    fn from_str(text: &str) -> Result<Self, CostError> {
        let wrong = || CostError::NotANumber(text.to_owned());
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], text[at + 1..].parse::<i64>().map_err(|_| wrong())?),
            None => (text, 0),
        };
        let (sign, digits) = match mantissa.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, mantissa.strip_prefix('+').unwrap_or(mantissa)),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all = format!("{whole}{fraction}");
        if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(wrong());
        }
        let exponent = exponent.saturating_sub(i64::try_from(fraction.len()).map_err(|_| wrong())?);
        if !(-330..=300).contains(&exponent) || all.len() > 330 {
            return Err(CostError::OutOfRange(text.to_owned()));
        }
        let number = BigInt::parse_bytes(all.as_bytes(), 10).ok_or_else(wrong)? * sign;
        let power = BigInt::from(10u8).pow(u32::try_from(exponent.unsigned_abs()).expect("at most 330"));
        let cost =
            if exponent < 0 { BigRational::new(number, power) } else { BigRational::from_integer(number * power) };
        if cost.is_positive() { Ok(Self(cost)) } else { Err(CostError::NotPositive(text.to_owned())) }
    }
}

impl std::iter::Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        Self(costs.map(|cost| cost.0).sum())
    }
}

/// As a decimal number, exact: every cost is a sum of products of decimal numbers.
impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut rest = self.0.clone();
        let mut places = 0usize;
        while !rest.is_integer() {
            rest *= BigInt::from(10u8);
            places += 1;
        }
        let digits = rest.to_integer().to_string();
        if places == 0 {
            return f.write_str(&digits);
        }
        let digits = format!("{digits:0>width$}", width = places + 1);
        let (whole, fraction) = digits.split_at(digits.len() - places);
        write!(f, "{whole}.{fraction}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(text: &str) -> Result<Cost, CostError> {
        text.parse()
    }

    #[test]
    fn decimal_numbers_are_exact() {
        let sum: Cost = [cost("0.1").unwrap(), cost("0.2").unwrap()].into_iter().sum();
        assert_eq!(sum, cost("3e-1").unwrap());
        assert_eq!(sum.to_string(), "0.3");
        assert_eq!(Cost::of_number(12.5).unwrap().to_string(), "12.5");
        assert_eq!(cost("1.50e2").unwrap().to_string(), "150");
        let (counts, parts) = Cost::in_common_unit(&[cost("0.25").unwrap(), cost("1.5").unwrap()]);
        assert_eq!((counts, parts), (vec![1u8.into(), 6u8.into()], 4.into()));
    }

    #[test]
    fn costs_that_are_none() {
        for text in ["", "x", "NaN", "inf", "1e", "--1", "1.2.3", "0x10", "."] {
            assert!(matches!(cost(text), Err(CostError::NotANumber(_))), "{text}");
        }
        for text in ["0", "-1", "0.000", "-0.5e3"] {
            assert!(matches!(cost(text), Err(CostError::NotPositive(_))), "{text}");
        }
        assert!(matches!(cost("1e999999999999"), Err(CostError::OutOfRange(_))));
        assert!(Cost::of_number(f64::NAN).is_err() && Cost::of_number(f64::INFINITY).is_err());
    }
}
