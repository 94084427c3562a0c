//! Certificates of unreachability as text.

use super::net::{Pairs, ProofText, places_in, places_out, set_in, set_out};
use super::number::N;
use super::packed::{PackedText, is_large};
use super::strict::Object;
use crate::reach::{
    Complement, Contradiction, GoalShape, LinearCase, LinearProof, MarkingSet, ObservedProof, Observer,
    ReachCertificate,
};
use num_bigint::BigInt;
use palisade_model::net::{LinearBound, PlaceId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A certificate of unreachability.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ReachText {
    /// `{"closed": {"places": […], "markings": [[…], …]}}`.
    Closed(Object<ClosedText>),
    /// Many markings: `{"packed": {"places": […], "widths": […], "markings": ["2f", …]}}`.
    Packed(Object<PackedText>),
    /// `{"linear": {"siphon": […], "traps": [[…], …], "root": …}}`.
    Linear(Object<LinearText>),
    /// `{"observed": {"observers": […], "shape": "alternatives", "proof": …}}`.
    Observed(Object<ObservedText>),
}

/// Markings, each with a number for each place.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClosedText {
    places: Vec<u32>,
    markings: Vec<Vec<u32>>,
}

/// A tree of cases.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LinearText {
    siphon: Vec<u32>,
    traps: Vec<Vec<u32>>,
    root: CaseText,
}

/// `{"refuted": …}`, `{"split": …}`, `{"cut": …}` or `{"relaxed": …}`.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum CaseText {
    Refuted(Object<RefutedText>),
    Split(Object<SplitText>),
    Cut(Object<CutText>),
    Relaxed(Object<RelaxedText>),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RefutedText {
    weights: Pairs<BigInt>,
    facts: Vec<(usize, N<BigInt>)>,
    traps: Vec<(usize, N<BigInt>)>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SplitText {
    fact: usize,
    cases: Vec<CaseText>,
}

/// The inequality, and the cases in which it holds and does not.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CutText {
    weights: Pairs<BigInt>,
    bound: N<BigInt>,
    holds: Box<CaseText>,
    fails: Box<CaseText>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RelaxedText {
    facts: Vec<(usize, Vec<Object<ObserverText>>)>,
    case: Box<CaseText>,
}

/// `{"weights": […], "divisor": …}`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ObserverText {
    weights: Pairs<BigInt>,
    divisor: N<BigInt>,
}

/// A proof in the net with observers.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ObservedText {
    observers: Vec<Object<ObserverText>>,
    shape: ShapeText,
    proof: ProofText,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ShapeText {
    Alternatives,
    Automaton,
}

impl From<&ReachCertificate> for ReachText {
    fn from(certificate: &ReachCertificate) -> Self {
        match certificate {
            ReachCertificate::Closed(set) if is_large(set) => Self::Packed(Object(PackedText(Arc::clone(set)))),
            ReachCertificate::Closed(set) => {
                Self::Closed(Object(ClosedText { places: set_out(&set.places), markings: set.rows().collect() }))
            }
            ReachCertificate::Linear(proof) => Self::Linear(Object(LinearText {
                siphon: set_out(&proof.siphon),
                traps: proof.traps.iter().map(|trap| set_out(trap)).collect(),
                root: (&proof.root).into(),
            })),
            ReachCertificate::Observed(proof) => Self::Observed(Object(ObservedText {
                observers: observers_out(&proof.observers),
                shape: match proof.shape {
                    GoalShape::Alternatives => ShapeText::Alternatives,
                    GoalShape::Automaton => ShapeText::Automaton,
                },
                proof: (&proof.certificate).into(),
            })),
        }
    }
}

impl From<ReachText> for ReachCertificate {
    fn from(text: ReachText) -> Self {
        match text {
            ReachText::Closed(Object(ClosedText { places, markings })) => {
                Self::Closed(Arc::new(MarkingSet::of(set_in(places), &markings)))
            }
            ReachText::Packed(Object(PackedText(set))) => Self::Closed(set),
            ReachText::Linear(Object(LinearText { siphon, traps, root })) => Self::Linear(LinearProof {
                siphon: set_in(siphon),
                traps: traps.into_iter().map(set_in).collect(),
                root: root.into(),
            }),
            ReachText::Observed(Object(ObservedText { observers, shape, proof })) => Self::Observed(ObservedProof {
                observers: observers_in(observers),
                shape: match shape {
                    ShapeText::Alternatives => GoalShape::Alternatives,
                    ShapeText::Automaton => GoalShape::Automaton,
                },
                certificate: proof.into(),
            }),
        }
    }
}

