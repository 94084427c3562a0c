//! Conditions on markings: monotone combinations of linear inequalities, and deadlock.
//!
//! Every condition has a contrary of the same form: the contrary of `a·m ≥ b` is `−a·m ≥ 1 − b`, as
//! tokens are whole.

use super::count::Count;
use super::ids::{PlaceId, TransitionId};
use super::model::{Net, Quantifier, Query, Target};
use num_bigint::BigInt;
use num_traits::Zero;

/// `Σ weight · m(place) ≥ bound`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinearBound {
    /// Places with their weights: ascending, each once, no weight 0.
    pub terms: Vec<(PlaceId, BigInt)>,
    /// The bound.
    pub bound: BigInt,
}

impl LinearBound {
    /// A bound from terms in any order, in which a place may be listed again.
    pub fn new(mut terms: Vec<(PlaceId, BigInt)>, bound: BigInt) -> Self {
        terms.sort_by_key(|(place, _)| *place);
        terms.dedup_by(|(place, weight), (before, sum)| {
            let is_same = place == before;
            if is_same {
                *sum += std::mem::take(weight);
            }
            is_same
        });
        terms.retain(|(_, weight)| !weight.is_zero());
        Self { terms, bound }
    }

    /// At least so many tokens on a place.
    pub fn at_least(place: PlaceId, count: &Count) -> Self {
        Self { terms: vec![(place, BigInt::from(1))], bound: count.to_big().into() }
    }

    /// Fewer tokens on a place.
    pub fn fewer(place: PlaceId, count: &Count) -> Self {
        Self::at_least(place, count).contrary()
    }

    /// What holds of a marking when this does not.
    #[must_use]
    pub fn contrary(&self) -> Self {
        let terms = self.terms.iter().map(|(place, weight)| (*place, -weight)).collect();
        Self { terms, bound: BigInt::from(1) - &self.bound }
    }
}

/// A condition on a marking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    /// Always, or never.
    Constant(bool),
    /// A weighted sum of tokens is at least so large.
    AtLeast(LinearBound),
    /// No transition can fire.
    Deadlock,
    /// All of them.
    All(Vec<Formula>),
    /// One of them.
    Any(Vec<Formula>),
}

impl Formula {
    /// That a transition can fire.
    pub fn fireable(net: &Net, transition: TransitionId) -> Self {
        let needs = net.transitions[transition.index()].pre.iter();
        let needs = needs.map(|(place, count)| LinearBound::at_least(*place, count));
        let inhibitors = net.inhibitors.iter().filter(|inhibitor| inhibitor.transition == transition);
        let allows = inhibitors.map(|inhibitor| LinearBound::fewer(inhibitor.place, &inhibitor.count));
        Self::All(needs.chain(allows).map(Self::AtLeast).collect())
    }

    /// That one of the targets is covered.
    pub fn covers(query: &Query) -> Self {
        let covers = |target: &Target| {
            let demands = target.demands.iter();
            Self::All(demands.map(|(place, count)| Self::AtLeast(LinearBound::at_least(*place, count))).collect())
        };
        Self::Any(query.targets.iter().map(covers).collect())
    }

    /// That some transition can fire.
    pub fn live(net: &Net) -> Self {
        Self::Any(net.transition_ids().map(|(id, _)| Self::fireable(net, id)).collect())
    }

    /// What holds of a marking of the net when this does not.
    #[must_use]
    pub fn contrary(&self, net: &Net) -> Self {
        match self {
            Self::Constant(value) => Self::Constant(!value),
            Self::AtLeast(bound) => Self::AtLeast(bound.contrary()),
            Self::Deadlock => Self::live(net),
            Self::All(parts) => Self::Any(parts.iter().map(|part| part.contrary(net)).collect()),
            Self::Any(parts) => Self::All(parts.iter().map(|part| part.contrary(net)).collect()),
        }
    }
}

/// A question of reachability: can a marking be reached that satisfies a condition?
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReachQuestion {
    /// How it is put as a formula.
    pub quantifier: Quantifier,
    /// What is sought: of `EF φ` it is φ, of `AG φ` the contrary of φ.
    pub goal: Formula,
}
