//! Coverability questions as formulas: monotone combinations of lower bounds, brought to
//! alternatives.
//!
//! `EF φ` asks for a marking that satisfies φ, `AG φ` forbids the markings that do not: both ask
//! whether some set of markings can be reached, and that is coverability when the set is given by
//! lower bounds. So formulas are read with the [`Sense`] in which a part counts, which `AG` and
//! each negation turn round.

use palisade_model::net::{Arcs, Count, Net, PlaceId, Quantifier, Query, Target, TransitionId};
use palisade_model::ordered;
use palisade_model::text::{Diagnostic, Span};
use std::cmp::{Ordering, Reverse};

/// What has to be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Formula {
    /// Always, or never.
    Constant(bool),
    /// So many tokens on these places together, each token as often as its place counts; the bound
    /// is at least 1.
    AtLeast(Vec<(PlaceId, Count)>, Count),
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
    /// The sense in which the formula of a question counts: what `AG` forbids is the contrary of
    /// its formula.
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

    /// `left ≤ right` between sums; with `strictly`, `left < right`. Nothing when that is no lower
    /// bound in this sense.
    pub(super) fn at_most(self, left: Sum, right: Sum, strictly: bool) -> Option<Formula> {
        // The contrary of `left ≤ right` is `right < left`.
        let (small, large, strictly) = match self {
            Self::Plain => (left, right, strictly),
            Self::Negated => (right, left, !strictly),
        };
        let bound = if strictly { small.constant.plus(&Count::ONE) } else { small.constant };
        match (small.terms.is_empty(), large.terms.is_empty()) {
            (true, _) => Some(Formula::at_least(large.terms, bound.saturating_minus(&large.constant))),
            // Tokens only add to a sum that is too large without them.
            (false, true) if bound > large.constant => Some(Formula::Constant(false)),
            _ => None,
        }
    }

    /// `left = right` between sums; nothing when that is no lower bound in this sense. Only the
    /// contrary of "no tokens" is one.
    pub(super) fn equal(self, left: Sum, right: Sum) -> Option<Formula> {
        let (sum, other) = if right.terms.is_empty() { (left, right) } else { (right, left) };
        if !other.terms.is_empty() {
            return None;
        }
        match (sum.terms.is_empty(), sum.constant.cmp(&other.constant)) {
            (true, order) => Some(self.constant(order == Ordering::Equal)),
            (false, Ordering::Greater) => Some(self.constant(false)),
            (false, Ordering::Equal) if self == Self::Negated => Some(Formula::at_least(sum.terms, Count::ONE)),
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
    /// Places, and how often each of their tokens counts, at least once; a place may be listed
    /// again.
    pub(super) terms: Vec<(PlaceId, Count)>,
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

/// Alternatives with more demands than this together are refused: some hundred megabytes of them.
const MOST_DEMANDS: usize = 1 << 22;

impl Formula {
    /// At least so many tokens on the places together.
    pub(super) fn at_least(terms: Vec<(PlaceId, Count)>, bound: Count) -> Self {
        if bound.is_zero() { Self::Constant(true) } else { Self::AtLeast(terms, bound) }
    }

    /// That a transition can fire; nothing where inhibitor arcs make it no lower bound.
    pub(super) fn fireable(net: &Net, transition: TransitionId) -> Option<Self> {
        let is_inhibited = net.inhibitors.iter().any(|inhibitor| inhibitor.transition == transition);
        let pre = &net.transitions[transition.index()].pre;
        let all = Self::All(
            pre.iter().map(|(place, count)| Self::AtLeast(vec![(*place, Count::ONE)], count.clone())).collect(),
        );
        (!is_inhibited).then_some(all)
    }

    /// The question, or nothing when it has too many alternatives.
    pub(super) fn query(&self) -> Option<Query> {
        let mut targets: Vec<Target> = self.alternatives()?.into_iter().map(|demands| Target { demands }).collect();
        ordered::sort_by(&mut targets, Target::cmp);
        targets.dedup();
        Some(Query { targets })
    }

    fn alternatives(&self) -> Option<Vec<Arcs>> {
        match self {
            Self::Constant(true) => Some(vec![Vec::new()]),
            Self::Constant(false) => Some(Vec::new()),
            Self::AtLeast(terms, bound) => shares(terms, bound),
            Self::Any(parts) => {
                let (mut all, mut demands) = (Vec::new(), 0);
                for part in parts {
                    let choices = part.alternatives()?;
                    demands += choices.iter().map(Vec::len).sum::<usize>();
                    all.extend(choices);
                    if all.len() > MOST_ALTERNATIVES || demands > MOST_DEMANDS {
                        return None;
                    }
                }
                Some(all)
            }
            Self::All(parts) => {
                // Most parts leave no choice: their demands are joined once, not part by part.
                let (mut shared, mut all) = (Vec::new(), vec![Vec::new()]);
                for part in parts {
                    let mut choices = part.alternatives()?;
                    if choices.len() == 1 {
                        shared.append(&mut choices[0]);
                        continue;
                    }
                    all = joined(&all, &choices)?;
                }
                joined(&all, &[largest(shared)])
            }
        }
    }
}

/// The minimal ways to share a bound among places.
///
/// Places that count most come first: whoever completes a bound then counts least of those with a
/// share, and as few of its tokens as complete it are no more than needed. So all ways are minimal,
/// and none is missing.
fn shares(terms: &[(PlaceId, Count)], bound: &Count) -> Option<Vec<Arcs>> {
    let mut weighted: Vec<(PlaceId, Count)> = Vec::new();
    let mut sorted = terms.to_vec();
    ordered::sort_by_key(&mut sorted, |(place, _)| *place);
    for (place, weight) in sorted {
        match weighted.last_mut() {
            Some((last, sum)) if *last == place => *sum = sum.plus(&weight),
            _ => weighted.push((place, weight)),
        }
    }
    if let [(place, weight)] = weighted.as_slice() {
        return Some(vec![vec![(*place, bound.div_ceil(weight))]]);
    }
    if weighted.is_empty() {
        return Some(Vec::new());
    }
    let bound = bound.to_u64()?;
    let capped = |weight: Count| weight.to_u64().map_or(bound, |weight| weight.min(bound));
    let mut weighted: Vec<(PlaceId, u64)> =
        weighted.into_iter().map(|(place, weight)| (place, capped(weight))).collect();
    ordered::sort_by_key(&mut weighted, |(place, weight)| (Reverse(*weight), *place));
    let mut complete: Vec<Arcs> = Vec::new();
    let mut partial: Vec<(usize, u64, Arcs)> = vec![(0, bound, Vec::new())];
    while let Some((index, missing, demands)) = partial.pop() {
        let (place, weight) = weighted[index];
        let enough = missing.div_ceil(weight);
        let with = |share: u64| {
            let mut longer = demands.clone();
            longer.push((place, Count::from(share)));
            longer
        };
        let mut last = with(enough);
        ordered::sort_by_key(&mut last, |(place, _)| *place);
        complete.push(last);
        if index + 1 == weighted.len() {
            continue;
        }
        if enough > MOST_ALTERNATIVES as u64 {
            return None;
        }
        partial.extend((1..enough).map(|share| (index + 1, missing - share * weight, with(share))));
        partial.push((index + 1, missing, demands));
        if complete.len() + partial.len() > MOST_ALTERNATIVES {
            return None;
        }
    }
    Some(complete)
}

/// Of each place the largest of its demands, sorted by place.
fn largest(mut demands: Arcs) -> Arcs {
    ordered::sort_by(&mut demands, |(place, count), (other, than)| place.cmp(other).then_with(|| than.cmp(count)));
    demands.dedup_by_key(|(place, _)| *place);
    demands
}

/// The least demands above one of these and one of those, or nothing when they are too many.
fn joined(these: &[Arcs], those: &[Arcs]) -> Option<Vec<Arcs>> {
    let (mut all, mut demands) = (Vec::new(), 0);
    for (one, other) in these.iter().flat_map(|one| those.iter().map(move |other| (one, other))) {
        let both = largest(one.iter().chain(other).cloned().collect());
        demands += both.len();
        if all.len() == MOST_ALTERNATIVES || demands > MOST_DEMANDS {
            return None;
        }
        all.push(both);
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: PlaceId = PlaceId(0);
    const B: PlaceId = PlaceId(1);

    fn sum(terms: &[(PlaceId, u64)], bound: u64) -> Formula {
        let terms = terms.iter().map(|(place, weight)| (*place, Count::from(*weight))).collect();
        Formula::at_least(terms, Count::from(bound))
    }

    fn demands(formula: &Formula) -> Vec<Arcs> {
        formula.query().unwrap().targets.into_iter().map(|target| target.demands).collect()
    }

    fn one(place: PlaceId, count: u64) -> (PlaceId, Count) {
        (place, Count::from(count))
    }

    #[test]
    fn sums_become_alternatives() {
        let both = sum(&[(A, 1), (B, 1)], 2);
        assert_eq!(demands(&both), [vec![one(A, 1), one(B, 1)], vec![one(A, 2)], vec![one(B, 2)]]);
        assert_eq!(demands(&Formula::All(vec![both, sum(&[(A, 1)], 2)])).len(), 3);
        assert_eq!(demands(&sum(&[(A, 1), (A, 1)], 3)), [vec![one(A, 2)]]);
        assert_eq!(demands(&sum(&[(A, 5), (B, u64::MAX)], u64::MAX))[1], [one(B, 1)]);
    }

    /// Against all vectors in a box: the alternatives are the minimal ones of those that satisfy
    /// the sum.
    #[test]
    fn alternatives_of_sums_are_the_minimal_ones() {
        let (c, highest) = (PlaceId(2), 12);
        for weights in [[1, 1, 1], [1, 2, 3], [5, 1, 5], [4, 2, 7], [3, 20, 2], [12, 12, 11]] {
            for bound in 1..=12 {
                let value = |v: [u64; 3]| v.iter().zip(weights).map(|(tokens, weight)| tokens * weight).sum::<u64>();
                let less = |v: [u64; 3], at: usize| {
                    let mut v = v;
                    v[at] -= 1;
                    v
                };
                let mut expected = Vec::new();
                for v in
                    (0..=highest).flat_map(|x| (0..=highest).flat_map(move |y| (0..=highest).map(move |z| [x, y, z])))
                {
                    let is_minimal = (0..3).all(|at| v[at] == 0 || value(less(v, at)) < bound);
                    if value(v) >= bound && is_minimal {
                        let arcs = [A, B, c].into_iter().zip(v).filter(|(_, tokens)| *tokens > 0);
                        expected.push(arcs.map(|(place, tokens)| one(place, tokens)).collect::<Arcs>());
                    }
                }
                expected.sort();
                assert_eq!(demands(&sum(&[(A, weights[0]), (B, weights[1]), (c, weights[2])], bound)), expected);
            }
        }
    }

    #[test]
    fn demands_without_a_choice_are_joined_once() {
        let many = (0..100_000).map(|place| sum(&[(PlaceId(place % 50_000), 1)], 1 + u64::from(place >= 50_000)));
        let all = demands(&Formula::All(many.collect()));
        assert_eq!(all.len(), 1);
        assert!(all[0].len() == 50_000 && all[0].iter().all(|(_, count)| *count == Count::from(2)));
    }

    #[test]
    fn too_many_alternatives_are_refused() {
        let places = |number: u32| (0..number).map(|place| (PlaceId(place), 1)).collect::<Vec<_>>();
        assert_eq!(sum(&places(1000), 1000).query(), None);
        assert_eq!(sum(&[(A, 1), (B, 1)], u64::MAX).query(), None);
        // Few enough alternatives, with too many demands: each has all that the other parts ask
        // for.
        let rest = Formula::All(places(100).iter().map(|term| sum(&[*term], 1)).collect());
        assert_eq!(Formula::All(vec![sum(&places(2), 90_000), rest]).query(), None);
    }
}
