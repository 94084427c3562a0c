//! Checks that a program reaches a target: replays a computation under its memory model.

use super::finals::answers;
use crate::CheckFailure;
use crate::failure::reject;
use crate::tokens::MOST_CHOICES;
use palisade_evidence::PropertyWitness;
use palisade_model::ordered::CollectOrdered;
use palisade_model::program::{Copies, InstructionId, Program, ThreadId};
use palisade_semantics::crowd::is_crowd;
use palisade_semantics::{CopyId, Effect, Event, Instance, Machine, Observable, Question, State, StepKind, Target};
use std::collections::BTreeSet;

/// Checks that `witness` is a computation of `program` (with its copies and domain) that reaches
/// its target. `question` is the one that the program's file asks.
pub fn check_property_witness(
    program: &Program,
    question: Option<&Question>,
    witness: &PropertyWitness,
) -> Result<(), CheckFailure> {
    check_counts(program, &witness.instance)?;
    super::goal(program, question, std::slice::from_ref(&witness.target))?;
    // All copies count in a final state; elsewhere those that take no step change nothing, and may
    // be many.
    if witness.target == Target::FinalStates && witness.instance.total() > MOST_CHOICES as u64 {
        reject!(Form, "a final state of {} copies is too large to look at", witness.instance.total());
    }
    let copies: Vec<CopyId> = match witness.target {
        Target::FinalStates => witness.instance.copies().collect(),
        Target::Instruction { .. } => {
            let is_there = |copy: &CopyId| copy.copy < witness.instance.count(copy.thread);
            let acting: BTreeSet<CopyId> = witness.steps.iter().map(|step| step.copy).filter(is_there).collect_set();
            acting.into_iter().collect()
        }
    };
    let machine = Machine::of_copies(program, copies, witness.model);
    let mut state = machine.initial_state();
    let mut events = Vec::new();
    for (index, step) in witness.steps.iter().enumerate() {
        let event = match machine.event(&state, *step) {
            Ok(event) => event,
            Err(refusal) => {
                let CopyId { thread, copy } = step.copy;
                reject!(Run, "step {index} of copy {copy} of thread {thread} cannot be taken: {refusal}")
            }
        };
        machine.take(&mut state, &event);
        events.push(event);
    }
    check_crowds(witness, &events)?;
    match (witness.target, question) {
        (Target::Instruction { thread, instruction }, _) => check_violation(events.last(), thread, instruction),
        (Target::FinalStates, Some(question)) => check_final_state(&machine, question, &state),
        (Target::FinalStates, None) => reject!(Form, "the program's file asks nothing about final states"),
    }
}

/// Checks that the instance has as many copies of each thread as the program allows.
pub(crate) fn check_counts(program: &Program, instance: &Instance) -> Result<(), CheckFailure> {
    let counts = instance.counts();
    if counts.len() != program.threads.len() {
        reject!(Form, "the instance counts copies of {} threads of {}", counts.len(), program.threads.len());
    }
    for (thread, count) in program.threads.iter().zip(counts) {
        if let Copies::Exactly(copies) = thread.copies
            && copies != *count
        {
            reject!(Form, "the instance has {count} copies of thread `{}`, not {copies}", thread.name);
        }
    }
    Ok(())
}

/// Crowds stand for steps of copies that are there. What these come to is no final state.
fn check_crowds(witness: &PropertyWitness, events: &[Event]) -> Result<(), CheckFailure> {
    for (index, event) in events.iter().enumerate() {
        if matches!(event.step.kind, StepKind::Crowd { .. }) {
            let copies = witness.instance.count(event.step.copy.thread);
            if witness.target == Target::FinalStates || !is_crowd(events, index, copies) {
                reject!(Run, "step {index}: not all copies of the crowd can take it");
            }
        }
    }
    Ok(())
}

/// Checks that the last step violates the target.
fn check_violation(last: Option<&Event>, thread: ThreadId, instruction: InstructionId) -> Result<(), CheckFailure> {
    let violates = last.is_some_and(|event| {
        let executes = matches!(event.step.kind, StepKind::Execute { instruction: own, .. } if own == instruction);
        let is_violation = matches!(event.effect, Effect::Violation | Effect::Failure);
        event.step.copy.thread == thread && executes && is_violation
    });
    if !violates {
        reject!(Run, "the last step does not violate instruction {instruction} of thread {thread}");
    }
    Ok(())
}

/// Checks that a state is final, and answers the question.
fn check_final_state(machine: &Machine<'_>, question: &Question, state: &State) -> Result<(), CheckFailure> {
    let has_ended = |position: usize| machine.has_ended(state, position);
    if !(0..machine.copies().len()).all(has_ended) || !state.buffers_are_empty() {
        reject!(Run, "the computation does not end in a final state");
    }
    let value = |observable| match observable {
        Observable::Register { thread, register } => match machine.positions(thread).next() {
            Some(position) => state.threads()[position].registers[register.index()],
            None => machine.program().thread(thread).registers[register.index()].initial,
        },
        Observable::Address(address) => state.memory(address),
    };
    if !answers(question, &value) {
        reject!(Run, "the final state does not answer the question");
    }
    Ok(())
}
