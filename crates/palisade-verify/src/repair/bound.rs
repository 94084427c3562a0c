//! Checks what a set costs at least that has one measure of each row: cases and weights, in exact
//! arithmetic.

use crate::CheckFailure;
use num_bigint::BigUint;
use num_traits::Zero;
use palisade_evidence::{Block, Case, RepairEvidence};
use palisade_invariants::reject;
use std::collections::{BTreeMap, BTreeSet};

/// What the sets of a case have in common.
#[derive(Clone, Default)]
struct Situation {
    /// They have these measures.
    chosen: BTreeSet<usize>,
    /// They do not have these.
    excluded: BTreeSet<usize>,
    /// What the measures chosen cost.
    cost: BigUint,
}

/// Checks all blocks; the sum of their least costs.
pub(super) fn check_bound(evidence: &RepairEvidence) -> Result<BigUint, CheckFailure> {
    let mut used = BTreeSet::new();
    let mut bound = BigUint::zero();
    for (number, block) in evidence.bound.iter().enumerate() {
        let measures = check_block(evidence, block)
            .map_err(|failure| failure.within(format_args!("block {number} of the bound")))?;
        for measure in measures {
            if !used.insert(measure) {
                reject!(Form, "two blocks of the bound share measure {measure}");
            }
        }
        bound += block.least.to_big();
    }
    Ok(bound)
}

/// Checks a block; the measures of its rows.
fn check_block(evidence: &RepairEvidence, block: &Block) -> Result<BTreeSet<usize>, CheckFailure> {
    let mut open = vec![Situation::default()];
    let mut used = BTreeSet::new();
    for case in &block.cases {
        let Some(situation) = open.pop() else { reject!(Form, "there are more cases than the branches ask for") };
        match case {
            Case::Branch(row) => {
                let measures = untouched_row(evidence, *row, &situation)?;
                used.extend(measures);
                let mut children = children(evidence, measures, situation)?;
                children.reverse();
                open.append(&mut children);
            }
            Case::Leaf(weights) => {
                for (row, _) in weights {
                    used.extend(untouched_row(evidence, *row, &situation)?);
                }
                check_leaf(evidence, weights.iter().map(|(row, weight)| (*row, weight.to_big())), &situation, block)?;
            }
        }
    }
    if !open.is_empty() {
        reject!(Form, "{} of the cases that the branches ask for are missing", open.len());
    }
    Ok(used)
}

/// The measures of a row, none of which is chosen.
fn untouched_row<'e>(
    evidence: &'e RepairEvidence,
    row: usize,
    situation: &Situation,
) -> Result<&'e [usize], CheckFailure> {
    let Some(found) = evidence.rows.get(row) else { reject!(Form, "there is no row {row}") };
    if let Some(measure) = found.measures.iter().find(|measure| situation.chosen.contains(*measure)) {
        reject!(Inductive, "row {row} contains measure {measure}, which is chosen");
    }
    Ok(&found.measures)
}

/// The cases of a branch: the first measure of the row that a set has is one of those not excluded.
fn children(
    evidence: &RepairEvidence,
    row: &[usize],
    mut situation: Situation,
) -> Result<Vec<Situation>, CheckFailure> {
    let mut children = Vec::new();
    for measure in row {
        if situation.excluded.contains(measure) {
            continue;
        }
        let mut child = situation.clone();
        child.chosen.insert(*measure);
        child.cost += cost_of(evidence, *measure)?;
        children.push(child);
        situation.excluded.insert(*measure);
    }
    Ok(children)
}

/// Checks that the rows of no measure weigh more than it costs, and that all weights reach the
/// bound.
fn check_leaf(
    evidence: &RepairEvidence,
    weights: impl Iterator<Item = (usize, BigUint)>,
    situation: &Situation,
    block: &Block,
) -> Result<(), CheckFailure> {
    let mut load: BTreeMap<usize, BigUint> = BTreeMap::new();
    let mut total = situation.cost.clone();
    for (row, weight) in weights {
        for measure in evidence.rows[row].measures.iter().filter(|measure| !situation.excluded.contains(*measure)) {
            *load.entry(*measure).or_default() += &weight;
        }
        total += weight;
    }
    for (measure, load) in &load {
        let cost = cost_of(evidence, *measure)?;
        if *load > cost {
            reject!(Inductive, "the rows of measure {measure} weigh {load}, but it costs {cost}");
        }
    }
    if total < block.least.to_big() {
        reject!(Safe, "a case comes to {total} only, not to {}", block.least);
    }
    Ok(())
}

/// What a measure costs.
pub(super) fn cost_of(evidence: &RepairEvidence, measure: usize) -> Result<BigUint, CheckFailure> {
    match evidence.measures.get(measure) {
        Some((_, Some(cost))) => Ok(cost.to_big()),
        _ => reject!(Form, "measure {measure} has no cost"),
    }
}
