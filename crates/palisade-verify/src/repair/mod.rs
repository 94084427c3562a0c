//! Checks evidence about the repair of a program: sets that make it robust, or keep it from targets
//! or stuck states, and that none is cheaper.
//!
//! Every change takes computations, or execution graphs, away and adds none (THEORY.md, "Repairs"),
//! so that a program with more changes is robust, or reaches none of the targets, when one with
//! fewer does. Fences do not change who waits, as all buffers of a stuck state are empty, so that
//! the same holds of stuck states. Hence
//!
//! 1. a set is valid when a certificate or a proof shows that of the program with it ([`changes`]
//!    makes that program; where the certificate is about a text, [`same`] shows that the text says
//!    this program);
//! 2. when it is not so of the program with all measures but those of a row, as a witness shows,
//!    every valid set has one measure of the row;
//! 3. what a set costs at least that has one measure of each row is shown by cases and weights
//!    ([`bound`]).

mod bound;
mod changes;
mod orderings;
mod same;
mod sites;

use super::content::check_content;
use super::{
    CheckFailure, check_free, check_graph_witness, check_property, check_property_witness, check_robust_certificate,
    check_stale_certificate, check_stuck, check_task_certificate, check_task_witness, check_witness,
};
use bound::{check_bound, cost_of};
use changes::{check_changes, program_with};
use num_bigint::BigUint;
use palisade_evidence::{PropertyEvidence, RepairClaim, RepairEvidence, Row, RowWitness, ValidProof, ValidSet};
use palisade_invariants::check_goal;
use palisade_invariants::reject;
use palisade_model::program::{Measure, Program};
use palisade_semantics::{Model, Question, Target};
use same::{By, Corresponding};

/// What evidence about a repair has been checked to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairFacts {
    /// What the sets bring about.
    pub claim: RepairClaim,
    /// What each of the valid sets costs.
    pub costs: Vec<BigUint>,
    /// What every set of measures costs at least that brings it about.
    pub bound: BigUint,
    /// No set of measures brings it about.
    pub is_impossible: bool,
}

impl RepairFacts {
    /// Whether the first of the valid sets is a cheapest one.
    pub fn is_optimal(&self) -> bool {
        self.costs.first() == Some(&self.bound)
    }
}

/// Checks `evidence` about the repair of `program` (with its copies and domain). For each valid set
/// that names a repaired text, `repaired` has the program read from it, with the same copies and
/// domain. `question` is the one that the program's file asks.
pub fn check_repair(
    program: &Program,
    question: Option<&Question>,
    evidence: &RepairEvidence,
    repaired: &[Option<Program>],
) -> Result<RepairFacts, CheckFailure> {
    check_changes(program, evidence)?;
    if !program.accepted.is_empty() {
        reject!(Form, "repairs are shown without accepted delays");
    }
    if program.is_event_driven() && evidence.claim != RepairClaim::Robust {
        reject!(Form, "properties are shown of programs of threads alone");
    }
    match &evidence.claim {
        RepairClaim::Robust | RepairClaim::Language(_) => {}
        RepairClaim::Properties { targets, .. } => check_goal(&watched(program.clone())?, question, targets)?,
        RepairClaim::Hangs { .. } => check_only_fences(evidence)?,
    }
    let mut costs = Vec::new();
    for (number, valid) in evidence.valid.iter().enumerate() {
        let text = repaired.get(number).and_then(Option::as_ref);
        let cost = check_valid(program, question, evidence, valid, text);
        costs.push(cost.map_err(|failure| failure.within(format_args!("valid set {number}")))?);
    }
    for (number, row) in evidence.rows.iter().enumerate() {
        check_row(program, question, evidence, row).map_err(|failure| failure.within(format_args!("row {number}")))?;
    }
    let bound = check_bound(evidence)?;
    let claim = evidence.claim.clone();
    Ok(RepairFacts { claim, costs, bound, is_impossible: evidence.rows.iter().any(|row| row.measures.is_empty()) })
}

