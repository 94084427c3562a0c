//! Evidence about who waits for ever as text.

use super::MalformedEvidence;
use super::field::{bit, id, number, truth};
use super::property::ModelText;
use super::pso::PsoCertificateText;
use super::stale::{LanguageText, StaleCertificateText};
use super::strict::{Object, present};
use super::witness::{StepText, copy_at, counted_instance, position, step_in, step_out};
use crate::{
    BufferConfiguration, BufferEntry, BufferedLocal, FreeCertificate, LocalIndex, RobustCertificate, StuckGraph,
    StuckWitness, WaitingLocal, WaitingRow, WaitingSet, WhyRobust,
};
use palisade_model::program::{InstructionId, LabelId, RegisterId, ThreadId, Value};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// The certificate as it is written (with `RobustOut` for `R`) and read (with `RobustIn`).
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "R: Deserialize<'de>"))]
pub(super) struct FreeText<'a, R> {
    model: ModelText,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    graphs: Option<LanguageText>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    ignores_timeouts: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    hopeful: bool,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    robust: Option<Object<R>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pso: Option<Object<PsoCertificateText>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    language: Option<Object<StaleCertificateText>>,
    live: Vec<Vec<Vec<u32>>>,
    most: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    leaves_out: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    counters: Vec<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rows: Vec<Object<RowText>>,
    locals: Cow<'a, [WaitingLocal]>,
    memories: Cow<'a, [Vec<(Value, Value)>]>,
    configurations: Cow<'a, [BufferConfiguration]>,
}

/// The computation as it is written and read.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StuckText {
    model: ModelText,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    graph: Option<Object<StuckGraphText>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    ignores_timeouts: bool,
    /// The copy that waits whatever others do.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    hopeless: Option<u64>,
    /// How many copies of each thread run.
    instance: Vec<u64>,
    steps: Vec<StepText>,
}

/// What makes an execution graph of the computation.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StuckGraphText {
    language: LanguageText,
    older: Vec<(usize, Option<usize>)>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RowText {
    constant: i64,
    locals: Vec<(LocalIndex, i64)>,
    values: Vec<(Value, Value, i64)>,
    counters: Vec<(Value, i64)>,
}

impl From<WaitingRow> for Object<RowText> {
    fn from(row: WaitingRow) -> Self {
        let WaitingRow { constant, locals, values, counters } = row;
        Self(RowText { constant, locals, values, counters })
    }
}

impl From<Object<RowText>> for WaitingRow {
    fn from(Object(text): Object<RowText>) -> Self {
        let RowText { constant, locals, values, counters } = text;
        Self { constant, locals, values, counters }
    }
}

/// `[thread, label or null, registers, holding, buffer, instruction or null]`.
type LocalText = (u32, Option<u32>, Vec<Value>, u8, Vec<BufferEntry>, Option<u32>);

impl Serialize for WaitingLocal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let BufferedLocal { thread, label, registers, holding, buffer } = &self.local;
        let label = label.map(LabelId::index);
        let asleep = self.asleep.map(InstructionId::index);
        (thread.index(), label, registers, bit(*holding), buffer, asleep).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for WaitingLocal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (thread, label, registers, holding, buffer, asleep): LocalText = Deserialize::deserialize(deserializer)?;
        let local = BufferedLocal {
            thread: id(ThreadId::from_index, thread),
            label: label.map(|label| id(LabelId::from_index, label)),
            registers,
            holding: truth(holding)?,
            buffer,
        };
        Ok(Self { local, asleep: asleep.map(|instruction| id(InstructionId::from_index, instruction)) })
    }
}

