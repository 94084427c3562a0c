//! Coverability questions as formulas: monotone combinations of lower bounds, brought to alternatives.
//!
//! `EF φ` asks for a marking that satisfies φ, `AG φ` forbids the markings that do not: both ask whether some set of
//! markings can be reached, and that is coverability when the set is given by lower bounds. So formulas are read with the
//! [`Sense`] in which a part counts, which `AG` and each negation turn round.

use crate::net::{Arcs, Count, Net, PlaceId, Quantifier, Query, Target, TransitionId};
use crate::text::{Diagnostic, Span};
use std::cmp::Ordering;

/// What has to be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Formula {
    /// Always, or never.
    Constant(bool),
    /// So many tokens on these places together, a place as often as it is listed; the bound is at least 1.
    AtLeast(Vec<PlaceId>, Count),
    /// All of them.
    All(Vec<Formula>),
    /// One of them.
    Any(Vec<Formula>),
}

/// Whether a part of a formula counts as it stands or by its contrary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sense {
    /// As it stands.
    Plain,
    /// By its contrary.
    Negated,
}

impl Sense {
    /// The sense in which the formula of a question counts: what `AG` forbids is the contrary of its formula.
    pub(super) fn of(quantifier: Quantifier) -> Self {
        match quantifier {
            Quantifier::Eventually => Self::Plain,
            Quantifier::Always => Self::Negated,
        }
    }

    /// The sense below a negation.
    pub(super) fn negated(self) -> Self {
        match self {
            Self::Plain => Self::Negated,
            Self::Negated => Self::Plain,
        }
    }

    /// The conjunction of parts that were read in this sense (De Morgan).
    pub(super) fn all(self, parts: Vec<Formula>) -> Formula {
        match self {
            Self::Plain => Formula::All(parts),
            Self::Negated => Formula::Any(parts),
        }
    }

    /// The disjunction of parts that were read in this sense.
    pub(super) fn any(self, parts: Vec<Formula>) -> Formula {
        self.negated().all(parts)
    }

    /// A truth value.
    pub(super) fn constant(self, value: bool) -> Formula {
        Formula::Constant(value == (self == Self::Plain))
    }

    /// `left ≤ right` between sums; with `strictly`, `left < right`. Nothing when that is no lower bound in this sense.
    pub(super) fn at_most(self, left: Sum, right: Sum, strictly: bool) -> Option<Formula> {
        // The contrary of `left ≤ right` is `right < left`.
        let (small, large, strictly) = match self {
            Self::Plain => (left, right, strictly),
            Self::Negated => (right, left, !strictly),
        };
        let bound = if strictly { small.constant.plus(&Count::ONE) } else { small.constant };
        match (small.places.is_empty(), large.places.is_empty()) {
            (true, _) => Some(Formula::at_least(large.places, bound.saturating_minus(&large.constant))),
            // Tokens only add to a sum that is too large without them.
            (false, true) if bound > large.constant => Some(Formula::Constant(false)),
            _ => None,
        }
    }

    /// `left = right` between sums; nothing when that is no lower bound in this sense. Only the contrary of "no tokens" is one.
    pub(super) fn equal(self, left: Sum, right: Sum) -> Option<Formula> {
        let (sum, other) = if right.places.is_empty() { (left, right) } else { (right, left) };
        if !other.places.is_empty() {
            return None;
        }
        match (sum.places.is_empty(), sum.constant.cmp(&other.constant)) {
            (true, order) => Some(self.constant(order == Ordering::Equal)),
            (false, Ordering::Greater) => Some(self.constant(false)),
            (false, Ordering::Equal) if self == Self::Negated => Some(Formula::at_least(sum.places, Count::ONE)),
            (false, _) => None,
        }
    }

    /// What is wrong with a part that is no lower bound in this sense.
    pub(super) fn no_lower_bound(self) -> &'static str {
        match self {
            Self::Plain => "an upper bound makes no coverability question",
            Self::Negated => "a lower bound makes no coverability question under `AG` or a negation",
        }
    }
}

/// One side of a comparison.
#[derive(Clone, Debug)]
pub(super) struct Sum {
    /// Places, as often as their tokens count.
    pub(super) places: Vec<PlaceId>,
    /// What is added to their tokens.
    pub(super) constant: Count,
}

/// Formulas nested more deeply are refused: they are read and rewritten by recursion.
pub(super) const DEEPEST: usize = 500;

/// The complaint about a formula nested too deeply.
pub(super) fn too_deep(span: Span) -> Diagnostic {
    Diagnostic::error(format!("the formula is nested more than {DEEPEST} levels deep"), span)
}

/// More alternatives than this are refused.
const MOST_ALTERNATIVES: usize = 100_000;

