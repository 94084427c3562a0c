//! Fences by enumeration: which sets of measures keep a program from its targets, found by putting
//! them in and asking again.

use super::transversals::{bits, minimal_transversals};
use super::{Effort, Unanswered, reached};
use crate::{Instance, Model, Question, Target};
use palisade_model::program::{Action, Instruction, Label, LabelId, Program, Span, ThreadId};
use std::collections::BTreeSet;

/// A kind of fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FenceKind {
    /// `mfence`.
    Full,
    /// `sfence`.
    Store,
}

/// A fence before all instructions at a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FenceMeasure {
    /// The thread.
    pub thread: ThreadId,
    /// The label.
    pub label: LabelId,
    /// The fence.
    pub kind: FenceKind,
}

/// What [`minimal_valid_sets`] has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placements {
    /// The measures that sets consist of; a set has a bit for each, the first one lowest.
    pub measures: Vec<FenceMeasure>,
    /// The minimal valid sets. None when even all measures together keep no target from being
    /// reached; the empty set alone when nothing is reached anyway.
    pub valid: Vec<u128>,
    /// The minimal rows: sets of measures of which every valid set has one.
    pub rows: Vec<u128>,
    /// How often the search explored a program.
    pub queries: usize,
}

impl Placements {
    /// The measures of a set.
    pub fn set(&self, bits: u128) -> BTreeSet<FenceMeasure> {
        chosen(&self.measures, bits).collect()
    }
}

/// All measures of a program: `mfence` at every label with instructions, under PSO also `sfence`.
pub fn measures(program: &Program, model: Model) -> Vec<FenceMeasure> {
    let kinds: &[FenceKind] = match model {
        Model::Sc => &[],
        Model::Tso => &[FenceKind::Full],
        Model::Pso => &[FenceKind::Full, FenceKind::Store],
    };
    let mut measures = Vec::new();
    for (thread, template) in program.thread_ids() {
        for (index, instructions) in template.instructions_by_label().iter().enumerate() {
            let label = LabelId::from_index(index);
            if !instructions.is_empty() {
                measures.extend(kinds.iter().map(|kind| FenceMeasure { thread, label, kind: *kind }));
            }
        }
    }
    measures
}

/// The program with fences: `l: a` becomes `l: mfence; goto m` and `m: a`. Instructions keep their
/// ids.
pub fn with_measures(program: &Program, measures: impl IntoIterator<Item = FenceMeasure>) -> Program {
    let mut changed = program.clone();
    for FenceMeasure { thread, label, kind } in measures {
        let thread = &mut changed.threads[thread.index()];
        let behind = LabelId::from_index(thread.labels.len());
        let name = format!("{}_{}", thread.label(label).name, behind.index());
        thread.labels.push(Label::new(name, Span::default()));
        for instruction in thread.instructions.iter_mut().filter(|instruction| instruction.source == label) {
            instruction.source = behind;
        }
        let action = match kind {
            FenceKind::Full => Action::Fence,
            FenceKind::Store => Action::StoreFence,
        };
        thread.instructions.push(Instruction::new(label, behind, action, Span::default()));
    }
    changed
}

/// All minimal sets of measures with which none of the targets is reached, and all minimal rows.
///
/// It asks programs with fences only (*dualise and advance*): a set that meets all rows known is
/// valid, or what it leaves out can be made smaller until it is another row. As every set that
/// contains a valid one is valid, the valid sets are those that contain one of the transversals of
/// the rows once all of these are valid.
pub fn minimal_valid_sets(
    program: &Program,
    instance: &Instance,
    question: Option<&Question>,
    targets: &BTreeSet<Target>,
    model: Model,
    effort: Effort,
) -> Result<Placements, Unanswered> {
    let mut found = Placements { measures: measures(program, model), ..Placements::default() };
    let count = found.measures.len();
    if count > 127 {
        return Err(Unanswered::Measures(count));
    }
    let all = (1u128 << count) - 1;
    let mut queries = 0;
    let mut is_valid = |set: u128| {
        queries += 1;
        let fenced = with_measures(program, chosen(&found.measures, set));
        let reached = reached(&fenced, instance, question, model, effort)?;
        match reached.targets.is_disjoint(targets) {
            false => Ok(false),
            true if reached.closed => Ok(true),
            true => Err(Unanswered::Capacity(effort.capacity)),
        }
    };
    let mut valid: BTreeSet<u128> = BTreeSet::new();
    let mut rows: Vec<u128> = Vec::new();
    if is_valid(all)? {
        while let Some(set) = minimal_transversals(&rows).into_iter().find(|set| !valid.contains(set)) {
            if is_valid(set)? {
                valid.insert(set);
                continue;
            }
            // Add what leaves it invalid: what is left out of the largest such set is a row.
            let mut row = all & !set;
            for bit in bits(row) {
                if !is_valid(all & !(row & !bit))? {
                    row &= !bit;
                }
            }
            rows.push(row);
        }
    }
    rows.sort_unstable();
    (found.valid, found.rows, found.queries) = (valid.into_iter().collect(), rows, queries);
    Ok(found)
}

/// The cheapest of some sets, all that cost the same, with the cost.
pub fn cheapest(found: &Placements, cost: impl Fn(&FenceMeasure) -> u64) -> Option<(u64, Vec<BTreeSet<FenceMeasure>>)> {
    let sum = |set: &u128| chosen(&found.measures, *set).map(|measure| cost(&measure)).sum::<u64>();
    let least = found.valid.iter().map(sum).min()?;
    Some((least, found.valid.iter().filter(|set| sum(set) == least).map(|set| found.set(*set)).collect()))
}

/// The measures of a set of bits.
fn chosen(measures: &[FenceMeasure], set: u128) -> impl Iterator<Item = FenceMeasure> + '_ {
    measures.iter().enumerate().filter(move |(index, _)| (set >> index) & 1 == 1).map(|(_, measure)| *measure)
}
