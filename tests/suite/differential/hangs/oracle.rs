//! An enumeration of the states of the machine that knows of no settling, no reductions and no symmetry.

use palisade::program::{InstructionId, Patience, Program, Queue};
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
    let hangs = |position: usize| !machine.has_ended(state, position) && !may_wait(machine, state, position);
    state.buffers_are_empty() && positions().all(rests) && positions().any(hangs)
}

/// Whether a copy that rests may do so for ever: wherever it goes round at last, all reads are marked. What it can return to from everywhere is where
/// it goes round.
fn may_wait(machine: &Machine<'_>, state: &State, position: usize) -> bool {
    if machine.thread(position).is_daemon {
        return true;
    }
    let reads = |state: &State| -> Vec<Patience> {
        let here = machine.instructions_at(state, position).iter().map(|id| machine.thread(position).instruction(*id));
        here.filter(|own| own.action.address().is_some()).map(|own| own.patience()).collect()
    };
    if machine.asleep(state, position).is_some() {
        return reads(state) == [Patience::Idle];
    }
    let reachable = |from: &State| {
        let mut seen = HashSet::from([from.clone()]);
        let mut open = vec![from.clone()];
        while let Some(state) = open.pop() {
            let mut events = Vec::new();
            let _ = machine.events(&state, position, &mut events);
            let next = events.iter().map(|event| machine.successor(&state, event));
            open.extend(next.filter(|next| seen.insert(next.clone())));
        }
        seen
    };
    let all = reachable(state);
    let returns = |own: &&State| reachable(own).iter().all(|next| reachable(next).contains(*own));
    let looks: Vec<Patience> = all.iter().filter(returns).flat_map(|own| reads(own)).collect();
    !looks.is_empty() && looks.iter().all(|patience| *patience == Patience::Idle)
}

/// Whether a copy alone comes to no effect while memory stays as it is.
fn waits(machine: &Machine<'_>, state: &State, position: usize) -> bool {
    let is_timed = |id: &InstructionId| machine.thread(position).instruction(*id).patience() == Patience::Timed;
    if machine.asleep(state, position).is_some() {
        return !machine.instructions_at(state, position).iter().any(is_timed);
    }
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
        let queued = |id: InstructionId| machine.thread(position).instruction(id).queue();
        let wakes_or_sleeps = |event: &Event| match event.step.kind.instruction().and_then(queued) {
            Some(Queue::Wake { .. }) => true,
            Some(Queue::Sleep { .. }) => matches!(event.effect, Effect::Rmw { new: Some(_), .. }),
            None => false,
        };
        if events.iter().any(|event| has_effect(event) || wakes_or_sleeps(event)) {
            return false;
        }
        if machine.instructions_at(&state, position).iter().any(is_timed) {
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
