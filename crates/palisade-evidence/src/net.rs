//! Evidence about nets: why a target cannot be covered, or a run that covers it (CERTIFICATE.md).

use num_bigint::BigInt;
use palisade_model::net::{Count, OmegaCount, PlaceId, TransitionId};
use std::collections::BTreeSet;

/// A marking, sparse: places not listed hold no token. Strictly ascending by place, no count 0.
pub type TokenMarking = Vec<(PlaceId, Count)>;

/// An ω-marking, sparse: places not listed hold no token. Strictly ascending by place, no count 0.
pub type OmegaMarking = Vec<(PlaceId, OmegaCount)>;

/// Integer weights on places, sparse: places not listed weigh 0. Strictly ascending by place, no
/// weight 0.
pub type PlaceWeights = Vec<(PlaceId, BigInt)>;

/// Why no target of a query can be covered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetCertificate {
    /// A downward-closed set, the union of the down-sets of these ω-markings: it contains the
    /// initial marking, is closed under every transition and meets no target.
    Downward {
        /// The ω-markings. Valid when the initial marking (ω where the net says ω) is below one of
        /// them, each successor of each of them by each transition enabled in it (ω minus or plus
        /// anything is ω) is below one of them, and none of them covers a target. Shortest when
        /// none is below another, which is not required.
        markings: Vec<OmegaMarking>,
    },
    /// An upward-closed set given by its basis. Valid when every target is above a basis marking or
    /// refuted by the invariant; for every basis marking `b` and transition `t` its least
    /// predecessor `pre + max(b − post, 0)` is above a basis marking or refuted by the invariant;
    /// and no basis marking `b` has `b ≤ m0` (where `m0` is ω, every number is below it).
    Upward {
        /// The basis, shortest when only of minimal markings, which is not required.
        basis: Vec<TokenMarking>,
        /// What every reachable marking satisfies; predecessors outside it are left out.
        invariant: Invariant,
    },
    /// For each target of the query, in order, a reason why no reachable marking covers it.
    Separator {
        /// Places that no reachable marking marks, strictly ascending: a siphon without tokens.
        /// None of them is marked initially (nor ω), and every transition that puts a token into
        /// one of them takes one from one of them. Transitions that take from the siphon never
        /// fire.
        siphon: Vec<PlaceId>,
        /// One per target; for a target that demands a token in the siphon it may be empty.
        refutations: Vec<Refutation>,
    },
}

/// What every reachable marking satisfies, checkable by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Invariant {
    /// Places that no reachable marking marks (as in [`NetCertificate::Separator`]).
    pub siphon: Vec<PlaceId>,
    /// Separators: a marking is outside the invariant when one of them refutes it as a target.
    pub refutations: Vec<Refutation>,
}

/// A linear separator with traps, as Farkas' lemma gives it for the state equation.
///
/// Write `y` for `weights`, and `Q_i`, `z_i` for the traps with their multipliers. It is valid when
/// `y·(post − pre) ≤ 0` for every transition that takes nothing from the siphon, `y_p ≤ 0` wherever
/// the initial marking is ω, every `Q_i` is a trap (every transition, those that take from the
/// siphon excepted, that takes from it puts into it) with at least one token initially whatever is
/// chosen for ω places, and `z_i ≥ 0`. Then `y·m ≤ y·m0` and `m(Q_i) ≥ 1` for every reachable `m`,
/// ω counted as 0 in `y·m0`. It refutes a target `g` when `y_p − Σ_{i: p ∈ Q_i} z_i ≥ 0` for every
/// place outside the siphon and `Σ_p (y_p − Σ_{i: p ∈ Q_i} z_i)·g_p + Σ_i z_i > y·m0` (sums over
/// places outside the siphon), or when `g` demands a token in the siphon.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refutation {
    /// The weights `y`.
    pub weights: PlaceWeights,
    /// The traps with their multipliers.
    pub traps: Vec<WeightedTrap>,
}

/// A trap that is marked initially, with its multiplier in a [`Refutation`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightedTrap {
    /// The places of the trap, strictly ascending.
    pub places: Vec<PlaceId>,
    /// The multiplier, at least 0.
    pub multiplier: BigInt,
}

/// A firing sequence that covers a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetRun {
    /// How many tokens the places that are initially ω start with; places not listed start with
    /// none. Only places that are initially ω may be listed.
    pub initial_choice: TokenMarking,
    /// What fires, in order, each so many times in a row (at least 1). The marking after the last
    /// covers a target of the query.
    pub firings: Vec<(RunStep, Count)>,
}

