//! From a firing sequence of the slice to a run of the net: tokens are chosen, places are filled, idle firings go.

use super::slice::Slice;
use crate::evidence::NetRun;
use crate::net::{Count, OmegaCount, PlaceId, Problem, TransitionId};
use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

/// The run of the net that fires `firings` (transitions of the slice, each so many times in a row) and covers the
/// target with this number.
///
/// Walks backwards with the demand at each point. A firing that lowers no demand is left out. At the start unbounded
/// places are filled by the slice's pumps, and places that are initially ω get the tokens demanded.
///
/// # Panics
///
/// When the firings do not cover the target from the initial marking: the strategy that made them is broken.
pub(super) fn finish(problem: &Problem, slice: &Slice, firings: Vec<(TransitionId, Count)>, target: usize) -> NetRun {
    let mut demand = Demand::of_target(problem, target);
    let mut run: Vec<(TransitionId, Count)> = Vec::with_capacity(firings.len());
    for (id, times) in firings.into_iter().rev() {
        if demand.helps(id) {
            demand.before(id, &times.to_big().into());
            push_front(&mut run, id, times);
        }
    }
    for (place, id) in slice.pumps.iter().rev() {
        let transition = &problem.net.transitions[id.index()];
        let lacking = &demand.tokens[place.index()] - initial(problem, *place);
        if lacking.is_positive() {
            let gain = weight(&transition.post, *place) - weight(&transition.pre, *place);
            let times = lacking.div_ceil(&gain);
            demand.before(*id, &times);
            let times: BigUint = times.try_into().expect("a positive number");
            push_front(&mut run, *id, times.into());
        }
    }
    run.reverse();
    let mut initial_choice = Vec::new();
    for place in problem.net.place_ids() {
        let tokens = &demand.tokens[place.index()];
        match &problem.net.initial[place.index()] {
            OmegaCount::Omega if !tokens.is_zero() => {
                let tokens: BigUint = tokens.clone().try_into().expect("demands are not negative");
                initial_choice.push((place, tokens.into()));
            }
            OmegaCount::Omega => {}
            OmegaCount::Finite(_) => {
                assert!(*tokens <= initial(problem, place), "the firing sequence needs too much on {place}");
            }
        }
    }
    NetRun { initial_choice, firings: run }
}

/// Appends to a run that grows from its end.
fn push_front(run: &mut Vec<(TransitionId, Count)>, id: TransitionId, times: Count) {
    match run.last_mut() {
        Some((last, count)) if *last == id => *count = count.plus(&times),
        _ => run.push((id, times)),
    }
}

/// The tokens that a place starts with, without those to be chosen.
fn initial(problem: &Problem, place: PlaceId) -> BigInt {
    match &problem.net.initial[place.index()] {
        OmegaCount::Finite(count) => count.to_big().into(),
        OmegaCount::Omega => BigInt::zero(),
    }
}

/// The weight of the arc at a place.
fn weight(arcs: &[(PlaceId, Count)], place: PlaceId) -> BigInt {
    match arcs.binary_search_by_key(&place, |(place, _)| *place) {
        Ok(position) => arcs[position].1.to_big().into(),
        Err(_) => BigInt::zero(),
    }
}

/// The tokens demanded at a point of a run so that its rest can be fired and covers the target.
struct Demand<'a> {
    problem: &'a Problem,
    tokens: Vec<BigInt>,
}

impl<'a> Demand<'a> {
    fn of_target(problem: &'a Problem, target: usize) -> Self {
        let mut tokens = vec![BigInt::zero(); problem.net.places.len()];
        for (place, count) in &problem.query.targets[target].demands {
            tokens[place.index()] = count.to_big().into();
        }
        Self { problem, tokens }
    }

    /// Whether firing the transition lowers a demand.
    fn helps(&self, id: TransitionId) -> bool {
        let transition = &self.problem.net.transitions[id.index()];
        transition.post.iter().any(|(place, put)| {
            let demanded = &self.tokens[place.index()];
            let taken = weight(&transition.pre, *place);
            *demanded > taken && taken < put.to_big().into()
        })
    }

    /// Steps back over `times` firings of a transition.
    fn before(&mut self, id: TransitionId, times: &BigInt) {
        let transition = &self.problem.net.transitions[id.index()];
        for (place, put) in &transition.post {
            let gain = BigInt::from(put.to_big()) - weight(&transition.pre, *place);
            self.tokens[place.index()] -= gain * times;
        }
        for (place, taken) in &transition.pre {
            let taken = BigInt::from(taken.to_big());
            let put = weight(&transition.post, *place);
            let demanded = &mut self.tokens[place.index()];
            if put.is_zero() {
                *demanded += &taken * times;
            }
            let loss = &taken - &put;
            let hurdle = if loss.is_positive() { taken + loss * (times - BigInt::one()) } else { taken };
            if *demanded < hurdle {
                *demanded = hurdle;
            }
        }
        for (place, _) in &transition.post {
            if self.tokens[place.index()].is_negative() {
                self.tokens[place.index()] = BigInt::zero();
            }
        }
    }
}
