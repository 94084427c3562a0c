//! Least values of weighted sums of tokens, by linear programming.
//!
//! For a sum `a·m` weights `w ≥ 0` and a scale `λ ≥ 1` are sought such that no transition increases
//! `(w − λa)·m`. Then `−λ a·m ≤ (w − λa)·m0`, and the least `w·m0` gives the best bound.
//! Constraints are generated as they are violated; the solution is turned into integers and checked
//! exactly.

use super::machine::Machine;
use crate::Context;
use crate::number::Stop;
use crate::state_equation::{Row, Solved, to_integers};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive, Zero};
use palisade_evidence::Observer;
use palisade_model::limits::StopReason;
use palisade_model::net::PlaceId;
use rustc_hash::FxHashMap;

/// What a place costs besides its tokens, so that few have weights.
const SPARSE: f64 = 1e-5;

/// What counts as more than nothing.
pub(super) const EPSILON: f64 = 1e-7;

/// A weighted sum of tokens.
pub(super) type Terms = Vec<(PlaceId, BigInt)>;

/// Least values of sums that were asked for so far.
pub(super) struct Observers<'m> {
    machine: &'m Machine,
    /// What was found.
    known: FxHashMap<Terms, Option<(Observer, BigInt)>>,
}

impl<'m> Observers<'m> {
    /// Nothing known yet.
    pub(super) fn new(machine: &'m Machine) -> Self {
        Self { machine, known: FxHashMap::default() }
    }

    /// A number that the sum is never below, and why; nothing where none is found.
    pub(super) fn get(&mut self, terms: &Terms, context: &Context) -> Result<Option<(Observer, BigInt)>, StopReason> {
        if let Some(known) = self.known.get(terms) {
            return Ok(known.clone());
        }
        let found = match self.find(terms, context) {
            Ok(found) => found,
            Err(Stop::Stopped(StopReason::Inconclusive) | Stop::Fault(_)) => None,
            Err(Stop::Stopped(reason)) => return Err(reason),
        };
        self.known.insert(terms.clone(), found.clone());
        Ok(found)
    }

    fn find(&self, terms: &Terms, context: &Context) -> Result<Option<(Observer, BigInt)>, Stop> {
        if terms.iter().all(|(_, weight)| !weight.is_negative()) {
            return Ok(self.checked(Observer { weights: Vec::new(), divisor: BigInt::from(1) }));
        }
        let places = self.machine.initial.len();
        let mut own = vec![0.0; places];
        for (place, weight) in terms {
            own[place.index()] = weight.to_f64().unwrap_or(f64::NAN);
        }
        let row = |transition: u32| -> Row {
            let changes = &self.machine.changes[transition as usize];
            let mut row: Row = changes.iter().map(|(place, change)| (*place as usize, float(*change))).collect();
            let scale: f64 = changes.iter().map(|(place, change)| own[*place as usize] * float(*change)).sum();
            if scale != 0.0 {
                row.push((places, -scale));
            }
            row
        };
        let costs = self.machine.initial.iter().map(|count| f64::from(*count) + SPARSE).chain([0.0]);
        let mut solved = Solved::new(costs, vec![(places, 1.0)], std::iter::empty(), context)?;
        let mut rows = vec![false; self.machine.changes.len()];
        loop {
            let Some(program) = solved else { return Ok(None) };
            let scale = program.value(places);
            let sums: Vec<f64> = (0..places).map(|place| program.value(place) - scale * own[place]).collect();
            context.count_work(places);
            match self.deepest(&sums, &rows, |_| true) {
                Some(transition) => {
                    rows[transition as usize] = true;
                    solved = program.with(row(transition), context)?;
                }
                None => {
                    let weights: Vec<(u32, f64)> = (0u32..)
                        .zip(&own)
                        .map(|(place, _)| (place, program.value(place as usize)))
                        .filter(|(_, weight)| *weight > EPSILON)
                        .collect();
                    let Some((weights, scales)) = to_integers(&weights, &[scale]) else { return Ok(None) };
                    let Some(divisor) = scales.into_iter().next().filter(Signed::is_positive) else { return Ok(None) };
                    let mut sums: Vec<BigInt> = vec![BigInt::zero(); places];
                    weights.into_iter().for_each(|(place, weight)| sums[place as usize] = weight);
                    terms.iter().for_each(|(place, weight)| sums[place.index()] -= weight * &divisor);
                    let weights = sparse(sums);
                    return Ok(self.checked(Observer { weights, divisor }));
                }
            }
        }
    }

    /// The observer with its bound, if no transition increases its sum.
    fn checked(&self, observer: Observer) -> Option<(Observer, BigInt)> {
        let sums = dense(&observer.weights, self.machine.initial.len());
        let is_kept = self.machine.is_never_increased(&sums, |_| true);
        is_kept.then(|| {
            let low = -self.machine.weigh(&sums).div_floor(&observer.divisor);
            (observer, low)
        })
    }

    /// Of the transitions that increase a weighted sum and count, the one whose constraint is
    /// violated most.
    pub(super) fn deepest(&self, sums: &[f64], rows: &[bool], counts: impl Fn(u32) -> bool) -> Option<u32> {
        let mut best: Option<(f64, u32)> = None;
        for (transition, changes) in self.machine.changes.numbered() {
            if rows[transition as usize] || !counts(transition) {
                continue;
            }
            let (mut increase, mut squares) = (0.0, 0.0);
            for (place, change) in changes {
                let change = float(*change);
                increase += sums[*place as usize] * change;
                squares += change * change;
            }
            if increase > EPSILON {
                let depth = increase / squares.sqrt();
                if best.is_none_or(|(other, _)| depth > other) {
                    best = Some((depth, transition));
                }
            }
        }
        best.map(|(_, transition)| transition)
    }
}

impl Machine {
    /// Whether no transition that counts increases a weighted sum of tokens.
    pub(super) fn is_never_increased(&self, sums: &[BigInt], counts: impl Fn(u32) -> bool) -> bool {
        self.changes.numbered().filter(|(transition, _)| counts(*transition)).all(|(_, changes)| {
            let nonzero = changes.iter().filter(|(place, _)| !sums[*place as usize].is_zero());
            let change: BigInt = nonzero.map(|(place, change)| &sums[*place as usize] * BigInt::from(*change)).sum();
            !change.is_positive()
        })
    }

    /// A weighted sum of tokens in the initial marking.
    pub(super) fn weigh(&self, sums: &[BigInt]) -> BigInt {
        self.initial.iter().zip(sums).map(|(count, sum)| sum * BigInt::from(*count)).sum()
    }
}

/// A number of a few digits; what it loses is caught by the exact check.
#[allow(clippy::cast_precision_loss, reason = "solutions are checked exactly")]
pub(super) fn float(number: i64) -> f64 {
    number as f64
}

/// Weights by place.
pub(super) fn dense(weights: &[(PlaceId, BigInt)], places: usize) -> Vec<BigInt> {
    let mut sums = vec![BigInt::zero(); places];
    weights.iter().for_each(|(place, weight)| sums[place.index()].clone_from(weight));
    sums
}

/// The weights that are not 0, with their places.
pub(super) fn sparse(sums: Vec<BigInt>) -> Terms {
    let all = sums.into_iter().enumerate().map(|(index, sum)| (PlaceId::from_index(index), sum));
    all.filter(|(_, sum)| !sum.is_zero()).collect()
}