fn observers_out(observers: &[Observer]) -> Vec<Object<ObserverText>> {
    observers.iter().map(observer_out).collect()
}

fn observer_out(observer: &Observer) -> Object<ObserverText> {
    Object(ObserverText { weights: places_out(&observer.weights), divisor: N(observer.divisor.clone()) })
}

fn observers_in(observers: Vec<Object<ObserverText>>) -> Vec<Observer> {
    observers.into_iter().map(observer_in).collect()
}

fn observer_in(Object(text): Object<ObserverText>) -> Observer {
    Observer { weights: places_in(text.weights), divisor: text.divisor.0 }
}

/// Complements, each with its place.
pub(super) fn complements_out(complements: &[Complement]) -> Vec<(u32, Object<ObserverText>)> {
    let text = |complement: &Complement| (complement.place.0, observer_out(&complement.observer));
    complements.iter().map(text).collect()
}

pub(super) fn complements_in(complements: Vec<(u32, Object<ObserverText>)>) -> Vec<Complement> {
    let complement = |(place, text)| Complement { place: PlaceId(place), observer: observer_in(text) };
    complements.into_iter().map(complement).collect()
}

fn numbered_out(multipliers: &[(usize, BigInt)]) -> Vec<(usize, N<BigInt>)> {
    multipliers.iter().map(|(number, multiplier)| (*number, N(multiplier.clone()))).collect()
}

fn numbered_in(multipliers: Vec<(usize, N<BigInt>)>) -> Vec<(usize, BigInt)> {
    multipliers.into_iter().map(|(number, multiplier)| (number, multiplier.0)).collect()
}

impl From<&LinearCase> for CaseText {
    fn from(case: &LinearCase) -> Self {
        match case {
            LinearCase::Refuted(contradiction) => Self::Refuted(Object(RefutedText {
                weights: places_out(&contradiction.weights),
                facts: numbered_out(&contradiction.facts),
                traps: numbered_out(&contradiction.traps),
            })),
            LinearCase::Split { fact, cases } => {
                Self::Split(Object(SplitText { fact: *fact, cases: cases.iter().map(Self::from).collect() }))
            }
            LinearCase::Cut { bound, cases } => Self::Cut(Object(CutText {
                weights: places_out(&bound.terms),
                bound: N(bound.bound.clone()),
                holds: Box::new((&cases[0]).into()),
                fails: Box::new((&cases[1]).into()),
            })),
            LinearCase::Relaxed { facts, case } => Self::Relaxed(Object(RelaxedText {
                facts: facts.iter().map(|(fact, observers)| (*fact, observers_out(observers))).collect(),
                case: Box::new((&**case).into()),
            })),
        }
    }
}

impl From<CaseText> for LinearCase {
    fn from(text: CaseText) -> Self {
        match text {
            CaseText::Refuted(Object(RefutedText { weights, facts, traps })) => Self::Refuted(Contradiction {
                weights: places_in(weights),
                facts: numbered_in(facts),
                traps: numbered_in(traps),
            }),
            CaseText::Split(Object(SplitText { fact, cases })) => {
                Self::Split { fact, cases: cases.into_iter().map(Self::from).collect() }
            }
            CaseText::Cut(Object(CutText { weights, bound, holds, fails })) => Self::Cut {
                bound: LinearBound { terms: places_in(weights), bound: bound.0 },
                cases: Box::new([(*holds).into(), (*fails).into()]),
            },
            CaseText::Relaxed(Object(RelaxedText { facts, case })) => {
                let facts = facts.into_iter().map(|(fact, observers)| (fact, observers_in(observers))).collect();
                Self::Relaxed { facts, case: Box::new((*case).into()) }
            }
        }
    }
}
