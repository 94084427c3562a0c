//! Backward search: the markings that can cover the target, as the basis of an upward-closed set.
//!
//! Starts from the targets and adds minimal predecessors until none is new or one lies below the
//! initial marking [AC96]. The predecessor of a marking `b` by a transition needs
//! `pre(p) + (b(p) ∸ post(p))` at each place. Three things keep the basis small.
//!
//! - A predecessor that an inductive invariant refutes is left out: no run meets it. The invariants
//!   are the units, each "at most one token", and the semiflows of nets that are not large.
//! - A marking above a basis marking is left out: it can do nothing more. One that lies above a
//!   newer one is dropped, expanded or not: what it leads to lies above what the newer one leads
//!   to.
//! - A marking with a part that no sample run has shown ([`sample`](super::sample)) is replaced by
//!   that part: if even that cannot be covered, many other markings go with it. This is a guess.
//!   Any upward-closed set that contains the targets, is closed under predecessors and misses the
//!   initial marking is a proof, whether it is the least or not. When a guessed part turns out to
//!   be coverable, the run becomes a sample, and what came of the guess is dropped. What it
//!   displaced is lost, so the search begins again when it is done, knowing more; until then it
//!   goes on to find other wrong guesses. Each shows a new single place or pair, so that happens
//!   finitely often.
//!
//! Complete: every ascending sequence of upward-closed sets becomes stationary (Dickson).

mod basis;
mod bounds;
mod knowledge;

use self::basis::Basis;
use self::bounds::Bounds;
use self::knowledge::Sampled;
pub(super) use self::knowledge::{Knowledge, Reached};
use super::compact::CompactNet;
use super::engine::{Method, Prepared};
use super::number::{Number, Stop};
use super::run::finish;
use super::sample::Covering;
use super::slice::Slice;
use super::{Context, Outcome};
use palisade_evidence::{Invariant, NetCertificate};
use palisade_model::limits::StopReason;
use palisade_model::net::{Count, Problem};
use palisade_model::ordered;
use rustc_hash::FxHashSet;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The strategy `backward`.
pub(super) struct Backward;

impl Method for Backward {
    const NAME: &'static str = "backward";

    fn run<N: Number>(prepared: &Prepared<'_>, compact: &CompactNet<N>, context: &Context) -> Result<Outcome, Stop> {
        search(prepared, compact, context)
    }
}

/// The beginning of `backward` alone: its sample walks.
pub(super) struct Walks;

impl Method for Walks {
    const NAME: &'static str = Backward::NAME;

    fn run<N: Number>(prepared: &Prepared<'_>, compact: &CompactNet<N>, context: &Context) -> Result<Outcome, Stop> {
        let covering = prepared.walker(compact).look_around(WALKS, context)?;
        Ok(covering.map_or(Outcome::Unknown(StopReason::Inconclusive), |covering| covered(prepared, compact, covering)))
    }
}

/// How many predecessors are computed between two looks at the limits.
const METER: usize = 4096;

/// A predecessor of many places takes the time of one more for each so many places, and for each
/// pair of such blocks.
const PLACES_PER_BLOCK: usize = 64;

/// A predecessor is compared with a good part of the basis.
const WORK_PER_PREDECESSOR: usize = 4;

/// How many steps of sample walks precede the search.
const WALKS: usize = 20_000;

/// The search with one type of numbers.
fn search<N: Number>(prepared: &Prepared<'_>, compact: &CompactNet<N>, context: &Context) -> Result<Outcome, Stop> {
    let Prepared { problem, slice, .. } = prepared;
    let mut knowledge = Sampled { sampler: prepared.walker(compact), pairs: None };
    let mut covering = knowledge.sampler.look_around(WALKS, context)?;
    if covering.is_none() {
        knowledge.pairs = prepared.pairs(context)?;
    }
    while covering.is_none() {
        let mut search = BackwardSearch::new(compact, Bounds::new(prepared, compact, context)?, &mut knowledge);
        covering = search.run(context)?;
        context.count_markings(search.basis.alive().count());
        if covering.is_none() && search.wrong.is_empty() {
            return Ok(Outcome::Uncoverable(search.certificate(problem, slice)));
        }
    }
    Ok(covered(prepared, compact, covering.expect("the loop ends with one")))
}

