//! Linear programs that take further constraints once they are solved.
//!
//! The simplex method goes on from the last basis, so that a constraint costs a factorization and
//! few pivots.

use super::super::Context;
use super::super::number::Stop;
use microlp::{ComparisonOp, Error, LinearExpr, OptimizationDirection, Problem, Solution, SolveOutcome, Variable};
use palisade_model::limits::StopReason;
use std::time::Duration;

/// The time between two checks of the limits while the solver computes, at first; it doubles each
/// time.
pub(super) const FIRST_SLICE: f64 = 0.1;

/// The coefficients of a constraint by column, each column once.
pub(in super::super) type Row = Vec<(usize, f64)>;

/// A program of nonnegative variables, with its optimum.
pub(in super::super) struct Solved {
    variables: Vec<Variable>,
    constraints: usize,
    solution: Solution,
}

impl Solved {
    /// The least cost at which `demand` comes to at least its largest coefficient and each of
    /// `rows` to at most 0; nothing where they exclude each other.
    pub(in super::super) fn new(
        costs: impl Iterator<Item = f64>,
        demand: Row,
        rows: impl Iterator<Item = Row>,
        context: &Context,
    ) -> Result<Option<Self>, Stop> {
        let mut problem = Problem::new(OptimizationDirection::Minimize);
        let variables: Vec<Variable> = costs.map(|cost| problem.add_var(cost, (0.0, f64::INFINITY))).collect();
        problem.add_constraint(sum(&variables, scaled(demand)), ComparisonOp::Ge, 1.0);
        let mut constraints = 1;
        for row in rows {
            problem.add_constraint(sum(&variables, row), ComparisonOp::Le, 0.0);
            constraints += 1;
        }
        context.count_work(variables.len() + constraints);
        context.check()?;
        problem.set_time_limit(slice(FIRST_SLICE, context));
        Self::optimum(problem.solve(), variables, constraints, 0, context)
    }

    /// The same program with one more row.
    pub(in super::super) fn with(self, row: Row, context: &Context) -> Result<Option<Self>, Stop> {
        context.check()?;
        let pivots = self.pivots();
        let Self { variables, constraints, solution } = self;
        let outcome = solution.add_constraint(sum(&variables, row), ComparisonOp::Le, 0.0);
        // All constraints are copied and factorized.
        context.count_work(variables.len() + 3 * constraints);
        Self::optimum(outcome, variables, constraints + 1, pivots, context)
    }

    /// Lets the solver go on until it has the optimum; it has taken so many pivots before. Each of
    /// them touches every constraint.
    fn optimum(
        mut outcome: Result<SolveOutcome, Error>,
        variables: Vec<Variable>,
        constraints: usize,
        mut pivots: u64,
        context: &Context,
    ) -> Result<Option<Self>, Stop> {
        let mut most = FIRST_SLICE;
        loop {
            let solved = match outcome {
                Ok(solved) => solved,
                Err(Error::Infeasible) => return Ok(None),
                Err(_) => return Err(Stop::Stopped(StopReason::Inconclusive)),
            };
            let taken = usize::try_from(solved.stats().lp_iterations - pivots).unwrap_or(usize::MAX);
            context.count_work(taken.saturating_mul(constraints));
            pivots = solved.stats().lp_iterations;
            match solved.into_solution() {
                Ok(solution) => return Ok(Some(Self { variables, constraints, solution })),
                // Time ran out: look at the limits and take longer.
                Err(interrupted) => {
                    context.check()?;
                    most *= 2.0;
                    let mut options = interrupted.last_resume_options();
                    options.time_limit = Some(slice(most, context));
                    outcome = SolveOutcome::Interrupted(interrupted).resume_with(options);
                }
            }
        }
    }

    /// How many pivots the program has taken.
    pub(in super::super) fn pivots(&self) -> u64 {
        self.solution.stats().lp_iterations
    }

    /// The value of a column in the optimum.
    pub(in super::super) fn value(&self, column: usize) -> f64 {
        self.solution.var_value(self.variables[column])
    }
}

/// The demand over its largest coefficient: a solution is about as large as 1 then, whatever the
/// numbers of tokens, and solvers and conversions to fractions are exact for such numbers.
fn scaled(mut demand: Row) -> Row {
    let largest = demand.iter().map(|(_, coefficient)| *coefficient).fold(0.0, f64::max);
    if largest > 1.0 {
        demand.iter_mut().for_each(|(_, coefficient)| *coefficient /= largest);
    }
    demand
}

/// So many seconds, or what is left.
fn slice(seconds: f64, context: &Context) -> Duration {
    let most = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    context.remaining().map_or(most, |left| left.min(most))
}

fn sum(variables: &[Variable], row: Row) -> LinearExpr {
    row.into_iter().map(|(column, coefficient)| (variables[column], coefficient)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Random;

    /// The value of the optimum.
    fn value(solved: Option<&Solved>) -> Option<f64> {
        solved.map(|solved| (0..solved.variables.len()).map(|column| solved.value(column)).sum())
    }

    /// Rows that are added one by one lead to the optimum of the program that has them all.
    #[test]
    fn rows_may_come_later() {
        let context = Context::default();
        let mut random = Random(3);
        let mut infeasible = 0;
        for _ in 0..300 {
            let columns = 2 + usize::try_from(random.below(6)).unwrap();
            let mut row = || -> Row {
                let coefficients =
                    (0..columns).map(|column| (column, f64::from(u8::try_from(random.below(5)).unwrap()) - 2.0));
                coefficients.filter(|(_, coefficient)| *coefficient != 0.0).collect()
            };
            let demand = row();
            let rows: Vec<Row> = (0..6).map(|_| row()).collect();
            let start = |rows: &[Row]| {
                let costs = (0..columns).map(|_| 1.0);
                Solved::new(costs, demand.clone(), rows.iter().cloned(), &context)
            };
            let Ok(whole) = start(&rows) else { panic!("small programs are solved") };
            let Ok(mut grown) = start(&rows[..2]) else { panic!("small programs are solved") };
            for row in &rows[2..] {
                let Some(before) = grown else { break };
                let Ok(after) = before.with(row.clone(), &context) else { panic!("small programs are solved") };
                grown = after;
            }
            let (whole, grown) = (value(whole.as_ref()), value(grown.as_ref()));
            assert_eq!(whole.is_some(), grown.is_some());
            assert!(whole.zip(grown).is_none_or(|(one, other)| (one - other).abs() < 1e-6), "{whole:?} and {grown:?}");
            infeasible += usize::from(whole.is_none());
        }
        assert!((30..270).contains(&infeasible), "the sample is lopsided: {infeasible} of 300 have no solution");
    }
}
