//! Evidence that no marking of a net that satisfies a condition can be reached (CERTIFICATE.md).

use crate::{NetCertificate, PlaceWeights};
use num_bigint::BigInt;
use palisade_model::net::{LinearBound, PlaceId};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Why no marking that satisfies a condition can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReachCertificate {
    /// A set of markings that contains the initial one, is closed under every transition, and meets
    /// the condition nowhere. It may be about some of the places: then an inequality that mentions
    /// another place counts as satisfied.
    Closed(Arc<MarkingSet>),
    /// A proof from the state equation, by cases.
    Linear(LinearProof),
    /// A proof that the condition cannot be covered in the net with observers.
    Observed(ObservedProof),
}

/// Markings of some places, packed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarkingSet {
    /// The places, strictly ascending.
    pub places: Vec<PlaceId>,
    /// For each of them how many bits its number of tokens takes, 1 to 32.
    pub widths: Vec<u8>,
    /// The markings one after the other, each from a new word on. A number lies in one word, from
    /// its lowest bit up; one that no longer fits a word begins in the next.
    pub words: Vec<u64>,
}

impl MarkingSet {
    /// For each place the word and the lowest bit of its number, and how many words a marking takes
    /// (at least one).
    pub fn layout(widths: &[u8]) -> (Vec<(usize, u32)>, usize) {
        let (mut word, mut bit) = (0, 0);
        let mut fields = Vec::with_capacity(widths.len());
        for width in widths {
            if bit + u32::from(*width) > u64::BITS {
                (word, bit) = (word + 1, 0);
            }
            fields.push((word, bit));
            bit += u32::from(*width);
        }
        (fields, word + 1)
    }

    /// A set from markings that give a number for each place. Missing numbers are 0, further ones
    /// are left out.
    pub fn of(places: Vec<PlaceId>, rows: &[Vec<u32>]) -> Self {
        let at = |row: &Vec<u32>, index: usize| row.get(index).copied().unwrap_or_default();
        let bits = |index: usize| {
            let most = rows.iter().map(|row| at(row, index)).max().unwrap_or_default();
            u8::try_from(u32::BITS - most.leading_zeros()).expect("at most 32 bits").max(1)
        };
        let widths: Vec<u8> = (0..places.len()).map(bits).collect();
        let (fields, length) = Self::layout(&widths);
        let mut words = vec![0; rows.len() * length];
        for (row, words) in rows.iter().zip(words.chunks_exact_mut(length)) {
            for (index, (word, bit)) in fields.iter().enumerate() {
                words[*word] |= u64::from(at(row, index)) << bit;
            }
        }
        Self { places, widths, words }
    }

    /// The markings, each with a number for each place.
    pub fn rows(&self) -> impl Iterator<Item = Vec<u32>> + '_ {
        let (fields, length) = Self::layout(&self.widths);
        self.words.chunks_exact(length).map(move |words| {
            let number = |((word, bit), width): (&(usize, u32), &u8)| {
                let value = (words[*word] >> bit) & (u64::MAX >> (u64::BITS - u32::from(*width)));
                u32::try_from(value).expect("a number has at most 32 bits")
            };
            fields.iter().zip(&self.widths).map(number).collect()
        })
    }
}

/// A proof from the state equation: whatever a marking has to satisfy besides its condition,
/// written as a tree of cases.
///
/// A case knows facts, which are numbered. At the root these are the parts of the condition. A
/// conjunction is replaced by its parts, deadlock by one disjunction for each transition, in order:
/// that one of its preset's places holds too few tokens. A fact that is never is a refutation, one
/// that is always is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinearProof {
    /// Places that no reachable marking marks, as in [`NetCertificate::Separator`].
    pub siphon: Vec<PlaceId>,
    /// Traps that are marked initially, each strictly ascending.
    pub traps: Vec<Vec<PlaceId>>,
    /// The cases.
    pub root: LinearCase,
}

/// A case of a [`LinearProof`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinearCase {
    /// The facts contradict each other.
    Refuted(Contradiction),
    /// A fact that is a disjunction, and a case for each of its parts.
    Split {
        /// The number of the fact.
        fact: usize,
        /// One case for each part, in order. It knows the part besides.
        cases: Vec<LinearCase>,
    },
    /// Tokens are whole: an inequality holds or its contrary does.
    Cut {
        /// The inequality.
        bound: LinearBound,
        /// The cases in which it holds, and in which it does not.
        cases: Box<[LinearCase; 2]>,
    },
    /// Facts that are disjunctions of inequalities `aᵢ·m ≥ bᵢ`, each with a number `lᵢ < bᵢ` that
    /// `aᵢ·m` is never below. Then `Σ (aᵢ·m − lᵢ) · f/(bᵢ − lᵢ) ≥ f`, where `f` is the least common
    /// multiple of the differences: a further fact for each.
    Relaxed {
        /// The numbers of the facts, each with one observer for each part: why `aᵢ·m` is never
        /// below `lᵢ`.
        facts: Vec<(usize, Vec<Observer>)>,
        /// The case that knows the sums besides.
        case: Box<LinearCase>,
    },
}

