//! The state equation itself: a marking that covers the target and keeps the traps marked.

use super::super::Context;
use super::super::number::{Number, Overflow, Stop};
use super::program::{EPSILON, Program, coefficient};
use super::solved::FIRST_SLICE;
use good_lp::solvers::{SolutionStatus, WithTimeLimit};
use good_lp::{Expression, ProblemVariables, ResolutionError, Solution, SolverModel, Variable, microlp, variable};
use palisade_model::limits::StopReason;
use std::collections::BTreeMap;

impl<N: Number> Program<'_, N> {
    /// Which places of the slice are marked after a solution of the state equation that covers the
    /// target and keeps the traps marked, with few firings. There is one when nothing separates.
    pub(super) fn solution(&self, context: &Context) -> Result<Vec<bool>, Stop> {
        let mut variables = ProblemVariables::new();
        let firings: Vec<Variable> = self.rows.iter().map(|_| variables.add(variable().min(0.0))).collect();
        let mut after: BTreeMap<u32, Expression> = BTreeMap::new();
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
        let covers = |(place, change): (&u32, &Expression)| change.clone().geq(demand(*place) - initial(*place));
        let mut constraints: Vec<_> = after.iter().map(covers).collect();
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
