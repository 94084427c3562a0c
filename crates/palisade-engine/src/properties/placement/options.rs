//! What to place for the properties of a program, and how.

use crate::fences::{Cost, CostError, CostFunction, Measure, MeasureCosts, Pattern, PatternError};
use palisade_model::limits::Limits;
use palisade_model::program::{Program, Sites};
use palisade_semantics::{Model, Target};

/// What to place, and how.
#[derive(Clone, Debug)]
pub struct PlacementOptions {
    /// The memory model: TSO or PSO.
    pub model: Model,
    /// What labels cost.
    pub cost: CostFunction,
    /// How many times what its label costs an `mfence` costs.
    pub fence: Cost,
    /// How many times what its label costs an `sfence` costs. It is on offer under PSO.
    pub store_fence: Cost,
    /// Also offer to make stores locked exchanges, at so many times the cost of an `mfence` at the
    /// store's label.
    pub exchange: Option<Cost>,
    /// Labels that may be changed; all of them when empty.
    pub only: Vec<Pattern>,
    /// Labels that may not.
    pub never: Vec<Pattern>,
    /// The targets; all of them when empty.
    pub targets: Vec<Target>,
    /// Collect all optima, at most so many; 0 for one.
    pub alternatives: usize,
    /// The largest bound on store buffers with which the searches look for runs.
    pub buffer: usize,
    /// The states that one search visits at most.
    pub states: usize,
    /// The configurations that one exploration for a proof may have before there is no answer.
    pub most: u64,
    /// Distinct values of a register or an address admitted in a program without a domain.
    pub values: usize,
    /// Whether to leave out what does not matter for a target.
    pub slice: bool,
    /// Time, memory, interruption.
    pub limits: Limits,
}

impl PlacementOptions {
    /// The defaults under a model: `mfence` costs 1, under PSO 2, and `sfence` 1.
    pub fn new(model: Model) -> Self {
        let two = || "2".parse().expect("a number");
        Self {
            model,
            cost: CostFunction::Annotated,
            fence: if model == Model::Pso { two() } else { Cost::one() },
            store_fence: Cost::one(),
            exchange: None,
            only: Vec::new(),
            never: Vec::new(),
            targets: Vec::new(),
            alternatives: 0,
            buffer: 8,
            states: 2_000_000,
            most: u64::MAX,
            values: crate::robustness::DEFAULT_VALUES,
            slice: true,
            limits: Limits::none(),
        }
    }

    /// What a measure costs, given what fences cost at its labels.
    pub(crate) fn cost_of(&self, measure: Measure, costs: &MeasureCosts<'_>) -> Result<Cost, CostError> {
        let of_label = costs.dearest(measure)?;
        Ok(match (measure, &self.exchange) {
            (Measure::StoreFence { .. }, _) => of_label.times(&self.store_fence),
            (Measure::Exchange { .. }, Some(factor)) => of_label.times(&self.fence).times(factor),
            _ => of_label.times(&self.fence),
        })
    }

    /// Whether the patterns allow a measure.
    pub(super) fn permits(&self, program: &Program, sites: &Sites, measure: Measure) -> bool {
        let named = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(program, sites, measure));
        (self.only.is_empty() || named(&self.only)) && !named(&self.never)
    }

    /// An error where a pattern names no label.
    pub(crate) fn check_patterns(&self, program: &Program) -> Result<(), PatternError> {
        self.only.iter().chain(&self.never).try_for_each(|pattern| pattern.check(program))
    }
}
