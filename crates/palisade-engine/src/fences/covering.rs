//! The 0/1 program: the cheapest set of measures that touches every row.
//!
//! DIVERGENCE [ESOP13, Eq. 14]: the paper chooses, per attack, one of its irreducible eliminating
//! sets F by a variable x_F with `Σ x_F ≥ 1` and `Σ_{l∈F} x_l ≥ |F|·x_F`. The same x_l are feasible
//! in the program `Σ_{l∈R} x_l ≥ 1` over the attack's minimal rows R, since a set contains an
//! irreducible eliminating set exactly when it touches every row. This form needs no x_F, its
//! relaxation is tighter, and each of its inequalities is evidence by itself: the attack succeeds
//! on a way that nothing but the measures of R can stop.
//!
//! The program falls apart into blocks that share no measure. Each is given to a maintained solver,
//! whose answer is then only a first guess: a branch and bound in exact arithmetic proves it
//! optimal or improves it, so that rounding in the solver cannot matter. Its lower bound is a dual
//! solution: weights of rows such that the rows of no measure weigh more than it costs. Where that
//! is as high as the optimum it is the whole proof.

use super::cases::{Case, prove, weights};
use super::catalogue::MeasureSet;
use super::cost::Cost;
use good_lp::{Expression, ProblemVariables, Solution, SolverModel, WithTimeLimit, constraint, variable};
use num_bigint::BigUint;
use num_traits::{ToPrimitive, Zero};
use palisade_model::limits::{Limits, StopReason};

/// A cheapest set, with what proves it cheapest.
#[derive(Clone, Debug)]
pub(crate) struct Cheapest {
    pub(crate) set: MeasureSet,
    /// The dual solution: weights of rows, by their position.
    pub(crate) weights: Vec<(usize, Cost)>,
    /// Branchings of the exact search.
    pub(crate) branchings: u64,
}

/// What a group of rows costs at least, with the cases that show it.
pub(crate) type ProvedBlock = (Cost, Option<Vec<Case<Cost>>>);

/// Seconds granted to the solver per block for its guess.
const SOLVER_SECONDS: f64 = 5.0;

/// A cheapest set that touches every row; on a stop, the best set known.
pub(crate) fn cheapest(
    rows: &[MeasureSet],
    costs: &[Cost],
    limits: &Limits,
) -> Result<Cheapest, (StopReason, MeasureSet)> {
    let (units, parts) = Cost::in_common_unit(costs);
    let mut whole = Cheapest { set: MeasureSet::with_capacity(costs.len()), weights: Vec::new(), branchings: 0 };
    let blocks = blocks(rows, costs.len());
    let guesses: Vec<MeasureSet> = blocks.iter().map(|block| guess(rows, block, &units, limits)).collect();
    for (index, block) in blocks.iter().enumerate() {
        let mut search = Branching::new(rows, block, &units, limits);
        search.best = Some(guesses[index].clone());
        search.bound = cost_of(&guesses[index], &units);
        let stopped = search.run();
        let best = search.best.expect("there was a first guess");
        whole.set.union_with(&best);
        if let Err(reason) = stopped {
            guesses[index + 1..].iter().for_each(|guess| whole.set.union_with(guess));
            return Err((reason, whole.set));
        }
        whole.branchings += search.branchings;
        let nothing = MeasureSet::with_capacity(costs.len());
        let weights = weights(rows, &units, &nothing, block, &BigUint::zero());
        whole.weights.extend(weights.iter().map(|(row, weight)| (*row, Cost::of_units(weight, &parts))));
    }
    whole.weights.sort_by_key(|(row, _)| *row);
    debug_assert!(rows.iter().all(|row| !row.is_disjoint(&whole.set)), "the set touches every row");
    debug_assert!(
        whole.weights.iter().map(|(_, weight)| weight.clone()).sum::<Cost>()
            <= whole.set.ones().map(|measure| costs[measure].clone()).sum(),
        "a dual bound is no higher than any cost"
    );
    Ok(whole)
}

/// Groups of rows that share no measure: what each costs at least, given a cheapest set, with the
/// cases that show it unless these are too many or there is no time for them.
pub(crate) fn proved(rows: &[MeasureSet], costs: &[Cost], cheapest: &MeasureSet, limits: &Limits) -> Vec<ProvedBlock> {
    let (units, parts) = Cost::in_common_unit(costs);
    let in_parts = |units: &BigUint| Cost::of_units(units, &parts);
    let prove_block = |block: &Vec<usize>| {
        let least = measures_of(rows, block).intersection(cheapest).map(|measure| &units[measure]).sum();
        let cases = prove(rows, block, &units, &least, limits).ok().flatten();
        (in_parts(&least), cases.map(|cases| cases.iter().map(|case| case.map(|row| row, in_parts)).collect()))
    };
    blocks(rows, costs.len()).iter().map(prove_block).collect()
}

/// The measures of some rows.
fn measures_of(rows: &[MeasureSet], block: &[usize]) -> MeasureSet {
    block.iter().fold(MeasureSet::new(), |mut measures, row| {
        measures.union_with(&rows[*row]);
        measures
    })
}