/// What a run repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunStep {
    /// A transition.
    Fire(TransitionId),
    /// A sequence, from its beginning to its end.
    Sequence(Vec<(RunStep, Count)>),
}

impl From<TransitionId> for RunStep {
    fn from(transition: TransitionId) -> Self {
        Self::Fire(transition)
    }
}

impl NetRun {
    /// The transitions that the run fires, in the order in which it mentions them.
    pub fn transitions(&self) -> Vec<TransitionId> {
        fn collect(steps: &[(RunStep, Count)], into: &mut Vec<TransitionId>) {
            for (step, _) in steps {
                match step {
                    RunStep::Fire(transition) => into.push(*transition),
                    RunStep::Sequence(steps) => collect(steps, into),
                }
            }
        }
        let mut transitions = Vec::new();
        collect(&self.firings, &mut transitions);
        transitions
    }

    /// The transitions one by one, each as often as it fires, unless these are more than `most`.
    pub fn spelled_out(&self, most: usize) -> Option<Vec<TransitionId>> {
        fn spell(steps: &[(RunStep, Count)], most: usize, into: &mut Vec<TransitionId>) -> Option<()> {
            for (step, times) in steps {
                let times = times.to_u64().and_then(|times| usize::try_from(times).ok()).filter(|it| *it <= most)?;
                for _ in 0..times {
                    match step {
                        RunStep::Fire(transition) => into.push(*transition),
                        RunStep::Sequence(steps) => spell(steps, most, into)?,
                    }
                    if into.len() > most {
                        return None;
                    }
                }
            }
            Some(())
        }
        let mut transitions = Vec::new();
        spell(&self.firings, most, &mut transitions)?;
        Some(transitions)
    }
}

impl NetCertificate {
    /// The places that the certificate mentions.
    pub fn places(&self) -> BTreeSet<PlaceId> {
        let mut places = BTreeSet::new();
        let mut separator = |siphon: &[PlaceId], refutations: &[Refutation]| {
            places.extend(siphon);
            for refutation in refutations {
                places.extend(refutation.weights.iter().map(|(place, _)| *place));
                places.extend(refutation.traps.iter().flat_map(|trap| &trap.places));
            }
        };
        match self {
            Self::Downward { markings } => places.extend(markings.iter().flatten().map(|(place, _)| *place)),
            Self::Upward { basis, invariant } => {
                separator(&invariant.siphon, &invariant.refutations);
                places.extend(basis.iter().flatten().map(|(place, _)| *place));
            }
            Self::Separator { siphon, refutations } => separator(siphon, refutations),
        }
        places
    }

    /// The certificate with other numbers for its places.
    #[must_use]
    pub fn renumbered(mut self, number: impl Fn(PlaceId) -> PlaceId) -> Self {
        let set = |places: &mut Vec<PlaceId>| {
            places.iter_mut().for_each(|place| *place = number(*place));
            places.sort_unstable();
        };
        let refutations = |refutations: &mut Vec<Refutation>| {
            for refutation in refutations {
                renumber(&mut refutation.weights, &number);
                refutation.traps.iter_mut().for_each(|trap| set(&mut trap.places));
            }
        };
        match &mut self {
            Self::Downward { markings } => markings.iter_mut().for_each(|marking| renumber(marking, &number)),
            Self::Upward { basis, invariant } => {
                basis.iter_mut().for_each(|marking| renumber(marking, &number));
                set(&mut invariant.siphon);
                refutations(&mut invariant.refutations);
            }
            Self::Separator { siphon, refutations: own } => {
                set(siphon);
                refutations(own);
            }
        }
        self
    }

    /// The places that the certificate mentions, ascending, and the certificate about positions
    /// among them.
    pub fn by_position(self) -> (Vec<PlaceId>, Self) {
        let places: Vec<PlaceId> = self.places().into_iter().collect();
        let certificate = self.renumbered(|place| {
            PlaceId::from_index(places.binary_search(&place).expect("the places are those of the certificate"))
        });
        (places, certificate)
    }
}

/// A sparse vector with other numbers for its places.
fn renumber<T>(vector: &mut [(PlaceId, T)], number: impl Fn(PlaceId) -> PlaceId) {
    vector.iter_mut().for_each(|(place, _)| *place = number(*place));
    vector.sort_by_key(|(place, _)| *place);
}
