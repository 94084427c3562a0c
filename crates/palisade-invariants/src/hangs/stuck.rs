//! Computations to stuck states: replayed, and then each copy is followed alone.

use super::resting::Round;
use crate::CheckFailure;
use crate::failure::{Obligation, reject};
use crate::property::check_counts;
use crate::tokens::MOST_CHOICES;
use palisade_evidence::{StuckGraph, StuckWitness};
use palisade_model::program::{Heading, Patience, Program};
use palisade_semantics::graphs::{Axioms, Execution, by_language, is_consistent, not_in_language};
use palisade_semantics::{CopyId, Effect, Machine, Model, Refusal, State, Step, StepKind};
use std::collections::BTreeSet;

/// Checks that `witness` is a computation of `program` (with its copies and domain) to a stuck
/// state, or to an end of which a claim of `finally` does not hold.
pub fn check_stuck(program: &Program, witness: &StuckWitness) -> Result<(), CheckFailure> {
    check_counts(program, &witness.instance)?;
    let guess = Heading::of(&program.source).and_then(|heading| heading.guesses.first().copied());
    if let Some(place) = guess {
        reject!(Safe, "a stuck state may rest on how many sleepers were woken, which {place} asks");
    }
    if witness.instance.total() > MOST_CHOICES as u64 {
        reject!(Form, "a state of {} copies is too large to look at", witness.instance.total());
    }
    let program = &(if witness.ignores_timeouts { program.ignoring_timeouts() } else { program.clone() });
    if let Some(graph) = &witness.graph {
        return check_stuck_graph(program, witness, graph);
    }
    let machine = Machine::new(program, &witness.instance, witness.model).waiting();
    let mut state = machine.initial_state();
    for (index, step) in witness.steps.iter().enumerate() {
        if matches!(step.kind, StepKind::Crowd { .. }) {
            reject!(Form, "step {index} is one of a crowd");
        }
        match machine.event(&state, *step) {
            Ok(event) => machine.take(&mut state, &event),
            Err(refusal) => {
                let CopyId { thread, copy } = step.copy;
                reject!(Run, "step {index} of copy {copy} of thread {thread} cannot be taken: {refusal}")
            }
        }
    }
    if let Some(copy) = witness.hopeless {
        return check_hopeless(&machine, state, copy);
    }
    check_end(&machine, &state)
}

/// Checks that a computation of a program by its language is a consistent execution graph that ends
/// where nobody goes on, though each reads what was written last.
///
/// Whoever then reads the last writes again and again adds nothing but events that have nothing
/// behind them in any relation, so that graphs with ever more of them are consistent: an execution
/// in which somebody waits for ever.
fn check_stuck_graph(program: &Program, witness: &StuckWitness, graph: &StuckGraph) -> Result<(), CheckFailure> {
    if let Some(obstacle) = not_in_language(program) {
        reject!(Form, "the program has no execution graphs: {}", obstacle.describe());
    }
    if !Axioms::LANGUAGES.contains(&graph.axioms) || witness.model != Model::Sc || witness.hopeless.is_some() {
        reject!(Form, "a graph with a stuck state is one of C11 or release/acquire, by steps of interleavings");
    }
    let stated = by_language(program);
    let machine = Machine::new(&stated, &witness.instance, Model::Sc).waiting();
    let (mut state, mut execution) = (machine.initial_state(), Execution::new(graph.axioms));
    let mut older = graph.older.iter().peekable();
    for (index, step) in witness.steps.iter().enumerate() {
        if !matches!(step.kind, StepKind::Execute { .. }) {
            reject!(Form, "step {index} executes no instruction");
        }
        let refused = |why: &dyn std::fmt::Display| {
            let CopyId { thread, copy } = step.copy;
            let words = format_args!("step {index} of copy {copy} of thread {thread} cannot be taken: {why}");
            CheckFailure::told(Obligation::Run, words)
        };
        match older.next_if(|(own, _)| *own == index) {
            None => {
                let event = machine.event(&state, *step).map_err(|refusal| refused(&refusal))?;
                execution.take(&machine, &event);
                machine.take(&mut state, &event);
            }
            Some((_, write)) => {
                let write = match write.map(|write| execution.of_step.get(write).copied().flatten()) {
                    None => None,
                    Some(Some(write)) => Some(write),
                    Some(None) => reject!(Form, "step {index} reads from a step that is no write before it"),
                };
                execution.take_older(&machine, &mut state, *step, write).map_err(|error| refused(&error))?;
            }
        }
    }
    if older.next().is_some() {
        reject!(Form, "what reads older writes is not listed in the order of the steps");
    }
    if !is_consistent(&execution.graph, graph.axioms) {
        reject!(Safe, "{} does not admit the graph", graph.axioms.name());
    }
    check_end(&machine, &state)
}

/// Checks that nobody goes on in a state, and that somebody waits there who must not, or memory is
/// not as it must be in the end.
pub(super) fn check_end(machine: &Machine<'_>, state: &State) -> Result<(), CheckFailure> {
    let program = machine.program();
    if !state.buffers_are_empty() {
        reject!(Safe, "a store has not reached memory");
    }
    let mut is_one_stuck = false;
    for position in 0..machine.copies().len() {
        is_one_stuck |= check_rests(machine, state, position)?;
    }
    let holds_in_the_end =
        program.finally.iter().all(|claim| claim.holds(program.domain, |address| state.memory(address)));
    if !is_one_stuck && holds_in_the_end {
        reject!(Safe, "every copy has ended or may wait, and memory is as it must be in the end");
    }
    Ok(())
}

