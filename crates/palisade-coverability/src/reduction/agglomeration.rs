//! Agglomeration: two steps with a place between them become one.
//!
//! *Post*: the transitions out of place `p` need one token on `p` and nothing else. What is put on
//! `p` may then go on at once, as going on earlier only makes more tokens available; each
//! transition into `p` is joined with each out of it. *Pre*: only one transition leads into `p`,
//! and it puts one token there and nothing else. It may then wait until the token is used, as
//! waiting keeps more tokens where they were; it is joined with each transition out of `p`. In both
//! cases no target asks for `p` and no transition both takes from it and puts into it.
//!
//! On the way back a token on `p` is worth what it can still put (post) or what was taken for it
//! (pre). Write `w` for such a worth.
//!
//! * ω-markings: `k` tokens on `p` are allowed with every marking that stays in the set however
//!   their worth is added; these sets shrink with `k` and stabilize, as there is no infinite
//!   descending chain of downward-closed sets.
//! * basis: each marking, less the worth of `k` tokens, with `k` tokens on `p`; finitely many.
//! * weights: `p` weighs as much as its worth (the heaviest one where there is a choice).
//! * traps and siphons: `p` joins a trap when every worth meets it, and a siphon when one does.
//!
//! With pre-agglomeration there is one worth only, as there is one transition into `p`; that makes
//! each of these exact.

use super::arcs::weight;
use super::log::{Agglomerated, MoveId, Origin, Removal, Start, Worth};
use super::working_net::WorkingNet;
use palisade_model::net::{Arcs, Count, OmegaCount, PlaceId};

/// Arcs that an agglomeration may add beyond doubling them.
const MORE_ARCS: usize = 16;

/// Agglomerates places one after the other.
pub(super) fn agglomerate(net: &mut WorkingNet) -> bool {
    let demanded = net.demanded();
    let mut changed = false;
    for place in net.living_places() {
        if net.is_over() {
            break;
        }
        if !demanded[place.index()] {
            changed |= post(net, place) || pre(net, place);
        }
    }
    changed
}

fn post(net: &mut WorkingNet, place: PlaceId) -> bool {
    let Some((producers, consumers)) = ways(net, place) else { return false };
    let goes_on = |id: &MoveId| net.at(*id).pre == [(place, Count::ONE)];
    if !consumers.iter().all(goes_on) {
        return false;
    }
    let OmegaCount::Finite(initial) = net.initial[place.index()].clone() else { return false };
    let singly = producers.iter().all(|id| *weight(&net.at(*id).post, place) == Count::ONE);
    // Where there is a choice, several tokens may go on in different ways.
    if consumers.len() > 1 && !(singly && initial.is_zero()) {
        return false;
    }
    for producer in &producers {
        for consumer in &consumers {
            let (first, second) = (net.at(*producer), net.at(*consumer));
            let times = weight(&first.post, place).clone();
            let added = sum(&without(&first.post, place), &scaled(&second.post, &times));
            let origin = sequence((*producer, Count::ONE), (*consumer, times), second.post.is_empty());
            let taken = first.pre.clone();
            net.add(taken, added, origin);
        }
    }
    if !initial.is_zero() {
        let consumer = consumers[0];
        for (other, count) in scaled(&net.at(consumer).post, &initial) {
            if let OmegaCount::Finite(held) = &mut net.initial[other.index()] {
                *held = held.plus(&count);
            }
        }
        if !net.at(consumer).post.is_empty() {
            net.starts.push(Start::Expel(consumer, initial));
        }
    }
    let worths = consumers.iter().map(|id| net.at(*id).post.clone()).collect();
    replace(net, place, &producers, &consumers, Worth::Put(worths));
    true
}

fn pre(net: &mut WorkingNet, place: PlaceId) -> bool {
    let Some((producers, consumers)) = ways(net, place) else { return false };
    let &[producer] = producers.as_slice() else { return false };
    let is_empty = net.initial[place.index()] == OmegaCount::Finite(Count::ZERO);
    if !is_empty || net.at(producer).post != [(place, Count::ONE)] {
        return false;
    }
    for consumer in &consumers {
        let (first, second) = (net.at(producer), net.at(*consumer));
        let times = weight(&second.pre, place).clone();
        let taken = sum(&scaled(&first.pre, &times), &without(&second.pre, place));
        let origin = sequence((producer, times), (*consumer, Count::ONE), !second.gains());
        let added = second.post.clone();
        net.add(taken, added, origin);
    }
    let worth = net.at(producer).pre.clone();
    replace(net, place, &producers, &consumers, Worth::Taken(worth));
    true
}

/// One transition after another. A second one that only loses tokens is left out, as no run needs
/// it.
fn sequence(first: (MoveId, Count), second: (MoveId, Count), loses: bool) -> Origin {
    let second = if loses { (second.0, Count::ZERO) } else { second };
    Origin::Sequence { first, second }
}

/// The transitions into and out of a place, where agglomeration would not make more of them or many
/// more arcs.
fn ways(net: &mut WorkingNet, place: PlaceId) -> Option<(Vec<MoveId>, Vec<MoveId>)> {
    let producers = net.producers(place).to_vec();
    let consumers = net.consumers(place).to_vec();
    let grows = producers.len() * consumers.len() > producers.len() + consumers.len();
    let loops = producers.iter().any(|id| consumers.contains(id));
    if consumers.is_empty() || grows || loops {
        return None;
    }
    let arcs = |ids: &[MoveId]| ids.iter().map(|id| net.at(*id).pre.len() + net.at(*id).post.len()).sum::<usize>();
    let (into, out) = (arcs(&producers), arcs(&consumers));
    let after = into * consumers.len() + out * producers.len();
    (after <= 2 * (into + out) + MORE_ARCS).then_some((producers, consumers))
}

fn replace(net: &mut WorkingNet, place: PlaceId, producers: &[MoveId], consumers: &[MoveId], tokens: Worth) {
    producers.iter().chain(consumers).for_each(|id| net.kill(*id));
    net.drop_places(&[place]);
    net.log.push(Removal::Agglomerated(Agglomerated { place, tokens }));
}

fn without(arcs: &Arcs, place: PlaceId) -> Arcs {
    arcs.iter().filter(|(other, _)| *other != place).cloned().collect()
}

fn scaled(arcs: &Arcs, times: &Count) -> Arcs {
    arcs.iter().map(|(place, count)| (*place, count.times(times))).collect()
}

/// The sum of arcs sorted by place.
fn sum(left: &Arcs, right: &Arcs) -> Arcs {
    let mut sum = left.clone();
    for (place, count) in right {
        match sum.binary_search_by_key(place, |(place, _)| *place) {
            Ok(position) => sum[position].1 = sum[position].1.plus(count),
            Err(position) => sum.insert(position, (*place, count.clone())),
        }
    }
    sum
}
