//! Evidence about repairs as text: changes as short lists, sets and rows as positions in the list
//! of measures.

use super::MalformedEvidence;
use super::hangs::{FreeText, StuckText};
use super::header::InputText;
use super::number::N;
use super::program::{RobustIn, RobustOut};
use super::property::{ModelText, PropertyText, TargetText, ViolationText};
use super::stale::{GraphText, LanguageText, StaleCertificateText};
use super::strict::{Object, nullable, present, word};
use super::tasks::{TaskCertificateText, TaskWitnessText};
use super::witness::WitnessText;
use crate::{Block, BufferInvariant, Case, RepairClaim, RepairEvidence, Row, RowWitness, ValidProof, ValidSet};
use palisade_model::net::Count;
use palisade_model::program::{InstructionId, LabelId, Measure, Ordering, ThreadId};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

/// The evidence as it is written (with `RobustOut` for `R`) and read (with `RobustIn`).
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "R: Deserialize<'de>, B: Deserialize<'de>"))]
pub(super) struct RepairText<'a, R, B> {
    /// What sets are to bring about; left out for robustness.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    properties: Option<Object<ClaimText>>,
    /// What sets are to bring about where it is that nobody waits for ever: the memory model.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    hangs: Option<ModelText>,
    /// With `hangs`: whether it is about programs in which no time runs out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    ignores_timeouts: bool,
    /// The language, where robustness against one is claimed.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    language: Option<LanguageText>,
    taken: Vec<(KindText, u32, u32)>,
    /// `[kind, thread, label or instruction, cost]`; the cost is null where there is none.
    measures: Vec<(KindText, u32, u32, Option<N<Count>>)>,
    valid: Vec<Object<ValidText<'a, R, B>>>,
    rows: Vec<Object<RowText>>,
    bound: Vec<Object<BlockText>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimText {
    model: ModelText,
    targets: Vec<TargetText>,
}

#[derive(Clone, Copy)]
enum KindText {
    Fence,
    Sfence,
    Xchg,
    Keep,
    /// An ordering by its word, behind `failure-` where it is that of an update that does not
    /// store.
    Ordered(bool, Ordering),
}

/// What stands before an ordering of an update that does not store.
const FAILURE: &str = "failure-";

impl Serialize for KindText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Fence => serializer.serialize_str("fence"),
            Self::Sfence => serializer.serialize_str("sfence"),
            Self::Xchg => serializer.serialize_str("xchg"),
            Self::Keep => serializer.serialize_str("keep"),
            Self::Ordered(false, ordering) => serializer.serialize_str(ordering.word()),
            Self::Ordered(true, ordering) => serializer.serialize_str(&[FAILURE, ordering.word()].concat()),
        }
    }
}

impl<'de> Deserialize<'de> for KindText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        word(deserializer, "\"fence\", \"sfence\", \"xchg\", \"keep\" or an ordering", |text| match text {
            "fence" => Some(Self::Fence),
            "sfence" => Some(Self::Sfence),
            "xchg" => Some(Self::Xchg),
            "keep" => Some(Self::Keep),
            text => match text.strip_prefix(FAILURE) {
                Some(text) => Ordering::named(text).map(|ordering| Self::Ordered(true, ordering)),
                None => Ordering::named(text).map(|ordering| Self::Ordered(false, ordering)),
            },
        })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "R: Deserialize<'de>, B: Deserialize<'de>"))]
struct ValidText<'a, R, B> {
    set: Vec<usize>,
    #[serde(deserialize_with = "nullable")]
    repaired: Option<Object<InputText>>,
    /// For robustness.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    robust: Option<Object<R>>,
    /// For robustness of a program with events or tasks.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    tasks: Option<Object<TaskCertificateText>>,
    /// For robustness against a language.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    language: Option<Object<StaleCertificateText>>,
    /// For properties.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    property: Option<Object<PropertyText<R, B>>>,
    /// For hangs.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    free: Option<Object<FreeText<'a, R>>>,
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
    /// For robustness against a language.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    graph: Option<Object<GraphText>>,
    /// For properties.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    violation: Option<Object<ViolationText>>,
    /// For hangs.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    stuck: Option<Object<StuckText>>,
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
        Measure::Ordered { thread, access, failing, ordering } => {
            (KindText::Ordered(failing, ordering), thread, access.index())
        }
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
        KindText::Ordered(failing, ordering) => {
            Measure::Ordered { thread, access: InstructionId::from_index(place), failing, ordering }
        }
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

