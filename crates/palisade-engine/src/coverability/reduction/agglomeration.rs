//! Agglomeration: two steps with a place between them become one.
//!
//! *Post*: the transitions out of place `p` need one token on `p` and nothing else. What is put on `p` may then go on at
//! once, as going on earlier only makes more tokens available; each transition into `p` is joined with each out of it.
//! *Pre*: only one transition leads into `p`, and it puts one token there and nothing else. It may then wait until the
//! token is used, as waiting keeps more tokens where they were; it is joined with each transition out of `p`. In both
//! cases no target asks for `p` and no transition both takes from it and puts into it.
//!
//! On the way back a token on `p` is worth what it can still put (post) or what was taken for it (pre). Write `w` for
//! such a worth.
//!
//! * ω-markings: `k` tokens on `p` are allowed with every marking that stays in the set however their worth is added;
//!   these sets shrink with `k` and stabilize, as there is no infinite descending chain of downward-closed sets.
//! * basis: each marking, less the worth of `k` tokens, with `k` tokens on `p`; finitely many.
//! * weights: `p` weighs as much as its worth (the heaviest one where there is a choice).
//! * traps and siphons: `p` joins a trap when every worth meets it, and a siphon when one does.
//!
//! With pre-agglomeration there is one worth only, as there is one transition into `p`; that makes each of these exact.

use super::arcs::weight;
use super::bench::Bench;
use super::steps::{Agglomerated, BenchId, Origin, Start, Step, Tokens};
use palisade_model::net::{Arcs, Count, OmegaCount, PlaceId};

/// Arcs that an agglomeration may add beyond doubling them.
const MORE_ARCS: usize = 16;

/// Agglomerates places one after the other.
pub(super) fn agglomerate(bench: &mut Bench) -> bool {
    let demanded = bench.demanded();
    let mut changed = false;
    for place in bench.living_places() {
        if !demanded[place.index()] {
            changed |= post(bench, place) || pre(bench, place);
        }
    }
    changed
}

fn post(bench: &mut Bench, place: PlaceId) -> bool {
    let Some((givers, takers)) = ways(bench, place) else { return false };
    let goes_on = |id: &BenchId| bench.at(*id).pre == [(place, Count::ONE)];
    if !takers.iter().all(goes_on) {
        return false;
    }
    let OmegaCount::Finite(initial) = bench.initial[place.index()].clone() else { return false };
    let singly = givers.iter().all(|id| *weight(&bench.at(*id).post, place) == Count::ONE);
    // Where there is a choice, several tokens may go on in different ways.
    if takers.len() > 1 && !(singly && initial.is_zero()) {
        return false;
    }
    for giver in &givers {
        for taker in &takers {
            let (first, second) = (bench.at(*giver), bench.at(*taker));
            let times = weight(&first.post, place).clone();
            let added = sum(&without(&first.post, place), &scaled(&second.post, &times));
            let origin = sequence((*giver, Count::ONE), (*taker, times), second.post.is_empty());
            let taken = first.pre.clone();
            bench.add(taken, added, origin);
        }
    }
    if !initial.is_zero() {
        let taker = takers[0];
        for (other, count) in scaled(&bench.at(taker).post, &initial) {
            if let OmegaCount::Finite(held) = &mut bench.initial[other.index()] {
                *held = held.plus(&count);
            }
        }
        if !bench.at(taker).post.is_empty() {
            bench.starts.push(Start::Expel(taker, initial));
        }
    }
    let worths = takers.iter().map(|id| bench.at(*id).post.clone()).collect();
    replace(bench, place, &givers, &takers, Tokens::Put(worths));
    true
}

fn pre(bench: &mut Bench, place: PlaceId) -> bool {
    let Some((givers, takers)) = ways(bench, place) else { return false };
    let &[giver] = givers.as_slice() else { return false };
    let is_empty = bench.initial[place.index()] == OmegaCount::Finite(Count::ZERO);
    if !is_empty || bench.at(giver).post != [(place, Count::ONE)] {
        return false;
    }
    for taker in &takers {
        let (first, second) = (bench.at(giver), bench.at(*taker));
        let times = weight(&second.pre, place).clone();
        let taken = sum(&scaled(&first.pre, &times), &without(&second.pre, place));
        let origin = sequence((giver, times), (*taker, Count::ONE), !second.gains());
        let added = second.post.clone();
        bench.add(taken, added, origin);
    }
    let worth = bench.at(giver).pre.clone();
    replace(bench, place, &givers, &takers, Tokens::Taken(worth));
    true
}

/// One transition after another. A second one that only loses tokens is left out, as no run needs it.
fn sequence(first: (BenchId, Count), second: (BenchId, Count), loses: bool) -> Origin {
    let second = if loses { (second.0, Count::ZERO) } else { second };
    Origin::Sequence { first, second }
}

/// The transitions into and out of a place, where agglomeration would not make more of them or many more arcs.
fn ways(bench: &mut Bench, place: PlaceId) -> Option<(Vec<BenchId>, Vec<BenchId>)> {
    let givers = bench.givers(place).to_vec();
    let takers = bench.takers(place).to_vec();
    let grows = givers.len() * takers.len() > givers.len() + takers.len();
    let loops = givers.iter().any(|id| takers.contains(id));
    if takers.is_empty() || grows || loops {
        return None;
    }
    let arcs = |ids: &[BenchId]| ids.iter().map(|id| bench.at(*id).pre.len() + bench.at(*id).post.len()).sum::<usize>();
    let (into, out) = (arcs(&givers), arcs(&takers));
    let after = into * takers.len() + out * givers.len();
    (after <= 2 * (into + out) + MORE_ARCS).then_some((givers, takers))
}

fn replace(bench: &mut Bench, place: PlaceId, givers: &[BenchId], takers: &[BenchId], tokens: Tokens) {
    givers.iter().chain(takers).for_each(|id| bench.kill(*id));
    bench.drop_places(&[place]);
    bench.log.push(Step::Agglomerated(Agglomerated { place, tokens }));
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
