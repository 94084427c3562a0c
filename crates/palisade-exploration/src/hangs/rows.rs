//! Place invariants: weighted sums of copies, values and counters that no step changes, by exact
//! elimination.

use super::configuration::Configuration;
use super::system::{Control, System};
use palisade_model::program::Value;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// What a sum speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Term {
    /// How many copies are in a place.
    Place(u32),
    /// Whether an address holds a value, other than its initial one.
    Value(Value, Value),
    /// The value of a counter.
    Counter(Value),
}

/// A sum that every configuration keeps.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// Its terms with their weights, none 0.
    pub(super) terms: Vec<(Term, i64)>,
    /// The sum.
    pub(super) constant: i64,
}

/// A combination of terms, or an equation about their weights.
type Combination = BTreeMap<Term, i128>;

/// The elimination gives up beyond so many equations or terms.
const LARGEST: (usize, usize) = (20_000, 600);

/// No more rows than these are used.
const MOST_ROWS: usize = 64;

/// The rows of a system whose steps have been listed, for some initial configurations.
pub(super) fn rows(system: &System<'_>, sources: &[u32], initial: &[Configuration]) -> Vec<Row> {
    let Some(equations) = equations(system, sources) else { return Vec::new() };
    let Some(solved) = solved(equations) else { return Vec::new() };
    let mut terms: Vec<Term> = solved.values().flat_map(|row| row.keys().copied()).collect();
    terms.extend(system.counters().iter().map(|counter| Term::Counter(*counter)));
    terms.sort_unstable();
    terms.dedup();
    let free = terms.into_iter().filter(|term| !solved.contains_key(term));
    let found = free.filter_map(|free| solution(&solved, free)).filter_map(|terms| {
        let mut row = Row { terms, constant: 0 };
        let sums: FxHashSet<Option<i64>> = initial.iter().map(|own| row.exact(system, own)).collect();
        match sums.into_iter().collect::<Vec<_>>().as_slice() {
            [Some(constant)] => row.constant = *constant,
            _ => return None,
        }
        Some(row)
    });
    found.take(MOST_ROWS).collect()
}

/// What each step says of the weights; nothing where there are too many.
fn equations(system: &System<'_>, sources: &[u32]) -> Option<FxHashSet<Vec<(Term, i64)>>> {
    let mut found: FxHashSet<Vec<(Term, i64)>> = FxHashSet::default();
    let mut terms: FxHashSet<Term> = FxHashSet::default();
    // Any number of copies has not moved.
    found.extend(sources.iter().map(|source| vec![(Term::Place(*source), 1)]));
    for (before, from, change) in system.listed_changes() {
        let mut equation: BTreeMap<Term, i64> = BTreeMap::new();
        let mut add = |term: Term, weight: i64| *equation.entry(term).or_default() += weight;
        add(Term::Place(from), -1);
        if let Some(to) = change.to {
            add(Term::Place(to), 1);
        }
        if let Some((counter, step)) = change.counts {
            add(Term::Counter(counter), step);
        }
        for (control, weight) in [(before, -1), (change.control, 1)] {
            for (address, value) in system.memory(control.memory) {
                if !system.counters().contains(address) {
                    add(Term::Value(*address, *value), weight);
                }
            }
        }
        equation.retain(|_, weight| *weight != 0);
        terms.extend(equation.keys());
        found.insert(equation.into_iter().collect());
        if found.len() > LARGEST.0 || terms.len() > LARGEST.1 {
            return None;
        }
    }
    Some(found)
}

/// Each term that depends on others with the equation that says so, in which no other such term is;
/// nothing where numbers grow too large.
fn solved(equations: FxHashSet<Vec<(Term, i64)>>) -> Option<BTreeMap<Term, Combination>> {
    let mut solved: BTreeMap<Term, Combination> = BTreeMap::new();
    let mut equations: Vec<Vec<(Term, i64)>> = equations.into_iter().collect();
    equations.sort();
    for equation in equations {
        let mut row: Combination = equation.into_iter().map(|(term, weight)| (term, i128::from(weight))).collect();
        for term in row.keys().copied().collect::<Vec<_>>() {
            if let Some(other) = solved.get(&term) {
                row = without(row, other, term)?;
            }
        }
        // Counters are last among terms, and stay free where they can.
        let Some(pivot) = row.keys().next().copied() else { continue };
        for other in solved.values_mut() {
            if other.contains_key(&pivot) {
                *other = without(std::mem::take(other), &row, pivot)?;
            }
        }
        solved.insert(pivot, row);
    }
    Some(solved)
}

