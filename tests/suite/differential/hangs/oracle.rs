//! An enumeration of the states of the machine that knows of no settling, no reductions and no symmetry.

use palisade::program::{InstructionId, Program};
use palisade::semantics::{Effect, Event, Instance, Machine, Model, Refusal, State, Step, StepKind};
use std::collections::{BTreeSet, HashSet};

/// Whether an instance reaches a stuck state; nothing where it has too many states.
pub(super) fn is_stuck_somewhere(program: &Program, instance: &Instance, model: Model, most: usize) -> Option<bool> {
    let machine = Machine::new(program, instance, model).waiting();
    let first = machine.initial_state();
    let mut seen = HashSet::from([first.clone()]);
    let mut open = vec![first];
    let mut events = Vec::new();
    while let Some(state) = open.pop() {
        if is_stuck(&machine, &state) {
            return Some(true);
        }
        if seen.len() > most || state.threads().iter().any(|thread| thread.buffer.len() > 8) {
            return None;
        }
        for position in 0..machine.copies().len() {
            events.clear();
            machine.events(&state, position, &mut events).ok()?;
            for event in &events {
                let next = machine.successor(&state, event);
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
    }
    Some(false)
}

/// Whether nobody goes on, and somebody waits who must not.
fn is_stuck(machine: &Machine<'_>, state: &State) -> bool {
    let positions = || 0..machine.copies().len();
    let rests = |position| machine.has_ended(state, position) || waits(machine, state, position);
    let hangs = |position: usize| !machine.has_ended(state, position);
    state.buffers_are_empty() && positions().all(rests) && positions().any(hangs)
}

/// Whether a copy alone comes to no effect while memory stays as it is.
fn waits(machine: &Machine<'_>, state: &State, position: usize) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![state.clone()];
    while let Some(state) = open.pop() {
        let mut events = Vec::new();
        if machine.events(&state, position, &mut events).is_err() || machine.has_ended(&state, position) {
            return false;
        }
        if events.is_empty() && !is_blocked(machine, &state, position) {
            return false;
        }
        if events.iter().any(|event| has_effect(event)) {
            return false;
        }
        if seen.insert(state.threads()[position].clone()) {
            open.extend(events.iter().map(|event| machine.successor(&state, event)));
        }
    }
    true
}

fn has_effect(event: &Event) -> bool {
    match event.effect {
        Effect::Issue { .. } | Effect::Store { .. } | Effect::Failure => true,
        Effect::Rmw { old, new: Some(new), .. } => old != new,
        _ => false,
    }
}

/// Whether some instruction waits for a value, so that no `assume` alone holds the copy up.
fn is_blocked(machine: &Machine<'_>, state: &State, position: usize) -> bool {
    let refused = |id: InstructionId| {
        let kind = StepKind::Execute { instruction: id, chosen: None };
        machine.event(state, Step { copy: machine.copies()[position], kind }).err()
    };
    machine.instructions_at(state, position).iter().any(|id| refused(*id) == Some(Refusal::Waits))
}