impl<'a> From<&'a RepairEvidence> for RepairText<'a, RobustOut<'a>, &'a BufferInvariant> {
    fn from(evidence: &'a RepairEvidence) -> Self {
        let measure = |(change, cost): &(Measure, Option<Count>)| {
            let (kind, thread, place) = change_out(*change);
            (kind, thread, place, cost.clone().map(N))
        };
        let valid = |valid: &'a ValidSet| {
            let repaired = valid.repaired.as_ref().map(Into::into);
            let set = valid.set.clone();
            let (robust, tasks, language, property, free) = (None, None, None, None, None);
            let text = ValidText { set, repaired, robust, tasks, language, property, free };
            Object(match &valid.proof {
                ValidProof::Robust(own) => ValidText { robust: Some(Object(own.as_ref().into())), ..text },
                ValidProof::Tasks(own) => ValidText { tasks: Some(Object(own.into())), ..text },
                ValidProof::Language(own) => ValidText { language: Some(Object(own.into())), ..text },
                ValidProof::Properties(own) => ValidText { property: Some(Object(own.into())), ..text },
                ValidProof::Free(own) => ValidText { free: Some(Object(own.as_ref().into())), ..text },
            })
        };
        let row = |row: &Row| {
            let (witness, computation, graph, violation, stuck) = (None, None, None, None, None);
            let text = RowText { measures: row.measures.clone(), witness, computation, graph, violation, stuck };
            Object(match &row.witness {
                RowWitness::NotRobust(own) => RowText { witness: Some(Object(own.into())), ..text },
                RowWitness::Tasks(own) => RowText { computation: Some(Object(own.into())), ..text },
                RowWitness::Graph(own) => RowText { graph: Some(Object(own.into())), ..text },
                RowWitness::Violated(own) => RowText { violation: Some(Object(own.into())), ..text },
                RowWitness::Stuck(own) => RowText { stuck: Some(Object(own.into())), ..text },
            })
        };
        let block = |block: &Block| {
            let cases = block.cases.iter().map(Into::into).collect();
            Object(BlockText { least: N(block.least.clone()), cases })
        };
        let (mut properties, mut hangs, mut language, mut ignores) = (None, None, None, false);
        match &evidence.claim {
            RepairClaim::Robust => {}
            RepairClaim::Language(axioms) => language = Some(LanguageText(*axioms)),
            RepairClaim::Properties { model, targets } => {
                let targets = targets.iter().copied().map(TargetText).collect();
                properties = Some(Object(ClaimText { model: ModelText(*model), targets }));
            }
            RepairClaim::Hangs { model, graphs, ignores_timeouts } => {
                (hangs, ignores) = (Some(ModelText(*model)), *ignores_timeouts);
                language = graphs.map(LanguageText);
            }
        };
        Self {
            properties,
            hangs,
            ignores_timeouts: ignores,
            language,
            taken: evidence.taken.iter().copied().map(change_out).collect(),
            measures: evidence.measures.iter().map(measure).collect(),
            valid: evidence.valid.iter().map(valid).collect(),
            rows: evidence.rows.iter().map(row).collect(),
            bound: evidence.bound.iter().map(block).collect(),
        }
    }
}

