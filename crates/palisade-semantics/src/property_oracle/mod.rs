//! The brute-force oracle for properties: what a small instance reaches under SC, TSO and PSO, and
//! the fences that keep it from it.
//!
//! Everything here enumerates. [`reached`] visits all states, step by step, without a reduction.
//! [`minimal_rows`] does so with what each run needs absent ([`FenceMeasure`]).
//! [`minimal_valid_sets`] knows nothing of runs and rows: it puts fences into the program and asks
//! what is reached. Programs in which buffers or values grow are beyond it; it says so instead of
//! answering.

#[cfg(test)]
mod classics;
mod placement;
mod rows;
#[cfg(test)]
mod tests;
mod transversals;

pub use placement::{FenceKind, FenceMeasure, Placements, cheapest, measures, minimal_valid_sets, with_measures};
pub use rows::{Rows, minimal_rows};
pub use transversals::minimal_transversals;

use super::condition::{Observable, Quantifier, Question};
use super::instance::Instance;
use super::machine::{Machine, Model, State};
use super::step::{Effect, Event, StepKind, ValueError};
use super::target::Target;
use hashbrown::HashSet;
use palisade_model::program::{Action, Program};
use rustc_hash::FxBuildHasher;
use std::collections::BTreeSet;
use thiserror::Error;

/// How far an enumeration goes.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// How many stores a buffer holds; a search in which none has to wait for room is one with
    /// unbounded buffers.
    pub capacity: usize,
    /// How many states are visited at most.
    pub states: usize,
}

impl Default for Effort {
    fn default() -> Self {
        Self { capacity: 8, states: 200_000 }
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unanswered {
    /// A reachable step computes a value that does not exist.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// There are more states than may be visited.
    #[error("there are more than {0} states")]
    States(usize),
    /// Nothing was found, but stores had to wait for room in a buffer.
    #[error("{0} stores fill a buffer")]
    Capacity(usize),
    /// There are more measures than fit a set.
    #[error("{0} measures are too many")]
    Measures(usize),
}

/// What an instance reaches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// The targets among those asked for that are reached.
    pub targets: BTreeSet<Target>,
    /// The final states in which all copies have come to their ends and all buffers are empty.
    pub completed: BTreeSet<State>,
    /// Whether no store had to wait for room: then this is all that is reached with unbounded
    /// buffers.
    pub closed: bool,
    /// How many states were visited.
    pub states: usize,
}

/// The targets of a program: every `ensure` and `fail`, and the final states where the program has
/// a question.
pub fn targets(program: &Program, question: Option<&Question>) -> Vec<Target> {
    let of_thread = program.thread_ids().flat_map(|(thread, template)| {
        let properties = template.instruction_ids();
        let is_property = |action: &Action| matches!(action, Action::Ensure(_) | Action::Fail);
        let properties = properties.filter(move |(_, instruction)| is_property(&instruction.action));
        properties.map(move |(instruction, _)| Target::Instruction { thread, instruction })
    });
    of_thread.chain(question.and_then(|question| question.condition.as_ref()).map(|_| Target::FinalStates)).collect()
}

/// Visits all states of an instance.
///
/// Final states reach [`Target::FinalStates`] as the question says.
pub fn reached(
    program: &Program,
    instance: &Instance,
    question: Option<&Question>,
    model: Model,
    effort: Effort,
) -> Result<Reached, Unanswered> {
    let machine = Machine::new(program, instance, model).with_capacity(effort.capacity);
    let mut found = Reached { closed: true, ..Reached::default() };
    let mut seen: HashSet<State, FxBuildHasher> = HashSet::default();
    let mut open = vec![machine.initial_state()];
    seen.insert(machine.initial_state());
    let mut events = Vec::new();
    while let Some(state) = open.pop() {
        found.states += 1;
        if found.states > effort.states {
            return Err(Unanswered::States(effort.states));
        }
        found.closed &= !waits_for_room(&machine, &state);
        if is_complete(&machine, &state) {
            found.targets.extend(question.filter(|own| is_reached(own, &machine, &state)).map(|_| Target::FinalStates));
            found.completed.insert(state.clone());
        }
        events.clear();
        for position in 0..machine.copies().len() {
            machine.events(&state, position, &mut events)?;
        }
        for event in &events {
            found.targets.extend(violated(event));
            let successor = machine.successor(&state, event);
            if !seen.contains(&successor) {
                seen.insert(successor.clone());
                open.push(successor);
            }
        }
    }
    Ok(found)
}

/// The targets that are reached, for certain: an error where none is and buffers were too small.
pub fn violated_targets(
    program: &Program,
    instance: &Instance,
    question: Option<&Question>,
    model: Model,
    effort: Effort,
) -> Result<BTreeSet<Target>, Unanswered> {
    let found = reached(program, instance, question, model, effort)?;
    let all = targets(program, question).len();
    if found.closed || found.targets.len() == all {
        return Ok(found.targets);
    }
    Err(Unanswered::Capacity(effort.capacity))
}

/// The target that an event reaches.
fn violated(event: &Event) -> Option<Target> {
    match (event.step.kind, event.effect) {
        (StepKind::Execute { instruction, .. }, Effect::Violation | Effect::Failure) => {
            Some(Target::Instruction { thread: event.step.copy.thread, instruction })
        }
        _ => None,
    }
}

/// Whether a store waits for room in a full buffer.
fn waits_for_room(machine: &Machine<'_>, state: &State) -> bool {
    machine.model().has_buffers()
        && (0..machine.copies().len())
            .any(|position| machine.buffer_is_full(state, position) && machine.may_store(state, position))
}

/// Whether all copies have come to their ends and all buffers are empty.
fn is_complete(machine: &Machine<'_>, state: &State) -> bool {
    state.buffers_are_empty() && (0..machine.copies().len()).all(|position| machine.has_ended(state, position))
}

/// Whether a complete final state of an instance reaches [`Target::FinalStates`]: it satisfies the
/// proposition of `exists` and `~exists`, or does not satisfy that of `forall`. A register is that
/// of a thread's first copy.
fn is_reached(question: &Question, machine: &Machine<'_>, state: &State) -> bool {
    let value = |observable| match observable {
        Observable::Register { thread, register } => match machine.positions(thread).next() {
            Some(position) => state.threads()[position].registers[register.index()],
            None => machine.program().thread(thread).registers[register.index()].initial,
        },
        Observable::Address(address) => state.memory(address),
    };
    let condition = question.condition();
    let wanted = condition.quantifier != Quantifier::ForAll;
    question.keeps(&value) && condition.proposition.holds(&value) == wanted
}
