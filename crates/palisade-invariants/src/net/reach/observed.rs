//! The net with observers, built here from the condition and the bounds that the evidence shows,
//! and a certificate of coverability about it.

use super::super::arcs::ArcIndex;
use super::super::check_net_certificate;
use super::super::separator::Siphon;
use super::observer::lowest;
use crate::CheckFailure;
use crate::failure::reject;
use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{One, Signed, Zero};
use palisade_evidence::{GoalShape, ObservedProof};
use palisade_model::net::{Arcs, Count, Formula, LinearBound, Net, OmegaCount, PlaceId, Problem, Query, Target};
use std::collections::BTreeMap;

/// Conditions of more alternatives are answered by rejection.
const MOST_ALTERNATIVES: usize = 1 << 20;

/// Checks the bounds, and the certificate about the net with observers.
pub(super) fn check(problem: Problem, goal: &Formula, proof: &ObservedProof) -> Result<(), CheckFailure> {
    let mut sums: Vec<LinearBound> = Vec::new();
    collect(&problem.net, goal, &mut sums);
    if sums.len() != proof.observers.len() {
        reject!(Form, "{} bounds for {} observers", proof.observers.len(), sums.len());
    }
    let arcs = ArcIndex::new(&problem.net);
    let siphon = Siphon::check(&problem, &arcs, &[])?;
    let mut places = BTreeMap::new();
    let mut extended = problem.net.clone();
    for (number, (sum, observer)) in sums.into_iter().zip(&proof.observers).enumerate() {
        let what = format!("observer {number}");
        let low = lowest(&problem, &arcs, &siphon, &sum.terms, observer, &what)?;
        let name = what.replace(' ', "");
        let place = observe(&mut extended, &problem.net, &sum, &low, name, &what)?;
        places.insert(sum, (place, low));
    }
    let observed = Observed { net: &problem.net, places };
    let query = match proof.shape {
        GoalShape::Alternatives => {
            let mut targets: Vec<Target> =
                observed.alternatives(goal)?.into_iter().map(|demands| Target { demands }).collect();
            targets.sort();
            targets.dedup();
            Query { targets }
        }
        GoalShape::Automaton => {
            let start = extended.add_place("start", OmegaCount::Finite(Count::ONE));
            let end = extended.add_place("end", OmegaCount::Finite(Count::ZERO));
            for transition in &mut extended.transitions {
                transition.pre.push((start, Count::ONE));
                transition.post.push((start, Count::ONE));
            }
            observed.walk(&mut extended, goal, start, end);
            Query { targets: vec![Target { demands: vec![(end, Count::ONE)] }] }
        }
    };
    check_net_certificate(&Problem { net: extended, query }, &proof.certificate)
}

/// Whether an inequality asks for tokens of one place.
fn is_demand(sum: &LinearBound) -> bool {
    matches!(sum.terms.as_slice(), [(_, weight)] if weight.is_positive())
}

/// The inequality that a place holds too few tokens.
fn lacks(place: PlaceId, count: &Count) -> LinearBound {
    LinearBound { terms: vec![(place, -BigInt::one())], bound: BigInt::one() - BigInt::from(count.to_big()) }
}

/// The inequalities that need observers, in the order in which they first occur.
fn collect(net: &Net, formula: &Formula, sums: &mut Vec<LinearBound>) {
    let mut add = |sum: &LinearBound| {
        if !is_demand(sum) && !sums.contains(sum) {
            sums.push(sum.clone());
        }
    };
    match formula {
        Formula::Constant(_) => {}
        Formula::AtLeast(sum) => add(sum),
        Formula::Deadlock => {
            net.transitions.iter().flat_map(|it| &it.pre).for_each(|(place, count)| add(&lacks(*place, count)));
        }
        Formula::All(parts) | Formula::Any(parts) => parts.iter().for_each(|part| collect(net, part, sums)),
    }
}

/// Adds a place of this name that always holds the sum less its least value.
pub(super) fn observe(
    extended: &mut Net,
    net: &Net,
    sum: &LinearBound,
    low: &BigInt,
    name: String,
    what: &str,
) -> Result<PlaceId, CheckFailure> {
    let count = |number: &BigInt| Count::from(BigUint::try_from(number.clone()).unwrap_or_default());
    let mut initial = -low;
    for (place, weight) in &sum.terms {
        match &net.initial[place.index()] {
            OmegaCount::Finite(tokens) => initial += weight * BigInt::from(tokens.to_big()),
            OmegaCount::Omega => reject!(Initial, "{what}: place {place} may hold any number of tokens"),
        }
    }
    if initial.is_negative() {
        reject!(Initial, "{what}: the sum is below its least value initially");
    }
    let place = extended.add_place(name, OmegaCount::Finite(count(&initial)));
    let weigh = |arcs: &Arcs| -> BigInt {
        let weight = |place: &PlaceId| sum.terms.iter().find(|(other, _)| other == place).map(|(_, weight)| weight);
        arcs.iter().filter_map(|(place, count)| Some(weight(place)? * BigInt::from(count.to_big()))).sum()
    };
    for transition in &mut extended.transitions {
        let change = weigh(&transition.post) - weigh(&transition.pre);
        if change.is_positive() {
            transition.post.push((place, count(&change)));
        } else if change.is_negative() {
            transition.pre.push((place, count(&-change)));
        }
    }
    Ok(place)
}

