//! Slicing: what never can and what never need be marked.

use super::log::{Removal, Start};
use super::working_net::WorkingNet;
use palisade_model::net::{Count, OmegaCount, PlaceId};

/// Takes away the places that stay empty even when tokens are never used up, which are a siphon,
/// with the transitions and targets that need them.
pub(super) fn remove_empty(net: &mut WorkingNet) -> bool {
    let mut marked: Vec<bool> = net.initial.iter().map(|count| *count != OmegaCount::Finite(Count::ZERO)).collect();
    let mut missing: Vec<usize> = Vec::with_capacity(net.moves.len());
    let mut fireable = Vec::new();
    for (id, transition) in (0..).zip(&net.moves) {
        let unmarked = transition.pre.iter().filter(|(place, _)| !marked[place.index()]).count();
        missing.push(if transition.alive { unmarked } else { usize::MAX });
        if missing[id as usize] == 0 {
            fireable.push(id);
        }
    }
    while let Some(id) = fireable.pop() {
        let given: Vec<PlaceId> = net.at(id).post.iter().map(|(place, _)| *place).collect();
        for place in given {
            if !std::mem::replace(&mut marked[place.index()], true) {
                for consumer in net.consumers(place) {
                    let missing = &mut missing[*consumer as usize];
                    *missing -= 1;
                    if *missing == 0 {
                        fireable.push(*consumer);
                    }
                }
            }
        }
    }
    let empty: Vec<PlaceId> = net.living_places().filter(|place| !marked[place.index()]).collect();
    if empty.is_empty() {
        return false;
    }
    for place in &empty {
        for id in net.consumers(*place).to_vec() {
            net.kill(id);
        }
    }
    net.targets.retain(|(_, target)| target.demands.iter().all(|(place, _)| marked[place.index()]));
    net.drop_places(&empty);
    net.log.push(Removal::Empty(empty));
    true
}

/// Takes away the places that hold any number of tokens: initially, or once a transition has fired
/// often enough that needs unbounded places only.
pub(super) fn remove_unbounded(net: &mut WorkingNet) -> bool {
    let mut unbounded: Vec<bool> = net.initial.iter().map(|count| *count == OmegaCount::Omega).collect();
    let mut found: Vec<PlaceId> = net.living_places().filter(|place| unbounded[place.index()]).collect();
    net.starts.extend(found.iter().copied().map(Start::Choose));
    let mut missing: Vec<usize> = Vec::with_capacity(net.moves.len());
    let mut free = Vec::new();
    for (id, transition) in (0..).zip(&net.moves) {
        let bounded = transition.pre.iter().filter(|(place, _)| !unbounded[place.index()]).count();
        missing.push(if transition.alive { bounded } else { usize::MAX });
        if missing[id as usize] == 0 {
            free.push(id);
        }
    }
    while let Some(id) = free.pop() {
        let given = net.at(id).post.clone();
        for (place, count) in given {
            if !std::mem::replace(&mut unbounded[place.index()], true) {
                // Nothing is taken from the place, which was not among the unbounded ones: all that
                // is put is gained.
                net.starts.push(Start::Fill(place, id, count));
                found.push(place);
                for consumer in net.consumers(place) {
                    let missing = &mut missing[*consumer as usize];
                    *missing -= 1;
                    if *missing == 0 {
                        free.push(*consumer);
                    }
                }
            }
        }
    }
    drop_free(net, found)
}

/// Takes away the places whose tokens help no target: none asks for them, and no transition needs
/// them that gains tokens on a place that helps.
pub(super) fn remove_idle(net: &mut WorkingNet) -> bool {
    let mut helps = net.demanded();
    let mut pending: Vec<PlaceId> = net.living_places().filter(|place| helps[place.index()]).collect();
    let mut seen = vec![false; net.moves.len()];
    while let Some(place) = pending.pop() {
        for id in net.producers(place).to_vec() {
            let transition = net.at(id);
            let gains = super::arcs::weight(&transition.post, place) > super::arcs::weight(&transition.pre, place);
            if gains && !std::mem::replace(&mut seen[id as usize], true) {
                for (needed, _) in &transition.pre {
                    if !std::mem::replace(&mut helps[needed.index()], true) {
                        pending.push(*needed);
                    }
                }
            }
        }
    }
    let idle: Vec<PlaceId> = net.living_places().filter(|place| !helps[place.index()]).collect();
    // A transition that needs an idle place gains nothing on places that help: without the place it
    // still only loses, and may do so more often, which changes no answer.
    drop_free(net, idle)
}

fn drop_free(net: &mut WorkingNet, places: Vec<PlaceId>) -> bool {
    if places.is_empty() {
        return false;
    }
    net.drop_places(&places);
    net.log.push(Removal::Free(places));
    true
}