/// All cheapest sets that touch every row, given one of them, at most `limit`; whether these are
/// all.
pub(crate) fn all_cheapest(
    rows: &[MeasureSet],
    costs: &[Cost],
    one: &MeasureSet,
    limit: usize,
    limits: &Limits,
) -> Result<(Vec<MeasureSet>, bool), StopReason> {
    let (units, _) = Cost::in_common_unit(costs);
    let mut all = vec![MeasureSet::with_capacity(costs.len())];
    let mut complete = true;
    for block in blocks(rows, costs.len()) {
        let mut search = Branching::new(rows, &block, &units, limits);
        search.bound = measures_of(rows, &block).intersection(one).map(|measure| &units[measure]).sum();
        search.limit = limit;
        search.run()?;
        complete &= search.found.len() < limit;
        let mut choices = search.found;
        choices.sort_by_key(|set| set.ones().collect::<Vec<_>>());
        complete &= all.len().saturating_mul(choices.len()) <= limit;
        all = all.iter().flat_map(|set| choices.iter().map(move |choice| set | choice)).take(limit).collect();
    }
    Ok((all, complete))
}

/// The rows, grouped so that groups share no measure.
fn blocks(rows: &[MeasureSet], measures: usize) -> Vec<Vec<usize>> {
    let mut blocks: Vec<(MeasureSet, Vec<usize>)> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let mut block = (MeasureSet::with_capacity(measures), vec![index]);
        block.0.union_with(row);
        let (touched, apart): (Vec<_>, Vec<_>) = blocks.into_iter().partition(|(other, _)| !other.is_disjoint(row));
        for (measures, mut rows) in touched {
            block.0.union_with(&measures);
            block.1.append(&mut rows);
        }
        blocks = apart;
        blocks.push(block);
    }
    let mut blocks: Vec<Vec<usize>> = blocks.into_iter().map(|(_, rows)| rows).collect();
    blocks.iter_mut().for_each(|rows| rows.sort_unstable());
    blocks.sort();
    blocks
}

fn cost_of(set: &MeasureSet, units: &[BigUint]) -> BigUint {
    set.ones().map(|measure| &units[measure]).sum()
}

/// The solver's answer for a block, or when it has none, what greed gives.
fn guess(rows: &[MeasureSet], block: &[usize], units: &[BigUint], limits: &Limits) -> MeasureSet {
    let touches_all = |set: &MeasureSet| block.iter().all(|row| !rows[*row].is_disjoint(set));
    solved(rows, block, units, limits).filter(touches_all).unwrap_or_else(|| greedy(rows, block, units))
}

fn solved(rows: &[MeasureSet], block: &[usize], units: &[BigUint], limits: &Limits) -> Option<MeasureSet> {
    let mut used = MeasureSet::with_capacity(units.len());
    block.iter().for_each(|row| used.union_with(&rows[*row]));
    let dearest = used.ones().map(|measure| &units[measure]).max()?.to_f64()?;
    let mut variables = ProblemVariables::new();
    let chosen: Vec<(usize, good_lp::Variable)> =
        used.ones().map(|measure| (measure, variables.add(variable().binary()))).collect();
    let cost: Expression = chosen
        .iter()
        .map(|(measure, variable)| units[*measure].to_f64().unwrap_or(f64::MAX) / dearest * *variable)
        .sum();
    let seconds = limits.remaining().map_or(SOLVER_SECONDS, |left| left.as_secs_f64().min(SOLVER_SECONDS));
    let mut model = variables.minimise(cost).using(good_lp::microlp).with_time_limit(seconds);
    for row in block {
        let touched: Expression = chosen
            .iter()
            .filter(|(measure, _)| rows[*row].contains(*measure))
            .map(|(_, variable)| Expression::from(*variable))
            .sum();
        model.add_constraint(constraint!(touched >= 1));
    }
    let solution = model.solve().ok()?;
    let mut set = MeasureSet::with_capacity(units.len());
    set.extend(chosen.iter().filter(|(_, variable)| solution.value(*variable) > 0.5).map(|(measure, _)| *measure));
    Some(set)
}

/// Takes, while a row is left, the measure that touches most rows for its cost.
fn greedy(rows: &[MeasureSet], block: &[usize], units: &[BigUint]) -> MeasureSet {
    let mut set = MeasureSet::with_capacity(units.len());
    let mut left: Vec<usize> = block.to_vec();
    while !left.is_empty() {
        let touched = |measure: usize| left.iter().filter(|row| rows[**row].contains(measure)).count();
        let mut best: Option<(usize, usize)> = None;
        for measure in 0..units.len() {
            let count = touched(measure);
            let is_better = best.is_none_or(|(other, most)| &units[other] * count > &units[measure] * most);
            if count > 0 && is_better {
                best = Some((measure, count));
            }
        }
        let (measure, _) = best.expect("rows are not empty");
        set.insert(measure);
        left.retain(|row| !rows[*row].contains(measure));
    }
    set
}

