//! Weights by which inequalities on markings contradict the state equation, by linear programming.
//!
//! Constraints of transitions are generated as solutions violate them. A program that has got many
//! is solved on the [folded](super::folded) net.

use super::equation::{Fact, Prover, bounds};
use super::folded::{Folded, Named};
use super::observers::{EPSILON, dense, float, sparse};
use crate::Context;
use crate::number::Stop;
use crate::state_equation::{Row, Solved, integers};
use num_bigint::BigInt;
use num_traits::{ToPrimitive, Zero};
use palisade_evidence::Contradiction;
use palisade_model::limits::StopReason;
use palisade_model::net::{Formula, LinearBound};
use std::collections::BTreeMap;

/// A program is large that has got so many constraints one by one.
const FEW_ROWS: usize = 64;

/// What came of a program.
enum Tried {
    Contradiction(Contradiction),
    /// There is none.
    Nothing,
    /// The net is folded now.
    Folded,
}

impl Prover<'_, '_> {
    /// What a transition changes, on the places that are left.
    pub(super) fn changes(&self, transition: u32) -> &[(u32, i64)] {
        let changes = self.folded.as_ref().map_or(&self.machine.changes, |folded| &folded.changes);
        &changes[transition as usize]
    }

    /// The tokens of a place that is left, initially.
    pub(super) fn initial(&self, place: usize) -> f64 {
        match &self.folded {
            Some(folded) => float(folded.initial[place]),
            None => f64::from(self.machine.initial[place]),
        }
    }

    /// The places that are left.
    pub(super) fn each_left(&self, each: impl FnMut(u32)) {
        match &self.folded {
            Some(folded) => folded.left.iter().copied().for_each(each),
            None => (0..u32::try_from(self.machine.initial.len()).unwrap_or(u32::MAX)).for_each(each),
        }
    }

    /// Notes how a fact names places.
    pub(super) fn name(&mut self, fact: &Fact) {
        match fact {
            Fact::Bound(bound) => self.name_in(bound),
            Fact::Choice(parts) => parts.iter().for_each(|part| self.name_in_formula(part)),
        }
    }

    fn name_in_formula(&mut self, formula: &Formula) {
        match formula {
            Formula::Constant(_) | Formula::Deadlock => {}
            Formula::AtLeast(bound) => self.name_in(bound),
            Formula::All(parts) | Formula::Any(parts) => parts.iter().for_each(|part| self.name_in_formula(part)),
        }
    }

    fn name_in(&mut self, bound: &LinearBound) {
        let named = |weight: &BigInt| if *weight < BigInt::zero() { Named::Few } else { Named::Many };
        self.name_all(bound.terms.iter().map(|(place, weight)| (place.0, named(weight))));
    }

    /// Notes that places are named so.
    pub(super) fn name_all(&mut self, places: impl Iterator<Item = (u32, Named)>) {
        for (place, named) in places {
            let own = &mut self.named[place as usize];
            *own = named.max(*own);
        }
    }

    /// Weights by which the inequalities among the facts and the traps contradict each other.
    pub(super) fn contradiction(&mut self, facts: &[Fact], context: &Context) -> Result<Option<Contradiction>, Stop> {
        if self.folded.as_ref().is_some_and(|folded| !folded.serves(&self.named)) {
            self.fold(context);
        }
        loop {
            match self.attempt(facts, context)? {
                Tried::Contradiction(contradiction) => return Ok(Some(contradiction)),
                Tried::Nothing => return Ok(None),
                Tried::Folded => {}
            }
        }
    }

    fn fold(&mut self, context: &Context) {
        context.count_work(2 * self.machine.changes.len());
        self.folded = Folded::new(self.machine, &self.fires, self.named.clone());
    }

