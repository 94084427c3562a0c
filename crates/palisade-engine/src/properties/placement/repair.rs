//! A placement in full: the measures, the text changed and proved again, and evidence that `verify` has accepted.

use super::options::PlacementOptions;
use super::place::{Placed, PlacementError, PropertyPlacement, needed_fences, place, proving};
use crate::fences::{Checker, Checks, Measure, NoText, RepairError, RepairOptions, RepairedText, with_measures};
use crate::properties::{Proof, prove};
use palisade_evidence::PropertyWitness;
use palisade_model::program::Program;
use palisade_model::semantics::{Question, Target};
use palisade_verify::{CheckFailure, check_property, check_property_witness};
use thiserror::Error;

/// A placement in full.
#[derive(Debug)]
pub struct PropertyRepaired {
    /// Whether fences help, and which.
    pub placed: Placed,
    /// The repaired text, or why there is none; nothing when no measure is taken.
    pub text: Option<Result<RepairedText, NoText>>,
    /// The repaired program: that of the text, where there is one.
    pub program: Program,
    /// The proof for it. `verify` has accepted what it shows.
    pub proof: Option<Proof>,
    /// For each row, a computation of the program with everything on offer but the row, which `verify` has replayed; none
    /// where none was found within the limits.
    pub witnesses: Vec<Option<PropertyWitness>>,
    /// Whether every claim has evidence that was checked.
    pub is_complete: bool,
    /// What was found about the fences of the program with the measures, when that was asked for.
    pub needed: Option<Placed>,
}

/// Why there is no repair.
#[derive(Debug, Error)]
pub enum PropertyRepairError {
    /// The input is at fault.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// A fault of Palisade: `verify` rejects its evidence.
    #[error("the evidence for the repair is rejected: {0}")]
    Rejected(#[from] CheckFailure),
    /// A fault of Palisade: the checker broke off.
    #[error("{0}")]
    Broken(String),
}

impl From<RepairError> for PropertyRepairError {
    fn from(error: RepairError) -> Self {
        match error {
            RepairError::Rejected(failure) => Self::Rejected(failure),
            error => Self::Broken(error.to_string()),
        }
    }
}

/// Places measures, takes them in the program's text, and has the evidence for every claim checked.
pub fn repair(
    program: &Program,
    question: Option<&Question>,
    options: &PlacementOptions,
    wanted: &RepairOptions,
    checks: &dyn Checks,
) -> Result<PropertyRepaired, PropertyRepairError> {
    let placed = place(program, question, options)?;
    let mut repaired = PropertyRepaired {
        placed,
        text: None,
        program: program.clone(),
        proof: None,
        witnesses: Vec::new(),
        is_complete: false,
        needed: None,
    };
    let Placed::Valid(placement) = &repaired.placed else { return Ok(repaired) };
    let checker = Checker { limits: &options.limits, checks };
    let measures: Vec<Measure> = placement.measures.iter().map(|(measure, _)| *measure).collect();
    repaired.text = (!measures.is_empty()).then(|| RepairedText::new(program, wanted.format, &measures, &wanted.path));
    repaired.program = match &repaired.text {
        Some(Ok(text)) => text.program.clone(),
        _ => with_measures(program, &measures),
    };
    let proof = match (&repaired.text, &placement.proof) {
        (Some(Ok(text)), Some(_)) => {
            // The text's targets stand where they stood, but may have other numbers.
            let all = proving(options, &crate::properties::targets(&text.program, question));
            Some(prove(&text.program, question, &all).map_err(PlacementError::Fault)?)
        }
        (_, proof) => proof.clone(),
    };
    let mut is_complete = placement.open.is_none();
    if let Some(proof) = &proof {
        is_complete &= check_proof(&repaired.program, question, proof, checker)?;
    }
    let witnesses = witnesses(program, question, placement, options, checker)?;
    repaired.is_complete = is_complete && proof.is_some() && witnesses.iter().all(Option::is_some);
    (repaired.proof, repaired.witnesses) = (proof, witnesses);
    if wanted.redundant {
        let own = with_measures(program, &measures);
        repaired.needed = Some(needed_fences(&own, program, question, options)?);
    }
    Ok(repaired)
}

/// Whether a proof shows every target, as `verify` sees it.
fn check_proof(
    program: &Program,
    question: Option<&Question>,
    proof: &Proof,
    checker: Checker<'_>,
) -> Result<bool, PropertyRepairError> {
    let Some(evidence) = proof.evidence() else { return Ok(false) };
    let (own, question) = (program.clone(), question.cloned());
    let facts = checker.check(move || check_property(&own, question.as_ref(), &evidence))?;
    let asked: Vec<Target> = proof.answers.iter().map(|answer| answer.target).collect();
    Ok(facts.is_some_and(|facts| asked.iter().all(|target| facts.shown.contains(target))))
}

/// For each row, a computation of the program with everything on offer but the row.
fn witnesses(
    program: &Program,
    question: Option<&Question>,
    placement: &PropertyPlacement,
    options: &PlacementOptions,
    checker: Checker<'_>,
) -> Result<Vec<Option<PropertyWitness>>, PropertyRepairError> {
    let mut witnesses = Vec::new();
    for row in &placement.rows {
        let others = placement.offered.iter().copied().filter(|measure| !row.measures.contains(measure));
        let changed = with_measures(program, &others.collect::<Vec<_>>());
        let proof = prove(&changed, question, &proving(options, &[row.run.target])).map_err(PlacementError::Fault)?;
        let Some(witness) = proof.violations().next().map(crate::properties::Violation::witness) else {
            witnesses.push(None);
            continue;
        };
        let (own, question) = (witness.clone(), question.cloned());
        let checked = checker.check(move || check_property_witness(&changed, question.as_ref(), &own))?;
        witnesses.push(checked.map(|()| witness));
    }
    Ok(witnesses)
}
