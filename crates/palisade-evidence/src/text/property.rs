//! Proofs and violations of properties as text.

use super::MalformedEvidence;
use super::field::{bit, id, number, truth};
use super::program::{RobustIn, RobustOut, TokenText, token_in};
use super::pso::PsoCertificateText;
use super::strict::{Object, nullable, present, word};
use super::tasks::TaskCertificateText;
use super::witness::{StepText, counted_instance, step_in, step_out};
use crate::{
    AddressInterval, BufferConfiguration, BufferEntry, BufferInvariant, BufferedLocal, Interval, LocalIndex,
    MemoryIndex, PropertyEvidence, PropertyProof, PropertyReason, PropertyWitness, Tokens, ValueInvariant,
};
use palisade_model::program::{InstructionId, LabelId, RegisterId, ThreadId, Value};
use palisade_semantics::{Model, Target};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The evidence as it is written (with `RobustOut` and `&BufferInvariant` for `R` and `B`) and read
/// (with `RobustIn` and `BufferInvariant`).
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "R: Deserialize<'de>, B: Deserialize<'de>"))]
pub(super) struct PropertyText<R, B> {
    model: ModelText,
    proofs: Vec<Object<ProofText<R, B>>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    plain_posts: Option<Object<TaskCertificateText>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "R: Deserialize<'de>, B: Deserialize<'de>"))]
struct ProofText<R, B> {
    targets: Vec<TargetText>,
    slice: Vec<Vec<u32>>,
    #[serde(deserialize_with = "nullable")]
    bounds: Option<Object<ValuesText>>,
    reason: Object<ReasonText<R, B>>,
}

/// One member, named for the kind of reason.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase", bound(deserialize = "R: Deserialize<'de>, B: Deserialize<'de>"))]
enum ReasonText<R, B> {
    Values(Object<ValuesText>),
    Robust(Object<RobustText<R, B>>),
    Pso(Object<PsoText<B>>),
    Counters(Object<CountersText<R>>),
    Enriched(Object<EnrichedText<R, B>>),
    Buffers(B),
    Snapshots(B),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "R: Deserialize<'de>, B: Deserialize<'de>"))]
struct RobustText<R, B> {
    certificate: Object<R>,
    sc: B,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "B: Deserialize<'de>"))]
struct PsoText<B> {
    certificate: Object<PsoCertificateText>,
    sc: B,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "R: Deserialize<'de>"))]
struct CountersText<R> {
    #[serde(deserialize_with = "nullable")]
    certificate: Option<Object<R>>,
    sc: Object<R>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "R: Deserialize<'de>, B: Deserialize<'de>"))]
struct EnrichedText<R, B> {
    loads: Vec<Vec<u32>>,
    room: u32,
    certificate: Object<R>,
    sc: B,
}

/// Intervals as `[low, high]`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ValuesText {
    registers: Vec<Vec<Intervals>>,
    /// `[first address, last address, values]`.
    memory: Vec<(Value, Value, Intervals)>,
}

/// Intervals, each with its first and its last value.
type Intervals = Vec<(Value, Value)>;

/// The violation as it is written and read.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ViolationText {
    model: ModelText,
    /// How many copies of each thread run.
    instance: Vec<u64>,
    target: TargetText,
    steps: Vec<StepText>,
}

/// `"sc"`, `"tso"` or `"pso"`.
pub(super) struct ModelText(pub(super) Model);

impl Serialize for ModelText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self.0 {
            Model::Sc => "sc",
            Model::Tso => "tso",
            Model::Pso => "pso",
        })
    }
}

impl<'de> Deserialize<'de> for ModelText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        word(deserializer, "\"sc\", \"tso\" or \"pso\"", |text| match text {
            "sc" => Some(Self(Model::Sc)),
            "tso" => Some(Self(Model::Tso)),
            "pso" => Some(Self(Model::Pso)),
            _ => None,
        })
    }
}

/// The word for final states as a target.
const FINAL_STATES: &str = "final states";

/// `[thread, instruction]`, or `"final states"`.
pub(super) struct TargetText(pub(super) Target);

impl Serialize for TargetText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Target::Instruction { thread, instruction } => (thread.index(), instruction.index()).serialize(serializer),
            Target::FinalStates => serializer.serialize_str(FINAL_STATES),
        }
    }
}

impl<'de> Deserialize<'de> for TargetText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TargetVisitor)
    }
}

struct TargetVisitor;

impl<'de> Visitor<'de> for TargetVisitor {
    type Value = TargetText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[thread, instruction] or \"final states\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<TargetText, E> {
        if text == FINAL_STATES { Ok(TargetText(Target::FinalStates)) } else { Err(E::custom("no such target")) }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<TargetText, A::Error> {
        let (thread, instruction) = Deserialize::deserialize(SeqAccessDeserializer::new(sequence))?;
        let (thread, instruction) = (id(ThreadId::from_index, thread), id(InstructionId::from_index, instruction));
        Ok(TargetText(Target::Instruction { thread, instruction }))
    }
}

