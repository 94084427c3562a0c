//! Covering runs, fired transition by transition.

use super::{check_sparse, named};
use crate::CheckFailure;
use crate::failure::reject;
use num_bigint::BigUint;
use num_traits::One;
use palisade_evidence::NetRun;
use palisade_model::net::{Count, OmegaCount, PlaceId, Problem, Transition};

/// Checks that every firing of `run` is possible and that its last marking covers a target.
pub(super) fn check(problem: &Problem, run: &NetRun) -> Result<(), CheckFailure> {
    let mut marking = start(problem, run)?;
    for (step, (id, times)) in run.firings.iter().enumerate() {
        if id.index() >= problem.net.transitions.len() {
            reject!(Form, "step {step}: there is no transition {id}");
        }
        if times.is_zero() {
            reject!(Form, "step {step}: transition {id} is to fire 0 times");
        }
        if let Some(place) = fire(&mut marking, &problem.net.transitions[id.index()], times) {
            reject!(
                Run,
                "step {step}: place {place} has too few tokens to fire transition {} {times} times",
                named(problem, *id)
            );
        }
    }
    let covered = |(place, count): &(PlaceId, Count)| marking[place.index()] >= count.to_big();
    if problem.query.targets.iter().any(|target| target.demands.iter().all(covered)) {
        return Ok(());
    }
    reject!(Run, "the marking after the last step covers no target")
}

/// The initial marking that the run chooses.
fn start(problem: &Problem, run: &NetRun) -> Result<Vec<BigUint>, CheckFailure> {
    check_sparse(problem, &run.initial_choice, Count::is_zero).map_err(|failure| failure.within("initial choice"))?;
    let mut marking: Vec<BigUint> = Vec::with_capacity(problem.net.places.len());
    for count in &problem.net.initial {
        marking.push(match count {
            OmegaCount::Finite(count) => count.to_big(),
            OmegaCount::Omega => BigUint::default(),
        });
    }
    for (place, count) in &run.initial_choice {
        if problem.net.initial[place.index()] != OmegaCount::Omega {
            reject!(Run, "initial choice: the tokens on place {place} are not for the run to choose");
        }
        marking[place.index()] = count.to_big();
    }
    Ok(marking)
}

/// Fires `transition` so many times in a row, or names a place that has too few tokens.
///
/// A place needs `pre` tokens for the last firing and, where firing loses tokens, `pre − post` for each one before.
fn fire(marking: &mut [BigUint], transition: &Transition, times: &Count) -> Option<PlaceId> {
    let times = times.to_big();
    let put_on = |place: PlaceId| super::at(&transition.post, place).map_or_else(BigUint::default, Count::to_big);
    for (place, taken) in &transition.pre {
        let (taken, put) = (taken.to_big(), put_on(*place));
        let lost_before = if taken > put { (&taken - put) * (&times - BigUint::one()) } else { BigUint::default() };
        if marking[place.index()] < &taken + lost_before {
            return Some(*place);
        }
    }
    for (place, put) in &transition.post {
        marking[place.index()] += put.to_big() * &times;
    }
    for (place, taken) in &transition.pre {
        marking[place.index()] -= taken.to_big() * &times;
    }
    None
}
