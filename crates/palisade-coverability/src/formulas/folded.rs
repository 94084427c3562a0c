//! The state equation without places that weights of others decide.
//!
//! Farkas weights `y` are sought that no transition increases (see [`equation`](super::equation)).
//! A place that no condition names has a weight that is not negative, and three of its kinds need
//! no variable, as one value is the best for all constraints:
//!
//! * nothing takes tokens from it: its weight is 0,
//! * one transition takes tokens, one at a time, and nothing else: its weight is the sum of those
//!   of what that transition puts elsewhere, the least that is allowed,
//! * one transition puts tokens, one at a time, it is empty initially, and that transition puts
//!   none elsewhere: its weight is the sum of those of what that transition takes, the most that
//!   is allowed.
//!
//! That transition needs no constraint then. In a solution of the equation it fires as often as the
//! others say, so that no token stays in the place. These are the agglomerations of nets
//! [Berthelot 1987], as far as the state equation knows them; nets of protocols and workflows,
//! which are chains for the most part, become a tenth as large.

use super::machine::Machine;
use super::observers::float;
use crate::rows::Rows;

/// Larger coefficients are not made.
const LARGEST: i64 = 1 << 10;

/// Nets with more transitions are not folded.
const MOST_TRANSITIONS: usize = 1 << 16;

/// How conditions name a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Named {
    /// None does.
    No,
    /// Some ask for many tokens.
    Many,
    /// Some ask for few.
    Few,
}

/// A place without a variable.
#[derive(Debug)]
struct Folding {
    place: u32,
    /// The places whose weights, so many times, are its weight.
    weight: Vec<(u32, i64)>,
    /// The transition that fires as often as the others say, and what it puts there.
    transition: Option<(u32, i64)>,
    /// What the others put there, and the tokens initially.
    others: Vec<(u32, i64)>,
    initial: i64,
}

/// A net without some places.
#[derive(Debug)]
pub(super) struct Folded {
    /// For each transition the differences that it makes, on places that are left; none where it
    /// needs no constraint.
    pub(super) changes: Rows<(u32, i64)>,
    /// The tokens initially.
    pub(super) initial: Vec<i64>,
    /// The places that are left.
    pub(super) left: Vec<u32>,
    /// The others, each before those whose weights it needs.
    foldings: Vec<Folding>,
    /// How conditions named the places.
    named: Vec<Named>,
}

impl Folded {
    /// The net without as many places as may be; nothing where it is large, or has more than half
    /// of its transitions then.
    pub(super) fn new(machine: &Machine, fires: &[bool], named: Vec<Named>) -> Option<Self> {
        if machine.changes.len() > MOST_TRANSITIONS {
            return None;
        }
        let folded = Self::of(machine, fires, named);
        let left = folded.changes.iter().filter(|changes| !changes.is_empty()).count();
        (2 * left <= fires.iter().filter(|fires| **fires).count()).then_some(folded)
    }

    fn of(machine: &Machine, fires: &[bool], named: Vec<Named>) -> Self {
        let mut folder = Folder::new(machine, fires, &named);
        folder.run();
        let Folder { changes, initial, is_folded, foldings, .. } = folder;
        let left = (0u32..).zip(&is_folded).filter(|(_, is_folded)| !**is_folded).map(|(place, _)| place).collect();
        Self { changes: Rows::of(changes.into_iter()), initial, left, foldings, named }
    }

    /// Whether it is right for conditions that name places so.
    pub(super) fn serves(&self, named: &[Named]) -> bool {
        self.named.iter().zip(named).all(|(own, other)| own >= other)
    }

    /// Adds the weights of the other places to those of places that are left.
    pub(super) fn weigh<T>(&self, weights: &mut [T], sum: impl Fn(&[T], &[(u32, i64)]) -> T) {
        for folding in self.foldings.iter().rev() {
            weights[folding.place as usize] = sum(weights, &folding.weight);
        }
    }

    /// Adds how often the other transitions fire. Gives the tokens of places that nothing takes
    /// tokens from.
    pub(super) fn fire(&self, firings: &mut [f64]) -> Vec<(u32, f64)> {
        let mut kept = Vec::new();
        for folding in self.foldings.iter().rev() {
            let put = folding.others.iter().map(|(transition, put)| firings[*transition as usize] * float(*put));
            let tokens = float(folding.initial) + put.sum::<f64>();
            match folding.transition {
                Some((transition, own)) => firings[transition as usize] = -tokens / float(own),
                None => kept.push((folding.place, tokens)),
            }
        }
        kept
    }
}

/// A net that is being folded.
struct Folder<'n> {
    named: &'n [Named],
    changes: Vec<Vec<(u32, i64)>>,
    /// For each place transitions that change it, among others.
    changers: Vec<Vec<u32>>,
    initial: Vec<i64>,
    is_folded: Vec<bool>,
    foldings: Vec<Folding>,
    /// Places to look at.
    pending: Vec<u32>,
    is_pending: Vec<bool>,
}

