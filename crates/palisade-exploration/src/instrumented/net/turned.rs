//! The markings of a net up to turns of counters.
//!
//! [`TurnedNet`] is the eager net as the exploration of configurations takes it: the marked places
//! of all units are the control, the tokens of threads are counters. A marking is kept as the one
//! of its turns in which the reference of each class holds its initial value, or less than a least
//! turn above it; THEORY.md ("Nets up to shifts") has the proof that nothing is lost. What is
//! reached with any number of copies is a set of ω-markings; a run is found among fixed copies, as
//! many in each place that any number of them is in at first as it takes.

use super::AttackNet;
use super::meaning::Meaning;
use super::symmetry::Symmetry;
use crate::lazy::{Entry, Exploration, Interner, LazyNet, Mode, Step, Tokens, Visit, sort_entries};
use palisade_coverability::Outcome;
use palisade_evidence::{NetCertificate, NetRun, OmegaMarking};
use palisade_model::limits::{Budget, Halt, StopReason};
use palisade_model::net::{Count, Net, OmegaCount, PlaceId, Problem, TransitionId};
use palisade_model::ordered;
use palisade_model::program::Copies;
use rustc_hash::FxHashMap;
use std::convert::Infallible;

/// So many copies are tried at most to find a run.
const MOST_COPIES: u32 = 1 << 12;

/// No turn.
const NO_TURN: u32 = 0;

/// A net whose markings are explored up to turns.
pub struct TurnedNet<'n> {
    problem: &'n Problem,
    symmetry: Symmetry,
    /// By place, whether tokens are counted there, and whether any number of them may come there.
    counted: Vec<Option<bool>>,
    /// The transitions by the place where they take a counted token, and by the first other place
    /// of memory that they look at.
    moves: FxHashMap<(Option<u32>, Option<u32>), Vec<Move>>,
    /// By place, whether it says what memory holds.
    is_memory: Vec<bool>,
    controls: Interner<Box<[u32]>>,
    turns: Interner<Box<[u32]>>,
    /// What controls become, with the turn.
    turned_controls: FxHashMap<u32, (u32, u32)>,
    /// The steps from a control of one token, or of none.
    steps: FxHashMap<(u32, Option<u32>), Box<[Step]>>,
}

/// A transition: what it does to counted tokens, and to all other places.
struct Move {
    transition: u32,
    put: Option<u32>,
    needs: Box<[u32]>,
    leaves: Box<[u32]>,
}

impl<'n> TurnedNet<'n> {
    /// The net up to turns.
    pub fn new(net: &'n AttackNet<'_>, symmetry: Symmetry) -> Self {
        let system = &net.system;
        let is_unbounded = |meaning: &Meaning| match meaning {
            Meaning::Token(local, _) => {
                Some(system.program().thread(system.local(*local).thread).copies == Copies::Any)
            }
            Meaning::Start(_) | Meaning::Spare => Some(false),
            _ => None,
        };
        let mut turns = Interner::default();
        turns.intern(symmetry.none());
        let mut turned = Self {
            problem: &net.problem,
            symmetry,
            counted: net.meanings.iter().map(is_unbounded).collect(),
            moves: FxHashMap::default(),
            is_memory: net.meanings.iter().map(|meaning| matches!(meaning, Meaning::Memory(..))).collect(),
            controls: Interner::default(),
            turns,
            turned_controls: FxHashMap::default(),
            steps: FxHashMap::default(),
        };
        turned.sort_transitions();
        turned
    }

    /// Whether `success` can be marked, with what an exploration with so many nodes tells, and how
    /// many it had.
    pub fn explore(&mut self, budget: &Budget) -> (Outcome, usize) {
        let is_any = self.net().initial.contains(&OmegaCount::Omega);
        let (found, nodes) = match self.explore_from(None, if is_any { Mode::Omega } else { Mode::Exact }, budget) {
            Ok(found) => found,
            Err(reason) => return (Outcome::Unknown(reason), 0),
        };
        let outcome = match found {
            Found::Closed(markings) => Outcome::Uncoverable(NetCertificate::Downward { markings }),
            Found::Run(firings) => Outcome::Coverable(self.run(firings, 0)),
            Found::Success => self.with_enough_copies(budget),
        };
        (outcome, nodes)
    }

