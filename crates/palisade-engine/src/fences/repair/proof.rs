//! Evidence for the claims about a repair: violations for the rows, cases for the bound.

use super::few_copies::{Wanted, stories_of_few};
use crate::fences::Measure;
use crate::fences::computation::Computation;
use crate::fences::cost::Cost;
use crate::fences::offered::Offered;
use crate::fences::options::FenceOptions;
use crate::fences::place::Proof;
use crate::robustness::{Story, Violation, violation_by, witness_evidence};
use palisade_evidence::{self as evidence, RepairClaim, RepairEvidence, Row, RowWitness, ValidProof, ValidSet};
use palisade_exploration::instrumented::{Attack, Fault};
use palisade_model::program::Program;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The measures on offer for a program that is to be robust.
pub(super) struct Offer<'a> {
    offered: Offered<'a>,
    /// The program with what is taken in any case and none of the measures.
    bare: Program,
    options: &'a FenceOptions,
    /// How many violations were sought, because the search for the row had left none behind.
    sought: AtomicUsize,
}

impl<'a> Offer<'a> {
    pub(super) fn new(
        program: &'a Program,
        options: &'a FenceOptions,
        taken: &'a [Measure],
        measures: Vec<(Measure, Option<Cost>)>,
    ) -> Self {
        let offered = Offered::new(program, taken, measures);
        let bare = offered.program_with(|_| false);
        Self { offered, bare, options, sought: AtomicUsize::new(0) }
    }

    /// How many violations were sought, because the search for the row had left none behind.
    pub(super) fn sought(&self) -> usize {
        self.sought.load(Ordering::Relaxed)
    }

    /// The program with a set of measures, as the checker makes it.
    pub(super) fn program_with(&self, is_in_set: impl Fn(Measure) -> bool) -> Program {
        self.offered.program_with(is_in_set)
    }

    /// The positions of some measures, ascending.
    pub(super) fn positions(&self, set: &[Measure]) -> Vec<usize> {
        self.offered.positions(set)
    }

    /// Evidence for nothing yet.
    pub(super) fn evidence(&self) -> RepairEvidence {
        self.offered.evidence(RepairClaim::Robust)
    }

    /// The row, by a violation of the program with all measures but these: the one that a
    /// computation shows, or else one that is sought; none when none is found within the limits.
    pub(super) fn row(
        &self,
        attack: Attack,
        row: &[Measure],
        known: Option<&Computation>,
    ) -> Result<Option<Row>, Fault> {
        let changed = self.program_with(|measure| !row.contains(&measure));
        let known = match known {
            Some(Computation::Bare(story)) => self.violation_of(story, &changed),
            Some(Computation::AllBut(violation)) => Some((**violation).clone()),
            None => None,
        };
        if let Some(violation) = known {
            let witness = RowWitness::NotRobust(witness_evidence(&violation));
            return Ok(Some(Row { measures: self.positions(row), witness }));
        }
        self.sought.fetch_add(1, Ordering::Relaxed);
        let violation = match violation_by(&changed, attack, &self.options.for_checks()) {
            // Where values grow, the search for a violation may end with that.
            Err(fault) if fault.is_growth() => None,
            found => found?,
        };
        let witness = violation.as_ref().map(witness_evidence);
        Ok(witness.map(|witness| Row { measures: self.positions(row), witness: RowWitness::NotRobust(witness) }))
    }

    /// The violation of a program with measures that a computation without any is.
    fn violation_of(&self, story: &Story, changed: &Program) -> Option<Violation> {
        let violation = story.clone().finish(&self.bare, false).in_changed(&self.bare, changed);
        debug_assert!(violation.is_some(), "a measure outside the row stands in the way of its computation");
        violation
    }

    /// Adds the rows of a proof that are needed and for which violations are found, and the blocks
    /// that rest on these; whether these are all.
    pub(super) fn add_bound(
        &self,
        evidence: &mut RepairEvidence,
        proof: &Proof,
        needed: &[usize],
    ) -> Result<bool, Fault> {
        let in_cases = proof.blocks.iter().flat_map(|(_, cases)| cases).flatten().flat_map(super::Case::rows);
        let wanted: BTreeSet<usize> = in_cases.chain(needed.iter().copied()).collect();
        let mut added: BTreeMap<usize, usize> = BTreeMap::new();
        let without_story: Vec<Wanted<'_>> = wanted
            .iter()
            .filter(|index| proof.computations[**index].is_none())
            .map(|index| (*index, proof.rows[*index].0, proof.rows[*index].1.as_slice()))
            .collect();
        let measures: Vec<Measure> = self.offered.measures().collect();
        let of_few = stories_of_few(&self.bare, self.offered.sites(), &measures, &without_story, self.options);
        let found: Vec<(usize, Result<Option<Row>, Fault>)> = wanted
            .par_iter()
            .map(|index| {
                let (attack, row) = &proof.rows[*index];
                let known = proof.computations[*index].as_ref().or_else(|| of_few.get(index));
                (*index, self.row(*attack, row, known))
            })
            .collect();
        for (index, row) in found {
            if let Some(row) = row? {
                added.insert(index, evidence.rows.len());
                evidence.rows.push(row);
            }
        }
        let has_all_blocks = self.offered.add_blocks(evidence, &proof.blocks, &added);
        Ok(added.len() == wanted.len() && has_all_blocks)
    }
}

/// A valid set by the program that the checker makes.
pub(super) fn valid_set(set: Vec<usize>, certificate: Arc<evidence::RobustCertificate>) -> ValidSet {
    ValidSet { set, repaired: None, proof: ValidProof::Robust(certificate) }
}
