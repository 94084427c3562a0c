//! The linear programs: weights that separate, with constraints generated as needed; and the state equation itself.

use super::super::Context;
use super::super::compact::CompactNet;
use super::super::number::{Number, Overflow, Stop};
use good_lp::solvers::{SolutionStatus, WithTimeLimit};
use good_lp::{Expression, ProblemVariables, ResolutionError, Solution, SolverModel, Variable, microlp, variable};
use palisade_model::limits::StopReason;
use rustc_hash::FxHashMap;

/// What counts as more than nothing.
const EPSILON: f64 = 1e-7;

/// The time between two checks of the limits while the solver computes, at first; it doubles each time.
const FIRST_SLICE: f64 = 0.1;

/// Weights `w` that, with multipliers `z` for the traps, separate.
pub(super) struct Separation {
    /// Weights by place.
    pub(super) weights: Vec<(u32, f64)>,
    /// One multiplier per trap.
    pub(super) multipliers: Vec<f64>,
}

/// The programs for one target.
pub(super) struct Program<'a, N> {
    compact: &'a CompactNet<N>,
    target: &'a [(u32, N)],
    /// The traps found, each sorted.
    pub(super) traps: Vec<Vec<u32>>,
    /// The transitions whose constraints are there.
    rows: Vec<u32>,
    is_row: Vec<bool>,
    /// The places that may weigh something.
    places: Vec<u32>,
    /// Per place, its position among these.
    column: FxHashMap<u32, usize>,
}

/// A token count as a coefficient; what it loses is caught by the exact check.
#[allow(clippy::cast_precision_loss, reason = "solutions are checked exactly")]
fn coefficient<N: Number>(count: &N) -> f64 {
    count.rough() as f64
}

impl<'a, N: Number> Program<'a, N> {
    /// No constraints yet; only the target's places weigh.
    pub(super) fn new(compact: &'a CompactNet<N>, target: &'a [(u32, N)]) -> Self {
        let mut program = Self {
            compact,
            target,
            traps: Vec::new(),
            rows: Vec::new(),
            is_row: vec![false; compact.transitions.len()],
            places: Vec::new(),
            column: FxHashMap::default(),
        };
        target.iter().for_each(|(place, _)| program.add_place(*place));
        program
    }

    fn add_place(&mut self, place: u32) {
        if !self.column.contains_key(&place) {
            self.column.insert(place, self.places.len());
            self.places.push(place);
        }
    }

    /// Weights that separate every marking of the state equation and the traps from the target, of least sum.
    pub(super) fn separate(&mut self, context: &Context) -> Result<Option<Separation>, Stop> {
        loop {
            context.count_iterations(1);
            context.count_work(self.compact.transitions.len());
            let Some(separation) = self.solve_dual(context)? else { return Ok(None) };
            let violated = self.violated(&separation);
            if violated.is_empty() {
                return Ok(Some(separation));
            }
            for transition in violated {
                self.is_row[transition as usize] = true;
                self.rows.push(transition);
                for effect in self.compact.effects(transition) {
                    if effect.pre != effect.post {
                        self.add_place(effect.place);
                    }
                }
            }
        }
    }

    /// The weights `y = w + Σ z`, by place.
    fn sums(&self, separation: &Separation) -> FxHashMap<u32, f64> {
        let mut sums: FxHashMap<u32, f64> = separation.weights.iter().copied().collect();
        for (trap, multiplier) in self.traps.iter().zip(&separation.multipliers) {
            if *multiplier > EPSILON {
                for place in trap {
                    *sums.entry(*place).or_default() += multiplier;
                }
            }
        }
        sums
    }

    /// The transitions that increase the weighted sum, ascending.
    fn violated(&self, separation: &Separation) -> Vec<u32> {
        let sums = self.sums(separation);
        let mut candidates: Vec<u32> = Vec::new();
        let mut places: Vec<u32> = sums.iter().filter(|(_, sum)| **sum > EPSILON).map(|(place, _)| *place).collect();
        places.sort_unstable();
        for place in places {
            let producers = self.compact.producers.row(place);
            candidates.extend(producers.iter().filter(|transition| !self.is_row[**transition as usize]));
        }
        candidates.sort_unstable();
        candidates.dedup();
        candidates.retain(|transition| {
            let change = |effect: &super::super::compact::Effect<N>| {
                let sum = sums.get(&effect.place).copied().unwrap_or(0.0);
                sum * (coefficient(&effect.post) - coefficient(&effect.pre))
            };
            self.compact.effects(*transition).iter().map(change).sum::<f64>() > EPSILON
        });
        candidates
    }

