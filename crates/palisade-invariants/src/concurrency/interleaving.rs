//! Checks an interleaving without a serial permutation.

use super::events_alone;
use crate::CheckFailure;
use crate::failure::reject;
use palisade_evidence::{ConcurrencyReason, ConcurrencyWitness};
use palisade_model::program::{Program, Value};
use palisade_semantics::Model;
use palisade_semantics::tasks::{TaskEffect, TaskMachine, TaskState, TaskStep};

/// What a step accesses.
#[derive(Clone, Copy, Debug)]
struct Access {
    invocation: usize,
    address: Value,
    writes: bool,
}

/// Checks that the interleaving is one of the program under SC, and that it has no serial
/// permutation for the reason given.
pub fn check_concurrency_witness(program: &Program, witness: &ConcurrencyWitness) -> Result<(), CheckFailure> {
    events_alone(program)?;
    let (accesses, last) = replay(program, &witness.steps)?;
    let event = |invocation: usize| last.invocations()[invocation].path[0];
    match &witness.reason {
        ConcurrencyReason::Serializability(edges) => {
            if edges.is_empty() {
                reject!(Witness, "a cycle has an edge");
            }
            let mut ends = Vec::with_capacity(edges.len());
            for (first, second) in edges {
                let (first, second) = conflict(&accesses, *first, *second)?;
                ends.push((event(first.invocation), event(second.invocation)));
            }
            let following = ends.iter().cycle().skip(1);
            for ((from, to), (next, _)) in ends.iter().zip(following) {
                if from == to || to != next {
                    reject!(Witness, "an edge from event {from} to event {to} is followed by one from event {next}");
                }
            }
        }
        ConcurrencyReason::Determinism(first, second) => {
            let (first, second) = conflict(&accesses, *first, *second)?;
            if event(first.invocation) != event(second.invocation) {
                reject!(Witness, "the two accesses belong to different events");
            }
            // The order of the serial run: an ancestor comes before its descendants, an earlier
            // sibling before a later one.
            let path = |invocation: usize| &last.invocations()[invocation].path;
            if path(first.invocation) <= path(second.invocation) {
                reject!(Witness, "the two accesses are in the order of the serial run");
            }
        }
    }
    Ok(())
}

/// Two conflicting accesses, the first before the second.
fn conflict(accesses: &[Option<Access>], first: usize, second: usize) -> Result<(Access, Access), CheckFailure> {
    let at = |step: usize| accesses.get(step).copied().flatten();
    let (Some(one), Some(other)) = (at(first), at(second)) else {
        reject!(Witness, "step {first} or step {second} accesses nothing");
    };
    let conflicts = one.address == other.address && (one.writes || other.writes) && one.invocation != other.invocation;
    if first >= second || !conflicts {
        reject!(Witness, "step {first} does not conflict with a later step {second}");
    }
    Ok((one, other))
}

/// Replays the steps; what each of them accesses, and the last state. A section that is not closed
/// accesses nothing.
fn replay(program: &Program, steps: &[TaskStep]) -> Result<(Vec<Option<Access>>, TaskState), CheckFailure> {
    let machine = TaskMachine::new(program, Model::Sc);
    let mut state = machine.initial_state();
    let mut accesses: Vec<Option<Access>> = vec![None; steps.len()];
    let mut inside: Vec<usize> = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        let created = state.invocations().len();
        let effect = match machine.apply(&mut state, *step) {
            Ok(effect) => effect,
            Err(refusal) => reject!(Run, "step {number} cannot be taken: {refusal}"),
        };
        let (address, writes) = match effect {
            TaskEffect::Read { address, .. } => (address, false),
            TaskEffect::Write { address, .. } => (address, true),
            TaskEffect::Update { address, new, .. } => (address, new.is_some()),
            TaskEffect::Unlock => {
                inside.clear();
                continue;
            }
            _ => continue,
        };
        let invocation = match *step {
            TaskStep::Occur { .. } => created,
            TaskStep::Execute { invocation, .. } => invocation,
            _ => reject!(Run, "step {number} accesses memory and executes nothing"),
        };
        accesses[number] = Some(Access { invocation, address, writes });
        if state.holder() == Some(invocation) {
            inside.push(number);
        }
    }
    for open in inside {
        accesses[open] = None;
    }
    Ok((accesses, state))
}