impl Formula {
    /// At least so many tokens on the places together.
    pub(super) fn at_least(places: Vec<PlaceId>, bound: Count) -> Self {
        if bound.is_zero() { Self::Constant(true) } else { Self::AtLeast(places, bound) }
    }

    /// That a transition can fire.
    pub(super) fn fireable(net: &Net, transition: TransitionId) -> Self {
        let pre = &net.transitions[transition.index()].pre;
        Self::All(pre.iter().map(|(place, count)| Self::AtLeast(vec![*place], count.clone())).collect())
    }

    /// The question, or nothing when it has too many alternatives.
    pub(super) fn query(&self) -> Option<Query> {
        let mut targets: Vec<Target> = self.alternatives()?.into_iter().map(|demands| Target { demands }).collect();
        targets.sort();
        targets.dedup();
        Some(Query { targets })
    }

    fn alternatives(&self) -> Option<Vec<Arcs>> {
        match self {
            Self::Constant(true) => Some(vec![Vec::new()]),
            Self::Constant(false) => Some(Vec::new()),
            Self::AtLeast(places, bound) => shares(places, bound),
            Self::Any(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    all.extend(part.alternatives()?);
                    if all.len() > MOST_ALTERNATIVES {
                        return None;
                    }
                }
                Some(all)
            }
            Self::All(parts) => {
                let mut all = vec![Vec::new()];
                for part in parts {
                    let choices = part.alternatives()?;
                    if all.len().saturating_mul(choices.len()) > MOST_ALTERNATIVES {
                        return None;
                    }
                    all = all.iter().flat_map(|one| choices.iter().map(|other| join(one, other))).collect();
                }
                Some(all)
            }
        }
    }
}

/// The ways to share a bound among places, a place that is listed `c` times counting `c` for each of its tokens.
fn shares(places: &[PlaceId], bound: &Count) -> Option<Vec<Arcs>> {
    let mut weighted: Vec<(PlaceId, u64)> = Vec::new();
    let mut sorted = places.to_vec();
    sorted.sort_unstable();
    for place in sorted {
        match weighted.last_mut() {
            Some((last, weight)) if *last == place => *weight += 1,
            _ => weighted.push((place, 1)),
        }
    }
    match weighted.as_slice() {
        [] => return Some(Vec::new()),
        [(place, 1)] => return Some(vec![vec![(*place, bound.clone())]]),
        _ => {}
    }
    let bound = bound.to_u64().filter(|bound| usize::try_from(*bound).is_ok_and(|bound| bound <= MOST_ALTERNATIVES))?;
    let mut complete = Vec::new();
    let mut partial: Vec<(usize, u64, Arcs)> = vec![(0, bound, Vec::new())];
    while let Some((index, missing, demands)) = partial.pop() {
        if missing == 0 {
            complete.push(demands);
        } else if let Some((place, weight)) = weighted.get(index) {
            for share in 0..=missing.div_ceil(*weight) {
                let mut longer = demands.clone();
                if share > 0 {
                    longer.push((*place, Count::from(share)));
                }
                partial.push((index + 1, missing.saturating_sub(share * weight), longer));
            }
        }
        if complete.len() + partial.len() > MOST_ALTERNATIVES {
            return None;
        }
    }
    Some(complete)
}

/// The least demands above both, each sorted by place.
fn join(left: &Arcs, right: &Arcs) -> Arcs {
    let mut joined = left.clone();
    for (place, count) in right {
        match joined.binary_search_by_key(place, |(other, _)| *other) {
            Ok(at) if joined[at].1 < *count => joined[at].1 = count.clone(),
            Ok(_) => {}
            Err(at) => joined.insert(at, (*place, count.clone())),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_become_alternatives() {
        let (a, b) = (PlaceId(0), PlaceId(1));
        let sum = Formula::at_least(vec![a, b], Count::from(2));
        let query = sum.query().unwrap();
        let one = |place, count: u64| (place, Count::from(count));
        let expected = [vec![one(a, 1), one(b, 1)], vec![one(a, 2)], vec![one(b, 2)]];
        assert_eq!(query.targets.iter().map(|target| target.demands.clone()).collect::<Vec<_>>(), expected);
        let both = Formula::All(vec![sum, Formula::at_least(vec![a], Count::from(2))]);
        assert_eq!(both.query().unwrap().targets.len(), 3);
        let doubled = Formula::at_least(vec![a, a], Count::from(3)).query().unwrap();
        assert_eq!(doubled.targets, vec![Target { demands: vec![one(a, 2)] }]);
    }

    #[test]
    fn too_many_alternatives_are_refused() {
        let places: Vec<PlaceId> = (0..1000).map(PlaceId).collect();
        assert_eq!(Formula::at_least(places, Count::from(1000)).query(), None);
    }
}
