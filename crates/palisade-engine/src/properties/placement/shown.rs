//! Evidence for a placement: proofs for its sets, a violation for each row, and the bound on what
//! valid sets cost.

use super::options::PlacementOptions;
use super::place::{PlacementError, PropertyPlacement, PropertyRow, proving};
use super::repair_error::PropertyRepairError;
use super::retrace::retraced;
use crate::fences::{Checker, Cost, CostError, CostUnit, FenceError, Measure, Offered, unit_among};
use crate::properties::{ProveOptions, Violation, prove, targets};
use palisade_evidence::{
    InputFile, PropertyEvidence, PropertyWitness, RepairClaim, RepairEvidence, Row, RowWitness, ValidProof, ValidSet,
};
use palisade_model::program::{Action, Copies, LabelId, Program, Sites};
use palisade_semantics::{Model, Question, Target};
use palisade_verify::{RepairFacts, check_property_witness, check_repair, check_repaired_text};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Evidence that `verify` has accepted.
#[derive(Debug)]
pub struct Shown {
    /// The evidence.
    pub evidence: RepairEvidence,
    /// What it shows; nothing where a limit was reached before it was checked.
    pub facts: Option<RepairFacts>,
    /// Whether every claim has its evidence.
    pub is_complete: bool,
}

impl Shown {
    /// Whether the set placed has been shown valid by the proof for its text.
    pub(super) fn is_about_text(&self) -> bool {
        self.facts.is_some() && self.evidence.valid.first().is_some_and(|valid| valid.repaired.is_some())
    }
}

/// A repaired text with the proof for it.
pub(super) struct ProvedText<'a> {
    pub(super) program: &'a Program,
    pub(super) input: InputFile,
    pub(super) proof: PropertyEvidence,
}

/// Optima besides the one taken that are proved at most.
const FURTHER_OPTIMA: usize = 100;

/// What is to be shown about a program.
pub(super) struct Showing<'a> {
    program: &'a Program,
    question: Option<&'a Question>,
    options: &'a PlacementOptions,
    offered: Offered<'a>,
    /// The targets of the program in which threads of their own watch joint control states.
    targets: Vec<Target>,
}

impl<'a> Showing<'a> {
    /// Measures on offer for a program, besides those taken in any case.
    pub(super) fn new(
        program: &'a Program,
        question: Option<&'a Question>,
        options: &'a PlacementOptions,
        taken: &'a [Measure],
        measures: Vec<(Measure, Option<Cost>)>,
    ) -> Self {
        let offered = Offered::new(program, taken, measures);
        let mut showing = Self { program, question, options, offered, targets: options.targets.clone() };
        if showing.targets.is_empty() {
            showing.targets = targets(&showing.watched_with(|_| false), question);
        }
        showing.targets.sort_unstable();
        showing
    }

    /// The program with a set of measures, as the checker makes it.
    fn watched_with(&self, is_in_set: impl Fn(Measure) -> bool) -> Program {
        let changed = self.offered.program_with(is_in_set);
        changed
            .into_monitored()
            .expect("measures leave the states of the lock alone, so that joint states can be watched as before")
    }

    /// Evidence for nothing yet.
    fn evidence(&self) -> RepairEvidence {
        self.offered.evidence(RepairClaim::Properties { model: self.options.model, targets: self.targets.clone() })
    }

    /// Shows what a placement claims.
    pub(super) fn placement(
        &self,
        placement: &PropertyPlacement,
        text: Option<&ProvedText<'_>>,
        checker: Checker<'_>,
    ) -> Result<Shown, PropertyRepairError> {
        let mut evidence = self.evidence();
        let chosen: Vec<Measure> = placement.measures.iter().map(|(measure, _)| *measure).collect();
        let mut texts = Vec::new();
        if placement.open.is_none() {
            let set = self.offered.positions(&chosen);
            match text.filter(|text| self.is_said_by(text, &evidence, &set)) {
                Some(text) => {
                    let (repaired, proof) = (Some(text.input.clone()), ValidProof::Properties(text.proof.clone()));
                    evidence.valid.push(ValidSet { set, repaired, proof });
                    texts.push(Some(text.program.clone()));
                }
                None => evidence.valid.extend(self.valid(&chosen)?),
            }
        }
        let mut is_complete = !evidence.valid.is_empty();
        for other in placement.alternatives.iter().filter(|set| **set != chosen).take(FURTHER_OPTIMA) {
            let valid = if is_complete { self.valid(other)? } else { None };
            is_complete &= valid.is_some();
            evidence.valid.extend(valid);
        }
        let mut positions = BTreeMap::new();
        for (index, row) in placement.rows.iter().enumerate() {
            if let Some(row) = self.row(&row.measures, row.run.target, Some(row))? {
                positions.insert(index, evidence.rows.len());
                evidence.rows.push(row);
            }
        }
        is_complete &= positions.len() == placement.rows.len();
        is_complete &= self.offered.add_blocks(&mut evidence, &placement.blocks, &positions);
        self.checked(evidence, &texts, is_complete, checker)
    }

