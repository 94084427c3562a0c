//! The proof that no set which touches all rows of a block costs less than the optimum: cases, each
//! with weights of rows.

use super::catalogue::MeasureSet;
use num_bigint::BigUint;
use num_traits::Zero;
use palisade_model::limits::{Limits, StopReason};

/// A node of the tree of cases; each node stands before its children. Costs are numbers of some
/// type `C`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Case<C> {
    /// One child for each measure of this row that is not excluded, in order: it chooses that
    /// measure and excludes those before it.
    Branch(usize),
    /// Weights of rows that no measure chosen touches.
    Leaf(Vec<(usize, C)>),
}

impl<C> Case<C> {
    /// The rows it speaks of.
    pub(crate) fn rows(&self) -> impl Iterator<Item = usize> {
        let (branch, leaf) = match self {
            Self::Branch(row) => (Some(*row), &[][..]),
            Self::Leaf(weights) => (None, weights.as_slice()),
        };
        branch.into_iter().chain(leaf.iter().map(|(row, _)| *row))
    }

    /// The same with other numbers of rows and other costs.
    pub(crate) fn map<D>(&self, row: impl Fn(usize) -> usize, cost: impl Fn(&C) -> D) -> Case<D> {
        match self {
            Self::Branch(branch) => Case::Branch(row(*branch)),
            Self::Leaf(weights) => Case::Leaf(weights.iter().map(|(own, weight)| (row(*own), cost(weight))).collect()),
        }
    }
}

/// Cases that a proof may have at most.
const MOST_CASES: usize = 100_000;

/// The cases that show that the rows of a block cost at least `least`; none when they are too many.
pub(crate) fn prove(
    rows: &[MeasureSet],
    block: &[usize],
    units: &[BigUint],
    least: &BigUint,
    limits: &Limits,
) -> Result<Option<Vec<Case<BigUint>>>, StopReason> {
    let mut proving = Proving { rows, units, least, limits, cases: Vec::new() };
    let is_shown = proving.prove(&MeasureSet::with_capacity(units.len()), &BigUint::zero(), block)?;
    Ok(is_shown.then_some(proving.cases))
}

/// Weights of the open rows such that those of no measure that is not excluded weigh more than it
/// costs. A row that has lost all its measures can weigh anything.
pub(crate) fn weights(
    rows: &[MeasureSet],
    units: &[BigUint],
    excluded: &MeasureSet,
    open: &[usize],
    anything: &BigUint,
) -> Vec<(usize, BigUint)> {
    let mut order: Vec<(usize, usize)> =
        open.iter().map(|row| (rows[*row].difference(excluded).count(), *row)).collect();
    order.sort_unstable();
    let mut left = units.to_vec();
    let mut weights = Vec::new();
    for (_, row) in order {
        let measures: Vec<usize> = rows[row].difference(excluded).collect();
        let weight = measures.iter().map(|measure| &left[*measure]).min().unwrap_or(anything).clone();
        if !weight.is_zero() {
            measures.iter().for_each(|measure| left[*measure] -= &weight);
            weights.push((row, weight));
        }
    }
    weights
}

/// A proof under construction.
struct Proving<'a> {
    rows: &'a [MeasureSet],
    units: &'a [BigUint],
    least: &'a BigUint,
    limits: &'a Limits,
    cases: Vec<Case<BigUint>>,
}

impl Proving<'_> {
    /// Adds the cases of the sets that have measures of this cost, which touch all rows but the
    /// `open` ones, and nothing excluded. False when there are too many.
    fn prove(&mut self, excluded: &MeasureSet, cost: &BigUint, open: &[usize]) -> Result<bool, StopReason> {
        if self.cases.len() >= MOST_CASES {
            return Ok(false);
        }
        if self.cases.len().is_multiple_of(256) {
            self.limits.check()?;
        }
        let weights = weights(self.rows, self.units, excluded, open, self.least);
        let total: BigUint = weights.iter().map(|(_, weight)| weight).sum();
        if cost + total >= *self.least {
            self.cases.push(Case::Leaf(weights));
            return Ok(true);
        }
        let shortest = open.iter().min_by_key(|row| self.rows[**row].difference(excluded).count());
        // A set that touches every row costs at least as much as an optimum.
        let Some(row) = shortest.copied() else { return Ok(false) };
        self.cases.push(Case::Branch(row));
        let mut excluded = excluded.clone();
        let choices: Vec<usize> = self.rows[row].difference(&excluded).collect();
        for measure in choices {
            let left: Vec<usize> = open.iter().copied().filter(|row| !self.rows[*row].contains(measure)).collect();
            if !self.prove(&excluded, &(cost + &self.units[measure]), &left)? {
                return Ok(false);
            }
            excluded.insert(measure);
        }
        Ok(true)
    }
}
