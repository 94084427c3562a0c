//! Covering runs: what is repeated is computed, not replayed.
//!
//! A sequence needs n tokens on a place, and changes their number by c. Before a further sequence
//! that needs n' and changes c', both together need max(n, n' − c) and change c + c'. Repeated k
//! times, it can be fired if and only if each repetition can: the first needs n, the last n − (k −
//! 1)·c, and each between them no more than one of these.

use super::{check_sparse, named};
use crate::CheckFailure;
use crate::failure::reject;
use num_bigint::{BigInt, BigUint};
use num_traits::One;
use palisade_evidence::{NetRun, RunStep};
use palisade_model::net::{Count, OmegaCount, PlaceId, Problem, Transition, TransitionId};
use std::collections::BTreeMap;

/// Checks that every firing of `run` is possible and that its last marking covers a target.
pub(super) fn check(problem: &Problem, run: &NetRun) -> Result<(), CheckFailure> {
    let marking = last_marking(problem, run)?;
    let covered = |(place, count): &(PlaceId, Count)| marking[place.index()] >= count.to_big();
    if problem.query.targets.iter().any(|target| target.demands.iter().all(covered)) {
        return Ok(());
    }
    reject!(Run, "the marking after the last step covers no target")
}

/// Checks that every firing of `run` is possible; the marking after the last one, by place.
pub(super) fn last_marking(problem: &Problem, run: &NetRun) -> Result<Vec<BigUint>, CheckFailure> {
    let mut marking = start(problem, run)?;
    for (number, (step, times)) in run.firings.iter().enumerate() {
        let within = |failure: CheckFailure| failure.within(format!("step {number}"));
        match step {
            RunStep::Fire(id) => {
                check_transition(problem, *id, times).map_err(within)?;
                if let Some(place) = fire(&mut marking, &problem.net.transitions[id.index()], times) {
                    let transition = named(problem, *id);
                    reject!(
                        Run,
                        "step {number}: place {place} has too few tokens to fire transition {transition} {times} times"
                    );
                }
            }
            RunStep::Sequence(steps) => {
                let effect = Effect::of_sequence(problem, steps, times, 1).map_err(within)?;
                if let Some(place) = effect.apply(&mut marking) {
                    reject!(
                        Run,
                        "step {number}: place {place} has too few tokens to repeat the sequence {times} times"
                    );
                }
            }
        }
    }
    Ok(marking)
}

/// Sequences inside each other more often than this are answered by rejection.
const DEEPEST: usize = 64;

/// Checks that a step fires a transition of the net at least once.
fn check_transition(problem: &Problem, id: TransitionId, times: &Count) -> Result<(), CheckFailure> {
    if id.index() >= problem.net.transitions.len() {
        reject!(Form, "there is no transition {id}");
    }
    if times.is_zero() {
        reject!(Form, "transition {id} is to fire 0 times");
    }
    Ok(())
}

/// What some firings need on each place that they concern, and by how much they change it.
#[derive(Default)]
struct Effect {
    places: BTreeMap<PlaceId, (BigInt, BigInt)>,
}

impl Effect {
    /// That of a sequence, so many times over.
    fn of_sequence(
        problem: &Problem,
        steps: &[(RunStep, Count)],
        times: &Count,
        depth: usize,
    ) -> Result<Self, CheckFailure> {
        if depth > DEEPEST {
            reject!(Form, "more than {DEEPEST} sequences are inside each other");
        }
        if times.is_zero() {
            reject!(Form, "a sequence is to be repeated 0 times");
        }
        if steps.is_empty() {
            reject!(Form, "a sequence fires nothing");
        }
        let mut whole = Self::default();
        for (step, times) in steps {
            whole.append(match step {
                RunStep::Fire(id) => {
                    check_transition(problem, *id, times)?;
                    Self::of_transition(&problem.net.transitions[id.index()]).repeated(times)
                }
                RunStep::Sequence(steps) => Self::of_sequence(problem, steps, times, depth + 1)?,
            });
        }
        Ok(whole.repeated(times))
    }

    fn of_transition(transition: &Transition) -> Self {
        let mut effect = Self::default();
        for (place, taken) in &transition.pre {
            let taken = BigInt::from(taken.to_big());
            effect.places.insert(*place, (taken.clone(), -taken));
        }
        for (place, put) in &transition.post {
            effect.places.entry(*place).or_default().1 += BigInt::from(put.to_big());
        }
        effect
    }

    /// Adds what fires afterwards.
    fn append(&mut self, after: Self) {
        for (place, (need, change)) in after.places {
            let own = self.places.entry(place).or_default();
            own.0 = own.0.clone().max(need - &own.1);
            own.1 += change;
        }
    }

    /// The same so many times in a row, once at least.
    fn repeated(mut self, times: &Count) -> Self {
        let times = BigInt::from(times.to_big());
        for (need, change) in self.places.values_mut() {
            let last: BigInt = &*need - &*change * (&times - 1);
            *need = need.clone().max(last);
            *change *= &times;
        }
        self
    }

    /// Changes the marking, or names a place that has too few tokens.
    fn apply(&self, marking: &mut [BigUint]) -> Option<PlaceId> {
        for (place, (need, _)) in &self.places {
            if BigInt::from(marking[place.index()].clone()) < *need {
                return Some(*place);
            }
        }
        for (place, (_, change)) in &self.places {
            let after = BigInt::from(marking[place.index()].clone()) + change;
            marking[place.index()] = after.to_biguint().expect("what is taken is needed, and is there");
        }
        None
    }
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
/// A place needs `pre` tokens for the last firing and, where firing loses tokens, `pre − post` for
/// each one before.
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
