//! Net certificates and runs as text: places and transitions by number, sparse vectors as lists of pairs.

use super::number::N;
use super::strict::Object;
use crate::{Invariant, NetCertificate, NetRun, Refutation, WeightedTrap};
use num_bigint::BigInt;
use palisade_model::net::{Count, OmegaCount, PlaceId, TransitionId};
use serde::{Deserialize, Serialize};

/// A sparse vector: pairs of a place's or a transition's number and a value.
type Pairs<T> = Vec<(u32, N<T>)>;

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

/// `{"initial": […], "firings": [[transition, times], …]}`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunText {
    initial: Pairs<Count>,
    firings: Pairs<Count>,
}

fn places_out<T: Clone>(vector: &[(PlaceId, T)]) -> Pairs<T> {
    vector.iter().map(|(place, value)| (place.0, N(value.clone()))).collect()
}

fn places_in<T>(pairs: Pairs<T>) -> Vec<(PlaceId, T)> {
    pairs.into_iter().map(|(place, value)| (PlaceId(place), value.0)).collect()
}

fn set_out(places: &[PlaceId]) -> Vec<u32> {
    places.iter().map(|place| place.0).collect()
}

fn set_in(places: Vec<u32>) -> Vec<PlaceId> {
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

impl From<&NetRun> for RunText {
    fn from(run: &NetRun) -> Self {
        Self {
            initial: places_out(&run.initial_choice),
            firings: run.firings.iter().map(|(transition, times)| (transition.0, N(times.clone()))).collect(),
        }
    }
}

impl From<RunText> for NetRun {
    fn from(text: RunText) -> Self {
        Self {
            initial_choice: places_in(text.initial),
            firings: text.firings.into_iter().map(|(id, times)| (TransitionId(id), times.0)).collect(),
        }
    }
}
