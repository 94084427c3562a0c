//! Rows by enumeration: which measures a run needs absent.
//!
//! A run needs `mfence` at a label absent when it executes an instruction there while the thread's
//! buffer is not empty. Under PSO it needs `sfence` at a label absent when a store issued at or
//! after a passing of the label reaches memory while one issued before it waits. All these measures
//! are the *row* of the run. A set of measures keeps a program from a target exactly when it meets
//! the row of every run that reaches it: a run whose row it misses finds an empty buffer, or
//! nothing that overtakes, at each of its fences.

use super::placement::{FenceKind, FenceMeasure, measures};
use super::transversals::minimal;
use super::{Effort, Unanswered, is_complete, is_reached, violated, waits_for_room};
use crate::{Effect, Event, Instance, Machine, Model, Question, State, StepKind, Target};
use hashbrown::HashMap;
use palisade_model::program::Program;
use rustc_hash::FxBuildHasher;
use std::collections::BTreeMap;

/// The minimal rows of the runs to each target that is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// The measures that rows consist of; a row has a bit for each, the first one lowest.
    pub measures: Vec<FenceMeasure>,
    /// For each target that is reached its minimal rows, ascending; the empty one alone where no
    /// fence helps.
    pub of: BTreeMap<Target, Vec<u128>>,
    /// Whether no store had to wait for room: then these are all minimal rows with unbounded
    /// buffers.
    pub closed: bool,
}

impl Rows {
    /// The minimal rows of several targets together.
    pub fn together<'t>(&self, targets: impl IntoIterator<Item = &'t Target>) -> Vec<u128> {
        minimal(targets.into_iter().filter_map(|target| self.of.get(target)).flatten().copied().collect())
    }
}

/// The labels that the copies of a thread pass between their buffered stores, as the bits of
/// `sfence` there.
///
/// For each store those passed since the issue of the store before it in the buffer, its own label
/// included, and at last those passed since the newest store. What was passed before the oldest
/// store orders nothing and is forgotten.
type Passed = Vec<u128>;

/// A state with what the rest of the run needs to know.
type Point = (State, Vec<Passed>);

/// All minimal rows of an instance, by visiting each state with each minimal row that leads to it.
pub fn minimal_rows(
    program: &Program,
    instance: &Instance,
    question: Option<&Question>,
    model: Model,
    effort: Effort,
) -> Result<Rows, Unanswered> {
    let machine = Machine::new(program, instance, model).with_capacity(effort.capacity);
    let measures = measures(program, model);
    if measures.len() > 127 {
        return Err(Unanswered::Measures(measures.len()));
    }
    let index = measures.iter().enumerate().map(|(index, measure)| (*measure, 1u128 << index)).collect();
    let mut search = Search { machine: &machine, index, known: HashMap::default(), open: Vec::new() };
    let mut rows = Rows { measures, closed: true, ..Rows::default() };
    let mut reach = |target: Target, row: u128| rows.of.entry(target).or_default().push(row);
    let copies = machine.copies().len();
    search.add((machine.initial_state(), vec![vec![0]; copies]), 0);
    let (mut events, mut visited) = (Vec::new(), 0);
    while let Some((point, row)) = search.open.pop() {
        visited += 1;
        if visited > effort.states {
            return Err(Unanswered::States(effort.states));
        }
        let (state, passed) = &point;
        rows.closed &= !waits_for_room(&machine, state);
        if is_complete(&machine, state) && question.is_some_and(|question| is_reached(question, &machine, state)) {
            reach(Target::FinalStates, row);
        }
        events.clear();
        for position in 0..copies {
            machine.events(state, position, &mut events)?;
        }
        for event in &events {
            let mut passed = passed.clone();
            let row = row | search.needs(state, &mut passed, event);
            if let Some(target) = violated(event) {
                reach(target, row);
            }
            search.add((machine.successor(state, event), passed), row);
        }
    }
    for own in rows.of.values_mut() {
        *own = minimal(std::mem::take(own));
    }
    Ok(rows)
}

struct Search<'m, 'p> {
    machine: &'m Machine<'p>,
    /// The bit of each measure.
    index: HashMap<FenceMeasure, u128>,
    /// For each point the minimal rows with which it is reached.
    known: HashMap<Point, Vec<u128>, FxBuildHasher>,
    open: Vec<(Point, u128)>,
}

impl Search<'_, '_> {
    fn add(&mut self, point: Point, row: u128) {
        let rows = self.known.entry(point.clone()).or_default();
        if rows.iter().any(|smaller| smaller & row == *smaller) {
            return;
        }
        rows.retain(|larger| larger & row != row);
        rows.push(row);
        self.open.push((point, row));
    }

    /// The measures that an event needs absent; `passed` becomes what it is after the event.
    fn needs(&self, state: &State, passed: &mut [Passed], event: &Event) -> u128 {
        let position = self.machine.position(event.step.copy).expect("an event belongs to a copy of the instance");
        let passed = &mut passed[position];
        let thread = &state.threads()[position];
        let StepKind::Execute { instruction, .. } = event.step.kind else {
            let left = match event.step.kind {
                StepKind::FlushAddress(address) => thread.flushable(address).expect("the event flushes it"),
                _ => 0,
            };
            let overtaken = passed[1..=left].iter().fold(0, |all, labels| all | labels);
            let between = passed.remove(left);
            passed[left] |= between;
            passed[0] = 0;
            return overtaken;
        };
        let label = self.machine.thread(position).instruction(instruction).source;
        let bit = |kind| {
            let measure = FenceMeasure { thread: event.step.copy.thread, label, kind };
            self.index.get(&measure).copied().unwrap_or(0)
        };
        let newest = passed.last_mut().expect("there is a last entry");
        if !thread.buffer.is_empty() {
            *newest |= bit(FenceKind::Store);
        }
        if matches!(event.effect, Effect::Issue { .. }) {
            passed.push(0);
        }
        if thread.buffer.is_empty() { 0 } else { bit(FenceKind::Full) }
    }
}
