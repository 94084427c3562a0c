//! One query for a fixed number of copies: can a target be reached?
//!
//! A breadth-first search over the states of the machine, so that runs are short. A search that
//! ends without a cut has seen every state there is, whatever the buffers hold.

use super::aim::Aim;
use super::cut::Cut;
use super::steps::{Moves, Steps};
use crate::lazy::Numbers;
use palisade_model::limits::Limits;
use palisade_model::program::{Program, Value};
use palisade_semantics::{Event, Instance, Model, State, Step, Target};
use rustc_hash::FxBuildHasher;
use std::collections::VecDeque;
use std::hash::BuildHasher;

/// How far a search goes.
#[derive(Clone, Debug)]
pub struct Reach {
    /// The stores that a buffer holds at most.
    pub capacity: usize,
    /// The states visited at most.
    pub states: usize,
    /// Time, memory, interruption.
    pub limits: Limits,
}

/// What a search has found.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A run to a target.
    Reached {
        /// The target.
        target: Target,
        /// The run.
        steps: Vec<Step>,
    },
    /// There is none: so many states are all.
    Closed {
        /// The states.
        states: usize,
    },
    /// None was found, and not all was seen.
    Cut(Cut),
}

/// Searches an instance of a program for a run to a target.
pub fn search(program: &Program, instance: &Instance, model: Model, aim: &Aim<'_>, reach: &Reach) -> Answer {
    let steps = Steps::new(program, instance, model, reach.capacity, aim);
    let mut search =
        Search { steps: &steps, aim, path: Path::default(), known: Known::default(), key: Vec::new(), cut: None };
    search.run(reach)
}

/// How each state was found: the one before it, and the event from there.
#[derive(Debug, Default)]
pub struct Path {
    found: Vec<(u32, Option<Event>)>,
}

impl Path {
    /// Adds a state; its number.
    pub fn add(&mut self, parent: u32, event: Option<Event>) -> u32 {
        let number = u32::try_from(self.found.len()).expect("states are bounded");
        self.found.push((parent, event));
        number
    }

    /// The steps to a state, and one more.
    pub fn steps(&self, number: u32, last: Option<Event>) -> Vec<Step> {
        let mut steps: Vec<Step> = last.map(|event| event.step).into_iter().collect();
        let mut node = self.found[number as usize];
        while let (parent, Some(event)) = node {
            steps.push(event.step);
            node = self.found[parent as usize];
        }
        steps.reverse();
        steps
    }
}

/// The keys of states, one after the other.
#[derive(Debug, Default)]
struct Known {
    keys: Vec<Value>,
    /// Where each key ends.
    ends: Vec<usize>,
    /// Their numbers.
    numbers: Numbers,
}

impl Known {
    /// Adds a key; whether it is new.
    fn insert(&mut self, key: &[Value]) -> bool {
        let Self { keys, ends, numbers } = self;
        let hash = FxBuildHasher.hash_one(key);
        let own = |index: usize| &keys[index.checked_sub(1).map_or(0, |before| ends[before])..ends[index]];
        if numbers.find(hash, |index| own(index as usize) == key).is_some() {
            return false;
        }
        numbers.insert(hash, u32::try_from(ends.len()).expect("states are bounded"));
        keys.extend_from_slice(key);
        ends.push(keys.len());
        true
    }

    fn len(&self) -> usize {
        self.ends.len()
    }
}

/// States between two looks at the limits.
const BETWEEN_LOOKS: usize = 512;

struct Search<'s, 'p> {
    steps: &'s Steps<'s, 'p>,
    aim: &'s Aim<'s>,
    path: Path,
    known: Known,
    /// The key of the state at hand.
    key: Vec<Value>,
    cut: Option<Cut>,
}

impl Search<'_, '_> {
    fn run(&mut self, reach: &Reach) -> Answer {
        let machine = &self.steps.machine;
        let mut open = VecDeque::new();
        // Most successors are known already: they are made in place of one another.
        let mut successor = machine.initial_state();
        self.add(&mut open, &successor, 0, None);
        let mut moves = Moves::default();
        let mut looked = 0usize;
        while let Some((number, state)) = open.pop_front() {
            if self.aim.is_final(machine, &state) {
                return Answer::Reached { target: Target::FinalStates, steps: self.path.steps(number, None) };
            }
            looked += 1;
            if self.known.len() > reach.states {
                return Answer::Cut(Cut::States(reach.states));
            }
            if looked.is_multiple_of(BETWEEN_LOOKS)
                && let Err(reason) = reach.limits.check()
            {
                return Answer::Cut(Cut::Limit(reason));
            }
            for next in self.steps.of(&state, &mut moves, &mut self.cut) {
                if next.events().any(|event| self.aim.leaves(event)) {
                    self.cut.get_or_insert(Cut::Slice);
                    continue;
                }
                if let Some(target) = self.aim.reached_by(&next.event) {
                    return Answer::Reached { target, steps: self.path.steps(number, Some(next.event)) };
                }
                successor.clone_from(&state);
                next.events().for_each(|event| machine.take(&mut successor, event));
                let parent = next.before_last().map_or(number, |event| self.path.add(number, Some(event)));
                let (parent, last) = self.settled(&mut successor, parent, next.last());
                self.add(&mut open, &successor, parent, Some(last));
            }
        }
        self.cut.take().map_or(Answer::Closed { states: self.known.len() }, Answer::Cut)
    }

    /// Takes the steps that alone lead on from a state and that nobody else sees, so that the
    /// states between are not remembered. Where the path stands before the last step, and that
    /// step.
    fn settled(&mut self, state: &mut State, mut parent: u32, mut last: Event) -> (u32, Event) {
        while let Some(event) = self.steps.only_unseen(state) {
            parent = self.path.add(parent, Some(last));
            self.steps.machine.take(state, &event);
            last = event;
        }
        (parent, last)
    }

    fn add(&mut self, open: &mut VecDeque<(u32, State)>, state: &State, parent: u32, event: Option<Event>) {
        self.steps.put_key(&mut self.key, state, |_, _| {});
        if self.known.insert(&self.key) {
            open.push_back((self.path.add(parent, event), state.clone()));
        }
    }
}