/// Checks that a copy waits in a state, and in all that come of it if no sleeper goes on for no
/// reason, and must not do so for ever.
fn check_hopeless(machine: &Machine<'_>, state: State, copy: CopyId) -> Result<(), CheckFailure> {
    let Some(position) = machine.copies().iter().position(|own| *own == copy) else {
        reject!(Form, "there is no copy {} of thread {}", copy.copy, copy.thread);
    };
    let mut seen = BTreeSet::from([state.clone()]);
    let mut open = vec![state];
    let mut events = Vec::new();
    let mut stores = 0;
    while let Some(state) = open.pop() {
        if machine.has_ended(&state, position) {
            reject!(Safe, "the copy that waits can end");
        }
        if !state.threads()[position].buffer.is_empty() {
            reject!(Safe, "a store of the copy that waits has not reached memory");
        }
        if !check_rests(machine, &state, position)? {
            reject!(Safe, "the copy that waits may do so for ever");
        }
        for other in 0..machine.copies().len() {
            if machine.has_ended(&state, other) || machine.asleep(&state, other).is_some() {
                continue;
            }
            events.clear();
            if let Err(error) = machine.events(&state, other, &mut events) {
                reject!(Safe, "a copy does what has no meaning: {error}");
            }
            if events.is_empty() && !is_held_up(machine, &state, other) {
                reject!(Safe, "an `assume` stops a copy, so that this is no run");
            }
            for event in &events {
                let after = machine.successor(&state, event);
                if seen.insert(after.clone()) {
                    stores += after.threads().iter().map(|own| own.buffer.len()).sum::<usize>();
                    open.push(after);
                }
            }
        }
        if seen.len() > MOST_STATES || stores > MOST_STORES {
            reject!(Safe, "more states come of the last one than are looked at");
        }
    }
    Ok(())
}

/// The most states that are looked at behind the one in which a copy is hopeless.
const MOST_STATES: usize = 1 << 17;

/// The most stores that wait in all of them: in a loop each state may have one more.
const MOST_STORES: usize = 1 << 21;

/// Checks that a copy has ended, or goes round without effect; whether it must not do so for ever.
fn check_rests(machine: &Machine<'_>, state: &State, position: usize) -> Result<bool, CheckFailure> {
    if machine.has_ended(state, position) {
        return Ok(false);
    }
    let copy = machine.copies()[position];
    let name = format!("copy {} of thread `{}`", copy.copy, machine.thread(position).name);
    let holds = state.holder() == Some(position);
    let thread = machine.thread(position);
    if let Some(by) = machine.asleep(state, position) {
        if by.patience() == Patience::Timed {
            reject!(Safe, "{name} sleeps until time runs out");
        }
        return Ok(by.patience() != Patience::Idle && !thread.is_daemon);
    }
    let mut round = Round::new(state.clone());
    let mut events = Vec::new();
    while let Some(state) = round.next() {
        if round.len() > MOST_ROUND {
            reject!(Safe, "{name} goes through too many states to follow");
        }
        let here = machine.instructions_at(&state, position).iter().map(|id| thread.instruction(*id));
        round.reads(here.filter(|own| own.action.address().is_some()).map(|own| own.patience()));
        events.clear();
        if let Err(error) = machine.events(&state, position, &mut events) {
            reject!(Safe, "{name} does what has no meaning: {error}");
        }
        if events.is_empty() && !is_held_up(machine, &state, position) {
            reject!(Safe, "an `assume` stops {name}, so that this is no run");
        }
        for event in &events {
            let does_something = match event.effect {
                Effect::Issue { .. } | Effect::Store { .. } | Effect::Failure => true,
                Effect::Rmw { old, new, .. } => new.is_some_and(|new| new != old),
                Effect::Unlock => holds,
                _ => false,
            };
            let after = machine.successor(&state, event);
            let goes_to_sleep = machine.asleep(&after, position).is_some();
            let is_woken =
                |other: usize| machine.asleep(&state, other).is_some() && machine.asleep(&after, other).is_none();
            let does_something = does_something || goes_to_sleep || (0..machine.copies().len()).any(is_woken);
            if does_something || machine.has_ended(&after, position) {
                reject!(Safe, "{name} can go on");
            }
            round.leads_to(after);
        }
    }
    if round.is_timed() {
        reject!(Safe, "{name} waits until time runs out");
    }
    Ok(!round.may_last() && !thread.is_daemon)
}

/// The most states that a copy goes through alone.
const MOST_ROUND: usize = 1 << 12;

/// Whether a copy without a step waits for a value or the lock: it may have one when others go on.
fn is_held_up(machine: &Machine<'_>, state: &State, position: usize) -> bool {
    machine.instructions_at(state, position).iter().any(|id| {
        let kind = StepKind::Execute { instruction: *id, chosen: None };
        let refusal = machine.event(state, Step { copy: machine.copies()[position], kind });
        matches!(refusal, Err(Refusal::Waits | Refusal::Locked))
    })
}
