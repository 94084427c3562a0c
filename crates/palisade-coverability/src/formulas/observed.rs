//! A condition as a question of coverability: every inequality becomes a demand on one place.
//!
//! An inequality `a·m ≥ b` whose sum is never below `−k` is watched by a place that always holds
//! `a·m + k` tokens. Each transition takes or puts there the difference that it makes, which it
//! always can. A few alternatives are targets; otherwise a token goes through the condition while
//! the net stands still, which takes as many transitions as the condition has parts.

use super::observers::{Observers, Terms};
use crate::Context;
use crate::rows::Rows;
use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{Signed, Zero};
use palisade_evidence::{GoalShape, NetRun, Observer, RunStep};
use palisade_model::limits::StopReason;
use palisade_model::net::{Arcs, Count, Formula, LinearBound, Net, OmegaCount, PlaceId, Problem, Query, Target};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Conditions of more alternatives become automata.
const MOST_ALTERNATIVES: usize = 64;

/// Conditions with more observers are not asked this way.
const MOST_OBSERVERS: usize = 2_000;

/// A condition as a question of coverability.
pub(super) struct Observed {
    /// The net with observers, and the question.
    pub(super) problem: Problem,
    /// Why the observers' sums are never below their least values.
    pub(super) observers: Vec<Observer>,
    /// How the condition is asked.
    pub(super) shape: GoalShape,
}

impl Observed {
    /// The question; nothing where the least value of a sum is not known, or the sums are too many.
    pub(super) fn new(
        net: &Net,
        goal: &Formula,
        bounds: &mut Observers<'_>,
        context: &Context,
    ) -> Result<Option<Self>, StopReason> {
        let goal = explicit(net, goal);
        let mut sums = Sums::default();
        sums.collect(&goal);
        if sums.all.len() > MOST_OBSERVERS {
            return Ok(None);
        }
        let mut extended = net.clone();
        let neighbours = neighbours(net);
        let mut observers = Vec::new();
        let mut places = FxHashMap::default();
        for sum in sums.all {
            context.check()?;
            let Some((observer, low)) = bounds.get(&sum.terms, context)? else { return Ok(None) };
            let name = format!("observer{}", observers.len());
            let Some(place) = watch(&mut extended, net, &neighbours, &sum.terms, &low, name) else { return Ok(None) };
            observers.push(observer);
            places.insert(sum, (place, low));
        }
        let builder = Builder { places };
        let (shape, query) = match builder.alternatives(&goal) {
            Some(mut targets) => {
                targets.sort_unstable();
                targets.dedup();
                let targets = targets.into_iter().map(|demands| Target { demands }).collect();
                (GoalShape::Alternatives, Query { targets })
            }
            None => {
                let start = extended.add_place("start", OmegaCount::Finite(Count::ONE));
                let end = extended.add_place("end", OmegaCount::Finite(Count::ZERO));
                for transition in &mut extended.transitions {
                    transition.pre.push((start, Count::ONE));
                    transition.post.push((start, Count::ONE));
                }
                builder.lay(&mut extended, &goal, start, end);
                (GoalShape::Automaton, Query { targets: vec![Target { demands: vec![(end, Count::ONE)] }] })
            }
        };
        Ok(Some(Self { problem: Problem { net: extended, query }, observers, shape }))
    }

    /// What a run does in the net without observers.
    pub(super) fn run_of_net(&self, net: &Net, run: &NetRun) -> NetRun {
        NetRun { initial_choice: Vec::new(), firings: steps_of_net(&run.firings, net.transitions.len()) }
    }
}

fn steps_of_net(steps: &[(RunStep, Count)], transitions: usize) -> Vec<(RunStep, Count)> {
    let own = |(step, times): &(RunStep, Count)| match step {
        RunStep::Fire(id) => (id.index() < transitions).then(|| (RunStep::Fire(*id), times.clone())),
        RunStep::Sequence(steps) => {
            let steps = steps_of_net(steps, transitions);
            (!steps.is_empty()).then(|| (RunStep::Sequence(steps), times.clone()))
        }
    };
    steps.iter().filter_map(own).collect()
}

/// The condition with deadlock written out.
pub(super) fn explicit(net: &Net, goal: &Formula) -> Formula {
    match goal {
        Formula::Deadlock => {
            let disabled = net.transitions.iter().map(|transition| {
                let fewer = |(place, count): &(PlaceId, Count)| Formula::AtLeast(LinearBound::fewer(*place, count));
                Formula::Any(transition.pre.iter().map(fewer).collect())
            });
            Formula::All(disabled.collect())
        }
        Formula::All(parts) => Formula::All(parts.iter().map(|part| explicit(net, part)).collect()),
        Formula::Any(parts) => Formula::Any(parts.iter().map(|part| explicit(net, part)).collect()),
        Formula::Constant(_) | Formula::AtLeast(_) => goal.clone(),
    }
}

/// The sums that need observers, in the order in which they first occur.
#[derive(Default)]
struct Sums {
    all: Vec<LinearBound>,
    known: rustc_hash::FxHashSet<LinearBound>,
}

impl Sums {
    fn collect(&mut self, goal: &Formula) {
        match goal {
            Formula::AtLeast(sum) => {
                if !is_one_place(sum) && self.known.insert(sum.clone()) {
                    self.all.push(sum.clone());
                }
            }
            Formula::All(parts) | Formula::Any(parts) => parts.iter().for_each(|part| self.collect(part)),
            Formula::Constant(_) | Formula::Deadlock => {}
        }
    }
}

fn is_one_place(sum: &LinearBound) -> bool {
    sum.terms.len() == 1 && sum.terms[0].1.is_positive()
}

