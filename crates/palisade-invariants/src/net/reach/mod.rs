//! Checks evidence on whether a marking that satisfies a condition can be reached.

mod closed;
mod inhibitors;
mod linear;
mod observed;
mod observer;

#[cfg(test)]
mod tests;

pub use inhibitors::without_inhibitors;

use super::{check_places, check_problem, run};
use crate::CheckFailure;
use crate::failure::reject;
use num_bigint::{BigInt, BigUint};
use palisade_evidence::{MarkingSet, NetRun, ReachCertificate};
use palisade_model::net::{Formula, LinearBound, Net, OmegaCount, PlaceId, Problem, Query};

/// Formulas nested more deeply are answered by rejection.
const DEEPEST: usize = 2_000;

/// Checks that no marking of `net` that satisfies `goal` can be reached.
pub fn check_unreachable(net: &Net, goal: &Formula, certificate: &ReachCertificate) -> Result<(), CheckFailure> {
    let problem = problem(net, goal)?;
    match certificate {
        ReachCertificate::Closed(set) => {
            closed::check_set(&problem, set)?;
            closed::check_misses(&problem, goal, set)
        }
        ReachCertificate::Linear(proof) => linear::check(&problem, goal, proof),
        ReachCertificate::Observed(proof) => observed::check(problem, goal, proof),
    }
}

/// Checks that no marking of a set that [`check_unreachable`] has accepted satisfies `goal`: one
/// set is often evidence for many conditions.
pub fn check_also_unreachable(net: &Net, goal: &Formula, accepted: &MarkingSet) -> Result<(), CheckFailure> {
    closed::check_misses(&problem(net, goal)?, goal, accepted)
}

/// Checks that `run` can be fired in `net` and that its last marking satisfies `goal`.
pub fn check_reaching_run(net: &Net, goal: &Formula, run: &NetRun) -> Result<(), CheckFailure> {
    let problem = problem(net, goal)?;
    let marking = run::last_marking(&problem, run)?;
    if holds(&problem.net, goal, &marking) {
        return Ok(());
    }
    reject!(Run, "the marking after the last step does not satisfy the condition")
}

/// Checks that a sum of tokens has no bound in `net`: `goal` says that it is at least so large,
/// `run` can be fired, its last marking satisfies `goal`, and its last step can be repeated for
/// ever, as no place has fewer tokens after it than before, and the sum is larger.
pub fn check_unbounded(net: &Net, goal: &Formula, run: &NetRun) -> Result<(), CheckFailure> {
    let Formula::AtLeast(bound) = goal else { reject!(Form, "the condition is no lower bound of a sum") };
    check_reaching_run(net, goal, run)?;
    let problem = problem(net, goal)?;
    let Some((_, firings)) = run.firings.split_last() else { reject!(Run, "the run has no step to repeat") };
    let before = NetRun { firings: firings.to_vec(), ..run.clone() };
    let (before, after) = (run::last_marking(&problem, &before)?, run::last_marking(&problem, run)?);
    if let Some(place) = before.iter().zip(&after).position(|(before, after)| after < before) {
        reject!(Run, "the last step cannot be repeated for ever: place {place} has fewer tokens after it");
    }
    if weigh(bound, &after) <= weigh(bound, &before) {
        reject!(Run, "the last step does not increase the sum");
    }
    Ok(())
}

/// A weighted sum of the tokens of a marking, by place.
fn weigh(bound: &LinearBound, marking: &[BigUint]) -> BigInt {
    bound.terms.iter().map(|(place, weight)| BigInt::from(marking[place.index()].clone()) * weight).sum()
}

/// The net as a problem without targets, once it and the condition are well formed.
fn problem(net: &Net, goal: &Formula) -> Result<Problem, CheckFailure> {
    let problem = Problem { net: net.clone(), query: Query::default() };
    check_problem(&problem)?;
    check_formula(&problem, goal, 0)?;
    Ok(problem)
}

fn check_formula(problem: &Problem, formula: &Formula, depth: usize) -> Result<(), CheckFailure> {
    if depth > DEEPEST {
        reject!(Form, "the condition is nested more than {DEEPEST} levels deep");
    }
    match formula {
        Formula::Constant(_) => Ok(()),
        Formula::AtLeast(bound) => check_bound(problem, bound),
        Formula::Deadlock => match problem.net.initial.iter().position(|count| *count == OmegaCount::Omega) {
            Some(index) => reject!(Form, "deadlock is asked, and place {index} may hold any number of tokens"),
            None => Ok(()),
        },
        Formula::All(parts) | Formula::Any(parts) => {
            parts.iter().try_for_each(|part| check_formula(problem, part, depth + 1))
        }
    }
}

/// Checks that an inequality mentions places of the net, each once and in order.
fn check_bound(problem: &Problem, bound: &LinearBound) -> Result<(), CheckFailure> {
    check_places(problem, bound.terms.iter().map(|(place, _)| *place)).map_err(|failure| failure.within("condition"))
}

/// Whether a marking, by place, satisfies a condition.
fn holds(net: &Net, goal: &Formula, marking: &[BigUint]) -> bool {
    match goal {
        Formula::Constant(value) => *value,
        Formula::AtLeast(bound) => weigh(bound, marking) >= bound.bound,
        Formula::Deadlock => {
            let lacks =
                |(place, count): &(PlaceId, palisade_model::net::Count)| marking[place.index()] < count.to_big();
            net.transitions.iter().all(|transition| transition.pre.iter().any(lacks))
        }
        Formula::All(parts) => parts.iter().all(|part| holds(net, part, marking)),
        Formula::Any(parts) => parts.iter().any(|part| holds(net, part, marking)),
    }
}
