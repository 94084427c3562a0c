//! The portfolio `auto`: cheap proofs first, then the complete strategies.

use super::backward::Backward;
use super::saturation::settle;
use super::slice::Slice;
use super::{Context, Outcome, Strategy};
use crate::net::Problem;

/// The strategy `auto`.
pub(super) struct Auto;

impl Auto {
    /// The outcome and the strategy that found it.
    pub(super) fn solve_named(problem: &Problem, context: &Context) -> (Outcome, &'static str) {
        match settle(problem, &Slice::new(problem)) {
            Some(outcome) => (outcome, "saturation"),
            None => (Backward.solve(problem, context), Backward.name()),
        }
    }
}

impl Strategy for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn solve(&self, problem: &Problem, context: &Context) -> Outcome {
        Self::solve_named(problem, context).0
    }
}
