//! Witnesses as text: thread copies by their position in the instance, steps as short lists of
//! numbers.

use super::MalformedEvidence;
use super::strict::word;
use crate::Witness;
use palisade_model::program::{Copies, InstructionId, Value};
use palisade_semantics::{CopyId, Edge, Instance, NodeId, Relation, Step, StepKind};
use serde::de::{Error, SeqAccess, Visitor};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The witness as it is written and read. A copy's position counts copies by thread, then by
/// number.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WitnessText {
    /// How many copies of each thread run.
    instance: Vec<u64>,
    /// The attacker's position.
    attacker: u64,
    store: u32,
    load: u32,
    store_step: usize,
    load_step: usize,
    steps: Vec<StepText>,
    cycle: Vec<EdgeText>,
}

/// `[relation, [position, index], [position, index], address]`; the address is null for program
/// order.
type EdgeText = (RelationText, (usize, usize), (usize, usize), Option<Value>);

/// `[position]` for the oldest buffered store that reaches memory, `[position, null, address]` for
/// the oldest one to an address (PSO), `[position, instruction]`, or
/// `[position, instruction, choice]`, or `[position, instruction, null, copies]` for a crowd.
pub(super) struct StepText {
    position: u64,
    instruction: Option<u32>,
    /// The choice of the instruction, or without one the address.
    value: Option<Value>,
    /// How many copies a crowd has.
    copies: Option<u64>,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum RelationText {
    Po,
    St,
    Src,
    Cf,
}

impl<'de> Deserialize<'de> for RelationText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        word(deserializer, "\"po\", \"st\", \"src\" or \"cf\"", |text| match text {
            "po" => Some(Self::Po),
            "st" => Some(Self::St),
            "src" => Some(Self::Src),
            "cf" => Some(Self::Cf),
            _ => None,
        })
    }
}

impl Serialize for StepText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sequence = serializer.serialize_seq(None)?;
        sequence.serialize_element(&self.position)?;
        if self.instruction.is_some() || self.value.is_some() {
            sequence.serialize_element(&self.instruction)?;
        }
        if self.value.is_some() || self.copies.is_some() {
            sequence.serialize_element(&self.value)?;
        }
        if let Some(copies) = self.copies {
            sequence.serialize_element(&copies)?;
        }
        sequence.end()
    }
}

impl<'de> Deserialize<'de> for StepText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(StepVisitor)
    }
}

struct StepVisitor;

impl<'de> Visitor<'de> for StepVisitor {
    type Value = StepText;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a step: [copy], [copy, null, address], [copy, instruction], [copy, instruction, choice] or [copy, instruction, null, copies]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<StepText, A::Error> {
        let Some(position) = sequence.next_element()? else { return Err(A::Error::invalid_length(0, &self)) };
        let Some(instruction) = sequence.next_element::<Option<u32>>()? else {
            return Ok(StepText { position, instruction: None, value: None, copies: None });
        };
        let value = sequence.next_element::<Option<Value>>()?;
        // A crowd makes no choice.
        let copies = if value == Some(None) && instruction.is_some() { sequence.next_element()? } else { None };
        let value = match value {
            Some(None) if copies.is_none() => return Err(A::Error::invalid_length(3, &self)),
            value => value.flatten(),
        };
        if instruction.is_none() && value.is_none() {
            return Err(A::Error::invalid_length(2, &self));
        }
        Ok(StepText { position, instruction, value, copies })
    }
}

impl From<&Witness> for WitnessText {
    fn from(witness: &Witness) -> Self {
        let edge = |edge: &Edge| {
            let relation = match edge.relation {
                Relation::ProgramOrder => RelationText::Po,
                Relation::StoreOrder => RelationText::St,
                Relation::Source => RelationText::Src,
                Relation::Conflict => RelationText::Cf,
            };
            (relation, (edge.from.position, edge.from.index), (edge.to.position, edge.to.index), edge.address)
        };
        Self {
            instance: witness.instance.counts().to_vec(),
            attacker: position(&witness.instance, witness.attacker),
            store: number(witness.store),
            load: number(witness.load),
            store_step: witness.store_step,
            load_step: witness.load_step,
            steps: witness.steps.iter().map(|step| step_out(&witness.instance, step)).collect(),
            cycle: witness.cycle.iter().map(edge).collect(),
        }
    }
}

