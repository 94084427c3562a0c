//! Checks that a program is not robust against C11 or release/acquire, or has a race: replays an
//! interleaving, adds the last event, and asks the axioms.

use super::{check_instance, named};
use crate::CheckFailure;
use palisade_evidence::{GraphWitness, StaleClaim};
use palisade_invariants::reject;
use palisade_model::ordered::CollectOrdered;
use palisade_model::program::Program;
use palisade_semantics::graphs::{Axioms, Execution, by_language, is_consistent, not_in_language, race};
use palisade_semantics::{CopyId, Machine, Model, Step, StepKind};
use std::collections::BTreeSet;

/// Checks that `witness` shows `program` (with its copies and domain) not to be robust, or to have
/// a race.
pub fn check_graph_witness(program: &Program, witness: &GraphWitness) -> Result<(), CheckFailure> {
    if let Some(obstacle) = not_in_language(program) {
        reject!(Form, "the program has no execution graphs: {}", obstacle.describe());
    }
    if !Axioms::LANGUAGES.contains(&witness.axioms) {
        reject!(Form, "a witness is about C11 or release/acquire");
    }
    check_instance(program, &witness.instance)?;
    let stated = by_language(program);
    let is_there = |copy: &CopyId| copy.copy < witness.instance.count(copy.thread);
    let acting = witness.steps.iter().chain([&witness.last]).map(|step| step.copy).filter(is_there);
    let acting: BTreeSet<CopyId> = acting.collect_set();
    let machine = Machine::of_copies(&stated, acting.into_iter().collect(), Model::Sc).waiting();
    let mut execution = Execution::new(witness.axioms);
    let mut state = machine.initial_state();
    for (index, step) in witness.steps.iter().enumerate() {
        check_kind(index, step)?;
        let event = match machine.event(&state, *step) {
            Ok(event) => event,
            Err(refusal) => reject!(Run, "step {index} of copy {} cannot be taken: {refusal}", named(step.copy)),
        };
        execution.take(&machine, &event);
        machine.take(&mut state, &event);
    }
    check_kind(witness.steps.len(), &witness.last)?;
    if witness.claim == StaleClaim::Race {
        if witness.reads_from.is_some() {
            reject!(Form, "the last event of a race reads what memory holds");
        }
        match machine.event(&state, witness.last) {
            Ok(event) => execution.take(&machine, &event),
            Err(refusal) => reject!(Run, "the last event cannot be made: {refusal}"),
        }
        if race(&execution.graph).is_none() {
            reject!(Witness, "the graph has no race");
        }
        return Ok(());
    }
    let write = match witness.reads_from {
        None => None,
        Some(step) => match execution.of_step.get(step) {
            Some(Some(write)) => Some(*write),
            _ => reject!(Witness, "step {step} is no write that the last event could read"),
        },
    };
    if let Err(error) = execution.take_stale(&machine, &state, witness.last, write) {
        reject!(Run, "the last event cannot be made: {error}");
    }
    if !is_consistent(&execution.graph, witness.axioms) {
        reject!(Witness, "{} does not admit the graph", witness.axioms.name());
    }
    if execution.graph.is_sc() {
        reject!(Witness, "the graph is one of an interleaving");
    }
    Ok(())
}

/// Steps are executions of single copies.
fn check_kind(index: usize, step: &Step) -> Result<(), CheckFailure> {
    match step.kind {
        StepKind::Execute { .. } => Ok(()),
        _ => reject!(Witness, "step {index} executes no instruction"),
    }
}