    /// A run, of which it is known that there is one with enough copies.
    fn with_enough_copies(&mut self, budget: &Budget) -> Outcome {
        let copies = std::iter::successors(Some(1), |copies| Some(copies * 2)).take_while(|own| *own <= MOST_COPIES);
        for copies in copies {
            match self.explore_from(Some(copies), Mode::Exact, budget) {
                Ok((Found::Run(firings), _)) => return Outcome::Coverable(self.run(firings, copies)),
                Ok(_) => {}
                Err(reason) => return Outcome::Unknown(reason),
            }
        }
        Outcome::Unknown(StopReason::Budget)
    }

    fn run(&self, firings: Vec<TransitionId>, copies: u32) -> NetRun {
        let is_any = |(_, count): &(PlaceId, &OmegaCount)| **count == OmegaCount::Omega;
        let initial_choice = self.net().place_ids().zip(&self.net().initial).filter(is_any);
        let initial_choice = initial_choice.map(|(place, _)| (place, Count::from(u64::from(copies)))).collect();
        NetRun { initial_choice, firings: firings.into_iter().map(|own| (own.into(), Count::ONE)).collect() }
    }

    /// Explores from the initial marking, with so many copies for ω.
    fn explore_from(&mut self, omega: Option<u32>, mode: Mode, budget: &Budget) -> Result<(Found, usize), StopReason> {
        let (control, mut entries) = self.initial(omega)?;
        let (control, _) = self.normalise(control, &mut entries);
        let mut explored = Exploration::new(mode);
        explored.add_root(control, &entries, 0);
        let success = u32::try_from(self.problem.query.targets[0].demands[0].0.index()).expect("few places");
        let found = explored.run(self, budget, |net, control, _| {
            if net.controls.get(control).contains(&success) { Visit::Stop } else { Visit::Expand }
        });
        let nodes = explored.len();
        let found = match found {
            Ok(None) => Found::Closed(explored.maximal().map(|node| self.marking(&explored, node)).collect()),
            Ok(Some(node)) if mode == Mode::Exact => Found::Run(self.firings(&explored, node)),
            Ok(Some(_)) => Found::Success,
            Err(Halt::Stopped(reason)) => return Err(reason),
            Err(Halt::Fault(never)) => match never {},
        };
        Ok((found, nodes))
    }

    /// The initial marking, with so many tokens for ω.
    fn initial(&mut self, omega: Option<u32>) -> Result<(u32, Vec<Entry>), StopReason> {
        let (mut control, mut entries) = (Vec::new(), Vec::new());
        for (place, count) in (0..).zip(&self.problem.net.initial) {
            let tokens = match (count, omega) {
                (OmegaCount::Finite(count), _) if count.is_zero() => continue,
                (OmegaCount::Finite(count), _) => {
                    let count = count.to_u64().and_then(|count| u32::try_from(count).ok());
                    Tokens::finite(count.filter(|count| *count < u32::MAX).ok_or(StopReason::Budget)?)
                }
                (OmegaCount::Omega, None) => Tokens::OMEGA,
                (OmegaCount::Omega, Some(copies)) => Tokens::finite(copies),
            };
            if self.counted[place as usize].is_some() {
                entries.push(Entry { place, tokens });
            } else {
                control.push(place);
            }
        }
        Ok((self.controls.intern(control.into()).0, entries))
    }

    /// A node as a marking of the net.
    fn marking(&self, explored: &Exploration, node: u32) -> OmegaMarking {
        let place = |place: u32| PlaceId::from_index(place as usize);
        let control = self.controls.get(explored.control(node)).iter();
        let mut marking: OmegaMarking = control.map(|own| (place(*own), OmegaCount::Finite(Count::ONE))).collect();
        marking.extend(explored.entries(node).iter().map(|entry| {
            let count = entry.tokens.count();
            let count = count.map_or(OmegaCount::Omega, |count| OmegaCount::Finite(Count::from(u64::from(count))));
            (place(entry.place), count)
        }));
        ordered::sort_by_key(&mut marking, |(place, _)| *place);
        marking
    }

    /// The transitions to a node from the initial marking, each turned back.
    fn firings(&mut self, explored: &Exploration, node: u32) -> Vec<TransitionId> {
        let Ok(steps) = explored.steps_along(self, node);
        let mut turn = self.symmetry.none();
        let mut firings = Vec::with_capacity(steps.len());
        for (_, step) in steps {
            let back = self.symmetry.back(&turn);
            let transition = TransitionId::from_index(step.label as usize);
            firings.push(self.symmetry.turned_transition(&back, &self.problem.net, transition));
            let (_, own) = self.turned_control(step.control);
            turn = self.symmetry.together(&turn, self.turns.get(own));
        }
        firings
    }

