//! Checks evidence about the repair of a program: sets that make it robust, and that none is cheaper.
//!
//! Every change takes computations away and adds none (CERTIFICATE.md says why), so that a program with more changes is
//! robust when one with fewer is. Hence
//!
//! 1. a set is valid when a certificate shows the program with it robust ([`changes`] makes that program; where the
//!    certificate is about a text, [`same`] shows that the text says this program);
//! 2. when the program with all measures but those of a row is not robust, as a witness shows, every valid set has one
//!    measure of the row;
//! 3. what a set costs at least that has one measure of each row is shown by cases and weights ([`bound`]).

mod bound;
mod changes;
mod same;

use super::subject::check_content;
use super::{CheckFailure, check_robust_certificate, check_witness};
use crate::failure::reject;
use bound::{check_bound, cost_of};
use changes::{check_changes, program_with};
use num_bigint::BigUint;
use palisade_evidence::{RepairEvidence, Row, ValidSet};
use palisade_model::program::Program;

/// What evidence about a repair has been checked to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairFacts {
    /// What each of the valid sets costs.
    pub costs: Vec<BigUint>,
    /// What every set of measures costs at least that makes the program robust.
    pub bound: BigUint,
    /// No set of measures makes the program robust.
    pub is_impossible: bool,
}

impl RepairFacts {
    /// Whether the first of the valid sets is a cheapest one.
    pub fn is_optimal(&self) -> bool {
        self.costs.first() == Some(&self.bound)
    }
}

/// Checks `evidence` about the repair of `program` (with its copies and domain). For each valid set that names a repaired
/// text, `repaired` has the program read from it, with the same copies and domain.
pub fn check_repair(
    program: &Program,
    evidence: &RepairEvidence,
    repaired: &[Option<Program>],
) -> Result<RepairFacts, CheckFailure> {
    check_changes(program, evidence)?;
    let mut costs = Vec::new();
    for (number, valid) in evidence.valid.iter().enumerate() {
        let text = repaired.get(number).and_then(Option::as_ref);
        let cost = check_valid(program, evidence, valid, text);
        costs.push(cost.map_err(|failure| failure.within(format_args!("valid set {number}")))?);
    }
    for (number, row) in evidence.rows.iter().enumerate() {
        check_row(program, evidence, row).map_err(|failure| failure.within(format_args!("row {number}")))?;
    }
    let bound = check_bound(evidence)?;
    Ok(RepairFacts { costs, bound, is_impossible: evidence.rows.iter().any(|row| row.measures.is_empty()) })
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
    same::check_same(&program_with(program, evidence, |measure| set.contains(&measure)), text)
}

/// Checks that the program with a set is robust; what the set costs.
fn check_valid(
    program: &Program,
    evidence: &RepairEvidence,
    valid: &ValidSet,
    text: Option<&Program>,
) -> Result<BigUint, CheckFailure> {
    check_set(evidence, &valid.set)?;
    let changed = program_with(program, evidence, |measure| valid.set.contains(&measure));
    match (&valid.repaired, text) {
        (None, _) => check_robust_certificate(&changed, &valid.certificate)?,
        (Some(input), Some(text)) => {
            check_content(input, &text.source.name, text.source.text.as_bytes())?;
            same::check_same(&changed, text)?;
            check_robust_certificate(text, &valid.certificate)?;
        }
        (Some(input), None) => reject!(Form, "the repaired text `{}` is not at hand", input.path),
    }
    valid.set.iter().map(|measure| cost_of(evidence, *measure)).sum()
}

/// Checks that the program with all measures but those of a row is not robust.
fn check_row(program: &Program, evidence: &RepairEvidence, row: &Row) -> Result<(), CheckFailure> {
    check_set(evidence, &row.measures)?;
    let changed = program_with(program, evidence, |measure| !row.measures.contains(&measure));
    check_witness(&changed, &row.witness)
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
