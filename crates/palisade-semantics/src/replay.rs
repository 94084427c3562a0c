//! Replaying a computation step by step.

use super::crowd::is_crowd;
use super::instance::{CopyId, Instance};
use super::machine::{Machine, Model, State};
use super::step::{Effect, Event, Refusal, Step, StepKind};
use super::trace::{Trace, TraceBuilder};
use palisade_model::program::Program;
use thiserror::Error;

/// Why a sequence of steps is no computation.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReplayError {
    /// The copy cannot take the step.
    #[error("step {}: {refusal}", index + 1)]
    Refused {
        /// The step, from 0.
        index: usize,
        /// Why.
        refusal: Refusal,
    },
    /// A computation ends with empty buffers, and this one does not.
    #[error("the computation ends while stores are buffered")]
    BuffersNotEmpty {
        /// The first copy with a buffered store.
        copy: CopyId,
    },
}

/// A computation that was replayed.
#[derive(Clone, Debug)]
pub struct Replay {
    /// Every step with its effect.
    pub events: Vec<Event>,
    /// The memory model.
    pub model: Model,
    /// The state at the end.
    pub last: State,
    /// The trace.
    pub trace: Trace,
}

impl Replay {
    /// The indices of the steps at which a property is violated: `ensure` of a false condition, or
    /// `fail`.
    pub fn violations(&self) -> impl Iterator<Item = usize> + '_ {
        let violates = |event: &Event| matches!(event.effect, Effect::Violation | Effect::Failure);
        self.events.iter().enumerate().filter(move |(_, event)| violates(event)).map(|(index, _)| index)
    }
}

/// Takes the steps one after the other from the initial state of an instance; the last one must
/// leave empty buffers.
pub fn replay(program: &Program, instance: &Instance, model: Model, steps: &[Step]) -> Result<Replay, ReplayError> {
    replay_on(&Machine::new(program, instance, model), steps)
}

/// Takes the steps one after the other from a machine's initial state; the last one must leave
/// empty buffers.
pub fn replay_on(machine: &Machine<'_>, steps: &[Step]) -> Result<Replay, ReplayError> {
    let mut builder = TraceBuilder::new(machine.copies().len());
    let mut state = machine.initial_state();
    let mut events = Vec::with_capacity(steps.len());
    for (index, step) in steps.iter().enumerate() {
        let event = machine.event(&state, *step).map_err(|refusal| ReplayError::Refused { index, refusal })?;
        machine.take(&mut state, &event);
        builder.record(machine, &event);
        events.push(event);
    }
    let is_unfounded = |index: &usize| {
        matches!(events[*index].step.kind, StepKind::Crowd { .. }) && !is_crowd(&events, *index, u64::MAX)
    };
    if let Some(index) = (0..events.len()).find(is_unfounded) {
        return Err(ReplayError::Refused { index, refusal: Refusal::NoCrowd });
    }
    if let Some(position) = state.threads().iter().position(|thread| !thread.buffer.is_empty()) {
        return Err(ReplayError::BuffersNotEmpty { copy: machine.copies()[position] });
    }
    Ok(Replay { events, model: machine.model(), last: state, trace: builder.finished() })
}