/// A condition over observers.
struct Observed<'a> {
    net: &'a Net,
    /// The place of each observed sum, and its least value.
    places: BTreeMap<LinearBound, (PlaceId, BigInt)>,
}

impl Observed<'_> {
    /// The tokens that an inequality asks for; none where it always holds.
    fn demand(&self, sum: &LinearBound) -> Arcs {
        let (place, tokens) = match self.places.get(sum) {
            Some((place, low)) => (*place, &sum.bound - low),
            None => {
                let (place, weight) = &sum.terms[0];
                (*place, sum.bound.div_ceil(weight))
            }
        };
        match BigUint::try_from(tokens) {
            Ok(tokens) if !tokens.is_zero() => vec![(place, tokens.into())],
            _ => Vec::new(),
        }
    }

    /// Deadlock as a conjunction of disjunctions.
    fn deadlock(&self) -> Formula {
        let disabled = self.net.transitions.iter().map(|transition| {
            let parts = transition.pre.iter().map(|(place, count)| Formula::AtLeast(lacks(*place, count)));
            Formula::Any(parts.collect())
        });
        Formula::All(disabled.collect())
    }

    fn alternatives(&self, formula: &Formula) -> Result<Vec<Arcs>, CheckFailure> {
        Ok(match formula {
            Formula::Constant(true) => vec![Vec::new()],
            Formula::Constant(false) => Vec::new(),
            Formula::AtLeast(sum) => vec![self.demand(sum)],
            Formula::Deadlock => self.alternatives(&self.deadlock())?,
            Formula::Any(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    all.extend(self.alternatives(part)?);
                }
                all
            }
            Formula::All(parts) => {
                let mut all = vec![Vec::new()];
                for part in parts {
                    let choices = self.alternatives(part)?;
                    if all.len().saturating_mul(choices.len()) > MOST_ALTERNATIVES {
                        reject!(Form, "the condition has more than {MOST_ALTERNATIVES} alternatives");
                    }
                    all = all.iter().flat_map(|one| choices.iter().map(move |other| join(one, other))).collect();
                }
                all
            }
        })
    }

    /// Adds the transitions by which a token goes through a condition.
    fn walk(&self, net: &mut Net, formula: &Formula, from: PlaceId, to: PlaceId) {
        match formula {
            Formula::Constant(true) => step(net, from, to, &Vec::new()),
            Formula::Constant(false) => {}
            Formula::AtLeast(sum) => step(net, from, to, &self.demand(sum)),
            Formula::Deadlock => self.walk(net, &self.deadlock(), from, to),
            Formula::Any(parts) => parts.iter().for_each(|part| self.walk(net, part, from, to)),
            Formula::All(parts) => {
                let (mut tests, mut others, mut has_tests) = (Vec::new(), Vec::new(), false);
                for part in parts {
                    match part {
                        Formula::Constant(true) => {}
                        Formula::Constant(false) => return,
                        Formula::AtLeast(sum) => {
                            has_tests = true;
                            tests = join(&tests, &self.demand(sum));
                        }
                        other => others.push(other),
                    }
                }
                let mut from = from;
                if has_tests || others.is_empty() {
                    let after = if others.is_empty() { to } else { further(net) };
                    step(net, from, after, &tests);
                    from = after;
                }
                for (number, other) in others.iter().enumerate() {
                    let after = if number + 1 == others.len() { to } else { further(net) };
                    self.walk(net, other, from, after);
                    from = after;
                }
            }
        }
    }
}

/// A further place for the token.
fn further(net: &mut Net) -> PlaceId {
    let name = format!("at{}", net.places.len());
    net.add_place(name, OmegaCount::Finite(Count::ZERO))
}

/// Adds a transition that moves the token and tests places.
fn step(net: &mut Net, from: PlaceId, to: PlaceId, tests: &Arcs) {
    let mut pre = tests.clone();
    pre.push((from, Count::ONE));
    let mut post = tests.clone();
    post.push((to, Count::ONE));
    let name = net.next_transition_name();
    net.add_transition(name, pre, post);
}

/// The larger demand on each place.
fn join(one: &Arcs, other: &Arcs) -> Arcs {
    let mut joined: BTreeMap<PlaceId, Count> = one.iter().cloned().collect();
    for (place, count) in other {
        let own = joined.entry(*place).or_insert(Count::ZERO);
        if *own < *count {
            own.clone_from(count);
        }
    }
    joined.into_iter().collect()
}
