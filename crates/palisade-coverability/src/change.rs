//! What a sequence of firings needs and changes, so that repetitions are computed and not replayed.
//!
//! From a demand d after a transition that takes t and puts p, the demand before it is max(d − (p −
//! t), t) on each place. Sequences have the same form: with need n and change c, d becomes max(d −
//! c, n). After k repetitions it is max(d − k·c, n, n − (k − 1)·c), as what is between the first
//! and the last repetition lies between them.

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{One, Signed, Zero};
use palisade_model::net::Count;
use palisade_model::ordered::CollectOrdered;
use std::collections::BTreeMap;

/// The demand on places: what they must hold at least.
pub(super) type Demand = BTreeMap<u32, BigInt>;

/// What a sequence needs on each place that it has an arc to, and how it changes it.
#[derive(Clone, Debug, Default)]
pub(super) struct Change {
    /// By place: the tokens needed before the sequence, and how many more there are after it.
    places: BTreeMap<u32, (BigInt, BigInt)>,
}

impl Change {
    /// That of one transition: its places, each once, with what it takes and puts there.
    pub(super) fn of<'a>(effects: impl Iterator<Item = (u32, &'a Count, &'a Count)>) -> Self {
        let big = |count: &Count| BigInt::from(count.to_big());
        Self { places: effects.map(|(place, taken, put)| (place, (big(taken), big(put) - big(taken)))).collect_map() }
    }

    /// That of this sequence and then the other one.
    pub(super) fn then(&mut self, after: &Self) {
        for (place, (need, change)) in &after.places {
            let own = self.places.entry(*place).or_default();
            own.0 = std::mem::take(&mut own.0).max(need - &own.1);
            own.1 += change;
        }
    }

    /// That of so many repetitions, one at least.
    pub(super) fn repeated(mut self, times: &BigUint) -> Self {
        let times = BigInt::from(times.clone());
        for (need, change) in self.places.values_mut() {
            if change.is_negative() {
                *need -= &*change * (&times - BigInt::one());
            }
            *change *= &times;
        }
        self
    }

    /// The places with what the sequence needs there and how it changes them.
    pub(super) fn places(&self) -> impl Iterator<Item = (u32, &BigInt, &BigInt)> {
        self.places.iter().map(|(place, (need, change))| (*place, need, change))
    }

    /// The demand before the sequence from the demand after it.
    pub(super) fn step_back(&self, demand: &mut Demand) {
        for (place, (need, change)) in &self.places {
            let after = demand.remove(place).unwrap_or_default();
            let before = (after - change).max(need.clone());
            if !before.is_zero() {
                demand.insert(*place, before);
            }
        }
    }

    /// How often the sequence must be repeated to lower the demand on a place from `demanded` to
    /// `admitted` at most. None when it never does.
    pub(super) fn repetitions(&self, place: u32, demanded: &BigInt, admitted: &BigInt) -> Option<BigUint> {
        if demanded <= admitted {
            return Some(BigUint::zero());
        }
        let (need, change) = self.places.get(&place)?;
        let is_enough = change.is_positive() && need <= admitted;
        is_enough.then(|| (demanded - admitted).div_ceil(change).magnitude().clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stepping back over a repetition at once or one by one gives the same demand.
    #[test]
    fn repetitions_are_computed_exactly() {
        let count = |value: u32| Count::from(u64::from(value));
        for code in 0u32..6561 {
            // Two transitions with arcs of weight 0 to 2 to two places, and a demand.
            let digit = |place: u32| code / 3u32.pow(place) % 3;
            let weights: Vec<Count> = (0..8).map(|place| count(digit(place))).collect();
            let transition = |first: usize| {
                Change::of(
                    (0..2).map(|it| (u32::try_from(it).unwrap(), &weights[first + it], &weights[first + 2 + it])),
                )
            };
            let mut sequence = transition(0);
            sequence.then(&transition(4));
            for times in 1u32..5 {
                let start = Demand::from([(0, BigInt::from(7)), (1, BigInt::from(1))]);
                let (mut at_once, mut one_by_one) = (start.clone(), start);
                sequence.clone().repeated(&times.into()).step_back(&mut at_once);
                for _ in 0..times {
                    transition(4).step_back(&mut one_by_one);
                    transition(0).step_back(&mut one_by_one);
                }
                assert_eq!(at_once, one_by_one, "{code} {times}");
                let wanted = one_by_one.get(&0).cloned().unwrap_or_default();
                if let Some(enough) = sequence.repetitions(0, &BigInt::from(7), &wanted) {
                    assert!(enough <= times.into(), "{code} {times}: {enough}");
                }
            }
        }
    }
}
