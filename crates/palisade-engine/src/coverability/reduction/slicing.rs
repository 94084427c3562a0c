//! Slicing: what never can and what never need be marked.

use super::bench::Bench;
use super::steps::{Start, Step};
use palisade_model::net::{Count, OmegaCount, PlaceId};

/// Takes away the places that stay empty even when tokens are never used up, which are a siphon, with the transitions
/// and targets that need them.
pub(super) fn remove_empty(bench: &mut Bench) -> bool {
    let mut marked: Vec<bool> = bench.initial.iter().map(|count| *count != OmegaCount::Finite(Count::ZERO)).collect();
    let mut missing: Vec<usize> = Vec::with_capacity(bench.moves.len());
    let mut fireable = Vec::new();
    for (id, transition) in (0..).zip(&bench.moves) {
        let unmarked = transition.pre.iter().filter(|(place, _)| !marked[place.index()]).count();
        missing.push(if transition.alive { unmarked } else { usize::MAX });
        if missing[id as usize] == 0 {
            fireable.push(id);
        }
    }
    while let Some(id) = fireable.pop() {
        let given: Vec<PlaceId> = bench.at(id).post.iter().map(|(place, _)| *place).collect();
        for place in given {
            if !std::mem::replace(&mut marked[place.index()], true) {
                for taker in bench.takers(place) {
                    let missing = &mut missing[*taker as usize];
                    *missing -= 1;
                    if *missing == 0 {
                        fireable.push(*taker);
                    }
                }
            }
        }
    }
    let empty: Vec<PlaceId> = bench.living_places().filter(|place| !marked[place.index()]).collect();
    if empty.is_empty() {
        return false;
    }
    for place in &empty {
        for id in bench.takers(*place).to_vec() {
            bench.kill(id);
        }
    }
    bench.targets.retain(|(_, target)| target.demands.iter().all(|(place, _)| marked[place.index()]));
    bench.drop_places(&empty);
    bench.log.push(Step::Empty(empty));
    true
}

/// Takes away the places that hold any number of tokens: initially, or once a transition has fired often enough that
/// needs unbounded places only.
pub(super) fn remove_unbounded(bench: &mut Bench) -> bool {
    let mut unbounded: Vec<bool> = bench.initial.iter().map(|count| *count == OmegaCount::Omega).collect();
    let mut found: Vec<PlaceId> = bench.living_places().filter(|place| unbounded[place.index()]).collect();
    bench.starts.extend(found.iter().copied().map(Start::Choose));
    let mut missing: Vec<usize> = Vec::with_capacity(bench.moves.len());
    let mut free = Vec::new();
    for (id, transition) in (0..).zip(&bench.moves) {
        let bounded = transition.pre.iter().filter(|(place, _)| !unbounded[place.index()]).count();
        missing.push(if transition.alive { bounded } else { usize::MAX });
        if missing[id as usize] == 0 {
            free.push(id);
        }
    }
    while let Some(id) = free.pop() {
        let given = bench.at(id).post.clone();
        for (place, count) in given {
            if !std::mem::replace(&mut unbounded[place.index()], true) {
                // Nothing is taken from the place, which was not among the unbounded ones: all that is put is gained.
                bench.starts.push(Start::Fill(place, id, count));
                found.push(place);
                for taker in bench.takers(place) {
                    let missing = &mut missing[*taker as usize];
                    *missing -= 1;
                    if *missing == 0 {
                        free.push(*taker);
                    }
                }
            }
        }
    }
    drop_free(bench, found)
}

/// Takes away the places whose tokens help no target: none asks for them, and no transition needs them that gains
/// tokens on a place that helps.
pub(super) fn remove_idle(bench: &mut Bench) -> bool {
    let mut helps = bench.demanded();
    let mut pending: Vec<PlaceId> = bench.living_places().filter(|place| helps[place.index()]).collect();
    let mut seen = vec![false; bench.moves.len()];
    while let Some(place) = pending.pop() {
        for id in bench.givers(place).to_vec() {
            let transition = bench.at(id);
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
    let idle: Vec<PlaceId> = bench.living_places().filter(|place| !helps[place.index()]).collect();
    // A transition that needs an idle place gains nothing on places that help: without the place it still only loses,
    // and may do so more often, which changes no answer.
    drop_free(bench, idle)
}

fn drop_free(bench: &mut Bench, places: Vec<PlaceId>) -> bool {
    if places.is_empty() {
        return false;
    }
    bench.drop_places(&places);
    bench.log.push(Step::Free(places));
    true
}
