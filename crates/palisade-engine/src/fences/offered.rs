//! The measures on offer for a program, in the terms of evidence.

use super::cases::Case;
use super::catalogues::{permitted, priced as cost_of};
use super::change::{order, remove_fences, with_measures_at};
use super::cost::{Cost, CostError};
use super::options::FenceOptions;
use num_bigint::{BigInt, BigUint};
use palisade_evidence::{self as evidence, Block, RepairClaim, RepairEvidence};
use palisade_model::net::Count;
use palisade_model::program::{Measure, Program, Sites};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The measures on offer for a program, with what they cost, and what is taken in any case.
pub(crate) struct Offered<'a> {
    program: &'a Program,
    sites: Sites,
    taken: &'a [Measure],
    /// In the order of the evidence.
    measures: Vec<(Measure, Option<Cost>)>,
    /// The unit of the costs in the evidence is that part of 1.
    parts: BigInt,
}

impl<'a> Offered<'a> {
    pub(crate) fn new(program: &'a Program, taken: &'a [Measure], measures: Vec<(Measure, Option<Cost>)>) -> Self {
        let costs: Vec<Cost> = measures.iter().filter_map(|(_, cost)| cost.clone()).collect();
        let (_, parts) = Cost::in_common_unit(&costs);
        Self { program, sites: Sites::of(program), taken, measures, parts }
    }

    /// The program as it is.
    pub(crate) fn program(&self) -> &'a Program {
        self.program
    }

    /// The sites of the program.
    pub(crate) fn sites(&self) -> &Sites {
        &self.sites
    }

    /// All measures, in the order of the evidence.
    pub(crate) fn measures(&self) -> impl Iterator<Item = Measure> {
        self.measures.iter().map(|(measure, _)| *measure)
    }

    /// The program with a set of measures, as the checker makes it.
    pub(crate) fn program_with(&self, is_in_set: impl Fn(Measure) -> bool) -> Program {
        let (mut made, mut gone) = (self.taken.to_vec(), Vec::new());
        for measure in self.measures() {
            match measure {
                _ if is_in_set(measure) => made.push(measure),
                Measure::Kept { thread, fence } => gone.extend(self.sites.instructions(thread, fence)),
                _ => {}
            }
        }
        let is_ordering = |measure: &Measure| matches!(measure, Measure::Ordered { .. });
        let orderings: Vec<(Measure, bool)> =
            self.measures().filter(is_ordering).map(|measure| (measure, is_in_set(measure))).collect();
        made.retain(|measure| !is_ordering(measure));
        let mut changed = with_measures_at(self.program, &self.sites, &made);
        order(&mut changed, &self.sites, orderings);
        remove_fences(&mut changed, gone);
        changed
    }

    /// The positions of some measures, ascending.
    pub(crate) fn positions(&self, set: &[Measure]) -> Vec<usize> {
        (0..self.measures.len()).filter(|position| set.contains(&self.measures[*position].0)).collect()
    }

    /// Evidence for nothing yet.
    pub(crate) fn evidence(&self, claim: RepairClaim) -> RepairEvidence {
        let count = |cost: &Cost| Count::from(cost.in_units(&self.parts).expect("the unit is one of all costs"));
        RepairEvidence {
            claim,
            taken: self.taken.to_vec(),
            measures: self.measures.iter().map(|(measure, cost)| (*measure, cost.as_ref().map(count))).collect(),
            valid: Vec::new(),
            rows: Vec::new(),
            bound: Vec::new(),
        }
    }

    /// Adds the blocks of a bound that speak only of rows in the evidence, where `rows` says by
    /// which positions; whether these are all.
    pub(crate) fn add_blocks(
        &self,
        evidence: &mut RepairEvidence,
        blocks: &[(Cost, Option<Vec<Case<Cost>>>)],
        rows: &BTreeMap<usize, usize>,
    ) -> bool {
        for (least, cases) in blocks {
            let Some(cases) = cases else { continue };
            if cases.iter().flat_map(Case::rows).all(|row| rows.contains_key(&row)) {
                evidence.bound.extend(self.block(least, cases, rows));
            }
        }
        evidence.bound.len() == blocks.len()
    }

    /// A block in the terms of the evidence; none when a weight is no whole number of units.
    fn block(&self, least: &Cost, cases: &[Case<Cost>], rows: &BTreeMap<usize, usize>) -> Option<Block> {
        let count = |cost: &Cost| cost.in_units(&self.parts).map(Count::from);
        let case = |case: &Case<Cost>| match case {
            Case::Branch(row) => Some(evidence::Case::Branch(rows[row])),
            Case::Leaf(weights) => {
                let weights = weights.iter().map(|(row, weight)| Some((rows[row], count(weight)?)));
                weights.collect::<Option<Vec<_>>>().map(evidence::Case::Leaf)
            }
        };
        Some(Block { least: count(least)?, cases: cases.iter().map(case).collect::<Option<_>>()? })
    }
}

/// All permitted measures; those that are on offer with their costs.
pub(super) fn priced(
    program: &Program,
    options: &FenceOptions,
    on_offer: Vec<(Measure, Cost)>,
) -> Vec<(Measure, Option<Cost>)> {
    let mut costs: FxHashMap<Measure, Cost> = on_offer.into_iter().collect();
    permitted(program, options).into_iter().map(|measure| (measure, costs.remove(&measure))).collect()
}

/// The unit of the costs in evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostUnit(BigInt);

impl CostUnit {
    /// The cost of so many units.
    pub fn cost(&self, count: &BigUint) -> Cost {
        Cost::of_units(count, &self.0)
    }
}

/// The unit of the costs of evidence that offers the measures that the options permit at their
/// costs; nothing where it offers others, or has taken some in any case.
///
/// # Errors
///
/// When the options give no cost for a measure to which the evidence gives one.
pub fn unit_of_costs(
    program: &Program,
    options: &FenceOptions,
    evidence: &RepairEvidence,
) -> Result<Option<CostUnit>, CostError> {
    let sites = Sites::of(program);
    let fences = options.cost.of_measures(program, &sites);
    let cost = |measure: Measure| Ok(cost_of(measure, fences.dearest(measure)?, options));
    unit_among(program, &permitted(program, options), cost, evidence)
}

/// The unit of the costs of evidence that offers just these measures, each at its cost or at none.
pub(crate) fn unit_among(
    program: &Program,
    measures: &[Measure],
    cost: impl Fn(Measure) -> Result<Cost, CostError>,
    evidence: &RepairEvidence,
) -> Result<Option<CostUnit>, CostError> {
    if !evidence.taken.is_empty() || measures.len() != evidence.measures.len() {
        return Ok(None);
    }
    let priced = measures.iter().zip(&evidence.measures).map(|(measure, (_, count))| {
        let cost = count.as_ref().map(|_| cost(*measure)).transpose()?;
        Ok((*measure, cost))
    });
    let offered = Offered::new(program, &[], priced.collect::<Result<_, CostError>>()?);
    let is_same = offered.evidence(evidence.claim.clone()).measures == evidence.measures;
    Ok(is_same.then_some(CostUnit(offered.parts)))
}
