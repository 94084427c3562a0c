//! Backward search: the markings that can cover the target, as the basis of an upward-closed set.
//!
//! Starts from the targets and adds minimal predecessors until none is new or one lies below the initial marking
//! (Abdulla et al., *General Decidability Theorems for Infinite-State Systems*). The predecessor of a marking `b` by a
//! transition needs `pre(p) + (b(p) ∸ post(p))` at each place. Two things keep the basis small: a predecessor that an
//! inductive invariant refutes is left out (no run meets it), and one above a basis marking is left out (it can do
//! nothing more). Invariants here are linear, `y·m ≤ y·m0` with `y ≥ 0`: the units, each "at most one token", and those
//! that are handed in. A marking that lies above a newer one is dropped, expanded or not: what it leads to lies above
//! what the newer one leads to.
//!
//! Complete: every ascending sequence of upward-closed sets becomes stationary (Dickson).

mod basis;

use self::basis::Basis;
use super::number::{Number, Stop};
use super::run::finish;
use super::saturation::settle;
use super::slice::Slice;
use super::system::System;
use super::{Context, Outcome, Strategy};
use crate::evidence::{Invariant, NetCertificate, Refutation};
use crate::net::{Count, Problem};
use num_bigint::BigInt;
use num_traits::One;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The strategy `backward`.
pub(super) struct Backward;

impl Strategy for Backward {
    fn name(&self) -> &'static str {
        "backward"
    }

    fn solve(&self, problem: &Problem, context: &Context) -> Outcome {
        let slice = Slice::new(problem);
        if let Some(outcome) = settle(problem, &slice) {
            return outcome;
        }
        let result = match search::<u32>(problem, &slice, context) {
            Err(Stop::Overflow) => search::<Count>(problem, &slice, context),
            result => result,
        };
        result.unwrap_or_else(Outcome::from)
    }
}

/// How many predecessors are computed between two looks at the limits.
const METER: usize = 4096;

/// The search with one type of numbers.
fn search<N: Number>(problem: &Problem, slice: &Slice, context: &Context) -> Result<Outcome, Stop> {
    let system = System::<N>::new(problem, slice)?;
    let mut search = Search::new(&system);
    for target in 0..system.targets.len() {
        search.add(system.targets[target].clone(), Origin::Target(target))?;
    }
    let mut since_check = 0;
    while search.found.is_none() {
        let Some((_, Reverse(element))) = search.open.pop() else { break };
        if search.basis.is_dropped(element) {
            continue;
        }
        context.count_iterations(1);
        since_check += search.expand(element)?;
        if since_check >= METER {
            since_check = 0;
            context.limits.check()?;
        }
    }
    context.count_markings(search.basis.alive().count());
    Ok(match search.found {
        Some(element) => search.run(problem, slice, element),
        None => Outcome::Uncoverable(search.certificate(problem, slice)),
    })
}

/// Where a basis element comes from.
#[derive(Clone, Copy, Debug)]
enum Origin {
    /// It is the target with this number in the system.
    Target(usize),
    /// It is the predecessor of an element by a transition.
    Predecessor(u32, u32),
}

/// The state of the search.
struct Search<'a, N> {
    system: &'a System<N>,
    /// The elements found, and which of them are minimal.
    basis: Basis<N>,
    /// Per element.
    origins: Vec<Origin>,
    /// Elements to expand, those with few tokens first.
    open: BinaryHeap<(Reverse<u64>, Reverse<u32>)>,
    /// An element below the initial marking.
    found: Option<u32>,
    /// Per place, the unit it is in.
    unit_of: Vec<Option<u32>>,
    /// Scratch: per unit, the round in which a token was seen in it.
    seen_unit: Vec<u64>,
    /// Scratch: per transition, the round in which it was looked at.
    seen_transition: Vec<u64>,
    /// The round of the scratch arrays.
    round: u64,
}

impl<'a, N: Number> Search<'a, N> {
    fn new(system: &'a System<N>) -> Self {
        let mut unit_of = vec![None; system.places()];
        for (unit, places) in (0u32..).zip(&system.units) {
            places.iter().for_each(|place| unit_of[*place as usize] = Some(unit));
        }
        Self {
            system,
            basis: Basis::new(system.places()),
            origins: Vec::new(),
            open: BinaryHeap::new(),
            found: None,
            unit_of,
            seen_unit: vec![0; system.units.len()],
            seen_transition: vec![0; system.transitions.len()],
            round: 0,
        }
    }

