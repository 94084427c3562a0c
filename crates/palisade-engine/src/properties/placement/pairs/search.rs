//! One query of the paper's methods: a violating run under bans, with few reordered pairs, or
//! without those of earlier runs.
//!
//! A state carries the pairs reordered so far, where the query asks about them. Of states that
//! differ in nothing else only those with fewest pairs are kept: a run with more of them can do
//! nothing that one with fewer cannot.

use super::reordering::{Candidates, PairSet, issuers_after};
use hashbrown::HashMap;
use palisade_exploration::states::{Aim, Cut, Move, Moves, Path, Reach, Steps, count};
use palisade_model::program::{InstructionId, Program, Value};
use palisade_semantics::{Event, Instance, Model, State, Step, Target};
use rustc_hash::FxBuildHasher;
use std::collections::VecDeque;

/// What a query asks for.
#[derive(Clone, Debug)]
pub(super) struct PairQuery<'a> {
    /// The candidates.
    pub(super) candidates: &'a Candidates,
    /// Pairs that must not be reordered.
    pub(super) banned: &'a PairSet,
    /// Sets of pairs none of which a run may contain.
    pub(super) avoided: &'a [PairSet],
    /// How many pairs a run may reorder.
    pub(super) most: Option<usize>,
}

/// The answer to a query.
#[derive(Clone, Debug)]
pub(super) enum PairAnswer {
    /// A run, with the pairs that it reorders.
    Reached { target: Target, steps: Vec<Step>, pairs: PairSet },
    /// There is none.
    Closed { states: usize, cut_by_bound: bool },
    /// None was found, and not all was seen.
    Cut(Cut),
}

/// A point of the search.
#[derive(Clone)]
struct Point {
    state: State,
    /// For each copy, the statements of its buffered stores.
    issuers: Vec<Vec<InstructionId>>,
    /// The pairs reordered so far.
    pairs: PairSet,
    number: u32,
}

/// Searches an instance of a program for a run.
pub(super) fn search_pairs(
    program: &Program,
    instance: &Instance,
    model: Model,
    aim: &Aim<'_>,
    query: &PairQuery<'_>,
    reach: &Reach,
) -> PairAnswer {
    let steps = Steps::new(program, instance, model, reach.capacity, aim);
    PairSearch {
        steps: &steps,
        aim,
        query,
        path: Path::default(),
        known: HashMap::default(),
        count: 0,
        cut_by_bound: false,
    }
    .run(reach)
}

struct PairSearch<'s, 'p> {
    steps: &'s Steps<'s, 'p>,
    aim: &'s Aim<'s>,
    query: &'s PairQuery<'s>,
    path: Path,
    /// For each state, the smallest sets of pairs with which it was found.
    known: HashMap<Box<[Value]>, Vec<PairSet>, FxBuildHasher>,
    count: usize,
    cut_by_bound: bool,
}

impl PairSearch<'_, '_> {
    fn run(&mut self, reach: &Reach) -> PairAnswer {
        let machine = &self.steps.machine;
        let mut cut = None;
        let mut open = VecDeque::new();
        let first = Point {
            state: machine.initial_state(),
            issuers: vec![Vec::new(); machine.copies().len()],
            pairs: self.query.candidates.nothing(),
            number: 0,
        };
        self.add(&mut open, first, 0, None);
        let mut moves = Moves::default();
        let mut looked = 0usize;
        while let Some(point) = open.pop_front() {
            if self.aim.is_final(machine, &point.state) {
                let steps = self.path.steps(point.number, None);
                return PairAnswer::Reached { target: Target::FinalStates, steps, pairs: point.pairs };
            }
            looked += 1;
            if self.count > reach.states {
                return PairAnswer::Cut(Cut::States(reach.states));
            }
            if looked.is_multiple_of(512)
                && let Err(reason) = reach.limits.check()
            {
                return PairAnswer::Cut(Cut::Limit(reason));
            }
            for taken in self.steps.of(&point.state, &mut moves, &mut cut) {
                if let Some(target) = self.aim.reached_by(&taken.event) {
                    let steps = self.path.steps(point.number, Some(taken.event));
                    return PairAnswer::Reached { target, steps, pairs: point.pairs };
                }
                let Some(next) = self.after(&point, taken) else { continue };
                let before = taken.before_last();
                let parent = before.map_or(point.number, |event| self.path.add(point.number, Some(event)));
                self.add(&mut open, next, parent, Some(taken.last()));
            }
        }
        match cut {
            Some(cut) => PairAnswer::Cut(cut),
            None => PairAnswer::Closed { states: self.count, cut_by_bound: self.cut_by_bound },
        }
    }

    /// The point after some events; none when they are banned, or reorder too many pairs.
    fn after(&mut self, point: &Point, taken: &Move) -> Option<Point> {
        let machine = &self.steps.machine;
        let mut next = point.clone();
        for event in taken.events() {
            let position = machine.position(event.step.copy).expect("an event belongs to a copy of the instance");
            let candidates = self.query.candidates;
            let now = candidates.reordered(machine, &next.state, position, &next.issuers[position], event);
            if !now.is_disjoint(self.query.banned) {
                return None;
            }
            next.pairs.union_with(&now);
            if self.query.avoided.iter().any(|set| set.is_subset(&next.pairs)) {
                return None;
            }
            if self.query.most.is_some_and(|most| next.pairs.count_ones(..) > most) {
                self.cut_by_bound = true;
                return None;
            }
            issuers_after(&next.state, position, &mut next.issuers[position], event);
            machine.take(&mut next.state, event);
        }
        Some(next)
    }

    fn add(&mut self, open: &mut VecDeque<Point>, mut point: Point, parent: u32, event: Option<Event>) {
        let issuers = |position: usize, key: &mut Vec<Value>| {
            let mut stores: Vec<(Value, Value)> = Vec::new();
            for (issuer, (address, _)) in point.issuers[position].iter().zip(&point.state.threads()[position].buffer) {
                stores.push((*address, count(issuer.index())));
            }
            key.extend(stores.into_iter().flat_map(|(address, issuer)| [address, issuer]));
        };
        let key = self.steps.key(&point.state, issuers);
        let tracks = self.query.most.is_some() || !self.query.avoided.is_empty();
        let known = self.known.entry(key).or_default();
        if known.iter().any(|before| !tracks || before.is_subset(&point.pairs)) {
            return;
        }
        known.retain(|before| !point.pairs.is_subset(before));
        known.push(point.pairs.clone());
        self.count += 1;
        point.number = self.path.add(parent, event);
        open.push_back(point);
    }
}