impl<'a, R: From<&'a RobustCertificate>> From<&'a FreeCertificate> for FreeText<'a, R> {
    fn from(certificate: &'a FreeCertificate) -> Self {
        let FreeCertificate { model, graphs, ignores_timeouts, is_hopeful, robust, set } = certificate;
        let (ignores_timeouts, hopeful) = (*ignores_timeouts, *is_hopeful);
        let numbers = |registers: &Vec<RegisterId>| registers.iter().map(|it| number(it.index())).collect();
        let (robust, pso, language) = match robust {
            Some(WhyRobust::Tso(certificate)) => (Some(Object(R::from(certificate))), None, None),
            Some(WhyRobust::Pso(certificate)) => (None, Some(Object(certificate.as_ref().into())), None),
            Some(WhyRobust::Language(certificate)) => (None, None, Some(Object(certificate.as_ref().into()))),
            None => (None, None, None),
        };
        let WaitingSet { live, most, counters, rows, locals, memories, leaves_out, configurations } = set;
        let (most, leaves_out, counters) = (*most, *leaves_out, counters.clone());
        let rows = rows.iter().cloned().map(Into::into).collect();
        let live = live.iter().map(|labels| labels.iter().map(numbers).collect()).collect();
        let (locals, memories, configurations) = (locals.into(), memories.into(), configurations.into());
        let (model, graphs) = (ModelText(*model), graphs.map(LanguageText));
        Self {
            model,
            graphs,
            ignores_timeouts,
            hopeful,
            robust,
            pso,
            language,
            live,
            most,
            leaves_out,
            counters,
            rows,
            locals,
            memories,
            configurations,
        }
    }
}

impl<R: Into<RobustCertificate>> TryFrom<FreeText<'_, R>> for FreeCertificate {
    type Error = MalformedEvidence;

    fn try_from(text: FreeText<'_, R>) -> Result<Self, MalformedEvidence> {
        let FreeText { model, ignores_timeouts, hopeful, robust, pso, live, most, counters, rows, .. } = text;
        let FreeText { graphs, language, leaves_out, locals, memories, configurations, .. } = text;
        let rows = rows.into_iter().map(Into::into).collect();
        let registers = |numbers: Vec<u32>| numbers.into_iter().map(|it| id(RegisterId::from_index, it)).collect();
        let live = live.into_iter().map(|labels| labels.into_iter().map(registers).collect()).collect();
        let robust = match (robust, pso, language) {
            (None, None, None) => None,
            (Some(Object(robust)), None, None) => Some(WhyRobust::Tso(Box::new(robust.into()))),
            (None, Some(Object(pso)), None) => Some(WhyRobust::Pso(Box::new(pso.into()))),
            (None, None, Some(Object(language))) => Some(WhyRobust::Language(Box::new(language.try_into()?))),
            _ => return Err(MalformedEvidence::new("robustness against several models at once")),
        };
        let (locals, memories) = (locals.into_owned(), memories.into_owned());
        let configurations = configurations.into_owned();
        let set = WaitingSet { live, most, counters, rows, locals, memories, leaves_out, configurations };
        let graphs = graphs.map(|LanguageText(axioms)| axioms);
        Ok(Self { model: model.0, graphs, ignores_timeouts, is_hopeful: hopeful, robust, set })
    }
}

impl From<&StuckWitness> for StuckText {
    fn from(witness: &StuckWitness) -> Self {
        Self {
            model: ModelText(witness.model),
            graph: witness.graph.as_ref().map(|StuckGraph { axioms, older }| {
                Object(StuckGraphText { language: LanguageText(*axioms), older: older.clone() })
            }),
            ignores_timeouts: witness.ignores_timeouts,
            hopeless: witness.hopeless.map(|copy| position(&witness.instance, copy)),
            instance: witness.instance.counts().to_vec(),
            steps: witness.steps.iter().map(|step| step_out(&witness.instance, step)).collect(),
        }
    }
}

impl TryFrom<StuckText> for StuckWitness {
    type Error = MalformedEvidence;

    fn try_from(text: StuckText) -> Result<Self, MalformedEvidence> {
        let instance = counted_instance(text.instance)?;
        let steps = text.steps.into_iter().map(|step| step_in(&instance, &step));
        let steps = steps.collect::<Result<_, MalformedEvidence>>()?;
        let hopeless = text.hopeless.map(|position| copy_at(&instance, position)).transpose()?;
        let ignores_timeouts = text.ignores_timeouts;
        let graph =
            text.graph.map(|Object(StuckGraphText { language, older })| StuckGraph { axioms: language.0, older });
        Ok(Self { model: text.model.0, graph, ignores_timeouts, hopeless, instance, steps })
    }
}
