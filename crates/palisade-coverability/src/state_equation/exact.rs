//! From floating-point solutions to integers.

use num_bigint::BigInt;
use num_integer::Integer;

/// The largest denominator to try for a single number.
const LARGEST_DENOMINATOR: i64 = 100_000;

/// How far a fraction may be from the number it stands for.
const TOLERANCE: f64 = 1e-7;

/// The largest common denominator to try.
const LARGEST_COMMON: i64 = 1 << 40;

/// Weights by place and multipliers, as integers.
pub(in super::super) type Integers = (Vec<(u32, BigInt)>, Vec<BigInt>);

/// Weights and multipliers as integers, at several scales: a solution may be scaled, and at a scale
/// at which one of its numbers is 1 the others are often simple fractions. Which of them is one is
/// checked exactly.
pub(in super::super) fn integers(weights: &[(u32, f64)], multipliers: &[f64]) -> impl Iterator<Item = Integers> {
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
    let of_multipliers = largest(&mut multipliers.iter().copied());
    let of_weights = largest(&mut weights.iter().map(|(_, weight)| *weight));
    [of_multipliers, of_weights, 1.0].into_iter().filter(|scale| *scale > 0.0).filter_map(|scale| {
        let weights: Vec<(u32, f64)> = weights.iter().map(|(place, weight)| (*place, weight / scale)).collect();
        let multipliers: Vec<f64> = multipliers.iter().map(|multiplier| multiplier / scale).collect();
        to_integers(&weights, &multipliers)
    })
}

/// Weights and multipliers scaled to integers, when they are close to fractions with a small common
/// denominator.
pub(in super::super) fn to_integers(weights: &[(u32, f64)], multipliers: &[f64]) -> Option<Integers> {
    let values: Vec<f64> = weights.iter().map(|(_, value)| *value).chain(multipliers.iter().copied()).collect();
    let fractions: Vec<(i64, i64)> = values.iter().map(|value| fraction(*value)).collect::<Option<_>>()?;
    let mut common: i64 = 1;
    for (_, denominator) in &fractions {
        common = common.checked_mul(denominator / common.gcd(denominator))?;
        if common > LARGEST_COMMON {
            return None;
        }
    }
    let mut integers =
        fractions.iter().map(|(numerator, denominator)| BigInt::from(*numerator) * (common / denominator));
    let weights = weights.iter().map(|(place, _)| *place).zip(integers.by_ref()).collect();
    Some((weights, integers.collect()))
}

/// The simplest fraction close to a number that is not negative, by continued fractions.
fn fraction(value: f64) -> Option<(i64, i64)> {
    if !(-TOLERANCE..1e12).contains(&value) {
        return None;
    }
    let value = value.max(0.0);
    let (mut before, mut current) = ((0i64, 1i64), (1i64, 0i64));
    let mut rest = value;
    loop {
        #[allow(clippy::cast_possible_truncation, reason = "the value is below 10^12 and terms are cut off below")]
        let term = rest.floor().min(1e15) as i64;
        let next =
            (term.checked_mul(current.0)?.checked_add(before.0)?, term.checked_mul(current.1)?.checked_add(before.1)?);
        if next.1 > LARGEST_DENOMINATOR {
            return None;
        }
        (before, current) = (current, next);
        #[allow(clippy::cast_precision_loss, reason = "both are small")]
        let error = (value - current.0 as f64 / current.1 as f64).abs();
        if error <= TOLERANCE * value.max(1.0) {
            return Some(current);
        }
        rest = 1.0 / (rest - rest.floor());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_found() {
        assert_eq!(fraction(0.0), Some((0, 1)));
        assert_eq!(fraction(3.0), Some((3, 1)));
        assert_eq!(fraction(1.0 / 3.0 + 1e-10), Some((1, 3)));
        assert_eq!(fraction(22.0 / 7.0), Some((22, 7)));
        assert_eq!(fraction(f64::NAN), None);
    }

    #[test]
    fn numbers_are_brought_to_a_common_denominator() {
        let (weights, multipliers) = to_integers(&[(4, 0.5), (7, 2.0)], &[1.0 / 3.0]).unwrap();
        assert_eq!(weights, vec![(4, BigInt::from(3)), (7, BigInt::from(12))]);
        assert_eq!(multipliers, vec![BigInt::from(2)]);
    }
}
