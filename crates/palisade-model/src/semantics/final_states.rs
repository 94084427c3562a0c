//! All final states of an instance, by memoised exploration of its state graph.
//!
//! A final state is one in which nothing can step. It is *completed* when every thread copy has come to its end (a
//! label without instructions, or `fail`) and every store has reached memory; these are the outcomes that a litmus
//! test asks about. In every other final state some thread is *stuck*: an `assert` blocks it for ever, or a lock that
//! nobody gives back.
//!
//! The search takes the sufficient events of [`reduction`](super::reduction). In programs with loops a reduced step
//! that leads back to a known state could put the others off for ever; there all events are taken.

use super::exploration::{ExplorationError, has_loop};
use super::instance::{CopyId, Instance};
use super::machine::{Machine, Model, State};
use super::reduction::{Reduction, all_events};
use super::step::{Effect, Event, StepKind};
use crate::limits::Limits;
use crate::program::{InstructionId, Program};
use hashbrown::HashSet;
use std::collections::BTreeSet;

/// What a search for final states found.
#[derive(Clone, Debug, Default)]
pub struct FinalStates {
    /// The completed final states, in ascending order.
    pub completed: Vec<State>,
    /// The final states in which some thread is stuck, in ascending order.
    pub stuck: Vec<State>,
    /// The property violations met: `ensure` of a false condition, or `fail`.
    pub violations: BTreeSet<(CopyId, InstructionId)>,
    /// Whether a store had to wait for room in a bounded buffer: with larger buffers there may be more final states.
    pub buffers_filled: bool,
    /// The number of states explored.
    pub explored: usize,
}

/// The capacity of store buffers in programs with loops, where unbounded ones would give infinitely many states.
pub const LOOP_CAPACITY: usize = 4;

/// Finds all final states of an instance.
///
/// Buffers are unbounded where the threads have no loops; in programs with loops they hold `capacity` stores.
pub fn final_states(
    program: &Program,
    instance: &Instance,
    model: Model,
    capacity: usize,
    limits: &Limits,
) -> Result<FinalStates, ExplorationError> {
    let mut found = FinalStates::default();
    explore_final_states(program, instance, model, capacity, limits, &mut found)?;
    Ok(found)
}

/// Finds final states as [`final_states`] does. After an error, `found` has what was found before it, and is not all there
/// is.
pub fn explore_final_states(
    program: &Program,
    instance: &Instance,
    model: Model,
    capacity: usize,
    limits: &Limits,
    found: &mut FinalStates,
) -> Result<(), ExplorationError> {
    let mut machine = Machine::new(program, instance, model);
    let loops = machine.copies().iter().any(|copy| has_loop(program.thread(copy.thread)));
    if loops {
        machine = machine.with_capacity(capacity);
    }
    let reduction = Reduction::new(&machine);
    // Each copy adds to the work on a state.
    let between_looks = (1024 / (1 + machine.copies().len() / 16)).max(1);
    let initial = machine.initial_state();
    let mut visited: HashSet<State> = HashSet::from_iter([initial.clone()]);
    let mut open = vec![initial];
    let mut events: Vec<Event> = Vec::new();
    while let Some(state) = open.pop() {
        found.explored += 1;
        if found.explored.is_multiple_of(between_looks) {
            limits.check()?;
        }
        events.clear();
        reduction.sufficient_events(&machine, &state, &|_| true, &mut events)?;
        found.buffers_filled |= loops
            && (0..machine.copies().len())
                .any(|position| machine.buffer_is_full(&state, position) && machine.may_store(&state, position));
        if events.is_empty() {
            let ended = (0..machine.copies().len()).all(|position| machine.has_ended(&state, position));
            let finals = if ended && state.buffers_are_empty() { &mut found.completed } else { &mut found.stuck };
            finals.push(state);
            continue;
        }
        let mut successors: Vec<State> = events.iter().map(|event| machine.successor(&state, event)).collect();
        if loops && successors.iter().any(|successor| visited.contains(successor)) {
            events.clear();
            for position in 0..machine.copies().len() {
                all_events(&machine, &state, position, &|_| true, &mut events)?;
            }
            successors = events.iter().map(|event| machine.successor(&state, event)).collect();
        }
        for event in &events {
            if let (Effect::Violation | Effect::Failure, StepKind::Execute { instruction, .. }) =
                (event.effect, event.step.kind)
            {
                found.violations.insert((event.step.copy, instruction));
            }
        }
        for successor in successors {
            if !visited.contains(&successor) {
                visited.insert(successor.clone());
                open.push(successor);
            }
        }
    }
    found.completed.sort_unstable();
    found.stuck.sort_unstable();
    Ok(())
}
