//! Evidence about repairs as text: changes as short lists, sets and rows as positions in the list of measures.

use super::MalformedEvidence;
use super::header::InputText;
use super::number::N;
use super::program::{RobustIn, RobustOut};
use super::property::{ModelText, PropertyText, TargetText, ViolationText};
use super::strict::{Object, nullable, present, word};
use super::tasks::{TaskCertificateText, TaskWitnessText};
use super::witness::WitnessText;
use crate::{Block, BufferInvariant, Case, RepairClaim, RepairEvidence, Row, RowWitness, ValidProof, ValidSet};
use palisade_model::net::Count;
use palisade_model::program::{InstructionId, LabelId, Measure, ThreadId};
use serde::{Deserialize, Deserializer, Serialize};
use std::sync::Arc;

/// The evidence as it is written (with `RobustOut` for `R`) and read (with `RobustIn`).
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "R: Deserialize<'de>, B: Deserialize<'de>"))]
pub(super) struct RepairText<R, B> {
    /// What sets are to bring about; left out for robustness.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    properties: Option<Object<ClaimText>>,
    taken: Vec<(KindText, u32, u32)>,
    /// `[kind, thread, label or instruction, cost]`; the cost is null where there is none.
    measures: Vec<(KindText, u32, u32, Option<N<Count>>)>,
    valid: Vec<Object<ValidText<R, B>>>,
    rows: Vec<Object<RowText>>,
    bound: Vec<Object<BlockText>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimText {
    model: ModelText,
    targets: Vec<TargetText>,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum KindText {
    Fence,
    Sfence,
    Xchg,
    Keep,
}

impl<'de> Deserialize<'de> for KindText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        word(deserializer, "\"fence\", \"sfence\", \"xchg\" or \"keep\"", |text| match text {
            "fence" => Some(Self::Fence),
            "sfence" => Some(Self::Sfence),
            "xchg" => Some(Self::Xchg),
            "keep" => Some(Self::Keep),
            _ => None,
        })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "R: Deserialize<'de>, B: Deserialize<'de>"))]
struct ValidText<R, B> {
    set: Vec<usize>,
    #[serde(deserialize_with = "nullable")]
    repaired: Option<Object<InputText>>,
    /// For robustness.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    robust: Option<Object<R>>,
    /// For robustness of a program with events or tasks.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    tasks: Option<Object<TaskCertificateText>>,
    /// For properties.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    property: Option<Object<PropertyText<R, B>>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RowText {
    measures: Vec<usize>,
    /// For robustness.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    witness: Option<Object<WitnessText>>,
    /// For robustness of a program with events or tasks.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    computation: Option<Object<TaskWitnessText>>,
    /// For properties.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    violation: Option<Object<ViolationText>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BlockText {
    least: N<Count>,
    cases: Vec<CaseText>,
}

/// A row's number for a branch, `[[row, weight], …]` for a leaf.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum CaseText {
    Branch(usize),
    Leaf(Vec<(usize, N<Count>)>),
}

fn number(index: usize) -> u32 {
    u32::try_from(index).expect("arenas stay below 2^32 elements")
}

/// A change in its written form.
fn change_out(change: Measure) -> (KindText, u32, u32) {
    let (kind, thread, place) = match change {
        Measure::Fence { thread, label } => (KindText::Fence, thread, label.index()),
        Measure::StoreFence { thread, label } => (KindText::Sfence, thread, label.index()),
        Measure::Exchange { thread, store } => (KindText::Xchg, thread, store.index()),
        Measure::Kept { thread, fence } => (KindText::Keep, thread, fence.index()),
    };
    (kind, number(thread.index()), number(place))
}

/// The change that is written so.
fn change_in((kind, thread, place): (KindText, u32, u32)) -> Measure {
    let (thread, place) = (ThreadId::from_index(thread as usize), place as usize);
    match kind {
        KindText::Fence => Measure::Fence { thread, label: LabelId::from_index(place) },
        KindText::Sfence => Measure::StoreFence { thread, label: LabelId::from_index(place) },
        KindText::Xchg => Measure::Exchange { thread, store: InstructionId::from_index(place) },
        KindText::Keep => Measure::Kept { thread, fence: InstructionId::from_index(place) },
    }
}

impl From<&Case> for CaseText {
    fn from(case: &Case) -> Self {
        match case {
            Case::Branch(row) => Self::Branch(*row),
            Case::Leaf(weights) => Self::Leaf(weights.iter().map(|(row, weight)| (*row, N(weight.clone()))).collect()),
        }
    }
}

impl From<CaseText> for Case {
    fn from(text: CaseText) -> Self {
        match text {
            CaseText::Branch(row) => Self::Branch(row),
            CaseText::Leaf(weights) => Self::Leaf(weights.into_iter().map(|(row, weight)| (row, weight.0)).collect()),
        }
    }
}

