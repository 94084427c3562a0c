//! Which steps suffice: a partial-order reduction that keeps every final state and every maximal trace.
//!
//! In each state it names a *persistent set* of events: one such that whatever the rest of the system does without
//! taking one of them commutes with all of them. A search that follows only persistent sets reaches every state in
//! which nothing can step, and every trace of a computation that cannot be extended.
//!
//! Two cases are persistent and cheap to see:
//!
//! - All instructions at a thread's label are *private*: local ones, issues of stores into a buffer that is not full
//!   (TSO), and fences when the own buffer is empty. They depend on the own registers only, nobody sees them, and they commute with flushes of the
//!   own buffer. Where none of them is executable (an `assert` of 0) the thread stands for ever, and only its flushes
//!   are left, which the general case explores.
//! - A thread holds the lock. The others are blocked from memory, so its own events are all that matters; a flush of
//!   its buffer also commutes with its own loads and goes first.

use super::machine::{Machine, Model, State};
use super::step::{Event, StepKind, ValueError};
use crate::program::{Action, InstructionId};

/// Adds a sufficient set of events to `events`; none only where no copy that `may_execute` can do anything.
///
/// `may_execute` says which copies may still execute instructions; the others can only flush.
pub(super) fn sufficient_events(
    machine: &Machine<'_>,
    state: &State,
    may_execute: &impl Fn(usize) -> bool,
    events: &mut Vec<Event>,
) -> Result<(), ValueError> {
    let positions = 0..machine.copies().len();
    for position in positions.clone().filter(|position| may_execute(*position)) {
        let instructions = machine.instructions_at(state, position);
        if !instructions.is_empty()
            && instructions.iter().all(|instruction| is_private(machine, state, position, *instruction))
        {
            let before = events.len();
            machine.events(state, position, events)?;
            events.retain(|event| event.step.kind != StepKind::Flush);
            if events.len() > before {
                return Ok(());
            }
        }
    }
    if let Some(holder) = state.holder() {
        all_events(machine, state, holder, may_execute, events)?;
        if let Some(flush) = events.iter().position(|event| event.step.kind == StepKind::Flush) {
            events.swap(0, flush);
            events.truncate(1);
        }
        if !events.is_empty() {
            return Ok(());
        }
    }
    for position in positions {
        all_events(machine, state, position, may_execute, events)?;
    }
    Ok(())
}

/// Adds every event of a copy: executions where it may still execute, and its flush.
pub(super) fn all_events(
    machine: &Machine<'_>,
    state: &State,
    position: usize,
    may_execute: &impl Fn(usize) -> bool,
    events: &mut Vec<Event>,
) -> Result<(), ValueError> {
    if may_execute(position) {
        return machine.events(state, position, events);
    }
    events.extend(machine.flush_event(state, position));
    Ok(())
}

fn is_private(machine: &Machine<'_>, state: &State, position: usize, instruction: InstructionId) -> bool {
    match &machine.thread(position).instruction(instruction).action {
        Action::Store { .. } => machine.model() == Model::Tso && !machine.buffer_is_full(state, position),
        Action::Fence => state.threads()[position].buffer.is_empty(),
        action => action.is_local(),
    }
}
