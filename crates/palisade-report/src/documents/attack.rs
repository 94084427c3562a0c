//! An attack with its answer, as documents have it.

use super::{AttackPlace, OutcomeWord};
use palisade_engine::robustness::AttackReport;
use palisade_model::program::Program;
use serde::Serialize;

/// An attack with its answer.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AttackAnswer<'a> {
    /// Its number, from 1.
    pub id: usize,
    /// Where it is.
    #[serde(flatten)]
    pub place: AttackPlace<'a>,
    /// The answer.
    pub outcome: OutcomeWord,
    /// What answered.
    pub strategy: &'static str,
    /// Configurations explored for it alone.
    pub markings: usize,
    /// Seconds spent on it alone.
    pub seconds: f64,
}

impl<'a> AttackAnswer<'a> {
    /// The answer about an attack of a program, with its number.
    pub fn new(program: &'a Program, id: usize, report: &AttackReport) -> Self {
        Self {
            id,
            place: AttackPlace::new(program, report.attack),
            outcome: report.outcome.into(),
            strategy: report.strategy,
            markings: report.markings,
            seconds: report.seconds,
        }
    }
}