/// The answer that a sequence covers a target.
fn covered<N>(prepared: &Prepared<'_>, compact: &CompactNet<N>, (sequence, target): Covering) -> Outcome {
    let Prepared { problem, slice, .. } = prepared;
    let firings =
        sequence.into_iter().map(|number| (compact.transitions[number as usize].into(), Count::ONE)).collect();
    Outcome::Coverable(finish(problem, slice, firings, slice.targets[target]))
}

/// A proof by an upward-closed set whose basis consists of parts that are known not to be
/// coverable. That is often far smaller than a description of all that can be covered.
pub(super) fn prove<N: Number>(
    prepared: &Prepared<'_>,
    compact: &CompactNet<N>,
    knowledge: &mut impl Knowledge<N>,
    context: &Context,
) -> Result<NetCertificate, Stop> {
    let mut search = BackwardSearch::new(compact, Bounds::new(prepared, compact, context)?, knowledge);
    search.run(context)?;
    Ok(search.certificate(prepared.problem, &prepared.slice))
}

/// Where a basis element comes from.
#[derive(Clone, Copy, Debug)]
enum Origin {
    /// It is the target with this number in the compact net.
    Target(usize),
    /// It is the predecessor of an element by a transition.
    Predecessor(u32, u32),
    /// It is part of another and has never been seen.
    Guess,
}

/// The state of the search.
struct BackwardSearch<'a, 'b, N, K> {
    compact: &'a CompactNet<N>,
    /// What was seen to be coverable.
    knowledge: &'b mut K,
    /// The elements found, and which of them are minimal.
    basis: Basis<N>,
    /// Per element.
    origins: Vec<Origin>,
    /// Per element, the element where its branch began.
    roots: Vec<u32>,
    /// Guesses that turned out wrong.
    wrong: FxHashSet<u32>,
    /// Elements to expand, those with few tokens first.
    open: BinaryHeap<(Reverse<u64>, Reverse<u32>)>,
    /// An element below the initial marking.
    found: Option<u32>,
    /// What every reachable marking satisfies.
    bounds: Bounds,
    /// How many predecessors were computed since the limits were looked at.
    since_check: usize,
    /// Scratch: per transition, the round in which it was looked at.
    seen_transition: Vec<u64>,
    /// The round of the scratch arrays.
    round: u64,
}

impl<'a, 'b, N: Number, K: Knowledge<N>> BackwardSearch<'a, 'b, N, K> {
    fn new(compact: &'a CompactNet<N>, bounds: Bounds, knowledge: &'b mut K) -> Self {
        Self {
            compact,
            knowledge,
            basis: Basis::new(compact.places()),
            origins: Vec::new(),
            roots: Vec::new(),
            wrong: FxHashSet::default(),
            open: BinaryHeap::new(),
            found: None,
            bounds,
            since_check: 0,
            seen_transition: vec![0; compact.transitions.len()],
            round: 0,
        }
    }

    /// Searches until a target turns out to be coverable, or nothing is left.
    fn run(&mut self, context: &Context) -> Result<Option<Covering>, Stop> {
        for target in 0..self.compact.targets.len() {
            self.add(self.compact.targets[target].clone(), Origin::Target(target))?;
        }
        context.check()?;
        loop {
            self.look_at_limits(context)?;
            if let Some(element) = self.found.take() {
                let (sequence, target) = self.sequence(element);
                if let Some(target) = target {
                    return Ok(Some((sequence, target)));
                }
                self.give_up(self.roots[element as usize]);
                let covering = self.knowledge.learn(&sequence, context)?;
                if covering.is_some() {
                    return Ok(covering);
                }
            }
            let Some((_, Reverse(element))) = self.open.pop() else { return Ok(None) };
            context.check_interrupts()?;
            if !self.basis.is_dropped(element) {
                context.count_iterations(1);
                self.expand(element, context)?;
            }
        }
    }

