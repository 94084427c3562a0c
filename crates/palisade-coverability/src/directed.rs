//! Directed search: explicit markings, led by the distance to the target when tokens are never used
//! up.
//!
//! From a marking, the cheapest way to mark each place in the relaxation without consumption is
//! computed by Dijkstra's algorithm (the cost of a transition is one more than the sum of the costs
//! of what it needs), until a target is met. The transitions on the cheapest ways form a relaxed
//! plan; its size estimates the distance, and those of its transitions that are enabled are
//! *preferred* [HN01]. The search is greedy and evaluates a marking when it is expanded, not when
//! it is met: successors wait with their parent's estimate, preferred ones also in a queue of their
//! own, and those of markings that are *novel*, marking a place nearer to the target than before,
//! in a third [LG17]. The queues are served in turn.
//!
//! Finds short runs in large nets. Proves nothing: when the relaxation does not reach the target
//! from a marking, no run does, and the marking is left; but markings are without bound.

use super::compact::CompactNet;
use super::engine::{Method, Prepared};
use super::number::{Number, Overflow, Stop};
use super::rows::Rows;
use super::run::finish;
use super::{Context, Outcome};
use palisade_model::limits::StopReason;
use palisade_model::net::Count;
use rustc_hash::FxHashSet;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The strategy `directed`.
pub(super) struct Directed;

impl Method for Directed {
    const NAME: &'static str = "directed";

    fn run<N: Number>(prepared: &Prepared<'_>, compact: &CompactNet<N>, context: &Context) -> Result<Outcome, Stop> {
        let Prepared { problem, slice, .. } = prepared;
        let mut search = DirectedSearch::new(compact);
        let Some((state, target)) = search.run(context)? else {
            return Ok(Outcome::Unknown(StopReason::Inconclusive));
        };
        let firings = search.sequence(state).into_iter();
        let firings = firings.map(|number| (compact.transitions[number as usize].into(), Count::ONE)).collect();
        Ok(Outcome::Coverable(finish(problem, slice, firings, slice.targets[target])))
    }
}

/// The marked places, ascending, with their tokens.
type Marking<N> = Box<[(u32, N)]>;

/// A marking met, and how.
struct State<N> {
    marking: Marking<N>,
    /// The state before and the transition, save for the first.
    from: Option<(u32, u32)>,
}

/// A successor that waits: least estimate first, of these the latest.
type Waiting = BinaryHeap<(Reverse<u32>, u64, u32, u32)>;

/// The search.
struct DirectedSearch<'a, N> {
    compact: &'a CompactNet<N>,
    relaxation: Relaxation<'a, N>,
    states: Vec<State<N>>,
    /// The markings met.
    met: FxHashSet<Marking<N>>,
    /// Successors, as state and transition.
    all: Waiting,
    /// Preferred ones.
    preferred: Waiting,
    /// Those of states that marked a place for the first time at their distance, or nearer.
    novel: Waiting,
    /// Per place, the least distance at which it was marked.
    nearest: Vec<u32>,
    /// How many successors have waited.
    tickets: u64,
}

impl<'a, N: Number> DirectedSearch<'a, N> {
    fn new(compact: &'a CompactNet<N>) -> Self {
        Self {
            compact,
            relaxation: Relaxation::new(compact),
            states: Vec::new(),
            met: FxHashSet::default(),
            all: BinaryHeap::new(),
            preferred: BinaryHeap::new(),
            novel: BinaryHeap::new(),
            nearest: vec![u32::MAX; compact.places()],
            tickets: 0,
        }
    }