    fn net(&self) -> &'n Net {
        &self.problem.net
    }

    /// Sorts transitions by what they look at.
    fn sort_transitions(&mut self) {
        for (transition, own) in (0..).zip(&self.problem.net.transitions) {
            let place = |(place, _): &(PlaceId, Count)| u32::try_from(place.index()).expect("few places");
            let is_counted = |place: &u32| self.counted[*place as usize].is_some();
            let (take, needs): (Vec<u32>, Vec<u32>) = own.pre.iter().map(place).partition(is_counted);
            let (put, leaves): (Vec<u32>, Vec<u32>) = own.post.iter().map(place).partition(is_counted);
            debug_assert!(take.len() <= 1 && put.len() <= 1, "a transition moves one thread");
            let memory = needs.iter().copied().find(|place| self.is_memory[*place as usize]);
            let own = Move { transition, put: put.first().copied(), needs: needs.into(), leaves: leaves.into() };
            self.moves.entry((take.first().copied(), memory)).or_default().push(own);
        }
    }

    /// The steps from a control of a token in a place, or of none.
    fn steps_of(&mut self, control: u32, take: Option<u32>) -> &[Step] {
        if !self.steps.contains_key(&(control, take)) {
            let marked = self.controls.get(control).clone();
            let memory = marked.iter().copied().filter(|place| self.is_memory[*place as usize]).map(Some);
            let mut steps = Vec::new();
            for key in memory.chain([None]) {
                for own in self.moves.get(&(take, key)).into_iter().flatten() {
                    if own.needs.iter().all(|place| marked.binary_search(place).is_ok()) {
                        let mut after: Vec<u32> =
                            marked.iter().copied().filter(|place| own.needs.binary_search(place).is_err()).collect();
                        after.extend(&own.leaves);
                        after.sort_unstable();
                        let control = self.controls.intern(after.into()).0;
                        steps.push(Step { control, take, put: own.put, label: own.transition });
                    }
                }
            }
            self.steps.insert((control, take), steps.into());
        }
        &self.steps[&(control, take)]
    }

    /// The control that stands for one and all that turn into it, and the turn.
    fn turned_control(&mut self, control: u32) -> (u32, u32) {
        if let Some(known) = self.turned_controls.get(&control) {
            return *known;
        }
        let marked = self.controls.get(control);
        let turn = self.symmetry.to_form(marked);
        let turned = self.symmetry.turned_places(&turn, marked);
        let known = (self.controls.intern(turned).0, self.turns.intern(turn).0);
        self.turned_controls.insert(control, known);
        known
    }
}

/// What an exploration has found.
enum Found {
    /// All that is reached, without success.
    Closed(Vec<OmegaMarking>),
    /// A run to success.
    Run(Vec<TransitionId>),
    /// That some number of copies comes to success.
    Success,
}

impl LazyNet for TurnedNet<'_> {
    type Error = Infallible;

    fn steps(&mut self, control: u32, entries: &[Entry], steps: &mut Vec<Step>) -> Result<(), Infallible> {
        for take in [None].into_iter().chain(entries.iter().map(|entry| Some(entry.place))) {
            steps.extend_from_slice(self.steps_of(control, take));
        }
        Ok(())
    }

    fn is_unbounded(&self, place: u32) -> bool {
        self.counted[place as usize] == Some(true)
    }

    fn repeats(&mut self, step: &Step) -> Result<bool, Infallible> {
        let again = |next: &Step| (next.control, next.put) == (step.control, step.put);
        Ok(step.take.is_some() && self.steps_of(step.control, step.take).iter().any(again))
    }

    fn normalise(&mut self, control: u32, entries: &mut Vec<Entry>) -> (u32, u32) {
        let (control, turn) = self.turned_control(control);
        if turn != NO_TURN {
            let by = self.turns.get(turn);
            entries.iter_mut().for_each(|entry| entry.place = self.symmetry.turned(by, entry.place));
            sort_entries(entries);
        }
        (control, turn)
    }

    fn together(&mut self, first: u32, second: u32) -> u32 {
        let turn = self.symmetry.together(self.turns.get(first), self.turns.get(second));
        self.turns.intern(turn).0
    }

    fn orbit(&mut self, from: u32, to: u32, place: u32) -> Vec<u32> {
        let turn = self.symmetry.together(&self.symmetry.back(self.turns.get(from)), self.turns.get(to));
        let next = |place: &u32| Some(self.symmetry.turned(&turn, *place));
        let others = std::iter::successors(next(&place), next).take_while(|next| *next != place);
        std::iter::once(place).chain(others).collect()
    }
}
