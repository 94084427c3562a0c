//! The net, its initial marking and the coverability query.

use super::count::{Count, OmegaCount};
use super::ids::{PlaceId, TransitionId};
use smol_str::{SmolStr, SmolStrBuilder};

/// Weighted arcs to or from one transition: sorted by place, each place once, weights at least 1.
pub type Arcs = Vec<(PlaceId, Count)>;

/// A place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its name for people; unique in the net. Short ones, as most are, lie in the place itself.
    pub name: SmolStr,
}

/// A transition: takes its preset, puts its postset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// Its name for people. Short ones, as most are, lie in the transition itself.
    pub name: SmolStr,
    /// Tokens needed and taken.
    pub pre: Arcs,
    /// Tokens put.
    pub post: Arcs,
}

/// An inhibitor arc: the transition cannot fire while the place holds so many tokens, or more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inhibitor {
    /// The transition.
    pub transition: TransitionId,
    /// The place that it tests.
    pub place: PlaceId,
    /// The number of tokens that keeps it from firing, at least 1.
    pub count: Count,
}

/// A place/transition net with its initial marking.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Net {
    /// The net's name.
    pub name: String,
    /// The places.
    pub places: Vec<Place>,
    /// The transitions.
    pub transitions: Vec<Transition>,
    /// The initial marking, indexed by place; ω stands for any number of tokens, so that the net
    /// has many initial markings (mist's `p >= 0`; a `p >= k` is the same for coverability, as any
    /// number includes the larger ones).
    pub initial: Vec<OmegaCount>,
    /// Sets of places that together hold exactly one token in every reachable marking, where this
    /// is known.
    pub units: Vec<Vec<PlaceId>>,
    /// Inhibitor arcs, as they are read. Searches and checks are about nets without them:
    /// complement places take their part first.
    pub inhibitors: Vec<Inhibitor>,
}

/// A marking to be covered: at least so many tokens on each of these places (sorted, each place
/// once, at least 1).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// The demands; none means that every marking covers the target.
    pub demands: Arcs,
}

/// A coverability question: can one of the targets be covered?
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// The alternatives.
    pub targets: Vec<Target>,
}

/// How a question is put as a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// `EF φ`: a marking that satisfies φ can be reached. The targets are φ.
    Eventually,
    /// `AG φ`: all markings that can be reached satisfy φ. The targets are the contrary of φ.
    Always,
}

impl Quantifier {
    /// As formulas write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Eventually => "EF",
            Self::Always => "AG",
        }
    }

    /// What the contrary of the formula is: the targets stay as they are.
    #[must_use]
    pub fn contrary(self) -> Self {
        match self {
            Self::Eventually => Self::Always,
            Self::Always => Self::Eventually,
        }
    }

    /// Whether the formula holds, when some target can be covered or none can.
    pub fn holds(self, coverable: bool) -> bool {
        match self {
            Self::Eventually => coverable,
            Self::Always => !coverable,
        }
    }
}

/// A net with its question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// The net.
    pub net: Net,
    /// The question.
    pub query: Query,
}

impl Net {
    /// Adds a place with an initial count.
    pub fn add_place(&mut self, name: impl Into<SmolStr>, initial: OmegaCount) -> PlaceId {
        let id = PlaceId::from_index(self.places.len());
        self.places.push(Place { name: name.into() });
        self.initial.push(initial);
        id
    }

    /// Adds a transition; the arcs may come in any order and are merged by place.
    pub fn add_transition(&mut self, name: impl Into<SmolStr>, mut pre: Arcs, mut post: Arcs) -> TransitionId {
        normalize(&mut pre);
        normalize(&mut post);
        let id = TransitionId::from_index(self.transitions.len());
        self.transitions.push(Transition { name: name.into(), pre, post });
        id
    }

    /// A name for the next transition, by its number.
    #[inline]
    pub fn next_transition_name(&self) -> SmolStr {
        let mut name = SmolStrBuilder::new();
        name.push('t');
        name.push_str(itoa::Buffer::new().format(self.transitions.len()));
        name.finish()
    }

    /// The net with a transition without preset for every place that is initially ω, which then
    /// starts empty: the same markings are covered. The new transitions follow the old ones, in the
    /// order of their places.
    #[must_use]
    pub fn with_spawns(&self) -> Net {
        let mut net = self.clone();
        for place in self.place_ids() {
            if self.initial[place.index()] == OmegaCount::Omega {
                net.initial[place.index()] = OmegaCount::Finite(Count::ZERO);
                let name = format!("spawn_{}", self.places[place.index()].name);
                net.add_transition(name, Vec::new(), vec![(place, Count::ONE)]);
            }
        }
        net
    }

    /// The place of that name. Looks at all places: for many look-ups build an index.
    pub fn place_named(&self, name: &str) -> Option<PlaceId> {
        self.places.iter().position(|place| place.name == name).map(PlaceId::from_index)
    }

    /// All places' ids.
    #[inline]
    pub fn place_ids(&self) -> impl Iterator<Item = PlaceId> + use<> {
        (0..self.places.len()).map(PlaceId::from_index)
    }

    /// All transitions with their ids.
    #[inline]
    pub fn transition_ids(&self) -> impl Iterator<Item = (TransitionId, &Transition)> + Clone {
        self.transitions.iter().enumerate().map(|(index, transition)| (TransitionId::from_index(index), transition))
    }
}

impl Target {
    /// A target from demands in any order.
    pub fn new(mut demands: Arcs) -> Self {
        normalize(&mut demands);
        Self { demands }
    }

    /// Whether a marking, given by place, covers the target.
    #[inline]
    pub fn is_covered_by(&self, marking: &[OmegaCount]) -> bool {
        self.demands.iter().all(|(place, count)| marking[place.index()].covers(count))
    }
}

/// Sorts arcs by place, merges them and leaves out zeros.
#[inline]
pub fn normalize(arcs: &mut Arcs) {
    if !arcs.is_sorted_by(|(one, _), (other, _)| one < other) {
        merge(arcs);
    }
    if arcs.iter().any(|(_, count)| count.is_zero()) {
        arcs.retain(|(_, count)| !count.is_zero());
    }
}

/// Sorts arcs by place and merges those of one place.
fn merge(arcs: &mut Arcs) {
    arcs.sort_unstable_by_key(|(place, _)| *place);
    arcs.dedup_by(|(place, count), (before, sum)| {
        let same = place == before;
        if same {
            *sum = sum.plus(count);
        }
        same
    });
}