    /// Searches for a marking that covers a target; returns its state and the target.
    fn run(&mut self, context: &Context) -> Result<Option<(u32, usize)>, Stop> {
        let initial: Marking<N> =
            (0u32..).zip(self.compact.initial.iter().cloned()).filter(|(_, count)| !count.is_zero()).collect();
        if let Some(found) = self.enter(initial, None) {
            return Ok(Some(found));
        }
        self.expand(0);
        let mut turn = 0u32;
        loop {
            turn = turn.wrapping_add(1);
            if turn.is_multiple_of(16) {
                context.check()?;
            }
            let mut queues = [&mut self.preferred, &mut self.novel, &mut self.all];
            queues.rotate_left(turn as usize % 3);
            let next = queues.into_iter().find_map(BinaryHeap::pop);
            let Some((_, _, state, transition)) = next else { return Ok(None) };
            let marking = self.fire(state, transition)?;
            if self.met.contains(&marking) {
                continue;
            }
            if let Some(found) = self.enter(marking, Some((state, transition))) {
                return Ok(Some(found));
            }
            context.count_iterations(1);
            context.count_markings(1);
            self.expand(u32::try_from(self.states.len() - 1).map_err(|_| Stop::Fault(Overflow))?);
            context.count_work(50 + std::mem::take(&mut self.relaxation.work));
        }
    }

    /// Adds a state. Says when it covers a target.
    fn enter(&mut self, marking: Marking<N>, from: Option<(u32, u32)>) -> Option<(u32, usize)> {
        let covers = |target: &Vec<(u32, N)>| target.iter().all(|(place, count)| at(&marking, *place) >= Some(count));
        let target = self.compact.targets.iter().position(covers);
        self.met.insert(marking.clone());
        self.states.push(State { marking, from });
        let number = u32::try_from(self.states.len() - 1).expect("memory ends before states");
        target.map(|target| (number, target))
    }

    /// Evaluates a state and lets its successors wait.
    fn expand(&mut self, state: u32) {
        let marking = self.states[state as usize].marking.clone();
        let Some(plan) = self.relaxation.plan(&marking) else { return };
        let estimate = u32::try_from(plan.len()).unwrap_or(u32::MAX);
        let mut novel = false;
        for (place, _) in &marking {
            let nearest = &mut self.nearest[*place as usize];
            novel |= estimate < *nearest;
            *nearest = estimate.min(*nearest);
        }
        for (place, _) in &marking {
            for transition in self.relaxation.keyed.row(*place) {
                let enabled = |effect: &super::compact::Effect<N>| {
                    effect.pre.is_zero() || at(&marking, effect.place).is_some_and(|count| *count >= effect.pre)
                };
                if self.compact.effects(*transition).iter().all(enabled) {
                    self.tickets += 1;
                    self.all.push((Reverse(estimate), self.tickets, state, *transition));
                    if novel {
                        self.novel.push((Reverse(estimate), self.tickets, state, *transition));
                    }
                    if plan.binary_search(transition).is_ok() {
                        self.preferred.push((Reverse(estimate), self.tickets, state, *transition));
                    }
                }
            }
        }
    }

    /// The marking after a transition that a state enables.
    fn fire(&self, state: u32, transition: u32) -> Result<Marking<N>, Stop> {
        let mut marking = self.states[state as usize].marking.to_vec();
        for effect in self.compact.effects(transition) {
            match marking.binary_search_by_key(&effect.place, |(place, _)| *place) {
                Ok(position) => marking[position].1 = marking[position].1.monus(&effect.pre).plus(&effect.post)?,
                Err(position) => marking.insert(position, (effect.place, effect.post.clone())),
            }
        }
        marking.retain(|(_, count)| !count.is_zero());
        Ok(marking.into())
    }

    /// The transitions that lead to a state.
    fn sequence(&self, mut state: u32) -> Vec<u32> {
        let mut sequence = Vec::new();
        while let Some((before, transition)) = self.states[state as usize].from {
            sequence.push(transition);
            state = before;
        }
        sequence.reverse();
        sequence
    }
}

/// The tokens of a place in a sparse marking.
fn at<N>(marking: &[(u32, N)], place: u32) -> Option<&N> {
    marking.binary_search_by_key(&place, |(place, _)| *place).ok().map(|position| &marking[position].1)
}

