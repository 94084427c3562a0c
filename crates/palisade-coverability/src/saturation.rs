//! Saturation: which places can be marked at all, when tokens are never used up (0/ω).
//!
//! Linear in the size of the net. Refutes a target that demands a place which is never marked; the
//! empty places are a siphon, so the proof is one. Covers a target whose demands are met initially
//! or lie on unbounded places only.

use super::run::finish;
use super::slice::{Fate, Slice};
use super::{Context, Outcome, Strategy};
use palisade_model::limits::StopReason;
use palisade_model::net::Problem;

/// The strategy `saturation`.
pub(super) struct Saturation;

impl Strategy for Saturation {
    fn name(&self) -> &'static str {
        "saturation"
    }

    fn solve(&self, problem: &Problem, context: &Context) -> Outcome {
        let slice = Slice::new(problem);
        context.count_iterations(1);
        settle(problem, &slice).unwrap_or(Outcome::Unknown(StopReason::Inconclusive))
    }
}

/// The answer, if the slice alone gives it.
pub(super) fn settle(problem: &Problem, slice: &Slice) -> Option<Outcome> {
    if slice.targets.is_empty() {
        return Some(Outcome::Uncoverable(slice.refuted_by_siphon(problem)));
    }
    let met = |index: &&usize| {
        problem.query.targets[**index].demands.iter().all(|(place, count)| {
            slice.fates[place.index()] == Fate::Unbounded || problem.net.initial[place.index()].covers(count)
        })
    };
    slice.targets.iter().find(met).map(|index| Outcome::Coverable(finish(problem, slice, Vec::new(), *index)))
}
