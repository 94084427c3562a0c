//! Triangular races: that a configuration is none, and that a computation ends in one.
//!
//! A race is a configuration under SC in which one copy of a thread stands at a load, after a store
//! to another address since its last instruction that drains the buffer, and another copy stores to
//! the same address next. A thread's buffer notes what it has stored since: nothing, one address,
//! or (by a mark) several. Where no load can follow before the next drain, nothing is noted.

use super::local::Threads;
use super::steps::Configuration;
use super::witness::check_counts;
use crate::CheckFailure;
use crate::failure::reject;
use palisade_evidence::{BufferEntry, RaceWitness, Tokens};
use palisade_model::ordered::CollectOrdered;
use palisade_model::program::{Action, Program, Value};
use palisade_semantics::{CopyId, Effect, Event, Machine, Model, StepKind};
use std::collections::BTreeSet;

/// Checks that no two threads of a configuration race.
pub(super) fn check_no_race(threads: &Threads<'_>, configuration: &Configuration) -> Result<(), CheckFailure> {
    let control = configuration.control;
    for (writer, count) in &configuration.tokens {
        let local = threads.locals.get(*writer);
        let Some(label) = local.label.filter(|_| !control.locked || local.holding) else { continue };
        for id in threads.instructions_at(local.thread, label) {
            let Some(effect) = threads.execution(control, local, *id)? else { continue };
            let Some((address, _)) = effect.write else { continue };
            let is_alone = *count == Tokens::Finite(1);
            let others = configuration.tokens.iter().filter(|(token, _)| token != writer || !is_alone);
            for (reader, _) in others {
                if loads_after_another(threads, *reader, address)? {
                    reject!(
                        Safe,
                        "{} stores to {}, which {} loads, in {}",
                        threads.instruction_in_words(local.thread, *id),
                        threads.program.address_name(address),
                        threads.local_in_words(*reader),
                        threads.in_words(configuration)
                    );
                }
            }
        }
    }
    Ok(())
}

/// Whether a thread stands at a load of this address, and has stored to another one.
fn loads_after_another(threads: &Threads<'_>, token: u32, address: Value) -> Result<bool, CheckFailure> {
    let local = threads.locals.get(token);
    let has_stored_elsewhere = match local.buffer.first() {
        None => false,
        Some(BufferEntry::Store(other, _)) => *other != address,
        Some(_) => true,
    };
    let Some(label) = local.label.filter(|_| has_stored_elsewhere) else { return Ok(false) };
    for id in threads.instructions_at(local.thread, label) {
        if let Action::Load { address: of, .. } = &threads.instruction(local.thread, *id).action
            && threads.value(local.thread, *id, of.evaluate_address(&local.registers))? == address
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The addresses to which a thread has stored, after one more event of it.
fn note(stored: &mut BTreeSet<Value>, event: &Event) {
    match event.effect {
        Effect::Store { address, .. } => {
            stored.insert(address);
        }
        Effect::Rmw { .. } | Effect::Fence | Effect::Lock | Effect::Unlock => stored.clear(),
        _ => {}
    }
}

/// Checks that `witness` is a computation of `program` (with its copies and domain) that ends in a
/// triangular race.
pub fn check_race(program: &Program, witness: &RaceWitness) -> Result<(), CheckFailure> {
    check_counts(program, &witness.instance)?;
    let is_there = |copy: &CopyId| copy.copy < witness.instance.count(copy.thread);
    let acting: BTreeSet<CopyId> = witness.steps.iter().map(|step| step.copy).filter(is_there).collect_set();
    let machine = Machine::of_copies(program, acting.into_iter().collect(), Model::Sc);
    let mut state = machine.initial_state();
    let mut events = Vec::with_capacity(witness.steps.len());
    for (index, step) in witness.steps.iter().enumerate() {
        let event = match machine.event(&state, *step) {
            Ok(event) => event,
            Err(refusal) => {
                let CopyId { thread, copy } = step.copy;
                reject!(Run, "step {index} of copy {copy} of thread {thread} cannot be taken: {refusal}")
            }
        };
        if matches!(step.kind, StepKind::Crowd { .. }) {
            reject!(Run, "step {index} is a crowd's");
        }
        machine.take(&mut state, &event);
        events.push(event);
    }
    let Some((Event { step, effect: Effect::Load { address, .. } }, rest)) =
        events.get(witness.load_step..).and_then(<[Event]>::split_first)
    else {
        reject!(Run, "step {} is no load", witness.load_step);
    };
    let mut stored = BTreeSet::new();
    let before = &events[..witness.load_step];
    before.iter().filter(|event| event.step.copy == step.copy).for_each(|event| note(&mut stored, event));
    if stored.iter().all(|other| other == address) {
        reject!(Run, "the load's thread has stored to no other address since its buffer was last drained");
    }
    check_store(rest, step.copy, *address)
}

/// Checks that the events behind the load are one store to its address by another copy, or a
/// section that has come to one.
fn check_store(events: &[Event], reader: CopyId, address: Value) -> Result<(), CheckFailure> {
    let Some((last, before)) = events.split_last() else { reject!(Run, "no store follows the load") };
    if events.iter().any(|event| event.step.copy != last.step.copy) || last.step.copy == reader {
        reject!(Run, "the steps behind the load are not those of one other copy");
    }
    if let Some((first, inside)) = before.split_first()
        && (first.effect != Effect::Lock || inside.iter().any(|event| event.effect == Effect::Unlock))
    {
        reject!(Run, "other steps come between the load and the store");
    }
    let stores = match last.effect {
        Effect::Store { address: to, .. } | Effect::Rmw { address: to, new: Some(_), .. } => to == address,
        _ => false,
    };
    if !stores {
        reject!(Run, "the last step does not store to the address that is loaded");
    }
    Ok(())
}