    /// The dual program over the constraints generated so far; nothing when it has no solution.
    fn solve_dual(&self, context: &Context) -> Result<Option<Separation>, Stop> {
        let mut variables = ProblemVariables::new();
        let weights: Vec<Variable> = self.places.iter().map(|_| variables.add(variable().min(0.0))).collect();
        let multipliers: Vec<Variable> = self.traps.iter().map(|_| variables.add(variable().min(0.0))).collect();
        let mut traps_of: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        for (index, trap) in self.traps.iter().enumerate() {
            trap.iter().for_each(|place| traps_of.entry(*place).or_default().push(index));
        }

        let initial = |place: u32| coefficient(&self.compact.initial[place as usize]);
        let mut separates = Expression::with_capacity(self.places.len());
        for (place, weight) in self.places.iter().zip(&weights) {
            let demanded = self.target.iter().find(|(other, _)| other == place);
            let factor = demanded.map_or(0.0, |(_, count)| coefficient(count)) - initial(*place);
            if factor != 0.0 {
                separates.add_mul(factor, *weight);
            }
        }
        for (trap, multiplier) in self.traps.iter().zip(&multipliers) {
            let tokens: f64 = trap.iter().map(|place| initial(*place)).sum();
            separates.add_mul(1.0 - tokens, *multiplier);
        }
        let mut constraints = vec![separates.geq(1.0)];
        for transition in &self.rows {
            let effects = self.compact.effects(*transition);
            let mut sum = Expression::with_capacity(effects.len());
            for effect in effects {
                let change = coefficient(&effect.post) - coefficient(&effect.pre);
                if change == 0.0 {
                    continue;
                }
                sum.add_mul(change, weights[self.column[&effect.place]]);
                for trap in traps_of.get(&effect.place).into_iter().flatten() {
                    sum.add_mul(change, multipliers[*trap]);
                }
            }
            constraints.push(sum.leq(0.0));
        }
        let mut objective: Expression = weights.iter().sum();
        #[allow(clippy::cast_precision_loss, reason = "a trap's size is small")]
        for (trap, multiplier) in self.traps.iter().zip(&multipliers) {
            objective.add_mul(trap.len() as f64, *multiplier);
        }

        let Some(solution) = optimize(&variables, &objective, &constraints, context)? else { return Ok(None) };
        let positive = |value: f64| if value > EPSILON { value } else { 0.0 };
        Ok(Some(Separation {
            weights: self
                .places
                .iter()
                .zip(&weights)
                .map(|(place, weight)| (*place, positive(solution.value(*weight))))
                .filter(|(_, value)| *value > 0.0)
                .collect(),
            multipliers: multipliers.iter().map(|multiplier| positive(solution.value(*multiplier))).collect(),
        }))
    }

    /// Which places of the slice are marked after a solution of the state equation that covers the target and keeps
    /// the traps marked, with few firings. There is one when nothing separates.
    pub(super) fn solution(&self, context: &Context) -> Result<Vec<bool>, Stop> {
        let mut variables = ProblemVariables::new();
        let firings: Vec<Variable> = self.rows.iter().map(|_| variables.add(variable().min(0.0))).collect();
        let mut after: FxHashMap<u32, Expression> = FxHashMap::default();
        for (transition, firing) in self.rows.iter().zip(&firings) {
            for effect in self.compact.effects(*transition) {
                let change = coefficient(&effect.post) - coefficient(&effect.pre);
                if change != 0.0 {
                    after.entry(effect.place).or_default().add_mul(change, *firing);
                }
            }
        }
        let initial = |place: u32| coefficient(&self.compact.initial[place as usize]);
        let demand = |place: u32| {
            self.target.iter().find(|(other, _)| *other == place).map_or(0.0, |(_, count)| coefficient(count))
        };
        let mut constraints = Vec::new();
        for place in &self.places {
            if let Some(change) = after.get(place) {
                constraints.push(change.clone().geq(demand(*place) - initial(*place)));
            }
        }
        for trap in &self.traps {
            let mut tokens = Expression::default();
            for place in trap {
                if let Some(change) = after.get(place) {
                    tokens += change.clone();
                }
            }
            constraints.push(tokens.geq(1.0 - trap.iter().map(|place| initial(*place)).sum::<f64>()));
        }
        let objective: Expression = firings.iter().sum();
        let solution = optimize(&variables, &objective, &constraints, context)?;
        let solution = solution.ok_or(Stop::Stopped(StopReason::Inconclusive))?;
        let places = u32::try_from(self.compact.places()).map_err(|_| Stop::Fault(Overflow))?;
        Ok((0..places)
            .map(|place| {
                let change = after.get(&place).map_or(0.0, |change| solution.eval(change));
                initial(place) + change > EPSILON
            })
            .collect())
    }
}

/// The optimum, or nothing when there is no solution.
pub(in super::super) fn optimize(
    variables: &ProblemVariables,
    objective: &Expression,
    constraints: &[good_lp::Constraint],
    context: &Context,
) -> Result<Option<impl Solution + use<>>, Stop> {
    let mut slice = FIRST_SLICE;
    // Some pivots per constraint, each of which may touch all of them.
    context.count_work((constraints.len() + 10).pow(2) * 2);
    loop {
        context.check()?;
        let left = context.remaining().map_or(f64::INFINITY, |left| left.as_secs_f64());
        let mut model = variables.clone().minimise(objective).using(microlp).with_time_limit(slice.min(left));
        for constraint in constraints {
            model.add_constraint(constraint.clone());
        }
        match model.solve() {
            Ok(solution) if matches!(solution.status(), SolutionStatus::Optimal) => {
                return Ok(Some(solution));
            }
            Err(ResolutionError::Infeasible) => return Ok(None),
            // Time ran out: look at the limits and take longer.
            Ok(_) | Err(ResolutionError::Other(_)) => slice *= 2.0,
            _ => return Err(Stop::Stopped(StopReason::Inconclusive)),
        }
    }
}
