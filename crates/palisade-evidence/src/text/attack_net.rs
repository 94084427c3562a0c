//! Proofs about the nets of attacks as text: a table of facts, and a net certificate about it.

use super::field::{bit, id, number, truth};
use super::net::ProofText;
use crate::{AttackNetProof, Attacker, Fact, Level, LocalState};
use palisade_model::program::{ThreadId, Value};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// `{"places": […], "proof": {…}}`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AttackNetText {
    places: Vec<Place>,
    proof: ProofText,
}

/// A fact as a word, `"idle"`, or as a word with what it is about, `{"memory": [address, value]}`.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FactText {
    Memory(Value, Value),
    Locked(u8),
    Loaded(u8),
    Idle,
    Attacker(Attacker),
    Gone(Value),
    Level(Value, Option<Level>),
    Section(Vec<(Value, Level)>),
    Thread(LocalState, u8),
    Start(u32),
    Success,
}

/// A fact in its one form: serde by itself would read words from objects, `{"idle": null}`, as
/// well.
#[derive(Serialize)]
#[serde(transparent)]
struct Place(FactText);

impl<'de> Deserialize<'de> for Place {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PlaceVisitor)
    }
}

struct PlaceVisitor;

impl<'de> Visitor<'de> for PlaceVisitor {
    type Value = Place;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a fact, as a word or an object")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Place, E> {
        FactText::deserialize(StrDeserializer::new(word)).map(Place)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Place, A::Error> {
        match FactText::deserialize(MapAccessDeserializer::new(map))? {
            FactText::Idle | FactText::Success => Err(A::Error::custom("this fact is a word, not an object")),
            fact => Ok(Place(fact)),
        }
    }
}

impl From<&Fact> for FactText {
    fn from(fact: &Fact) -> Self {
        match fact.clone() {
            Fact::Memory(address, value) => Self::Memory(address, value),
            Fact::Locked(locked) => Self::Locked(bit(locked)),
            Fact::Loaded(loaded) => Self::Loaded(bit(loaded)),
            Fact::Idle => Self::Idle,
            Fact::Attacker(attacker) => Self::Attacker(attacker),
            Fact::Gone(address) => Self::Gone(address),
            Fact::Level(address, level) => Self::Level(address, level),
            Fact::Section(accesses) => Self::Section(accesses),
            Fact::Thread(local, joined) => Self::Thread(local, bit(joined)),
            Fact::Start(thread) => Self::Start(number(thread.index())),
            Fact::Success => Self::Success,
        }
    }
}

impl TryFrom<FactText> for Fact {
    type Error = serde::de::value::Error;

    fn try_from(text: FactText) -> Result<Self, Self::Error> {
        Ok(match text {
            FactText::Memory(address, value) => Self::Memory(address, value),
            FactText::Locked(locked) => Self::Locked(truth(locked)?),
            FactText::Loaded(loaded) => Self::Loaded(truth(loaded)?),
            FactText::Idle => Self::Idle,
            FactText::Attacker(attacker) => Self::Attacker(attacker),
            FactText::Gone(address) => Self::Gone(address),
            FactText::Level(address, level) => Self::Level(address, level),
            FactText::Section(accesses) => Self::Section(accesses),
            FactText::Thread(local, joined) => Self::Thread(local, truth(joined)?),
            FactText::Start(thread) => Self::Start(id(ThreadId::from_index, thread)),
            FactText::Success => Self::Success,
        })
    }
}

impl From<&AttackNetProof> for AttackNetText {
    fn from(proof: &AttackNetProof) -> Self {
        Self {
            places: proof.places.iter().map(|fact| Place(fact.into())).collect(),
            proof: (&proof.certificate).into(),
        }
    }
}

impl TryFrom<AttackNetText> for AttackNetProof {
    type Error = serde::de::value::Error;

    fn try_from(text: AttackNetText) -> Result<Self, Self::Error> {
        let places = text.places.into_iter().map(|Place(fact)| fact.try_into()).collect::<Result<_, _>>()?;
        Ok(Self { places, certificate: text.proof.into() })
    }
}