/// Checks that a repaired text says the program with a set of measures.
pub fn check_repaired_text(
    program: &Program,
    evidence: &RepairEvidence,
    set: &[usize],
    text: &Program,
) -> Result<(), CheckFailure> {
    check_changes(program, evidence)?;
    check_set(evidence, set)?;
    same::check_same(&program_with(program, evidence, |measure| set.contains(&measure)), text, compared(evidence))
        .map(drop)
}

/// What a repaired text must have in common with the program that it says.
fn compared(evidence: &RepairEvidence) -> By {
    let claim = &evidence.claim;
    By { operations: claim.language().is_some(), waits: matches!(claim, RepairClaim::Hangs { .. }) }
}

/// Checks that the program with a set is as claimed; what the set costs.
fn check_valid(
    program: &Program,
    question: Option<&Question>,
    evidence: &RepairEvidence,
    valid: &ValidSet,
    text: Option<&Program>,
) -> Result<BigUint, CheckFailure> {
    check_set(evidence, &valid.set)?;
    let changed = program_with(program, evidence, |measure| valid.set.contains(&measure));
    let corresponding = match (&valid.repaired, text) {
        (None, _) => None,
        (Some(input), Some(text)) => {
            check_content(input, &text.source.name, text.source.text.as_bytes())?;
            Some((text, same::check_same(&changed, text, compared(evidence))?))
        }
        (Some(input), None) => reject!(Form, "the repaired text `{}` is not at hand", input.path),
    };
    match (&evidence.claim, &valid.proof) {
        (RepairClaim::Robust, ValidProof::Tasks(certificate)) if program.is_event_driven() => {
            check_task_certificate(corresponding.map_or(&changed, |(text, _)| text), certificate)?;
        }
        // What else is known is about threads alone.
        _ if program.is_event_driven() => reject!(Form, "the proof is not about events and tasks"),
        (RepairClaim::Language(axioms), ValidProof::Language(certificate)) => {
            if certificate.axioms != *axioms {
                reject!(Form, "the proof is about another language than the claim");
            }
            check_stale_certificate(corresponding.map_or(&changed, |(text, _)| text), certificate)?;
        }
        (RepairClaim::Robust, ValidProof::Robust(certificate)) => {
            check_robust_certificate(corresponding.map_or(&changed, |(text, _)| text), certificate)?;
        }
        (RepairClaim::Properties { model, targets }, ValidProof::Properties(proof)) => match corresponding {
            None => check_targets(&watched(changed)?, question, (*model, targets), proof)?,
            Some((text, corresponding)) => {
                let targets = corresponding_targets(targets, &corresponding)?;
                check_targets(&watched(text.clone())?, None, (*model, &targets), proof)?;
            }
        },
        (RepairClaim::Hangs { model, graphs, ignores_timeouts }, ValidProof::Free(certificate)) => {
            if (certificate.model, certificate.ignores_timeouts) != (*model, *ignores_timeouts) {
                reject!(Form, "the proof is about another memory model or other timeouts than the claim");
            }
            if certificate.is_hopeful || certificate.language() != *graphs {
                reject!(Form, "the proof is one that whoever waits may go on, or one about another language");
            }
            check_free(corresponding.map_or(&changed, |(text, _)| text), certificate)?;
        }
        _ => reject!(Form, "the proof is not about what is claimed"),
    }
    valid.set.iter().map(|measure| cost_of(evidence, *measure)).sum()
}

/// Checks that all measures are fences. With an exchange in place of a store a copy may wait that
/// did not: a store is never nothing, an exchange of equal values is.
fn check_only_fences(evidence: &RepairEvidence) -> Result<(), CheckFailure> {
    let mut measures = evidence.measures.iter().map(|(measure, _)| measure).chain(&evidence.taken);
    match measures.any(|measure| matches!(measure, Measure::Exchange { .. })) {
        true => reject!(Form, "with an exchange in place of a store there may be more stuck states"),
        false => Ok(()),
    }
}

