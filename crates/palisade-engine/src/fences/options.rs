//! What to place, and how.

use super::cost::Cost;
use super::cost_function::CostFunction;
use super::pattern::Pattern;
use crate::robustness::CheckOptions;
use palisade_model::limits::Limits;
use palisade_model::program::{Measure, Program, Sites};
use std::collections::BTreeSet;

/// What to place, and how.
#[derive(Clone, Debug)]
pub struct FenceOptions {
    /// What fences cost.
    pub cost: CostFunction,
    /// Also offer to make stores locked exchanges, at so many times the cost of a fence at the
    /// store's label.
    pub exchange: Option<Cost>,
    /// Labels that may be changed; all of them when empty.
    pub only: Vec<Pattern>,
    /// Labels that may not.
    pub never: Vec<Pattern>,
    /// Measures of a language that cannot be taken, whatever the patterns say.
    pub withheld: BTreeSet<Measure>,
    /// Collect all optima, at most so many; 0 for one.
    pub alternatives: usize,
    /// Decide the attacks on their nets alone.
    pub nets: bool,
    /// Decide sets by checks of the changed programs, with or without counters, and by nothing else
    /// where these have an answer.
    pub checks: bool,
    /// Distinct values of a register or an address admitted in a program without a domain.
    pub values: usize,
    /// Time, memory, interruption.
    pub limits: Limits,
    /// Check the changed program; callers that check its text themselves need not.
    pub confirm: bool,
}

impl Default for FenceOptions {
    fn default() -> Self {
        Self {
            cost: CostFunction::Annotated,
            exchange: None,
            only: Vec::new(),
            never: Vec::new(),
            withheld: BTreeSet::new(),
            alternatives: 0,
            nets: false,
            checks: false,
            values: CheckOptions::default().values,
            limits: Limits::none(),
            confirm: true,
        }
    }
}

impl FenceOptions {
    /// How changed programs are checked.
    pub(super) fn for_checks(&self) -> CheckOptions {
        CheckOptions { values: self.values, limits: self.limits.clone(), ..CheckOptions::default() }
    }

    /// Whether the patterns allow a measure.
    pub(super) fn permits(&self, program: &Program, sites: &Sites, measure: Measure) -> bool {
        let named = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(program, sites, measure));
        (self.only.is_empty() || named(&self.only)) && !named(&self.never)
    }
}