    fn attempt(&mut self, facts: &[Fact], context: &Context) -> Result<Tried, Stop> {
        let bounds: Vec<(usize, &LinearBound)> = bounds(facts).collect();
        let multiplied: Vec<(Vec<(usize, f64)>, f64)> = bounds
            .iter()
            .map(|(_, bound)| {
                let terms =
                    bound.terms.iter().map(|(place, weight)| (place.index(), weight.to_f64().unwrap_or(f64::NAN)));
                (terms.collect(), bound.bound.to_f64().unwrap_or(f64::NAN))
            })
            .chain(self.traps.iter().map(|trap| (trap.iter().map(|place| (*place as usize, 1.0)).collect(), 1.0)))
            .collect();
        // The column of each place, and for each place the multipliers that weigh it.
        let all = self.machine.initial.len();
        let (mut left, mut columns) = (Vec::new(), vec![usize::MAX; all]);
        self.each_left(|place| {
            columns[place as usize] = left.len();
            left.push(place as usize);
        });
        let places = left.len();
        let mut of_place: Vec<Vec<(usize, f64)>> = vec![Vec::new(); all];
        for (number, (terms, _)) in multiplied.iter().enumerate() {
            terms.iter().for_each(|(place, weight)| of_place[*place].push((places + number, *weight)));
        }
        let row = |changes: &[(u32, i64)]| -> Row {
            let mut sums: BTreeMap<usize, f64> = BTreeMap::new();
            for (place, change) in changes {
                *sums.entry(columns[*place as usize]).or_default() += float(*change);
                for (column, weight) in &of_place[*place as usize] {
                    *sums.entry(*column).or_default() += weight * float(*change);
                }
            }
            sums.into_iter().filter(|(_, sum)| *sum != 0.0).collect()
        };
        let mut gain: Row = (0..)
            .zip(&left)
            .map(|(column, place)| (column, -self.initial(*place)))
            .filter(|(_, gain)| *gain != 0.0)
            .collect();
        for (number, (terms, bound)) in multiplied.iter().enumerate() {
            let own: f64 = terms.iter().map(|(place, weight)| weight * self.initial(*place)).sum();
            if bound - own != 0.0 {
                gain.push((places + number, bound - own));
            }
        }
        #[allow(clippy::cast_precision_loss, reason = "an inequality has few terms")]
        let sizes = multiplied.iter().map(|(terms, _)| 1.0 + terms.len() as f64);
        let costs = (0..places).map(|_| 1.0).chain(sizes);
        let mut is_row = vec![false; self.machine.changes.len()];
        self.rows.iter().for_each(|row| is_row[*row as usize] = true);
        let rows = self.rows.iter().map(|transition| row(self.changes(*transition)));
        let mut solved = Solved::new(costs, gain, rows.filter(|row| !row.is_empty()), context)?;
        let mut added = 0;
        loop {
            let Some(program) = solved else { return Ok(Tried::Nothing) };
            let mut sums = vec![0.0; all];
            (0..).zip(&left).for_each(|(column, place)| sums[*place] = program.value(column));
            for (number, (terms, _)) in multiplied.iter().enumerate() {
                let multiplier = program.value(places + number);
                terms.iter().for_each(|(place, weight)| sums[*place] += multiplier * weight);
            }
            if let Some(folded) = &self.folded {
                folded.weigh(&mut sums, |sums, terms| {
                    terms.iter().map(|(place, times)| sums[*place as usize] * float(*times)).sum()
                });
            }
            context.count_work(all + self.machine.changes.len());
            context.count_iterations(1);
            let counts = |transition| self.fires[transition as usize] && !self.changes(transition).is_empty();
            match self.observers.deepest(&sums, &is_row, counts) {
                Some(transition) => {
                    is_row[transition as usize] = true;
                    self.rows.push(transition);
                    added += 1;
                    if added == FEW_ROWS && !std::mem::replace(&mut self.is_large, true) {
                        self.fold(context);
                        if self.folded.is_some() {
                            return Ok(Tried::Folded);
                        }
                    }
                    solved = program.with(row(self.changes(transition)), context)?;
                }
                None => {
                    let value = |column: usize| Some(program.value(column)).filter(|value| *value > EPSILON);
                    let weights = (0..).zip(&left).filter_map(|(column, place)| Some((*place, value(column)?)));
                    let weights: Vec<(u32, f64)> =
                        weights.map(|(place, weight)| (u32::try_from(place).unwrap_or(u32::MAX), weight)).collect();
                    let multipliers: Vec<f64> =
                        (0..multiplied.len()).map(|number| value(places + number).unwrap_or(0.0)).collect();
                    let found = integers(&weights, &multipliers)
                        .find_map(|(weights, multipliers)| self.assemble(&bounds, weights, multipliers));
                    return found.map(Tried::Contradiction).ok_or(Stop::Stopped(StopReason::Inconclusive));
                }
            }
        }
    }

    /// The contradiction with these weights and multipliers, if it is one.
    fn assemble(
        &self,
        bounds: &[(usize, &LinearBound)],
        weights: Vec<(u32, BigInt)>,
        multipliers: Vec<BigInt>,
    ) -> Option<Contradiction> {
        let mut sums = dense(&[], self.machine.initial.len());
        weights.into_iter().for_each(|(place, weight)| sums[place as usize] = weight);
        let mut least = BigInt::zero();
        let (mut facts, mut traps) = (Vec::new(), Vec::new());
        let mut multipliers = multipliers.into_iter();
        for ((number, bound), multiplier) in bounds.iter().zip(multipliers.by_ref()).filter(|(_, it)| !it.is_zero()) {
            least += &multiplier * &bound.bound;
            bound.terms.iter().for_each(|(place, weight)| sums[place.index()] += &multiplier * weight);
            facts.push((*number, multiplier));
        }
        for (number, multiplier) in multipliers.enumerate().filter(|(_, multiplier)| !multiplier.is_zero()) {
            least += &multiplier;
            self.traps[number].iter().for_each(|place| sums[*place as usize] += &multiplier);
            traps.push((number, multiplier));
        }
        if let Some(folded) = &self.folded {
            folded.weigh(&mut sums, |sums, terms| {
                terms.iter().map(|(place, times)| &sums[*place as usize] * times).sum()
            });
        }
        let holds = self.machine.is_never_increased(&sums, |transition| self.fires[transition as usize])
            && least > self.machine.weigh(&sums);
        holds.then(|| Contradiction { weights: sparse(sums), facts, traps })
    }
}