    /// Shows that no set does, as nothing on offer stops a run to a target.
    pub(super) fn impossible(&self, target: Target, checker: Checker<'_>) -> Result<Shown, PropertyRepairError> {
        let mut evidence = self.evidence();
        evidence.rows.extend(self.row(&[], target, None)?);
        let is_complete = !evidence.rows.is_empty();
        self.checked(evidence, &[], is_complete, checker)
    }

    /// Whether a repaired text says the program with a set. What its joint control states and final
    /// states are is not part of that.
    fn is_said_by(&self, text: &ProvedText<'_>, evidence: &RepairEvidence, set: &[usize]) -> bool {
        self.program.never.is_empty()
            && !self.targets.contains(&Target::FinalStates)
            && check_repaired_text(self.program, evidence, set, text.program).is_ok()
    }

    /// A set with the proof that it is valid, by the program that the checker makes; none where
    /// some target has no proof.
    fn valid(&self, set: &[Measure]) -> Result<Option<ValidSet>, PlacementError> {
        let changed = self.watched_with(|measure| set.contains(&measure));
        let proof = prove(&changed, self.question, &proving(self.options, &self.targets));
        let proof = proof.map_err(FenceError::Fault)?;
        let evidence = proof.evidence().filter(|_| proof.holds());
        let set = self.offered.positions(set);
        Ok(evidence.map(|proof| ValidSet { set, repaired: None, proof: ValidProof::Properties(proof) }))
    }

    /// A row, by a violation of the program with all measures but these: the run that was found
    /// where it can be followed there, or else one that is sought anew; none where none is found
    /// within the limits.
    fn row(
        &self,
        measures: &[Measure],
        target: Target,
        found: Option<&PropertyRow>,
    ) -> Result<Option<Row>, PlacementError> {
        let changed = self.watched_with(|measure| !measures.contains(&measure));
        let retraced = found.and_then(|found| retraced(found, &changed));
        let retraced = retraced.filter(|witness| check_property_witness(&changed, self.question, witness).is_ok());
        let witness = if retraced.is_some() { retraced } else { self.sought(&changed, target)? };
        let measures = self.offered.positions(measures);
        Ok(witness.map(|witness| Row { measures, witness: RowWitness::Violated(witness) }))
    }

    fn sought(&self, changed: &Program, target: Target) -> Result<Option<PropertyWitness>, PlacementError> {
        let options = ProveOptions { shorten: false, ..proving(self.options, &[target]) };
        let proof = prove(changed, self.question, &options).map_err(FenceError::Fault)?;
        Ok(proof.violations().next().map(Violation::witness))
    }

    /// Has evidence checked.
    fn checked(
        &self,
        evidence: RepairEvidence,
        texts: &[Option<Program>],
        is_complete: bool,
        checker: Checker<'_>,
    ) -> Result<Shown, PropertyRepairError> {
        let evidence = Arc::new(evidence);
        let (program, question, own) = (self.program.clone(), self.question.cloned(), evidence.clone());
        let texts = texts.to_vec();
        let facts = checker.check(move || check_repair(&program, question.as_ref(), &own, &texts))?;
        let is_complete = is_complete && facts.is_some();
        Ok(Shown { evidence: Arc::unwrap_or_clone(evidence), facts, is_complete })
    }
}

/// All measures that the options permit; those that are on offer with their costs.
pub(super) fn permitted(
    program: &Program,
    options: &PlacementOptions,
    on_offer: Vec<(Measure, Cost)>,
) -> Vec<(Measure, Option<Cost>)> {
    let mut costs: FxHashMap<Measure, Cost> = on_offer.into_iter().collect();
    all_permitted(program, options).into_iter().map(|measure| (measure, costs.remove(&measure))).collect()
}

/// All measures that the options permit.
pub(crate) fn all_permitted(program: &Program, options: &PlacementOptions) -> Vec<Measure> {
    let mut measures = Vec::new();
    for (thread, template) in program.thread_ids().filter(|(_, thread)| thread.copies != Copies::Exactly(0)) {
        let by_label = template.instructions_by_label();
        for label in (0..by_label.len()).filter(|label| !by_label[*label].is_empty()).map(LabelId::from_index) {
            measures.push(Measure::Fence { thread, label });
            measures.extend((options.model == Model::Pso).then_some(Measure::StoreFence { thread, label }));
        }
        let is_store = |action: &Action| options.exchange.is_some() && matches!(action, Action::Store { .. });
        let stores = template.instruction_ids().filter(|(_, instruction)| is_store(&instruction.action));
        measures.extend(stores.map(|(store, _)| Measure::Exchange { thread, store }));
    }
    let sites = Sites::of(program);
    let is_of_site = |measure: &Measure| measure.at_site(&sites) == Some(*measure);
    measures.retain(|measure| is_of_site(measure) && options.permits(program, &sites, *measure));
    measures
}

/// The unit of the costs of evidence that offers the measures that the options permit at their
/// costs; nothing where it offers others, or has taken some in any case.
///
/// # Errors
///
/// When the options give no cost for a measure to which the evidence gives one.
pub fn unit_of_costs(
    program: &Program,
    options: &PlacementOptions,
    evidence: &RepairEvidence,
) -> Result<Option<CostUnit>, CostError> {
    let sites = Sites::of(program);
    let costs = options.cost.of_measures(program, &sites);
    unit_among(program, &all_permitted(program, options), |measure| options.cost_of(measure, &costs), evidence)
}