/// The program in which threads of their own watch the joint control states.
fn watched(program: Program) -> Result<Program, CheckFailure> {
    program.into_monitored().or_else(|error| reject!(Form, "{error}"))
}

/// Checks that a program reaches none of the targets under a model.
fn check_targets(
    program: &Program,
    question: Option<&Question>,
    (model, targets): (Model, &[Target]),
    proof: &PropertyEvidence,
) -> Result<(), CheckFailure> {
    // Where control flow reaches no target there is nothing to show.
    if targets.is_empty() && proof.proofs.is_empty() {
        return Ok(());
    }
    let facts = check_property(program, question, proof)?;
    if facts.model != model {
        reject!(Form, "the proof is about another memory model than the claim");
    }
    if let Some(target) = targets.iter().find(|target| !facts.shown.contains(*target)) {
        reject!(Form, "the proof says nothing about the target {target:?}");
    }
    Ok(())
}

/// The targets by their numbers in the repaired text; without those that control does not reach.
fn corresponding_targets(targets: &[Target], corresponding: &Corresponding) -> Result<Vec<Target>, CheckFailure> {
    let mut found = Vec::new();
    for target in targets {
        match *target {
            Target::FinalStates => reject!(Form, "final states are shown of the program, not of its repaired text"),
            Target::Instruction { thread, instruction } => {
                let Some(own) = corresponding.get(thread.index()) else {
                    reject!(Form, "there is no thread {thread}");
                };
                let there = own.get(&instruction).copied();
                found.extend(there.map(|instruction| Target::Instruction { thread, instruction }));
            }
        }
    }
    Ok(found)
}

/// Checks that the program with all measures but those of a row is not as claimed.
fn check_row(
    program: &Program,
    question: Option<&Question>,
    evidence: &RepairEvidence,
    row: &Row,
) -> Result<(), CheckFailure> {
    check_set(evidence, &row.measures)?;
    let changed = program_with(program, evidence, |measure| !row.measures.contains(&measure));
    match (&evidence.claim, &row.witness) {
        (RepairClaim::Robust, RowWitness::Tasks(witness)) if program.is_event_driven() => {
            check_task_witness(&changed, witness).map(drop)
        }
        _ if program.is_event_driven() => reject!(Form, "the witness is not about events and tasks"),
        (RepairClaim::Robust, RowWitness::NotRobust(witness)) => check_witness(&changed, witness),
        (RepairClaim::Language(axioms), RowWitness::Graph(witness)) => {
            if witness.axioms != *axioms {
                reject!(Form, "the violation is about another language than the claim");
            }
            check_graph_witness(&changed, witness)
        }
        (RepairClaim::Properties { model, targets }, RowWitness::Violated(witness)) => {
            if witness.model != *model || !targets.contains(&witness.target) {
                reject!(Form, "the violation is not one of the claim's targets under its memory model");
            }
            check_property_witness(&watched(changed)?, question, witness)
        }
        (RepairClaim::Hangs { model, graphs, ignores_timeouts }, RowWitness::Stuck(witness)) => {
            if (witness.model, witness.ignores_timeouts) != (*model, *ignores_timeouts) {
                reject!(Form, "the stuck state is one of another memory model or other timeouts than the claim's");
            }
            if witness.hopeless.is_some() || witness.graph.as_ref().map(|graph| graph.axioms) != *graphs {
                reject!(Form, "the state is one in which others may go on, or one of another language");
            }
            check_stuck(&changed, witness)
        }
        _ => reject!(Form, "the witness is not about what is claimed"),
    }
}

/// Checks that a set names measures, in order.
fn check_set(evidence: &RepairEvidence, set: &[usize]) -> Result<(), CheckFailure> {
    if !set.is_sorted_by(|one, other| one < other) {
        reject!(Form, "the measures {set:?} are not in ascending order");
    }
    match set.last() {
        Some(last) if *last >= evidence.measures.len() => reject!(Form, "there is no measure {last}"),
        _ => Ok(()),
    }
}