impl TryFrom<RepairText<'_, RobustIn, BufferInvariant>> for RepairEvidence {
    type Error = MalformedEvidence;

    fn try_from(text: RepairText<'_, RobustIn, BufferInvariant>) -> Result<Self, MalformedEvidence> {
        let missing =
            |what: &str| MalformedEvidence::new(format!("a {what} has not just the part that the claim asks for"));
        let ignores_timeouts = text.ignores_timeouts;
        if ignores_timeouts && text.hangs.is_none() {
            return Err(MalformedEvidence::new("timeouts are ignored where hangs are claimed"));
        }
        let claim = match (text.properties, text.hangs, text.language) {
            (None, None, None) => RepairClaim::Robust,
            (Some(Object(ClaimText { model, targets })), None, None) => RepairClaim::Properties {
                model: model.0,
                targets: targets.into_iter().map(|target| target.0).collect(),
            },
            (None, Some(model), language) => {
                let graphs = language.map(|LanguageText(axioms)| axioms);
                RepairClaim::Hangs { model: model.0, graphs, ignores_timeouts }
            }
            (None, None, Some(LanguageText(axioms))) => RepairClaim::Language(axioms),
            _ => return Err(MalformedEvidence::new("a repair has one claim")),
        };
        let valid = |Object(valid): Object<ValidText<'_, RobustIn, BufferInvariant>>| {
            let ValidText { set, repaired, robust, tasks, language, property, free } = valid;
            let proof = match (&claim, robust, tasks, language, property, free) {
                (RepairClaim::Robust, Some(Object(own)), None, None, None, None) => {
                    ValidProof::Robust(Arc::new(own.into()))
                }
                (RepairClaim::Robust, None, Some(Object(own)), None, None, None) => ValidProof::Tasks(own.into()),
                (RepairClaim::Language(_), None, None, Some(Object(own)), None, None) => {
                    ValidProof::Language(own.try_into()?)
                }
                (RepairClaim::Properties { .. }, None, None, None, Some(Object(own)), None) => {
                    ValidProof::Properties(own.into())
                }
                (RepairClaim::Hangs { .. }, None, None, None, None, Some(Object(own))) => {
                    ValidProof::Free(Arc::new(own.try_into()?))
                }
                _ => return Err(missing("valid set")),
            };
            Ok(ValidSet { set, repaired: repaired.map(Into::into), proof })
        };
        let row = |Object(row): Object<RowText>| {
            let RowText { measures, witness, computation, graph, violation, stuck } = row;
            let witness = match (&claim, witness, computation, graph, violation, stuck) {
                (RepairClaim::Robust, Some(Object(own)), None, None, None, None) => {
                    RowWitness::NotRobust(own.try_into()?)
                }
                (RepairClaim::Robust, None, Some(Object(own)), None, None, None) => RowWitness::Tasks(own.try_into()?),
                (RepairClaim::Language(_), None, None, Some(Object(own)), None, None) => {
                    RowWitness::Graph(own.try_into()?)
                }
                (RepairClaim::Properties { .. }, None, None, None, Some(Object(own)), None) => {
                    RowWitness::Violated(own.try_into()?)
                }
                (RepairClaim::Hangs { .. }, None, None, None, None, Some(Object(own))) => {
                    RowWitness::Stuck(own.try_into()?)
                }
                _ => return Err(missing("row")),
            };
            Ok(Row { measures, witness })
        };
        let block = |Object(block): Object<BlockText>| Block {
            least: block.least.0,
            cases: block.cases.into_iter().map(Into::into).collect(),
        };
        let measure = |(kind, thread, place, cost): (KindText, u32, u32, Option<N<Count>>)| {
            (change_in((kind, thread, place)), cost.map(|cost| cost.0))
        };
        let valid = text.valid.into_iter().map(valid).collect::<Result<_, MalformedEvidence>>()?;
        let rows = text.rows.into_iter().map(row).collect::<Result<_, MalformedEvidence>>()?;
        Ok(Self {
            claim,
            taken: text.taken.into_iter().map(change_in).collect(),
            measures: text.measures.into_iter().map(measure).collect(),
            valid,
            rows,
            bound: text.bound.into_iter().map(block).collect(),
        })
    }
}