/// `[address, value]`, `"mark"`, or the number of a memory.
impl Serialize for BufferEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Store(address, value) => (address, value).serialize(serializer),
            Self::Mark => serializer.serialize_str("mark"),
            Self::Snapshot(memory) => serializer.serialize_u32(*memory),
        }
    }
}

impl<'de> Deserialize<'de> for BufferEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EntryVisitor)
    }
}

struct EntryVisitor;

impl<'de> Visitor<'de> for EntryVisitor {
    type Value = BufferEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[address, value], \"mark\" or the number of a memory")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<BufferEntry, E> {
        if text == "mark" { Ok(BufferEntry::Mark) } else { Err(E::custom("no such entry of a buffer")) }
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<BufferEntry, E> {
        u32::try_from(number).map(BufferEntry::Snapshot).map_err(|_| E::custom("no such memory"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<BufferEntry, A::Error> {
        let (address, value) = Deserialize::deserialize(SeqAccessDeserializer::new(sequence))?;
        Ok(BufferEntry::Store(address, value))
    }
}

/// `[thread, label or null, registers, holding, buffer]`.
impl Serialize for BufferedLocal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let label = self.label.map(LabelId::index);
        (self.thread.index(), label, &self.registers, bit(self.holding), &self.buffer).serialize(serializer)
    }
}

/// A local state's parts.
type LocalElement = (u32, Option<u32>, Vec<Value>, u8, Vec<BufferEntry>);

impl<'de> Deserialize<'de> for BufferedLocal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (thread, label, registers, holding, buffer): LocalElement = Deserialize::deserialize(deserializer)?;
        let label = label.map(|label| id(LabelId::from_index, label));
        Ok(Self { thread: id(ThreadId::from_index, thread), label, registers, holding: truth(holding)?, buffer })
    }
}

/// `[memory, locked, tokens]`.
impl Serialize for BufferConfiguration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.memory, bit(self.locked), TokensOut(&self.tokens)).serialize(serializer)
    }
}

/// Tokens as they are written.
struct TokensOut<'a>(&'a [(LocalIndex, Tokens)]);

impl Serialize for TokensOut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|(local, count)| TokenText(*local, *count)))
    }
}

impl<'de> Deserialize<'de> for BufferConfiguration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (memory, locked, tokens): (MemoryIndex, u8, Vec<TokenText>) = Deserialize::deserialize(deserializer)?;
        Ok(Self { memory, locked: truth(locked)?, tokens: tokens.into_iter().map(token_in).collect() })
    }
}

/// The set as it is written.
#[derive(Serialize)]
struct BuffersOut<'a> {
    live: Vec<Vec<Vec<usize>>>,
    silent: &'a [Value],
    locals: &'a [BufferedLocal],
    memories: &'a [Vec<(Value, Value)>],
    configurations: &'a [BufferConfiguration],
}

/// The set as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BuffersIn {
    live: Vec<Vec<Vec<u32>>>,
    silent: Vec<Value>,
    locals: Vec<BufferedLocal>,
    memories: Vec<Vec<(Value, Value)>>,
    configurations: Vec<BufferConfiguration>,
}

impl Serialize for BufferInvariant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let numbers = |registers: &Vec<RegisterId>| registers.iter().map(|register| register.index()).collect();
        let Self { live, silent, locals, memories, configurations } = self;
        let live = live.iter().map(|labels| labels.iter().map(numbers).collect()).collect();
        BuffersOut { live, silent, locals, memories, configurations }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for BufferInvariant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let registers =
            |numbers: Vec<u32>| numbers.into_iter().map(|number| id(RegisterId::from_index, number)).collect();
        let labels = |labels: Vec<Vec<u32>>| labels.into_iter().map(registers).collect();
        let Object(text): Object<BuffersIn> = Deserialize::deserialize(deserializer)?;
        let BuffersIn { live, silent, locals, memories, configurations } = text;
        Ok(Self { live: live.into_iter().map(labels).collect(), silent, locals, memories, configurations })
    }
}

fn intervals_out(values: &[Interval]) -> Vec<(Value, Value)> {
    values.iter().map(|interval| (interval.low, interval.high)).collect()
}

fn intervals_in(values: Vec<(Value, Value)>) -> Vec<Interval> {
    values.into_iter().map(|(low, high)| Interval { low, high }).collect()
}

impl From<&ValueInvariant> for Object<ValuesText> {
    fn from(values: &ValueInvariant) -> Self {
        let thread = |registers: &Vec<Vec<Interval>>| registers.iter().map(|values| intervals_out(values)).collect();
        let range = |range: &AddressInterval| {
            let Interval { low, high } = range.addresses;
            (low, high, intervals_out(&range.values))
        };
        Self(ValuesText {
            registers: values.registers.iter().map(thread).collect(),
            memory: values.memory.iter().map(range).collect(),
        })
    }
}

impl From<Object<ValuesText>> for ValueInvariant {
    fn from(Object(text): Object<ValuesText>) -> Self {
        let thread = |registers: Vec<Vec<(Value, Value)>>| registers.into_iter().map(intervals_in).collect();
        let range =
            |(low, high, values)| AddressInterval { addresses: Interval { low, high }, values: intervals_in(values) };
        Self {
            registers: text.registers.into_iter().map(thread).collect(),
            memory: text.memory.into_iter().map(range).collect(),
        }
    }
}