impl<'n> Folder<'n> {
    fn new(machine: &Machine, fires: &[bool], named: &'n [Named]) -> Self {
        let places = machine.initial.len();
        let row = |(fires, changes): (&bool, &[(u32, i64)])| if *fires { changes.to_vec() } else { Vec::new() };
        let changes: Vec<Vec<(u32, i64)>> = fires.iter().zip(machine.changes.iter()).map(row).collect();
        let mut changers: Vec<Vec<u32>> = vec![Vec::new(); places];
        for (transition, changes) in (0u32..).zip(&changes) {
            changes.iter().for_each(|(place, _)| changers[*place as usize].push(transition));
        }
        Self {
            named,
            changes,
            changers,
            initial: machine.initial.iter().map(|tokens| i64::from(*tokens)).collect(),
            is_folded: vec![false; places],
            foldings: Vec::new(),
            pending: (0..u32::try_from(places).unwrap_or(u32::MAX)).rev().collect(),
            is_pending: vec![true; places],
        }
    }

    fn run(&mut self) {
        while let Some(place) = self.pending.pop() {
            self.is_pending[place as usize] = false;
            if self.named[place as usize] == Named::No && !self.is_folded[place as usize] {
                self.look(place);
            }
        }
    }

    /// What a transition puts on a place.
    fn change(&self, transition: u32, place: u32) -> i64 {
        let own = self.changes[transition as usize].iter().find(|(other, _)| *other == place);
        own.map_or(0, |(_, change)| *change)
    }

    /// Folds a place, if it can be.
    fn look(&mut self, place: u32) {
        let mut column: Vec<(u32, i64)> = Vec::new();
        let mut changers = std::mem::take(&mut self.changers[place as usize]);
        changers.sort_unstable();
        changers.dedup();
        changers.retain(|transition| {
            let change = self.change(*transition, place);
            if change != 0 {
                column.push((*transition, change));
            }
            change != 0
        });
        self.changers[place as usize] = changers;
        let mut takers = column.iter().filter(|(_, change)| *change < 0);
        let mut putters = column.iter().filter(|(_, change)| *change > 0);
        let only = |some: &mut dyn Iterator<Item = &(u32, i64)>| some.next().copied().filter(|_| some.next().is_none());
        let (takes, puts) = (only(&mut takers.clone()), only(&mut putters.clone()));
        if takers.next().is_none() {
            self.fold(place, &column, None, Vec::new());
        } else if let Some((putter, 1)) = puts
            && self.initial[place as usize] == 0
            && let Some(weight) = self.others(putter, place, -1, column.len() - 1)
        {
            self.fold(place, &column, Some((putter, 1)), weight);
        } else if let Some((taker, -1)) = takes
            && putters.next().is_some()
            && let Some(weight) = self.others(taker, place, 1, column.len() - 1)
        {
            self.fold(place, &column, Some((taker, -1)), weight);
        }
    }

    /// What a transition does elsewhere, in absolute numbers: if all of it has this sign and is
    /// where weights are not negative, and so many transitions do not become much larger by it.
    fn others(&self, transition: u32, place: u32, sign: i64, count: usize) -> Option<Vec<(u32, i64)>> {
        let others = self.changes[transition as usize].iter().filter(|(other, _)| *other != place);
        let is_fine = |(other, change): &(u32, i64)| {
            let change = change * sign;
            (self.named[*other as usize] < Named::Few && 0 < change && change <= LARGEST).then_some((*other, change))
        };
        let others: Vec<(u32, i64)> = others.map(is_fine).collect::<Option<_>>()?;
        (count * others.len() <= count + others.len() + 1).then_some(others)
    }

    /// Folds a place whose weight is the sum of those of others.
    fn fold(&mut self, place: u32, column: &[(u32, i64)], transition: Option<(u32, i64)>, weight: Vec<(u32, i64)>) {
        let is_other = |(other, _): &&(u32, i64)| transition.is_none_or(|(own, _)| *other != own);
        let others: Vec<(u32, i64)> = column.iter().filter(is_other).copied().collect();
        if others.iter().any(|(_, put)| put.abs() > LARGEST) || self.initial[place as usize] > LARGEST << 20 {
            return;
        }
        self.is_folded[place as usize] = true;
        for (other, put) in &others {
            let mut changes = std::mem::take(&mut self.changes[*other as usize]);
            changes.retain(|(own, _)| *own != place);
            for (target, times) in &weight {
                match changes.iter_mut().find(|(own, _)| own == target) {
                    Some((_, change)) => *change += put * times,
                    None => {
                        changes.push((*target, put * times));
                        self.changers[*target as usize].push(*other);
                    }
                }
            }
            changes.retain(|(_, change)| *change != 0);
            changes.iter().for_each(|(own, _)| self.again(*own));
            self.changes[*other as usize] = changes;
        }
        let initial = self.initial[place as usize];
        weight.iter().for_each(|(target, times)| self.initial[*target as usize] += initial * times);
        if let Some((transition, _)) = transition {
            self.changes[transition as usize].clear();
        }
        weight.iter().for_each(|(target, _)| self.again(*target));
        self.foldings.push(Folding { place, weight, transition, others, initial });
    }