/// For each place the transitions with an arc from or to it.
pub(super) fn neighbours(net: &Net) -> Rows {
    let touched = net
        .transition_ids()
        .flat_map(|(id, transition)| transition.effects().map(move |(place, _, _)| (place.0, id.0)));
    Rows::group(net.places.len(), touched)
}

/// Adds the place of this name that watches a sum; nothing where a place may hold any number of
/// tokens initially.
pub(super) fn watch(
    extended: &mut Net,
    net: &Net,
    neighbours: &Rows,
    terms: &Terms,
    low: &BigInt,
    name: String,
) -> Option<PlaceId> {
    let mut tokens = -low;
    let mut changes: BTreeMap<u32, BigInt> = BTreeMap::new();
    for (place, weight) in terms {
        let OmegaCount::Finite(count) = &net.initial[place.index()] else { return None };
        tokens += weight * BigInt::from(count.to_big());
        for id in &neighbours[place.index()] {
            let transition = &net.transitions[*id as usize];
            let at = |arcs: &Arcs| -> BigInt {
                let position = arcs.binary_search_by_key(place, |(place, _)| *place);
                position.map_or_else(|_| BigInt::zero(), |position| arcs[position].1.to_big().into())
            };
            *changes.entry(*id).or_default() += weight * (at(&transition.post) - at(&transition.pre));
        }
    }
    let place = extended.add_place(name, OmegaCount::Finite(BigUint::try_from(tokens).ok()?.into()));
    for (id, change) in changes {
        let transition = &mut extended.transitions[id as usize];
        let count = Count::from(change.magnitude().clone());
        if change.is_positive() {
            transition.post.push((place, count));
        } else if change.is_negative() {
            transition.pre.push((place, count));
        }
    }
    Some(place)
}

/// Conditions over observers.
struct Builder {
    /// The place and the least value of each observed sum.
    places: FxHashMap<LinearBound, (PlaceId, BigInt)>,
}

impl Builder {
    /// The tokens that an inequality asks for; none where it always holds.
    fn demand(&self, sum: &LinearBound) -> Arcs {
        let (place, tokens) = match self.places.get(sum) {
            Some((place, low)) => (*place, &sum.bound - low),
            None => (sum.terms[0].0, sum.bound.div_ceil(&sum.terms[0].1)),
        };
        let tokens = BigUint::try_from(tokens).unwrap_or_default();
        if tokens.is_zero() { Vec::new() } else { vec![(place, tokens.into())] }
    }

    /// The alternatives, unless they are too many.
    fn alternatives(&self, goal: &Formula) -> Option<Vec<Arcs>> {
        let all = match goal {
            Formula::Constant(true) => vec![Vec::new()],
            Formula::Constant(false) => Vec::new(),
            Formula::AtLeast(sum) => vec![self.demand(sum)],
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
                    if all.len() * choices.len() > MOST_ALTERNATIVES {
                        return None;
                    }
                    all = all.iter().flat_map(|one| choices.iter().map(|other| joined(one, other))).collect();
                }
                all
            }
            Formula::Deadlock => unreachable!("deadlock has been written out"),
        };
        (all.len() <= MOST_ALTERNATIVES).then_some(all)
    }

    /// Lays the ways of the token through a condition.
    fn lay(&self, net: &mut Net, goal: &Formula, from: PlaceId, to: PlaceId) {
        match goal {
            Formula::Constant(true) => test(net, from, to, &Vec::new()),
            Formula::Constant(false) => {}
            Formula::AtLeast(sum) => test(net, from, to, &self.demand(sum)),
            Formula::Any(parts) => parts.iter().for_each(|part| self.lay(net, part, from, to)),
            Formula::All(parts) => self.lay_all(net, parts, from, to),
            Formula::Deadlock => unreachable!("deadlock has been written out"),
        }
    }

    fn lay_all(&self, net: &mut Net, parts: &[Formula], mut from: PlaceId, to: PlaceId) {
        if parts.contains(&Formula::Constant(false)) {
            return;
        }
        let mut tests = None;
        let mut others = Vec::new();
        for part in parts {
            match part {
                Formula::Constant(_) => {}
                Formula::AtLeast(sum) => tests = Some(joined(&tests.unwrap_or_default(), &self.demand(sum))),
                part => others.push(part),
            }
        }
        if others.is_empty() {
            test(net, from, to, &tests.unwrap_or_default());
            return;
        }
        let next = |net: &mut Net| {
            let name = format!("at{}", net.places.len());
            net.add_place(name, OmegaCount::Finite(Count::ZERO))
        };
        if let Some(tests) = tests {
            let after = next(net);
            test(net, from, after, &tests);
            from = after;
        }
        let last = others.len() - 1;
        for (number, part) in others.into_iter().enumerate() {
            let after = if number == last { to } else { next(net) };
            self.lay(net, part, from, after);
            from = after;
        }
    }
}

/// A transition that moves the token and tests places.
fn test(net: &mut Net, from: PlaceId, to: PlaceId, tests: &Arcs) {
    let with = |place: PlaceId| tests.iter().cloned().chain([(place, Count::ONE)]).collect();
    let name = net.next_transition_name();
    net.add_transition(name, with(from), with(to));
}

/// Of each place the larger demand.
fn joined(one: &Arcs, other: &Arcs) -> Arcs {
    let mut all = one.clone();
    for (place, count) in other {
        match all.binary_search_by_key(place, |(place, _)| *place) {
            Ok(position) if all[position].1 < *count => all[position].1.clone_from(count),
            Ok(_) => {}
            Err(position) => all.insert(position, (*place, count.clone())),
        }
    }
    all
}
