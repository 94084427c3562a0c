//! Local runs: what a copy does next when it reads given values.

use crate::graphs::axioms::Axioms;
use crate::graphs::execution::{address_of, event_reading};
use crate::graphs::graph::EventKind;
use crate::graphs::language::access;
use crate::machine::{Machine, State};
use crate::step::{Effect, Event, Refusal, Step, StepKind, ValueError};
use palisade_model::program::{Action, InstructionId, Ordering, Value};

/// What an event of a copy is, apart from where it reads and stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Label {
    pub(super) instruction: InstructionId,
    pub(super) kind: EventKind,
    pub(super) ordering: Ordering,
    pub(super) address: Value,
    /// What it reads.
    pub(super) read: Option<Value>,
    /// What it writes.
    pub(super) written: Option<Value>,
}

/// The steps of a copy that are no events.
pub(super) fn local_steps(machine: &Machine<'_>, state: &State, position: usize) -> Result<Vec<Event>, ValueError> {
    let mut events = Vec::new();
    machine.events(state, position, &mut events)?;
    events.retain(|event| matches!(event.effect, Effect::Local { .. } | Effect::Violation | Effect::Failure));
    Ok(events)
}

/// The instructions of a copy that are no local steps, with the address that they access.
pub(super) fn accesses(machine: &Machine<'_>, state: &State, position: usize) -> Vec<(Step, Option<Value>)> {
    let copy = machine.copies()[position];
    let thread = machine.thread(position);
    let steps = machine.instructions_at(state, position).iter().filter(|id| {
        let action = &thread.instruction(**id).action;
        *action == Action::Fence || action.address().is_some()
    });
    steps
        .map(|id| Step { copy, kind: StepKind::Execute { instruction: *id, chosen: None } })
        .map(|step| (step, address_of(machine, state, step)))
        .collect()
}

/// The event that a step is when its address holds a value, with the state of the copy behind it;
/// nothing where the copy waits. Under release/acquire weak fences are steps without an event.
pub(super) fn event(
    machine: &Machine<'_>,
    axioms: Axioms,
    state: &State,
    step: Step,
    value: Value,
) -> Result<Option<(Option<Label>, State)>, ValueError> {
    let event = match event_reading(machine, state, step, value) {
        Ok(event) => event,
        Err(Refusal::Value(error)) => return Err(error),
        Err(_) => return Ok(None),
    };
    let after = machine.successor(state, &event);
    let (address, read, written) = match event.effect {
        Effect::Load { address, value, .. } => (address, Some(value), None),
        Effect::Store { address, value } => (address, None, Some(value)),
        Effect::Rmw { address, old, new, .. } => (address, Some(old), new),
        _ => (0, None, None),
    };
    let position = machine.position(step.copy).expect("the copy takes the step");
    let instruction = step.kind.instruction().expect("an access executes an instruction");
    let made = access(axioms, machine.thread(position).instruction(instruction), written.is_some());
    let label = made.map(|(kind, ordering)| {
        // Fences under release/acquire are updates of an address that holds 0 for ever.
        let is_fence_update = event.effect == Effect::Fence && kind == EventKind::Update;
        let (address, read, written) = match is_fence_update {
            true => (crate::graphs::FENCE_ADDRESS, Some(0), Some(0)),
            false => (address, read, written),
        };
        Label { instruction, kind, ordering, address, read, written }
    });
    Ok(Some((label, after)))
}