/// Distances without consumption.
///
/// A transition is looked at when a place it waits for has got its cost: first at the rarest place
/// it needs, then at another one that has none yet, until all have one. What needs a place that is
/// never marked costs next to nothing.
struct Relaxation<'a, N> {
    compact: &'a CompactNet<N>,
    /// Per transition, the places it needs.
    needed: Rows,
    /// Per transition, the places where it puts more than it takes.
    gained: Rows,
    /// Per place, the transitions to look at there first.
    keyed: Rows,
    /// Per place, the transitions that wait for it besides.
    waiting: Vec<Vec<u32>>,
    /// Per place, its least cost found, and the transition that gives it.
    costs: Vec<(u32, u32)>,
    /// Per place, whether it is final.
    settled: Vec<bool>,
    /// Transitions and places looked at.
    work: usize,
}

/// No transition, no cost.
const NONE: u32 = u32::MAX;

impl<'a, N: Number> Relaxation<'a, N> {
    fn new(compact: &'a CompactNet<N>) -> Self {
        let (mut needed, mut gained, mut keyed) = (Vec::new(), Vec::new(), Vec::new());
        for number in (0u32..).take(compact.transitions.len()) {
            let own = needed.len();
            for effect in compact.effects(number) {
                if !effect.pre.is_zero() {
                    needed.push((number, effect.place));
                }
                if effect.post > effect.pre {
                    gained.push((number, effect.place));
                }
            }
            let rarest = needed[own..].iter().min_by_key(|(_, place)| compact.consumers.row(*place).len());
            keyed.extend(rarest.map(|(_, place)| (*place, number)));
        }
        Self {
            compact,
            needed: Rows::group(compact.transitions.len(), needed.iter().copied()),
            gained: Rows::group(compact.transitions.len(), gained.iter().copied()),
            keyed: Rows::group(compact.places(), keyed.iter().copied()),
            waiting: vec![Vec::new(); compact.places()],
            costs: vec![(NONE, NONE); compact.places()],
            settled: vec![false; compact.places()],
            work: 0,
        }
    }

    /// The transitions of a relaxed plan from a marking to the nearest target, ascending; nothing
    /// when there is none.
    fn plan(&mut self, marking: &[(u32, N)]) -> Option<Vec<u32>> {
        self.costs.fill((NONE, NONE));
        self.settled.fill(false);
        self.waiting.iter_mut().for_each(Vec::clear);
        let mut open: BinaryHeap<(Reverse<u32>, u32)> = BinaryHeap::new();
        for (place, _) in marking {
            self.costs[*place as usize] = (0, NONE);
            open.push((Reverse(0), *place));
        }
        let mut lacking: Vec<usize> = self.compact.targets.iter().map(Vec::len).collect();
        while let Some((_, place)) = open.pop() {
            if std::mem::replace(&mut self.settled[place as usize], true) {
                continue;
            }
            for (target, demands) in self.compact.targets.iter().enumerate() {
                if at(demands, place).is_some() {
                    lacking[target] -= 1;
                    if lacking[target] == 0 {
                        return Some(self.extract(target));
                    }
                }
            }
            let also = std::mem::take(&mut self.waiting[place as usize]);
            let first = self.keyed.row(place);
            self.work += 1 + first.len() + also.len();
            for transition in first.iter().chain(&also) {
                let needed = self.needed.row(*transition);
                if let Some(other) = needed.iter().find(|other| !self.settled[**other as usize]) {
                    self.waiting[*other as usize].push(*transition);
                    continue;
                }
                let sum = needed.iter().fold(1u32, |sum, other| sum.saturating_add(self.costs[*other as usize].0));
                for gained in self.gained.row(*transition) {
                    if sum < self.costs[*gained as usize].0 {
                        self.costs[*gained as usize] = (sum, *transition);
                        open.push((Reverse(sum), *gained));
                    }
                }
            }
            self.waiting[place as usize] = also;
        }
        None
    }

    /// The transitions on the cheapest ways to a target.
    fn extract(&self, target: usize) -> Vec<u32> {
        let mut plan = FxHashSet::default();
        let mut open: Vec<u32> = self.compact.targets[target].iter().map(|(place, _)| *place).collect();
        while let Some(place) = open.pop() {
            let (_, transition) = self.costs[place as usize];
            if transition != NONE && plan.insert(transition) {
                open.extend(self.needed.row(transition));
            }
        }
        let mut plan: Vec<u32> = plan.into_iter().collect();
        plan.sort_unstable();
        plan
    }
}