impl<'a> From<&'a RepairEvidence> for RepairText<RobustOut<'a>, &'a BufferInvariant> {
    fn from(evidence: &'a RepairEvidence) -> Self {
        let measure = |(change, cost): &(Measure, Option<Count>)| {
            let (kind, thread, place) = change_out(*change);
            (kind, thread, place, cost.clone().map(N))
        };
        let valid = |valid: &'a ValidSet| {
            let (robust, tasks, property) = match &valid.proof {
                ValidProof::Robust(certificate) => (Some(Object(certificate.as_ref().into())), None, None),
                ValidProof::Tasks(certificate) => (None, Some(Object(certificate.into())), None),
                ValidProof::Properties(evidence) => (None, None, Some(Object(evidence.into()))),
            };
            let repaired = valid.repaired.as_ref().map(Into::into);
            Object(ValidText { set: valid.set.clone(), repaired, robust, tasks, property })
        };
        let row = |row: &Row| {
            let (witness, computation, violation) = match &row.witness {
                RowWitness::NotRobust(witness) => (Some(Object(witness.into())), None, None),
                RowWitness::Tasks(witness) => (None, Some(Object(witness.into())), None),
                RowWitness::Violated(witness) => (None, None, Some(Object(witness.into()))),
            };
            Object(RowText { measures: row.measures.clone(), witness, computation, violation })
        };
        let block = |block: &Block| {
            let cases = block.cases.iter().map(Into::into).collect();
            Object(BlockText { least: N(block.least.clone()), cases })
        };
        let properties = match &evidence.claim {
            RepairClaim::Robust => None,
            RepairClaim::Properties { model, targets } => Some(Object(ClaimText {
                model: ModelText(*model),
                targets: targets.iter().copied().map(TargetText).collect(),
            })),
        };
        Self {
            properties,
            taken: evidence.taken.iter().copied().map(change_out).collect(),
            measures: evidence.measures.iter().map(measure).collect(),
            valid: evidence.valid.iter().map(valid).collect(),
            rows: evidence.rows.iter().map(row).collect(),
            bound: evidence.bound.iter().map(block).collect(),
        }
    }
}

impl TryFrom<RepairText<RobustIn, BufferInvariant>> for RepairEvidence {
    type Error = MalformedEvidence;

    fn try_from(text: RepairText<RobustIn, BufferInvariant>) -> Result<Self, MalformedEvidence> {
        let missing =
            |what: &str| MalformedEvidence::new(format!("a {what} has not just the part that the claim asks for"));
        let is_robust = text.properties.is_none();
        let valid = |Object(valid): Object<ValidText<RobustIn, BufferInvariant>>| {
            let proof = match (valid.robust, valid.tasks, valid.property) {
                (Some(Object(certificate)), None, None) if is_robust => {
                    ValidProof::Robust(Arc::new(certificate.into()))
                }
                (None, Some(Object(certificate)), None) if is_robust => ValidProof::Tasks(certificate.into()),
                (None, None, Some(Object(evidence))) if !is_robust => ValidProof::Properties(evidence.into()),
                _ => return Err(missing("valid set")),
            };
            Ok(ValidSet { set: valid.set, repaired: valid.repaired.map(Into::into), proof })
        };
        let row = |Object(row): Object<RowText>| {
            let witness = match (row.witness, row.computation, row.violation) {
                (Some(Object(witness)), None, None) if is_robust => RowWitness::NotRobust(witness.try_into()?),
                (None, Some(Object(witness)), None) if is_robust => RowWitness::Tasks(witness.try_into()?),
                (None, None, Some(Object(witness))) if !is_robust => RowWitness::Violated(witness.try_into()?),
                _ => return Err(missing("row")),
            };
            Ok(Row { measures: row.measures, witness })
        };
        let block = |Object(block): Object<BlockText>| Block {
            least: block.least.0,
            cases: block.cases.into_iter().map(Into::into).collect(),
        };
        let measure = |(kind, thread, place, cost): (KindText, u32, u32, Option<N<Count>>)| {
            (change_in((kind, thread, place)), cost.map(|cost| cost.0))
        };
        let claim = |Object(claim): Object<ClaimText>| RepairClaim::Properties {
            model: claim.model.0,
            targets: claim.targets.into_iter().map(|target| target.0).collect(),
        };
        Ok(Self {
            claim: text.properties.map_or(RepairClaim::Robust, claim),
            taken: text.taken.into_iter().map(change_in).collect(),
            measures: text.measures.into_iter().map(measure).collect(),
            valid: text.valid.into_iter().map(valid).collect::<Result<_, MalformedEvidence>>()?,
            rows: text.rows.into_iter().map(row).collect::<Result<_, MalformedEvidence>>()?,
            bound: text.bound.into_iter().map(block).collect(),
        })
    }
}
