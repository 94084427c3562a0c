//! The linear program for weights that separate, with constraints generated as needed: of those
//! that a solution violates, the one that cuts deepest. Few of all constraints matter, and the
//! program goes on from its solution, which costs few pivots each time.

use super::super::Context;
use super::super::compact::CompactNet;
use super::super::number::{Number, Stop};
use super::solved::{Row, Solved};
use fixedbitset::FixedBitSet;
use std::collections::BTreeMap;

/// What counts as more than nothing.
pub(super) const EPSILON: f64 = 1e-7;

/// Weights `w` that, with multipliers `z` for the traps, separate.
pub(super) struct Separation {
    /// Weights by place.
    pub(super) weights: Vec<(u32, f64)>,
    /// One multiplier per trap.
    pub(super) multipliers: Vec<f64>,
}

/// The programs for one target.
pub(super) struct Program<'a, N> {
    pub(super) compact: &'a CompactNet<N>,
    pub(super) target: &'a [(u32, N)],
    /// The traps found, each sorted.
    pub(super) traps: Vec<Vec<u32>>,
    /// The transitions whose constraints are there.
    pub(super) rows: Vec<u32>,
    is_row: FixedBitSet,
}

/// A token count as a coefficient; what it loses is caught by the exact check.
#[allow(clippy::cast_precision_loss, reason = "solutions are checked exactly")]
pub(super) fn coefficient<N: Number>(count: &N) -> f64 {
    count.rough() as f64
}

impl<'a, N: Number> Program<'a, N> {
    /// No constraints of transitions yet.
    pub(super) fn new(compact: &'a CompactNet<N>, target: &'a [(u32, N)]) -> Self {
        let is_row = FixedBitSet::with_capacity(compact.transitions.len());
        Self { compact, target, traps: Vec::new(), rows: Vec::new(), is_row }
    }

    /// Weights that separate every marking of the state equation and the traps from the target, of
    /// least sum.
    pub(super) fn separate(&mut self, context: &Context) -> Result<Option<Separation>, Stop> {
        let mut solved = self.set_up(context)?;
        while let Some(program) = solved {
            context.count_iterations(1);
            context.count_work(self.compact.places());
            let separation = self.separation(&program);
            let Some(deepest) = self.deepest(&separation) else { return Ok(Some(separation)) };
            self.is_row.insert(deepest as usize);
            self.rows.push(deepest);
            solved = program.with(self.row(deepest), context)?;
        }
        Ok(None)
    }

    /// The weights `y = w + Σ z`, of every place.
    fn sums(&self, separation: &Separation) -> Vec<f64> {
        let mut sums = vec![0.0; self.compact.places()];
        for (place, weight) in &separation.weights {
            sums[*place as usize] = *weight;
        }
        for (trap, multiplier) in self.traps.iter().zip(&separation.multipliers) {
            for place in trap {
                sums[*place as usize] += multiplier;
            }
        }
        sums
    }

    /// Of the transitions that increase the weighted sum, the one from whose constraint the weights
    /// are farthest.
    fn deepest(&self, separation: &Separation) -> Option<u32> {
        let sums = self.sums(separation);
        let mut candidates = FixedBitSet::with_capacity(self.compact.transitions.len());
        for (place, _) in (0u32..).zip(&sums).filter(|(_, sum)| **sum > EPSILON) {
            candidates.extend(self.compact.producers.row(place).iter().map(|transition| *transition as usize));
        }
        candidates.difference_with(&self.is_row);
        let depths = candidates.ones().filter_map(|index| {
            let transition = u32::try_from(index).ok()?;
            let (mut increase, mut squares) = (0.0, 0.0);
            for effect in self.compact.effects(transition) {
                let change = coefficient(&effect.post) - coefficient(&effect.pre);
                increase += sums[effect.place as usize] * change;
                squares += change * change;
            }
            (increase > EPSILON).then(|| (increase / squares.sqrt(), transition))
        });
        depths.max_by(|(depth, _), (other, _)| depth.total_cmp(other)).map(|(_, transition)| transition)
    }

    /// The first column of traps, behind those of places.
    fn first_trap(&self) -> usize {
        self.compact.places()
    }

    /// Solves the program over the constraints generated so far: its columns are the weights of
    /// places and the multipliers of traps.
    fn set_up(&self, context: &Context) -> Result<Option<Solved>, Stop> {
        let initial: Vec<f64> = self.compact.initial.iter().map(coefficient).collect();
        let mut factors: Vec<f64> = initial.iter().map(|tokens| -tokens).collect();
        for (place, count) in self.target {
            factors[*place as usize] += coefficient(count);
        }
        let tokens = |trap: &Vec<u32>| trap.iter().map(|place| initial[*place as usize]).sum::<f64>();
        factors.extend(self.traps.iter().map(|trap| 1.0 - tokens(trap)));
        let separates = factors.into_iter().enumerate().filter(|(_, factor)| *factor != 0.0).collect();
        #[allow(clippy::cast_precision_loss, reason = "a trap's size is small")]
        let of_traps = self.traps.iter().map(|trap| trap.len() as f64);
        let costs = initial.iter().map(|_| 1.0).chain(of_traps);
        let rows = self.rows.iter().map(|transition| self.row(*transition));
        Solved::new(costs, separates, rows, context)
    }

    /// The constraint of a transition: what it adds to the weighted sum is at most 0.
    fn row(&self, transition: u32) -> Row {
        let mut row = Row::new();
        let mut of_traps: BTreeMap<usize, f64> = BTreeMap::new();
        for effect in self.compact.effects(transition) {
            let change = coefficient(&effect.post) - coefficient(&effect.pre);
            if change == 0.0 {
                continue;
            }
            row.push((effect.place as usize, change));
            for (column, _) in (self.first_trap()..).zip(&self.traps).filter(|(_, trap)| holds(trap, effect.place)) {
                *of_traps.entry(column).or_default() += change;
            }
        }
        row.extend(of_traps);
        row
    }

    /// What a solution says, without what is not more than nothing.
    fn separation(&self, solved: &Solved) -> Separation {
        let positive = |column: usize| Some(solved.value(column)).filter(|value| *value > EPSILON);
        let multipliers = (self.first_trap()..).zip(&self.traps);
        Separation {
            weights: (0u32..)
                .zip(&self.compact.initial)
                .filter_map(|(place, _)| Some((place, positive(place as usize)?)))
                .collect(),
            multipliers: multipliers.map(|(column, _)| positive(column).unwrap_or(0.0)).collect(),
        }
    }
}

/// Whether a trap has a place.
fn holds(trap: &[u32], place: u32) -> bool {
    trap.binary_search(&place).is_ok()
}
