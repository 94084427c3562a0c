//! Implied places: those that are never short of tokens, because they start with enough, or because
//! another place runs short first.
//!
//! Place `p` follows `q` when every transition changes `p` by at least as much as `q`, so that `p`
//! always holds at least `q`'s tokens and the difference they started with. Then `p` is implied
//! when whatever is asked of `p` is asked of `q` too, up to that difference. A place that nothing
//! ever lowers is implied when no more is asked of it than it starts with.

use super::arcs::weight;
use super::log::{MoveId, Removal};
use super::working_net::WorkingNet;
use palisade_model::net::{Count, OmegaCount, PlaceId};

/// A place with more transitions around it is left alone.
const MANY: usize = 2000;

/// Takes implied places away, one after the other.
pub(super) fn remove_implied(net: &mut WorkingNet) -> bool {
    let mut removed = Vec::new();
    for place in net.living_places() {
        if net.is_over() {
            break;
        }
        if is_implied(net, place) {
            net.drop_places(&[place]);
            removed.push(place);
        }
    }
    if removed.is_empty() {
        return false;
    }
    // One after the other: each is implied by places that were still there, so that the last has to
    // come back first.
    net.log.extend(removed.into_iter().map(|place| Removal::Free(vec![place])));
    true
}

fn is_implied(net: &mut WorkingNet, place: PlaceId) -> bool {
    if net.consumers(place).len() > MANY {
        return false;
    }
    let consumers = net.consumers(place).to_vec();
    let lowering = consumers
        .iter()
        .filter(|id| weight(&net.at(**id).pre, place) > weight(&net.at(**id).post, place))
        .min_by_key(|id| net.at(**id).pre.len());
    let Some(lowering) = lowering else {
        return asks_at_most(net, place, None, &consumers, &net.initial[place.index()].clone());
    };
    let rivals: Vec<PlaceId> =
        net.at(*lowering).pre.iter().map(|(rival, _)| *rival).filter(|rival| *rival != place).collect();
    rivals.into_iter().any(|rival| follows(net, place, rival, &consumers))
}

/// Whether `place` holds at least what `rival` holds, and a difference, and is asked for no more
/// than that.
fn follows(net: &mut WorkingNet, place: PlaceId, rival: PlaceId, consumers: &[MoveId]) -> bool {
    let difference = match (&net.initial[place.index()], &net.initial[rival.index()]) {
        (OmegaCount::Finite(own), OmegaCount::Finite(other)) => match own.minus(other) {
            Some(difference) => OmegaCount::Finite(difference),
            None => return false,
        },
        (OmegaCount::Omega, _) => OmegaCount::Omega,
        (OmegaCount::Finite(_), OmegaCount::Omega) => return false,
    };
    let changes_more = |net: &WorkingNet, id: MoveId| {
        let transition = net.at(id);
        let left = weight(&transition.post, place).plus(weight(&transition.pre, rival));
        let right = weight(&transition.post, rival).plus(weight(&transition.pre, place));
        left >= right
    };
    consumers.iter().all(|id| changes_more(net, *id))
        && net.producers(rival).len() <= MANY
        && net.producers(rival).to_vec().iter().all(|id| changes_more(net, *id))
        && asks_at_most(net, place, Some(rival), consumers, &difference)
}

/// Whether no transition and no target asks more of `place` than of `rival` and a difference; where
/// nothing is asked of `rival`, than the difference.
fn asks_at_most(
    net: &WorkingNet,
    place: PlaceId,
    rival: Option<PlaceId>,
    consumers: &[MoveId],
    difference: &OmegaCount,
) -> bool {
    let OmegaCount::Finite(difference) = difference else { return true };
    let enough = |demands: &[(PlaceId, Count)]| {
        let other = rival.map_or(&Count::ZERO, |rival| weight(demands, rival));
        *weight(demands, place) <= other.plus(difference)
    };
    consumers.iter().all(|id| enough(&net.at(*id).pre)) && net.targets.iter().all(|(_, target)| enough(&target.demands))
}