impl TryFrom<WitnessText> for Witness {
    type Error = MalformedEvidence;

    fn try_from(text: WitnessText) -> Result<Self, MalformedEvidence> {
        let instance = counted_instance(text.instance)?;
        let step = |step: StepText| step_in(&instance, &step);
        let edge = |(relation, from, to, address): EdgeText| Edge {
            from: NodeId { position: from.0, index: from.1 },
            to: NodeId { position: to.0, index: to.1 },
            relation: match relation {
                RelationText::Po => Relation::ProgramOrder,
                RelationText::St => Relation::StoreOrder,
                RelationText::Src => Relation::Source,
                RelationText::Cf => Relation::Conflict,
            },
            address,
        };
        Ok(Self {
            attacker: copy_at(&instance, text.attacker)?,
            store: id(text.store),
            load: id(text.load),
            store_step: text.store_step,
            load_step: text.load_step,
            steps: text.steps.into_iter().map(step).collect::<Result<_, MalformedEvidence>>()?,
            cycle: text.cycle.into_iter().map(edge).collect(),
            instance,
        })
    }
}

/// An instance from the number of copies of each thread.
pub(super) fn counted_instance(counts: Vec<u64>) -> Result<Instance, MalformedEvidence> {
    if let Some(count) = counts.iter().find(|count| **count > Copies::MOST) {
        return Err(MalformedEvidence::new(format!("{count} copies of a thread are more than {}", Copies::MOST)));
    }
    Ok(Instance::new(counts))
}

/// The position of a copy in an instance.
pub(super) fn position(instance: &Instance, copy: CopyId) -> u64 {
    instance.position(copy).unwrap_or_else(|| instance.total())
}

/// The copy at a position.
pub(super) fn copy_at(instance: &Instance, position: u64) -> Result<CopyId, MalformedEvidence> {
    let missing = || MalformedEvidence::new(format!("the instance has no thread copy {position}"));
    instance.copy_at(position).ok_or_else(missing)
}

/// A step in its written form.
pub(super) fn step_out(instance: &Instance, step: &Step) -> StepText {
    let position = position(instance, step.copy);
    let flush = StepText { position, instruction: None, value: None, copies: None };
    match step.kind {
        StepKind::Flush => flush,
        StepKind::FlushAddress(address) => StepText { value: Some(address), ..flush },
        StepKind::Execute { instruction, chosen } => {
            StepText { instruction: Some(number(instruction)), value: chosen, ..flush }
        }
        StepKind::Crowd { instruction, copies } => {
            StepText { instruction: Some(number(instruction)), copies: Some(copies), ..flush }
        }
    }
}

/// The step that is written so.
pub(super) fn step_in(instance: &Instance, step: &StepText) -> Result<Step, MalformedEvidence> {
    let kind = match (step.instruction, step.value, step.copies) {
        (None, None, _) => StepKind::Flush,
        (None, Some(address), _) => StepKind::FlushAddress(address),
        (Some(instruction), _, Some(copies)) => StepKind::Crowd { instruction: id(instruction), copies },
        (Some(instruction), chosen, None) => StepKind::Execute { instruction: id(instruction), chosen },
    };
    Ok(Step { copy: copy_at(instance, step.position)?, kind })
}

fn number(instruction: InstructionId) -> u32 {
    u32::try_from(instruction.index()).expect("arenas stay below 2^32 elements")
}

fn id(instruction: u32) -> InstructionId {
    InstructionId::from_index(instruction as usize)
}