/// A combination of two rows in which a term of both is none.
fn without(row: Combination, other: &Combination, term: Term) -> Option<Combination> {
    let (Some(own), Some(others)) = (row.get(&term).copied(), other.get(&term).copied()) else { return Some(row) };
    let mut sum = Combination::new();
    for (term, weight) in &row {
        sum.insert(*term, weight.checked_mul(others)?);
    }
    for (term, weight) in other {
        let entry = sum.entry(*term).or_default();
        *entry = entry.checked_sub(weight.checked_mul(own)?)?;
    }
    sum.retain(|_, weight| *weight != 0);
    let divisor = sum.values().fold(0, |divisor, weight| gcd(divisor, *weight)).max(1);
    sum.values_mut().for_each(|weight| *weight /= divisor);
    Some(sum)
}

fn gcd(mut one: i128, mut other: i128) -> i128 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one.abs()
}

/// The weights of all terms where one that is free has some and all others that are free have none.
fn solution(solved: &BTreeMap<Term, Combination>, free: Term) -> Option<Vec<(Term, i64)>> {
    let speaking: Vec<(&Term, i128, i128)> =
        solved.iter().filter_map(|(pivot, row)| Some((pivot, *row.get(pivot)?, *row.get(&free)?))).collect();
    let mut common: i128 = 1;
    for (_, own, _) in &speaking {
        common = (common / gcd(common, *own)).checked_mul(own.abs())?;
    }
    let mut weights = vec![(free, common)];
    for (pivot, own, weight) in speaking {
        weights.push((*pivot, (common / own).checked_mul(-weight)?));
    }
    let small = |(term, weight): (Term, i128)| {
        const MOST: i64 = 1 << 30;
        i64::try_from(weight).ok().filter(|weight| weight.abs() <= MOST).map(|weight| (term, weight))
    };
    let mut weights: Vec<(Term, i64)> = weights.into_iter().map(small).collect::<Option<_>>()?;
    weights.retain(|(_, weight)| *weight != 0);
    weights.sort_unstable();
    Some(weights)
}

impl Row {
    /// The least and the greatest sum that a configuration may stand for; nothing where there is no
    /// bound.
    fn range(&self, system: &System<'_>, configuration: &Configuration) -> (Option<i64>, Option<i64>) {
        let most = i64::try_from(system.shape().most).unwrap_or(i64::MAX >> 40);
        let (mut least, mut greatest) = (Some(0_i64), Some(0_i64));
        let counts: FxHashMap<u32, u64> = configuration.tokens.iter().copied().collect();
        let Control { memory, .. } = configuration.control;
        for (term, weight) in &self.terms {
            let (number, is_bounded) = match *term {
                Term::Place(place) => {
                    let count = counts.get(&place).copied().unwrap_or(0);
                    (i64::try_from(count).unwrap_or(i64::MAX >> 32), system.is_counted_up_to(place))
                }
                Term::Value(address, value) => (i64::from(system.read(memory, address) == value), false),
                Term::Counter(counter) => (system.read(memory, counter), true),
            };
            let known = weight.checked_mul(number);
            let is_more = is_bounded && number > most;
            let is_open = |is_towards: bool| is_more && is_towards;
            least =
                if is_open(*weight < 0) { None } else { least.zip(known).and_then(|(sum, own)| sum.checked_add(own)) };
            greatest = if is_open(*weight > 0) {
                None
            } else {
                greatest.zip(known).and_then(|(sum, own)| sum.checked_add(own))
            };
        }
        (least, greatest)
    }

    /// The sum of a configuration that stands for itself alone.
    fn exact(&self, system: &System<'_>, configuration: &Configuration) -> Option<i64> {
        let (least, greatest) = self.range(system, configuration);
        least.filter(|least| Some(*least) == greatest)
    }

    /// Whether no configuration that this one stands for has the sum.
    pub(super) fn rules_out(&self, system: &System<'_>, configuration: &Configuration) -> bool {
        let (least, greatest) = self.range(system, configuration);
        least.is_some_and(|least| least > self.constant) || greatest.is_some_and(|greatest| greatest < self.constant)
    }
}
