//! Implied places: those that are never short of tokens, because they start with enough, or because another place runs
//! short first.
//!
//! Place `p` follows `q` when every transition changes `p` by at least as much as `q`, so that `p` always holds at
//! least `q`'s tokens and the difference they started with. Then `p` is implied when whatever is asked of `p` is asked
//! of `q` too, up to that difference. A place that nothing ever lowers is implied when no more is asked of it than it
//! starts with.

use super::arcs::weight;
use super::bench::Bench;
use super::steps::{BenchId, Step};
use palisade_model::net::{Count, OmegaCount, PlaceId};

/// A place with more transitions around it is left alone.
const MANY: usize = 2000;

/// Takes implied places away, one after the other.
pub(super) fn remove_implied(bench: &mut Bench) -> bool {
    let mut removed = Vec::new();
    for place in bench.living_places() {
        if is_implied(bench, place) {
            bench.drop_places(&[place]);
            removed.push(place);
        }
    }
    if removed.is_empty() {
        return false;
    }
    // One after the other: each is implied by places that were still there, so that the last has to come back first.
    bench.log.extend(removed.into_iter().map(|place| Step::Free(vec![place])));
    true
}

fn is_implied(bench: &mut Bench, place: PlaceId) -> bool {
    if bench.takers(place).len() > MANY {
        return false;
    }
    let takers = bench.takers(place).to_vec();
    let lowering = takers
        .iter()
        .filter(|id| weight(&bench.at(**id).pre, place) > weight(&bench.at(**id).post, place))
        .min_by_key(|id| bench.at(**id).pre.len());
    let Some(lowering) = lowering else {
        return asks_at_most(bench, place, None, &takers, &bench.initial[place.index()].clone());
    };
    let rivals: Vec<PlaceId> =
        bench.at(*lowering).pre.iter().map(|(rival, _)| *rival).filter(|rival| *rival != place).collect();
    rivals.into_iter().any(|rival| follows(bench, place, rival, &takers))
}

/// Whether `place` holds at least what `rival` holds, and a difference, and is asked for no more than that.
fn follows(bench: &mut Bench, place: PlaceId, rival: PlaceId, takers: &[BenchId]) -> bool {
    let difference = match (&bench.initial[place.index()], &bench.initial[rival.index()]) {
        (OmegaCount::Finite(own), OmegaCount::Finite(other)) => match own.minus(other) {
            Some(difference) => OmegaCount::Finite(difference),
            None => return false,
        },
        (OmegaCount::Omega, _) => OmegaCount::Omega,
        (OmegaCount::Finite(_), OmegaCount::Omega) => return false,
    };
    let changes_more = |bench: &Bench, id: BenchId| {
        let transition = bench.at(id);
        let left = weight(&transition.post, place).plus(weight(&transition.pre, rival));
        let right = weight(&transition.post, rival).plus(weight(&transition.pre, place));
        left >= right
    };
    takers.iter().all(|id| changes_more(bench, *id))
        && bench.givers(rival).len() <= MANY
        && bench.givers(rival).to_vec().iter().all(|id| changes_more(bench, *id))
        && asks_at_most(bench, place, Some(rival), takers, &difference)
}

/// Whether no transition and no target asks more of `place` than of `rival` and a difference; where nothing is asked
/// of `rival`, than the difference.
fn asks_at_most(
    bench: &Bench,
    place: PlaceId,
    rival: Option<PlaceId>,
    takers: &[BenchId],
    difference: &OmegaCount,
) -> bool {
    let OmegaCount::Finite(difference) = difference else { return true };
    let enough = |demands: &[(PlaceId, Count)]| {
        let other = rival.map_or(&Count::ZERO, |rival| weight(demands, rival));
        *weight(demands, place) <= other.plus(difference)
    };
    takers.iter().all(|id| enough(&bench.at(*id).pre))
        && bench.targets.iter().all(|(_, target)| enough(&target.demands))
}
