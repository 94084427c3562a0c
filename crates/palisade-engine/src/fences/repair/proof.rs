//! Evidence for the claims about a repair: violations for the rows, cases for the bound.

use super::few_copies::{Wanted, stories_of_few};
use crate::fences::cost::Cost;
use crate::fences::options::FenceOptions;
use crate::fences::place::Proof;
use crate::fences::{Measure, fences_removed, with_measures};
use crate::robustness::{Attack, Fault, Story, Violation, violation_by, witness_evidence};
use num_bigint::BigInt;
use palisade_evidence::{
    self as evidence, Block, Change, RepairClaim, RepairEvidence, Row, RowWitness, ValidProof, ValidSet,
};
use palisade_model::net::Count;
use palisade_model::program::Program;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The measures on offer for a program, with what they cost, and what is taken in any case.
pub(super) struct Offer<'a> {
    program: &'a Program,
    /// The program with what is taken in any case and none of the measures.
    bare: Program,
    options: &'a FenceOptions,
    taken: &'a [Measure],
    /// In the order of the evidence.
    measures: Vec<(Measure, Option<Cost>)>,
    /// The unit of the costs in the evidence is that part of 1.
    parts: BigInt,
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
        let costs: Vec<Cost> = measures.iter().filter_map(|(_, cost)| cost.clone()).collect();
        let (_, parts) = Cost::in_common_unit(&costs);
        let mut offer =
            Self { program, bare: program.clone(), options, taken, measures, parts, sought: AtomicUsize::new(0) };
        offer.bare = offer.program_with(|_| false);
        offer
    }

    /// How many violations were sought, because the search for the row had left none behind.
    pub(super) fn sought(&self) -> usize {
        self.sought.load(Ordering::Relaxed)
    }

    /// The program with a set of measures, as the checker makes it.
    pub(super) fn program_with(&self, is_in_set: impl Fn(Measure) -> bool) -> Program {
        let (mut made, mut gone) = (self.taken.to_vec(), Vec::new());
        for (measure, _) in &self.measures {
            match *measure {
                _ if is_in_set(*measure) => made.push(*measure),
                Measure::Kept { thread, fence } => gone.push((thread, fence)),
                _ => {}
            }
        }
        fences_removed(&with_measures(self.program, &made), gone)
    }

    /// The positions of some measures, ascending.
    pub(super) fn positions(&self, set: &[Measure]) -> Vec<usize> {
        (0..self.measures.len()).filter(|position| set.contains(&self.measures[*position].0)).collect()
    }

    /// Evidence for nothing yet.
    pub(super) fn evidence(&self) -> RepairEvidence {
        let count = |cost: &Cost| Count::from(cost.in_units(&self.parts).expect("the unit is one of all costs"));
        RepairEvidence {
            claim: RepairClaim::Robust,
            taken: self.taken.iter().map(|measure| change(*measure)).collect(),
            measures: self
                .measures
                .iter()
                .map(|(measure, cost)| (change(*measure), cost.as_ref().map(count)))
                .collect(),
            valid: Vec::new(),
            rows: Vec::new(),
            bound: Vec::new(),
        }
    }

    /// The row, by a violation of the program with all measures but these: the one of a computation of the program without any
    /// measure, or else one that is sought; none when none is found within the limits.
    pub(super) fn row(&self, attack: Attack, row: &[Measure], story: Option<&Story>) -> Result<Option<Row>, Fault> {
        let changed = self.program_with(|measure| !row.contains(&measure));
        if let Some(violation) = story.and_then(|story| self.violation_of(story, &changed)) {
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

    /// Adds the rows of a proof that are needed and for which violations are found, and the blocks that rest on these;
    /// whether these are all.
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
            .filter(|index| proof.stories[**index].is_none())
            .map(|index| (*index, proof.rows[*index].0, proof.rows[*index].1.as_slice()))
            .collect();
        let measures: Vec<Measure> = self.measures.iter().map(|(measure, _)| *measure).collect();
        let of_few = stories_of_few(&self.bare, &measures, &without_story, self.options);
        let found: Vec<(usize, Result<Option<Row>, Fault>)> = wanted
            .par_iter()
            .map(|index| {
                let (attack, row) = &proof.rows[*index];
                let story = proof.stories[*index].as_ref().or_else(|| of_few.get(index));
                (*index, self.row(*attack, row, story))
            })
            .collect();
        for (index, row) in found {
            if let Some(row) = row? {
                added.insert(index, evidence.rows.len());
                evidence.rows.push(row);
            }
        }
        for (least, cases) in &proof.blocks {
            let Some(cases) = cases else { continue };
            if cases.iter().flat_map(super::Case::rows).all(|row| added.contains_key(&row)) {
                evidence.bound.extend(self.block(least, cases, &added));
            }
        }
        Ok(added.len() == wanted.len() && evidence.bound.len() == proof.blocks.len())
    }

    /// A block in the terms of the evidence; none when a weight is no whole number of units.
    fn block(&self, least: &Cost, cases: &[super::Case<Cost>], rows: &BTreeMap<usize, usize>) -> Option<Block> {
        let count = |cost: &Cost| cost.in_units(&self.parts).map(Count::from);
        let case = |case: &super::Case<Cost>| match case {
            super::Case::Branch(row) => Some(evidence::Case::Branch(rows[row])),
            super::Case::Leaf(weights) => {
                let weights = weights.iter().map(|(row, weight)| Some((rows[row], count(weight)?)));
                weights.collect::<Option<Vec<_>>>().map(evidence::Case::Leaf)
            }
        };
        Some(Block { least: count(least)?, cases: cases.iter().map(case).collect::<Option<_>>()? })
    }
}

/// A measure in the terms of the evidence.
fn change(measure: Measure) -> Change {
    match measure {
        Measure::Fence { thread, label } => Change::Fence { thread, label },
        Measure::StoreFence { .. } => unreachable!("robustness, which is about TSO, offers no store fences"),
        Measure::Exchange { thread, store } => Change::Exchange { thread, store },
        Measure::Kept { thread, fence } => Change::Keep { thread, fence },
    }
}

/// A valid set by the program that the checker makes.
pub(super) fn valid_set(set: Vec<usize>, certificate: evidence::RobustCertificate) -> ValidSet {
    ValidSet { set, repaired: None, proof: ValidProof::Robust(certificate) }
}