    fn again(&mut self, place: u32) {
        if !std::mem::replace(&mut self.is_pending[place as usize], true) {
            self.pending.push(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::number;
    use super::*;
    use crate::tests::Random;
    use palisade_model::net::{Count, Net, OmegaCount, PlaceId};

    /// Chains for the most part, with a few conditions.
    fn net(random: &mut Random) -> (Net, Vec<Named>) {
        let mut net = Net::default();
        let places = 3 + number(random, 8);
        for place in 0..places {
            net.add_place(format!("p{place}"), OmegaCount::Finite(Count::from(number(random, 9) as u64 / 6)));
        }
        for transition in 0..2 + number(random, 10) {
            let mut arcs = || {
                let length = [0, 1, 1, 1, 1, 2][number(random, 6)];
                let arc =
                    |_| (PlaceId::from_index(number(random, places)), Count::from(1 + number(random, 8) as u64 / 7));
                (0..length).map(arc).collect::<Vec<_>>()
            };
            let (pre, post) = (arcs(), arcs());
            net.add_transition(format!("t{transition}"), pre, post);
        }
        let named = (0..places).map(|_| [Named::No, Named::No, Named::No, Named::Many, Named::Few][number(random, 5)]);
        (net, named.collect())
    }

    fn dot(weights: &[i64], terms: &[(u32, i64)]) -> i64 {
        terms.iter().map(|(place, times)| weights[*place as usize] * times).sum()
    }

    /// Weights that the folded net allows are allowed with those of the folded places, weigh the
    /// initial marking alike, and are not negative where no condition names the place. Firings of
    /// the folded net lead to the same tokens with those of the other transitions, and leave none
    /// on folded places.
    #[test]
    fn weights_and_firings_carry_over() {
        let mut random = Random(11);
        let cases = if std::env::var_os("PALISADE_FULL_TESTS").is_some() { 1_000_000 } else { 40_000 };
        let (mut folded_places, mut allowed, mut chains) = (0, 0, 0);
        for _ in 0..cases {
            let (net, named) = net(&mut random);
            let machine = Machine::new(&net, &[]).expect("the numbers are small");
            let fires = vec![true; machine.changes.len()];
            let folded = Folded::of(&machine, &fires, named.clone());
            folded_places += folded.foldings.len();
            chains += usize::from(folded.foldings.len() > 4);
            assert!(folded.foldings.iter().all(|folding| named[folding.place as usize] == Named::No));

            let mut weights: Vec<i64> = vec![0; machine.initial.len()];
            for place in &folded.left {
                let lowest = if named[*place as usize] == Named::Few { -2 } else { 0 };
                weights[*place as usize] = lowest + i64::try_from(number(&mut random, 3)).unwrap();
            }
            let is_allowed = folded.changes.iter().all(|changes| dot(&weights, changes) <= 0);
            let initial: i64 = folded.left.iter().map(|it| weights[*it as usize] * folded.initial[*it as usize]).sum();
            folded.weigh(&mut weights, dot);
            let own: i64 = weights.iter().zip(&machine.initial).map(|(weight, count)| weight * i64::from(*count)).sum();
            assert_eq!(own, initial, "{net:?}");
            let is_fine = |(weight, named): (&i64, &Named)| *named == Named::Few || *weight >= 0;
            assert!(weights.iter().zip(&named).all(is_fine), "{weights:?} {named:?} {net:?}");
            let is_kept = machine.changes.iter().all(|changes| dot(&weights, changes) <= 0);
            assert_eq!(is_kept, is_allowed, "{weights:?} {net:?}");
            allowed += usize::from(is_allowed);

            let mut firings = vec![0.0; machine.changes.len()];
            let mut marking = folded.initial.clone();
            for (transition, changes) in folded.changes.numbered().filter(|(_, changes)| !changes.is_empty()) {
                let times = number(&mut random, 3);
                firings[transition as usize] = float(i64::try_from(times).unwrap());
                changes.iter().for_each(|(place, change)| {
                    marking[*place as usize] += change * i64::try_from(times).unwrap();
                });
            }
            let kept = folded.fire(&mut firings);
            let mut after: Vec<f64> = machine.initial.iter().map(|count| f64::from(*count)).collect();
            for (transition, changes) in machine.changes.numbered() {
                assert!(firings[transition as usize] >= 0.0, "{net:?}");
                let times = firings[transition as usize];
                changes.iter().for_each(|(place, change)| after[*place as usize] += times * float(*change));
            }
            for (place, tokens) in (0u32..).zip(after) {
                let kept = kept.iter().find(|(own, _)| *own == place).map_or(0.0, |(_, tokens)| *tokens);
                let is_left = folded.left.contains(&place);
                let expected = if is_left { float(marking[place as usize]) } else { kept };
                assert!((tokens - expected).abs() < 1e-9, "p{place}: {tokens} and {expected}, {net:?}");
            }
        }
        assert!(folded_places > 2 * cases, "{folded_places} places were folded");
        assert!(chains > cases / 20, "{chains} nets have a chain");
        assert!((cases / 50..cases).contains(&allowed), "{allowed} weights were allowed");
    }
}
