//! Transitions that only lose tokens, and transitions that others outdo.

use super::arcs::weight;
use super::log::{MoveId, Removal};
use super::working_net::{Move, WorkingNet};
use palisade_model::net::{Arcs, Count, PlaceId};
use rustc_hash::FxHashMap;

/// Takes away the transitions that gain nowhere.
pub(super) fn remove_losses(net: &mut WorkingNet) -> bool {
    let losses: Vec<MoveId> = net.living().filter(|(_, transition)| !transition.gains()).map(|(id, _)| id).collect();
    drop_moves(net, &losses)
}

/// Takes away the transitions that another one outdoes: it needs no more and leaves no less.
pub(super) fn remove_outdone(net: &mut WorkingNet) -> bool {
    let mut outdone = needing_more(net);
    let mut dead = vec![false; net.moves.len()];
    outdone.iter().for_each(|id| dead[*id as usize] = true);
    outdone.extend(strictly_outdone(net, dead));
    outdone.sort_unstable();
    drop_moves(net, &outdone)
}

/// Takes away the transitions that need more than others of the same effect. This empties no trap.
pub(super) fn remove_alike(net: &mut WorkingNet) -> bool {
    let outdone = needing_more(net);
    drop_moves(net, &outdone)
}

/// Transitions that another one with the same effect outdoes by needing less; of several that need
/// the same the first one stays.
fn needing_more(net: &WorkingNet) -> Vec<MoveId> {
    let mut by_effect: FxHashMap<Vec<(PlaceId, Count, bool)>, Vec<MoveId>> = FxHashMap::default();
    for (id, transition) in net.living() {
        by_effect.entry(effect(transition)).or_default().push(id);
    }
    let mut outdone = Vec::new();
    for group in by_effect.into_values().filter(|group| group.len() > 1) {
        if net.is_over() {
            break;
        }
        for (position, id) in group.iter().enumerate() {
            let own = &net.at(*id).pre;
            let better = |(other_position, other): (usize, &MoveId)| {
                let other = &net.at(*other).pre;
                other_position != position && is_below(other, own) && (other != own || other_position < position)
            };
            if group.iter().enumerate().take(MANY).any(better) {
                outdone.push(*id);
            }
        }
    }
    outdone.sort_unstable();
    outdone
}

/// Rivals looked at for each transition.
const MANY: usize = 64;

/// Transitions outdone by one that leaves more somewhere, or needs less.
fn strictly_outdone(net: &mut WorkingNet, mut dead: Vec<bool>) -> Vec<MoveId> {
    let living: Vec<MoveId> = net.living().map(|(id, _)| id).filter(|id| !dead[*id as usize]).collect();
    let mut outdone = Vec::new();
    for (number, id) in living.into_iter().enumerate() {
        if number % MANY == 0 && net.is_over() {
            break;
        }
        let gained: Vec<PlaceId> = net
            .at(id)
            .post
            .iter()
            .filter(|(place, count)| count > weight(&net.at(id).pre, *place))
            .map(|(place, _)| *place)
            .collect();
        // A transition that outdoes it gains on the same places: look at the producers of the place
        // that has fewest.
        let Some(rarest) = gained.into_iter().min_by_key(|place| net.producers(*place).len()) else { continue };
        let rivals: Vec<MoveId> = net.producers(rarest).iter().take(MANY).copied().collect();
        let own = net.at(id);
        let better = |other: &MoveId| {
            *other != id && !dead[*other as usize] && {
                let other = net.at(*other);
                is_below(&other.pre, &own.pre) && leaves_no_less(other, own)
            }
        };
        if rivals.iter().any(better) {
            dead[id as usize] = true;
            outdone.push(id);
        }
    }
    outdone
}

fn drop_moves(net: &mut WorkingNet, ids: &[MoveId]) -> bool {
    if ids.is_empty() {
        return false;
    }
    let places = |arcs: &Arcs| arcs.iter().map(|(place, _)| *place).collect();
    let mut losses = Vec::with_capacity(ids.len());
    for id in ids {
        losses.push((places(&net.at(*id).pre), places(&net.at(*id).post)));
        net.kill(*id);
    }
    net.log.push(Removal::Losses(losses));
    true
}

/// What a transition changes: places with the amount and whether it is gained.
fn effect(transition: &Move) -> Vec<(PlaceId, Count, bool)> {
    let mut effect = Vec::new();
    for (place, put) in &transition.post {
        let taken = weight(&transition.pre, *place);
        if put > taken {
            effect.push((*place, put.saturating_minus(taken), true));
        }
    }
    for (place, taken) in &transition.pre {
        let put = weight(&transition.post, *place);
        if taken > put {
            effect.push((*place, taken.saturating_minus(put), false));
        }
    }
    effect.sort();
    effect
}

/// Whether sorted arcs are nowhere larger.
fn is_below(smaller: &Arcs, larger: &Arcs) -> bool {
    smaller.len() <= larger.len() && smaller.iter().all(|(place, count)| count <= weight(larger, *place))
}

/// Whether from any marking that enables both, `one` leaves at least what `other` leaves:
/// `post − pre` is nowhere less.
fn leaves_no_less(one: &Move, other: &Move) -> bool {
    let at_least = |place: PlaceId| {
        // one.post − one.pre ≥ other.post − other.pre, without negative numbers.
        let left = weight(&one.post, place).plus(weight(&other.pre, place));
        let right = weight(&other.post, place).plus(weight(&one.pre, place));
        left >= right
    };
    other.post.iter().chain(&one.pre).all(|(place, _)| at_least(*place))
}
