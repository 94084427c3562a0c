//! Weighted sums of tokens that stay within a bound: units and semiflows, with the means to refute
//! a marking.

use super::super::Context;
use super::super::compact::CompactNet;
use super::super::engine::Prepared;
use super::super::number::{Number, Stop};
use super::super::slice::Slice;
use num_bigint::BigInt;
use palisade_evidence::Refutation;

/// `Σ weight · tokens ≤ most`, of every reachable marking.
#[derive(Clone, Debug)]
struct Bound {
    weights: Vec<(u32, u64)>,
    most: u64,
}

/// Bounds, and a place to add up in.
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    bounds: Vec<Bound>,
    /// Per place, the bounds it counts in, with its weight.
    of_place: Vec<Vec<(u32, u64)>>,
    /// Per bound, the sum so far and the round it belongs to.
    sums: Vec<(u64, u64)>,
    round: u64,
}

impl Bounds {
    /// The units and semiflows of a net.
    pub(super) fn new<N: Number>(
        prepared: &Prepared<'_>,
        compact: &CompactNet<N>,
        context: &Context,
    ) -> Result<Self, Stop> {
        let unit = |unit: &Vec<u32>| Bound { weights: unit.iter().map(|place| (*place, 1)).collect(), most: 1 };
        let mut bounds: Vec<Bound> = prepared.units().iter().map(unit).collect();
        for semiflow in prepared.semiflows(compact, context)? {
            let within = |bound: &Bound| bound.most <= semiflow.total && bound.weights == semiflow.weights;
            if !bounds.iter().any(within) {
                bounds.push(Bound { weights: semiflow.weights.clone(), most: semiflow.total });
            }
        }
        let mut of_place = vec![Vec::new(); compact.places()];
        for (number, bound) in (0u32..).zip(&bounds) {
            for (place, weight) in &bound.weights {
                of_place[*place as usize].push((number, *weight));
            }
        }
        Ok(Self { sums: vec![(0, 0); bounds.len()], bounds, of_place, round: 0 })
    }

    /// Whether a marking exceeds a bound. Large counts may be taken for less than they are, never
    /// for more.
    pub(super) fn refute<N: Number>(&mut self, marking: &[(u32, N)]) -> bool {
        self.round += 1;
        for (place, count) in marking {
            for (number, weight) in &self.of_place[*place as usize] {
                let (sum, round) = &mut self.sums[*number as usize];
                if *round != self.round {
                    (*sum, *round) = (0, self.round);
                }
                *sum = sum.saturating_add(weight.saturating_mul(count.rough()));
                if *sum > self.bounds[*number as usize].most {
                    return true;
                }
            }
        }
        false
    }

    /// The bounds as parts of an invariant of the net.
    pub(super) fn refutations(&self, slice: &Slice) -> Vec<Refutation> {
        let weights = |bound: &Bound| {
            bound.weights.iter().map(|(place, weight)| (slice.places[*place as usize], BigInt::from(*weight))).collect()
        };
        self.bounds.iter().map(|bound| Refutation { weights: weights(bound), traps: Vec::new() }).collect()
    }
}
