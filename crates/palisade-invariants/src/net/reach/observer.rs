//! Weighted sums of tokens that are never below a number.

use super::super::arcs::ArcIndex;
use super::super::at;
use super::super::separator::{Siphon, check_inequality};
use crate::CheckFailure;
use crate::failure::reject;
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Zero};
use palisade_evidence::Observer;
use palisade_model::net::{PlaceId, Problem};
use std::collections::BTreeSet;

/// Checks an observer of `terms`; the number that the sum is never below.
pub(super) fn lowest(
    problem: &Problem,
    arcs: &ArcIndex,
    siphon: &Siphon,
    terms: &[(PlaceId, BigInt)],
    observer: &Observer,
    what: &str,
) -> Result<BigInt, CheckFailure> {
    if observer.divisor < BigInt::one() {
        reject!(Form, "{what}: the divisor is less than 1");
    }
    let most = check_inequality(problem, arcs, siphon, &observer.weights, what)?;
    let zero = BigInt::zero();
    let places: BTreeSet<PlaceId> =
        terms.iter().map(|(place, _)| *place).chain(observer.weights.iter().map(|(place, _)| *place)).collect();
    for place in places.into_iter().filter(|place| !siphon.has(*place)) {
        let needed = -(at(terms, place).unwrap_or(&zero) * &observer.divisor);
        if *at(&observer.weights, place).unwrap_or(&zero) < needed {
            reject!(Safe, "{what}: the weight of place {place} is too small");
        }
    }
    Ok(-most.div_floor(&observer.divisor))
}
