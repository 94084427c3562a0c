//! Net certificates and runs as text: places and transitions by number, sparse vectors as lists of
//! pairs.

use super::number::N;
use super::strict::Object;
use crate::{Invariant, NetCertificate, NetRun, Refutation, RunStep, WeightedTrap};
use num_bigint::BigInt;
use palisade_model::net::{Count, OmegaCount, PlaceId, TransitionId};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Error, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A sparse vector: pairs of a place's or a transition's number and a value.
pub(super) type Pairs<T> = Vec<(u32, N<T>)>;

/// A certificate of uncoverability.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ProofText {
    /// `{"downward": {"markings": […]}}`.
    Downward(Object<DownwardText>),
    /// `{"upward": {"basis": […], "siphon": […], "refutations": […]}}`.
    Upward(Object<UpwardText>),
    /// `{"separator": {"siphon": […], "refutations": […]}}`.
    Separator(Object<SeparatorText>),
}

/// A downward-closed set by its ω-markings.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DownwardText {
    markings: Vec<Pairs<OmegaCount>>,
}

/// An upward-closed set by its basis, within an invariant.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UpwardText {
    basis: Vec<Pairs<Count>>,
    siphon: Vec<u32>,
    refutations: Vec<Object<RefutationText>>,
}

/// A refutation for each target.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SeparatorText {
    siphon: Vec<u32>,
    refutations: Vec<Object<RefutationText>>,
}

/// `{"weights": […], "traps": [[places, multiplier], …]}`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RefutationText {
    weights: Pairs<BigInt>,
    traps: Vec<(Vec<u32>, N<BigInt>)>,
}

/// `{"initial": […], "firings": [[transition, times], [[[transition, times], …], times], …]}`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunText {
    initial: Pairs<Count>,
    firings: Vec<StepText>,
}

pub(super) fn places_out<T: Clone>(vector: &[(PlaceId, T)]) -> Pairs<T> {
    vector.iter().map(|(place, value)| (place.0, N(value.clone()))).collect()
}

pub(super) fn places_in<T>(pairs: Pairs<T>) -> Vec<(PlaceId, T)> {
    pairs.into_iter().map(|(place, value)| (PlaceId(place), value.0)).collect()
}

pub(super) fn set_out(places: &[PlaceId]) -> Vec<u32> {
    places.iter().map(|place| place.0).collect()
}

pub(super) fn set_in(places: Vec<u32>) -> Vec<PlaceId> {
    places.into_iter().map(PlaceId).collect()
}

fn refutations_out(refutations: &[Refutation]) -> Vec<Object<RefutationText>> {
    let trap = |trap: &WeightedTrap| (set_out(&trap.places), N(trap.multiplier.clone()));
    let refutation = |refutation: &Refutation| {
        Object(RefutationText {
            weights: places_out(&refutation.weights),
            traps: refutation.traps.iter().map(trap).collect(),
        })
    };
    refutations.iter().map(refutation).collect()
}

fn refutations_in(refutations: Vec<Object<RefutationText>>) -> Vec<Refutation> {
    let trap =
        |(places, multiplier): (Vec<u32>, N<BigInt>)| WeightedTrap { places: set_in(places), multiplier: multiplier.0 };
    let refutation = |Object(text): Object<RefutationText>| Refutation {
        weights: places_in(text.weights),
        traps: text.traps.into_iter().map(trap).collect(),
    };
    refutations.into_iter().map(refutation).collect()
}

impl From<&NetCertificate> for ProofText {
    fn from(certificate: &NetCertificate) -> Self {
        match certificate {
            NetCertificate::Downward { markings } => {
                let markings = markings.iter().map(|marking| places_out(marking)).collect();
                Self::Downward(Object(DownwardText { markings }))
            }
            NetCertificate::Upward { basis, invariant } => Self::Upward(Object(UpwardText {
                basis: basis.iter().map(|marking| places_out(marking)).collect(),
                siphon: set_out(&invariant.siphon),
                refutations: refutations_out(&invariant.refutations),
            })),
            NetCertificate::Separator { siphon, refutations } => {
                let (siphon, refutations) = (set_out(siphon), refutations_out(refutations));
                Self::Separator(Object(SeparatorText { siphon, refutations }))
            }
        }
    }
}

impl From<ProofText> for NetCertificate {
    fn from(text: ProofText) -> Self {
        match text {
            ProofText::Downward(Object(DownwardText { markings })) => {
                Self::Downward { markings: markings.into_iter().map(places_in).collect() }
            }
            ProofText::Upward(Object(UpwardText { basis, siphon, refutations })) => Self::Upward {
                basis: basis.into_iter().map(places_in).collect(),
                invariant: Invariant { siphon: set_in(siphon), refutations: refutations_in(refutations) },
            },
            ProofText::Separator(Object(SeparatorText { siphon, refutations })) => {
                Self::Separator { siphon: set_in(siphon), refutations: refutations_in(refutations) }
            }
        }
    }
}

/// `[transition, times]`, or `[steps, times]`.
type StepText = (RepeatedText, N<Count>);

/// A transition, or the steps of a sequence.
enum RepeatedText {
    Fire(u32),
    Sequence(Vec<StepText>),
}

impl Serialize for RepeatedText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Fire(transition) => serializer.serialize_u32(*transition),
            Self::Sequence(steps) => steps.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for RepeatedText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RepeatedVisitor)
    }
}

struct RepeatedVisitor;

impl<'de> Visitor<'de> for RepeatedVisitor {
    type Value = RepeatedText;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the number of a transition, or a list of steps")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<RepeatedText, E> {
        let number = u32::try_from(value).map_err(|_| E::invalid_value(Unexpected::Unsigned(value), &self))?;
        Ok(RepeatedText::Fire(number))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<RepeatedText, A::Error> {
        Deserialize::deserialize(SeqAccessDeserializer::new(sequence)).map(RepeatedText::Sequence)
    }
}

fn steps_out(steps: &[(RunStep, Count)]) -> Vec<StepText> {
    let step = |step: &RunStep| match step {
        RunStep::Fire(transition) => RepeatedText::Fire(transition.0),
        RunStep::Sequence(steps) => RepeatedText::Sequence(steps_out(steps)),
    };
    steps.iter().map(|(repeated, times)| (step(repeated), N(times.clone()))).collect()
}

fn steps_in(steps: Vec<StepText>) -> Vec<(RunStep, Count)> {
    let step = |step: RepeatedText| match step {
        RepeatedText::Fire(transition) => RunStep::Fire(TransitionId(transition)),
        RepeatedText::Sequence(steps) => RunStep::Sequence(steps_in(steps)),
    };
    steps.into_iter().map(|(repeated, times)| (step(repeated), times.0)).collect()
}

impl From<&NetRun> for RunText {
    fn from(run: &NetRun) -> Self {
        Self { initial: places_out(&run.initial_choice), firings: steps_out(&run.firings) }
    }
}

impl From<RunText> for NetRun {
    fn from(text: RunText) -> Self {
        Self { initial_choice: places_in(text.initial), firings: steps_in(text.firings) }
    }
}
