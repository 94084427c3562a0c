//! Walks led by the state equation: how often transitions fire in a solution says which steps to
//! take.
//!
//! Targets of many tokens are far from what walks at random and searches with small steps come to,
//! and a solution of the state equation is often a run up to the order of its steps. Targets of few
//! tokens are left to the other strategies.

use super::compact::CompactNet;
use super::engine::{Method, Prepared};
use super::formulas::led_run;
use super::number::{Number, Stop};
use super::{Context, Outcome};
use palisade_model::limits::StopReason;
use palisade_model::net::Count;

/// The strategy `led`.
pub(super) struct Led;

/// Targets that ask for fewer tokens of each place are left to other strategies.
const MANY_TOKENS: u64 = 8;

/// Nets with more transitions are left to other strategies.
const LARGEST: usize = 4_000;

impl Method for Led {
    const NAME: &'static str = "led";

    fn run<N: Number>(prepared: &Prepared<'_>, compact: &CompactNet<N>, context: &Context) -> Result<Outcome, Stop> {
        let demands = || prepared.problem.query.targets.iter().flat_map(|target| &target.demands);
        let is_far = demands().any(|(_, count)| *count >= Count::from(MANY_TOKENS));
        let run = match is_far && compact.transitions.len() <= LARGEST {
            true => led_run(prepared.problem, context)?,
            false => None,
        };
        Ok(run.map_or(Outcome::Unknown(StopReason::Inconclusive), Outcome::Coverable))
    }
}