impl<'a> From<&'a PropertyEvidence> for PropertyText<RobustOut<'a>, &'a BufferInvariant> {
    fn from(evidence: &'a PropertyEvidence) -> Self {
        let numbers = |own: &Vec<InstructionId>| own.iter().map(|instruction| number(instruction.index())).collect();
        let proof = |proof: &'a PropertyProof| {
            Object(ProofText {
                targets: proof.targets.iter().copied().map(TargetText).collect(),
                slice: proof.slice.iter().map(numbers).collect(),
                bounds: proof.bounds.as_ref().map(Into::into),
                reason: Object(match &proof.reason {
                    PropertyReason::Values(values) => ReasonText::Values(values.into()),
                    PropertyReason::Robust { certificate, sc } => {
                        ReasonText::Robust(Object(RobustText { certificate: Object(certificate.as_ref().into()), sc }))
                    }
                    PropertyReason::Pso { certificate, sc } => {
                        ReasonText::Pso(Object(PsoText { certificate: Object(certificate.as_ref().into()), sc }))
                    }
                    PropertyReason::Counters { certificate, sc } => ReasonText::Counters(Object(CountersText {
                        certificate: certificate.as_deref().map(|certificate| Object(certificate.into())),
                        sc: Object(sc.as_ref().into()),
                    })),
                    PropertyReason::Enriched { loads, room, certificate, sc } => {
                        ReasonText::Enriched(Object(EnrichedText {
                            loads: loads.iter().map(numbers).collect(),
                            room: number(*room),
                            certificate: Object(certificate.as_ref().into()),
                            sc,
                        }))
                    }
                    PropertyReason::Buffers(set) => ReasonText::Buffers(set),
                    PropertyReason::Snapshots(set) => ReasonText::Snapshots(set),
                }),
            })
        };
        Self {
            model: ModelText(evidence.model),
            proofs: evidence.proofs.iter().map(proof).collect(),
            plain_posts: evidence.plain_posts.as_ref().map(|certificate| Object(certificate.into())),
        }
    }
}

impl From<PropertyText<RobustIn, BufferInvariant>> for PropertyEvidence {
    fn from(text: PropertyText<RobustIn, BufferInvariant>) -> Self {
        let ids =
            |own: Vec<u32>| own.into_iter().map(|instruction| id(InstructionId::from_index, instruction)).collect();
        let proof = |Object(proof): Object<ProofText<RobustIn, BufferInvariant>>| PropertyProof {
            targets: proof.targets.into_iter().map(|target| target.0).collect(),
            slice: proof.slice.into_iter().map(ids).collect(),
            bounds: proof.bounds.map(Into::into),
            reason: match proof.reason.0 {
                ReasonText::Values(values) => PropertyReason::Values(values.into()),
                ReasonText::Robust(Object(RobustText { certificate, sc })) => {
                    PropertyReason::Robust { certificate: Box::new(certificate.0.into()), sc }
                }
                ReasonText::Pso(Object(PsoText { certificate, sc })) => {
                    PropertyReason::Pso { certificate: Box::new(certificate.0.into()), sc }
                }
                ReasonText::Counters(Object(CountersText { certificate, sc })) => PropertyReason::Counters {
                    certificate: certificate.map(|Object(certificate)| Box::new(certificate.into())),
                    sc: Box::new(sc.0.into()),
                },
                ReasonText::Enriched(Object(EnrichedText { loads, room, certificate, sc })) => {
                    PropertyReason::Enriched {
                        loads: loads.into_iter().map(ids).collect(),
                        room: room as usize,
                        certificate: Box::new(certificate.0.into()),
                        sc,
                    }
                }
                ReasonText::Buffers(set) => PropertyReason::Buffers(set),
                ReasonText::Snapshots(set) => PropertyReason::Snapshots(set),
            },
        };
        let plain_posts = text.plain_posts.map(|Object(certificate)| certificate.into());
        Self { model: text.model.0, proofs: text.proofs.into_iter().map(proof).collect(), plain_posts }
    }
}

impl From<&PropertyWitness> for ViolationText {
    fn from(witness: &PropertyWitness) -> Self {
        Self {
            model: ModelText(witness.model),
            instance: witness.instance.counts().to_vec(),
            target: TargetText(witness.target),
            steps: witness.steps.iter().map(|step| step_out(&witness.instance, step)).collect(),
        }
    }
}

impl TryFrom<ViolationText> for PropertyWitness {
    type Error = MalformedEvidence;

    fn try_from(text: ViolationText) -> Result<Self, MalformedEvidence> {
        let instance = counted_instance(text.instance)?;
        let steps = text.steps.into_iter().map(|step| step_in(&instance, &step));
        let steps = steps.collect::<Result<_, MalformedEvidence>>()?;
        Ok(Self { model: text.model.0, instance, target: text.target.0, steps })
    }
}