    /// Says when to stop, if there was much to do since the last time.
    fn look_at_limits(&mut self, context: &Context) -> Result<(), Stop> {
        if self.since_check >= METER {
            context.count_work(WORK_PER_PREDECESSOR * std::mem::take(&mut self.since_check));
            context.check()?;
        }
        Ok(())
    }

    /// Drops a guess and what came of it.
    fn give_up(&mut self, root: u32) {
        self.wrong.insert(root);
        let lost: Vec<u32> = self.basis.alive().filter(|element| self.roots[*element as usize] == root).collect();
        lost.into_iter().for_each(|element| self.basis.drop_element(element));
    }

    /// Adds a marking, or a part of it that has never been seen, unless it is refuted or above one
    /// that is there.
    fn add(&mut self, marking: Vec<(u32, N)>, origin: Origin) -> Result<(), Stop> {
        if self.bounds.refute(&marking) || self.basis.has_below(&marking) {
            return Ok(());
        }
        let (marking, origin) = match self.knowledge.unseen_part(&marking)? {
            Some(part) if part.len() < marking.len() || part.iter().zip(&marking).any(|(a, b)| a.1 < b.1.rough()) => {
                let number = |count: u64| N::of(&count.into());
                let part = part.into_iter().map(|(place, count)| Ok((place, number(count)?)));
                (part.collect::<Result<Vec<_>, Stop>>()?, Origin::Guess)
            }
            _ => (marking, origin),
        };
        let weight = marking.iter().map(|(_, count)| count.rough()).sum();
        let is_initial = marking.iter().all(|(place, count)| *count <= self.compact.initial[*place as usize]);
        let element = self.basis.insert(marking)?;
        self.roots.push(match origin {
            Origin::Predecessor(after, _) => self.roots[after as usize],
            Origin::Target(_) | Origin::Guess => element,
        });
        self.origins.push(origin);
        if is_initial {
            self.found = Some(element);
        }
        self.open.push((Reverse(weight), Reverse(element)));
        Ok(())
    }

    /// Adds the predecessors of an element.
    fn expand(&mut self, element: u32, context: &Context) -> Result<(), Stop> {
        let marking = self.basis.marking(element).to_vec();
        self.round += 1;
        let round = self.round;
        let mut transitions = Vec::new();
        for (place, count) in &marking {
            for transition in self.compact.producers.row(*place) {
                let effects = self.compact.effects(*transition);
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
            self.look_at_limits(context)?;
            let before = self.predecessor(&marking, *transition)?;
            let blocks = before.len() / PLACES_PER_BLOCK;
            self.since_check += 1 + blocks + blocks * blocks;
            self.add(before, Origin::Predecessor(element, *transition))?;
            if self.found.is_some() || self.basis.is_dropped(element) {
                break;
            }
        }
        Ok(())
    }

    /// The least marking from which the transition leads to `marking` or above.
    fn predecessor(&self, marking: &[(u32, N)], transition: u32) -> Result<Vec<(u32, N)>, Stop> {
        let effects = self.compact.effects(transition);
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

    /// The transitions that lead from an element to where its branch began: to a target, or to a
    /// guess.
    fn sequence(&self, element: u32) -> (Vec<u32>, Option<usize>) {
        let mut sequence = Vec::new();
        let mut at = element;
        loop {
            match self.origins[at as usize] {
                Origin::Predecessor(next, transition) => {
                    sequence.push(transition);
                    at = next;
                }
                Origin::Target(target) => return (sequence, Some(target)),
                Origin::Guess => return (sequence, None),
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
        ordered::sort_by(&mut basis, Vec::cmp);
        basis.dedup();
        let invariant = Invariant { siphon: slice.siphon(), refutations: self.bounds.refutations(slice) };
        NetCertificate::Upward { basis, invariant }
    }
}
