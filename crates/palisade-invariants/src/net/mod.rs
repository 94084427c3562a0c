//! Checks evidence about nets: certificates of uncoverability and covering runs.

mod arcs;
mod downward;
mod reach;
mod run;
mod separator;
mod upward;

#[cfg(test)]
mod tests;

pub use reach::{check_also_unreachable, check_reaching_run, check_unbounded, check_unreachable, without_inhibitors};

use crate::CheckFailure;
use crate::failure::reject;
use palisade_evidence::{NetCertificate, NetRun, OmegaMarking};
use palisade_model::net::{Count, OmegaCount, PlaceId, Problem, TransitionId};
use std::fmt::Display;

/// Checks that `certificate` shows that no target of `problem` can be covered.
pub fn check_net_certificate(problem: &Problem, certificate: &NetCertificate) -> Result<(), CheckFailure> {
    check_problem(problem)?;
    match certificate {
        NetCertificate::Downward { markings } => downward::check(problem, markings),
        NetCertificate::Upward { basis, invariant } => upward::check(problem, basis, invariant),
        NetCertificate::Separator { siphon, refutations } => separator::check(problem, siphon, refutations),
    }
}

/// Checks that no target of `problem` can be covered by a set of ω-markings that is closed up to
/// symmetries of the net: `form` gives for a marking one that such a symmetry takes it to.
pub(crate) fn check_downward_up_to(
    problem: &Problem,
    markings: &[OmegaMarking],
    form: impl Fn(OmegaMarking) -> OmegaMarking,
) -> Result<(), CheckFailure> {
    check_problem(problem)?;
    downward::check_up_to(problem, markings, form)
}

/// Checks that `run` can be fired in the net of `problem` and covers one of its targets.
pub fn check_net_run(problem: &Problem, run: &NetRun) -> Result<(), CheckFailure> {
    check_problem(problem)?;
    run::check(problem, run)
}

/// The net's own promises, on which the checks below rely.
fn check_problem(problem: &Problem) -> Result<(), CheckFailure> {
    let places = problem.net.places.len();
    if problem.net.initial.len() != places {
        reject!(Form, "the net has {places} places and an initial marking of {}", problem.net.initial.len());
    }
    if !problem.net.inhibitors.is_empty() {
        reject!(Form, "the net has inhibitor arcs, which complement places have to take the part of");
    }
    for (id, transition) in problem.net.transition_ids() {
        let preset = check_sparse(problem, &transition.pre, Count::is_zero);
        preset.map_err(|failure| failure.within(format_args!("preset of transition {id}")))?;
        let postset = check_sparse(problem, &transition.post, Count::is_zero);
        postset.map_err(|failure| failure.within(format_args!("postset of transition {id}")))?;
    }
    for (index, target) in problem.query.targets.iter().enumerate() {
        check_sparse(problem, &target.demands, Count::is_zero)
            .map_err(|failure| failure.within(format_args!("target {index}")))?;
    }
    Ok(())
}

/// Checks that a sparse vector is over places of the net, each at most once in ascending order,
/// without zeros.
fn check_sparse<T>(
    problem: &Problem,
    vector: &[(PlaceId, T)],
    is_zero: impl Fn(&T) -> bool,
) -> Result<(), CheckFailure> {
    check_places(problem, vector.iter().map(|(place, _)| *place))?;
    match vector.iter().find(|(_, value)| is_zero(value)) {
        Some((place, _)) => reject!(Form, "place {place} is listed with 0"),
        None => Ok(()),
    }
}

/// Checks that places are places of the net, in strictly ascending order.
fn check_places(problem: &Problem, places: impl Iterator<Item = PlaceId>) -> Result<(), CheckFailure> {
    let mut last = None;
    for place in places {
        if place.index() >= problem.net.places.len() {
            reject!(Form, "there is no place {place}");
        }
        if last.is_some_and(|last| last >= place) {
            reject!(Form, "place {place} is not in ascending order");
        }
        last = Some(place);
    }
    Ok(())
}

/// The number at `place` of a sparse vector that is sorted by place.
fn at<T>(vector: &[(PlaceId, T)], place: PlaceId) -> Option<&T> {
    vector.binary_search_by_key(&place, |(place, _)| *place).ok().map(|position| &vector[position].1)
}

/// Whether ω-marking `smaller` is nowhere larger than `larger`; both sparse, sorted, without zeros.
fn is_below(smaller: &[(PlaceId, OmegaCount)], larger: &[(PlaceId, OmegaCount)]) -> bool {
    smaller.len() <= larger.len()
        && smaller.iter().all(|(place, count)| at(larger, *place).is_some_and(|upper| count <= upper))
}

/// A marking in words: at most its first places.
fn in_words<T: Display>(problem: &Problem, marking: &[(PlaceId, T)]) -> String {
    const SHOWN: usize = 12;
    let mut words: Vec<String> = marking
        .iter()
        .take(SHOWN)
        .map(|(place, count)| format!("{}={count}", problem.net.places[place.index()].name))
        .collect();
    if marking.len() > SHOWN {
        words.push(format!("and {} places more", marking.len() - SHOWN));
    }
    format!("{{{}}}", words.join(", "))
}

/// A transition in words.
fn named(problem: &Problem, transition: TransitionId) -> String {
    format!("{transition} `{}`", problem.net.transitions[transition.index()].name)
}