    /// Adds a marking unless it is refuted or above one that is there.
    fn add(&mut self, marking: Vec<(u32, N)>, origin: Origin) -> Result<(), Stop> {
        if self.is_refuted(&marking) || self.basis.has_below(&marking) {
            return Ok(());
        }
        let weight = marking.iter().map(|(_, count)| count.rough()).sum();
        let is_initial = marking.iter().all(|(place, count)| *count <= self.system.initial[*place as usize]);
        let element = self.basis.insert(marking)?;
        self.origins.push(origin);
        if is_initial {
            self.found = Some(element);
        }
        self.open.push((Reverse(weight), Reverse(element)));
        Ok(())
    }

    /// Whether the marking demands two tokens in a unit.
    fn is_refuted(&mut self, marking: &[(u32, N)]) -> bool {
        self.round += 1;
        for (place, count) in marking {
            if let Some(unit) = self.unit_of[*place as usize] {
                if self.seen_unit[unit as usize] == self.round || count.rough() > 1 {
                    return true;
                }
                self.seen_unit[unit as usize] = self.round;
            }
        }
        false
    }

    /// Adds the predecessors of an element; returns how many there were.
    fn expand(&mut self, element: u32) -> Result<usize, Stop> {
        let marking = self.basis.marking(element).to_vec();
        self.round += 1;
        let round = self.round;
        let mut transitions = Vec::new();
        for (place, count) in &marking {
            for transition in self.system.producers.row(*place) {
                let effects = self.system.effects(*transition);
                let position = effects
                    .binary_search_by_key(place, |effect| effect.place)
                    .expect("a producer has an effect at the place");
                // It helps when less is needed before than after.
                if effects[position].pre < *count && self.seen_transition[*transition as usize] != round {
                    self.seen_transition[*transition as usize] = round;
                    transitions.push(*transition);
                }
            }
        }
        for transition in &transitions {
            let before = self.predecessor(&marking, *transition)?;
            self.add(before, Origin::Predecessor(element, *transition))?;
            if self.found.is_some() || self.basis.is_dropped(element) {
                break;
            }
        }
        Ok(transitions.len())
    }

    /// The least marking from which the transition leads to `marking` or above.
    fn predecessor(&self, marking: &[(u32, N)], transition: u32) -> Result<Vec<(u32, N)>, Stop> {
        let effects = self.system.effects(transition);
        let mut before = Vec::with_capacity(marking.len() + effects.len());
        let (mut own, mut effect) = (marking.iter().peekable(), effects.iter().peekable());
        loop {
            match (own.peek(), effect.peek()) {
                (Some((place, count)), next) if next.is_none_or(|next| *place < next.place) => {
                    before.push((*place, count.clone()));
                    own.next();
                }
                (Some((place, count)), Some(next)) if *place == next.place => {
                    let needed = next.pre.plus(&count.monus(&next.post))?;
                    if !needed.is_zero() {
                        before.push((*place, needed));
                    }
                    own.next();
                    effect.next();
                }
                (_, Some(next)) => {
                    if !next.pre.is_zero() {
                        before.push((next.place, next.pre.clone()));
                    }
                    effect.next();
                }
                (_, None) => return Ok(before),
            }
        }
    }

    /// The run from the initial marking through an element below it.
    fn run(&self, problem: &Problem, slice: &Slice, element: u32) -> Outcome {
        let mut firings = Vec::new();
        let mut at = element;
        loop {
            match self.origins[at as usize] {
                Origin::Predecessor(next, transition) => {
                    firings.push((self.system.transitions[transition as usize], Count::ONE));
                    at = next;
                }
                Origin::Target(target) => {
                    return Outcome::Coverable(finish(problem, slice, firings, slice.targets[target]));
                }
            }
        }
    }

    /// The basis with the invariants that pruned it.
    fn certificate(&self, problem: &Problem, slice: &Slice) -> NetCertificate {
        let mut basis: Vec<_> = self
            .basis
            .alive()
            .map(|element| slice.lift(self.basis.marking(element).iter().map(|(place, count)| (*place, count.count()))))
            .collect();
        // Targets that an invariant refutes belong to the set as well.
        basis.extend(problem.query.targets.iter().map(|target| target.demands.clone()));
        basis.sort_unstable();
        basis.dedup();
        let at_most_one = |unit: &Vec<u32>| Refutation {
            weights: unit.iter().map(|place| (slice.places[*place as usize], BigInt::one())).collect(),
            traps: Vec::new(),
        };
        let invariant =
            Invariant { siphon: slice.siphon(), refutations: self.system.units.iter().map(at_most_one).collect() };
        NetCertificate::Upward { basis, invariant }
    }
}