/// The exact search in one block.
struct Branching<'a> {
    rows: Vec<&'a MeasureSet>,
    units: &'a [BigUint],
    limits: &'a Limits,
    /// The cost to undercut, or with a `limit`, not to exceed.
    bound: BigUint,
    /// The best set found.
    best: Option<MeasureSet>,
    /// How many sets within the bound to collect; 0 to look for a better one instead.
    limit: usize,
    found: Vec<MeasureSet>,
    branchings: u64,
}

impl<'a> Branching<'a> {
    fn new(rows: &'a [MeasureSet], block: &[usize], units: &'a [BigUint], limits: &'a Limits) -> Self {
        Self {
            rows: block.iter().map(|row| &rows[*row]).collect(),
            units,
            limits,
            bound: BigUint::zero(),
            best: None,
            limit: 0,
            found: Vec::new(),
            branchings: 0,
        }
    }

    fn run(&mut self) -> Result<(), StopReason> {
        let nothing = MeasureSet::with_capacity(self.units.len());
        let open: Vec<usize> = (0..self.rows.len()).collect();
        self.branch(&nothing, &nothing, &BigUint::zero(), &open)
    }

    /// Considers all sets that contain `chosen` and nothing `excluded`, which touch all rows but
    /// the `open` ones. Every set is reached in one way: the search tries a row's measures in order
    /// and excludes those it has tried.
    fn branch(
        &mut self,
        chosen: &MeasureSet,
        excluded: &MeasureSet,
        cost: &BigUint,
        open: &[usize],
    ) -> Result<(), StopReason> {
        if self.limit > 0 && self.found.len() >= self.limit {
            return Ok(());
        }
        if self.branchings.is_multiple_of(256) {
            self.limits.check()?;
        }
        self.branchings += 1;
        let Some(lower) = self.lower_bound(excluded, open) else { return Ok(()) };
        let least = cost + lower;
        if least > self.bound || (self.limit == 0 && least == self.bound) {
            return Ok(());
        }
        let Some(row) = open.iter().min_by_key(|row| self.rows[**row].difference(excluded).count()) else {
            if self.limit > 0 {
                self.found.push(chosen.clone());
            } else {
                self.bound.clone_from(cost);
                self.best = Some(chosen.clone());
            }
            return Ok(());
        };
        let mut excluded = excluded.clone();
        let row = self.rows[*row];
        let choices: Vec<usize> = row.difference(&excluded).collect();
        for measure in choices {
            let mut longer = chosen.clone();
            longer.insert(measure);
            let left: Vec<usize> = open.iter().copied().filter(|row| !self.rows[*row].contains(measure)).collect();
            self.branch(&longer, &excluded, &(cost + &self.units[measure]), &left)?;
            excluded.insert(measure);
        }
        Ok(())
    }

    /// A dual bound on what the open rows cost without what is excluded; nothing when one of them
    /// has lost all its measures.
    fn lower_bound(&self, excluded: &MeasureSet, open: &[usize]) -> Option<BigUint> {
        let mut order: Vec<(usize, usize)> =
            open.iter().map(|row| (self.rows[*row].difference(excluded).count(), *row)).collect();
        order.sort_unstable();
        let mut left = self.units.to_vec();
        let mut bound = BigUint::zero();
        for (_, row) in order {
            let measures: Vec<usize> = self.rows[row].difference(excluded).collect();
            let weight = measures.iter().map(|measure| &left[*measure]).min()?.clone();
            if !weight.is_zero() {
                measures.iter().for_each(|measure| left[*measure] -= &weight);
                bound += weight;
            }
        }
        Some(bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_semantics::random::Randomness;

    #[test]
    fn optima_of_random_programs_are_those_of_exhaustive_search() {
        let mut random = Randomness::new(11);
        for _ in 0..300 {
            let size = 1 + random.below(8);
            let rows: Vec<MeasureSet> = (0..=random.below(9))
                .map(|_| {
                    let mut row = MeasureSet::with_capacity(size);
                    row.insert(random.below(size));
                    row.extend((0..size).filter(|_| random.percent(25)).collect::<Vec<_>>());
                    row
                })
                .collect();
            let costs: Vec<Cost> =
                (0..size).map(|_| format!("{}.{}", 1 + random.below(3), random.below(10)).parse().unwrap()).collect();
            let cost = |set: &MeasureSet| -> Cost { set.ones().map(|measure| costs[measure].clone()).sum() };
            let mut valid: Vec<MeasureSet> = (0..1usize << size)
                .map(|bits| {
                    let mut set = MeasureSet::with_capacity(size);
                    set.extend((0..size).filter(|bit| bits >> bit & 1 == 1));
                    set
                })
                .filter(|set| rows.iter().all(|row| !row.is_disjoint(set)))
                .collect();
            let least = valid.iter().map(cost).min().unwrap();
            valid.retain(|set| cost(set) == least);
            let found = cheapest(&rows, &costs, &Limits::none()).unwrap();
            assert!(valid.contains(&found.set));
            let (mut all, complete) = all_cheapest(&rows, &costs, &found.set, 1000, &Limits::none()).unwrap();
            assert!(complete);
            let key = |set: &MeasureSet| set.ones().collect::<Vec<_>>();
            all.sort_by_key(key);
            valid.sort_by_key(key);
            assert_eq!(all, valid);
        }
    }
}