/// Why facts contradict each other.
///
/// Write `y` for the weights, `λ` for the multipliers of facts `aᵢ·m ≥ bᵢ`, and `z` for those of
/// traps `m(Qⱼ) ≥ 1`. No transition outside the siphon increases `y·m`, so `y·m ≤ y·m0`. On every
/// place outside the siphon `y ≥ Σ λᵢ aᵢ + Σ zⱼ [p ∈ Qⱼ]`, and `Σ λᵢ bᵢ + Σ zⱼ > y·m0`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contradiction {
    /// The weights.
    pub weights: PlaceWeights,
    /// Facts by number with their multipliers, which are at least 0.
    pub facts: Vec<(usize, BigInt)>,
    /// Traps by number with their multipliers, which are at least 0.
    pub traps: Vec<(usize, BigInt)>,
}

/// Why a weighted sum of tokens `a·m` is never below a number, which follows from it: on every
/// place `weights ≥ −divisor·a`, and no transition increases `weights·m`. Then
/// `a·m ≥ −⌊weights·m0 / divisor⌋`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observer {
    /// The weights.
    pub weights: PlaceWeights,
    /// The divisor, at least 1.
    pub divisor: BigInt,
}

/// A proof in the net with observers.
///
/// Its observers are the inequalities of the condition in the order in which they first occur,
/// without those that ask for tokens of one place (a single term with a positive weight). Deadlock
/// counts as one inequality for each place of each preset, in order. Each observer is a place
/// behind those of the net, which always holds `a·m + k` tokens, where `−k` is what its
/// [`Observer`] shows: a transition takes or puts the difference that it makes. So every inequality
/// asks for tokens of one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedProof {
    /// One for each observer, in order.
    pub observers: Vec<Observer>,
    /// How the condition is asked.
    pub shape: GoalShape,
    /// Why it cannot be covered.
    pub certificate: NetCertificate,
}

/// How a condition over observers is asked in terms of coverability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoalShape {
    /// By its alternatives, each a target: those of a disjunction one after the other, those of a
    /// conjunction joined in lexicographic order.
    Alternatives,
    /// By a token that goes through the condition. Its first place, behind the observers, is marked
    /// initially and every transition of the net needs it; its last place is the target, and
    /// further ones follow in the order in which a conjunction needs them. An inequality is a
    /// transition that tests its place. A conjunction tests its inequalities at once, then goes
    /// through its other parts; a disjunction goes through one of its parts.
    Automaton,
}

impl ReachCertificate {
    /// The places that the certificate mentions and the net has.
    pub fn places(&self, place_count: usize) -> BTreeSet<PlaceId> {
        let mut places = BTreeSet::new();
        match self {
            Self::Closed(set) => places.extend(&set.places),
            Self::Linear(proof) => {
                places.extend(&proof.siphon);
                places.extend(proof.traps.iter().flatten());
                proof.root.collect_places(&mut places);
            }
            Self::Observed(proof) => {
                places.extend(proof.observers.iter().flat_map(Observer::places));
                places.extend(proof.certificate.places().into_iter().filter(|place| place.index() < place_count));
            }
        }
        places
    }
}

/// Why a place that inhibitor arcs test never holds more than some number of tokens, which is how
/// many its complement and the place always hold together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complement {
    /// The place.
    pub place: PlaceId,
    /// The bound: minus the tokens of the place is never below what this shows.
    pub observer: Observer,
}

impl Complement {
    /// What the complement of a place is called.
    pub fn name(place: &str) -> String {
        format!("not {place}")
    }
}

impl Observer {
    fn places(&self) -> impl Iterator<Item = PlaceId> + '_ {
        self.weights.iter().map(|(place, _)| *place)
    }
}

impl LinearCase {
    /// How many contradictions it ends in.
    pub fn leaves(&self) -> usize {
        match self {
            Self::Refuted(_) => 1,
            Self::Split { cases, .. } => cases.iter().map(Self::leaves).sum(),
            Self::Cut { cases, .. } => cases.iter().map(Self::leaves).sum(),
            Self::Relaxed { case, .. } => case.leaves(),
        }
    }

    fn collect_places(&self, places: &mut BTreeSet<PlaceId>) {
        match self {
            Self::Refuted(contradiction) => places.extend(contradiction.weights.iter().map(|(place, _)| *place)),
            Self::Split { cases, .. } => cases.iter().for_each(|case| case.collect_places(places)),
            Self::Cut { bound, cases } => {
                places.extend(bound.terms.iter().map(|(place, _)| *place));
                cases.iter().for_each(|case| case.collect_places(places));
            }
            Self::Relaxed { facts, case } => {
                places.extend(facts.iter().flat_map(|(_, observers)| observers).flat_map(Observer::places));
                case.collect_places(places);
            }
        }
    }
}
