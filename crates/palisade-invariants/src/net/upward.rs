//! Upward-closed sets given by their basis, relative to an invariant.

use super::arcs::ArcIndex;
use super::separator::CheckedInvariant;
use super::{at, check_sparse, in_words, named};
use crate::CheckFailure;
use crate::failure::reject;
use hashbrown::HashSet;
use palisade_evidence::{Invariant, TokenMarking};
use palisade_model::net::{Count, PlaceId, Problem, Transition};
use palisade_model::ordered::{self, CollectOrdered};
use std::collections::BTreeSet;

/// Checks that the up-set of `basis` contains every target, is closed under predecessors within the
/// invariant and contains no initial marking.
pub(super) fn check(problem: &Problem, basis: &[TokenMarking], invariant: &Invariant) -> Result<(), CheckFailure> {
    for (index, marking) in basis.iter().enumerate() {
        check_sparse(problem, marking, Count::is_zero)
            .map_err(|failure| failure.within(format_args!("basis marking {index}")))?;
    }
    let invariant = CheckedInvariant::check(problem, invariant)?;
    let set = UpSet::new(problem, basis);
    // The invariant is asked before the set is looked through, which takes longer.
    let is_excluded = |marking: &TokenMarking| set.has(marking) || invariant.refutes(marking) || set.contains(marking);

    for (number, target) in problem.query.targets.iter().enumerate() {
        if !is_excluded(&target.demands) {
            reject!(Safe, "target {number}, {}, is outside the set", in_words(problem, &target.demands));
        }
    }

    for (index, marking) in basis.iter().enumerate() {
        if marking.iter().all(|(place, count)| problem.net.initial[place.index()].covers(count)) {
            reject!(Initial, "an initial marking covers basis marking {index}, {}", in_words(problem, marking));
        }
    }

    let arcs = ArcIndex::new(&problem.net);
    for (index, marking) in basis.iter().enumerate() {
        let relevant: BTreeSet<_> = marking.iter().flat_map(|(place, _)| arcs.producers(*place)).copied().collect_set();
        for id in relevant {
            let before = predecessor(marking, &problem.net.transitions[id.index()]);
            if !is_excluded(&before) {
                reject!(
                    Inductive,
                    "the predecessor {} of basis marking {index}, {}, by transition {} is outside the set and not \
                     outside the invariant",
                    in_words(problem, &before),
                    in_words(problem, marking),
                    named(problem, id)
                );
            }
        }
    }
    Ok(())
}

/// The least marking from which firing `transition` covers `marking`:
/// `pre + max(marking − post, 0)`.
///
/// For a transition that puts nothing where `marking` has tokens it lies above `marking`.
fn predecessor(marking: &TokenMarking, transition: &Transition) -> TokenMarking {
    let mut before: TokenMarking = marking
        .iter()
        .map(|(place, count)| match at(&transition.post, *place) {
            Some(put) => (*place, count.saturating_minus(put)),
            None => (*place, count.clone()),
        })
        .filter(|(_, count)| !count.is_zero())
        .collect();
    for (place, taken) in &transition.pre {
        match before.binary_search_by_key(place, |(place, _)| *place) {
            Ok(position) => before[position].1 = before[position].1.plus(taken),
            Err(position) => before.insert(position, (*place, taken.clone())),
        }
    }
    before
}

/// The union of up-sets of markings, with the means to find one below a marking.
struct UpSet<'a> {
    exact: HashSet<&'a TokenMarking>,
    /// For each place, the basis markings whose last place it is, with how many tokens they have,
    /// the fewest first.
    by_last_place: Vec<Vec<(Count, &'a TokenMarking)>>,
    /// Whether a basis marking has tokens on each place.
    is_asked_for: Vec<bool>,
    /// Whether the empty marking is in the basis: then the set is everything.
    everything: bool,
}

impl<'a> UpSet<'a> {
    fn new(problem: &Problem, basis: &'a [TokenMarking]) -> Self {
        let mut by_last_place = vec![Vec::new(); problem.net.places.len()];
        let mut is_asked_for = vec![false; problem.net.places.len()];
        for marking in basis {
            if let Some((place, _)) = marking.last() {
                by_last_place[place.index()].push((tokens(marking.iter()), marking));
            }
            for (place, _) in marking {
                is_asked_for[place.index()] = true;
            }
        }
        for markings in &mut by_last_place {
            ordered::sort_by(markings, |(tokens, _), (others, _)| tokens.cmp(others));
        }
        let everything = basis.iter().any(Vec::is_empty);
        Self { exact: basis.iter().collect(), by_last_place, is_asked_for, everything }
    }

    /// Whether `marking` is in the basis.
    fn has(&self, marking: &TokenMarking) -> bool {
        self.exact.contains(marking)
    }

    /// Whether some basis marking is below `marking`.
    fn contains(&self, marking: &TokenMarking) -> bool {
        if self.everything {
            return true;
        }
        // No marking with more tokens on these places is below.
        let most = tokens(marking.iter().filter(|(place, _)| self.is_asked_for[place.index()]));
        let is_above = |smaller: &TokenMarking| {
            smaller.len() <= marking.len()
                && smaller.iter().all(|(place, count)| at(marking, *place).is_some_and(|own| own >= count))
        };
        let ends_at = |(place, _): &(PlaceId, Count)| {
            self.by_last_place[place.index()].iter().take_while(|(tokens, _)| *tokens <= most).map(|(_, own)| *own)
        };
        marking.iter().flat_map(ends_at).any(is_above)
    }
}

/// All tokens of a marking.
fn tokens<'m>(marking: impl Iterator<Item = &'m (PlaceId, Count)>) -> Count {
    marking.fold(Count::ZERO, |sum, (_, count)| sum.plus(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_evidence::Refutation;
    use palisade_model::net::{Net, OmegaCount, Query, Target};

    fn place(index: usize) -> PlaceId {
        PlaceId::from_index(index)
    }

    /// The marking with these tokens on the first places.
    fn marking(tokens: &[u64]) -> TokenMarking {
        let listed = tokens.iter().enumerate().filter(|(_, count)| **count > 0);
        listed.map(|(index, count)| (place(index), Count::from(*count))).collect()
    }

    /// All bases of up to three of the 27 markings with at most two tokens on each of three places.
    #[test]
    fn what_is_above_a_basis_marking_is_found() {
        let all: Vec<[u64; 3]> = (0..27).map(|code| [code / 9, code / 3 % 3, code % 3]).collect();
        let mut net = Net::default();
        for name in ["a", "b", "c"] {
            net.add_place(name, OmegaCount::Finite(Count::ZERO));
        }
        let problem = Problem { net, query: Query::default() };
        for code in 0..27 * 27 * 27 {
            let chosen = [code / 729, code / 27 % 27, code % 27].map(|index| all[index]);
            let basis = chosen.map(|tokens| marking(&tokens));
            let set = UpSet::new(&problem, &basis);
            for own in &all {
                let is_above = |smaller: &[u64; 3]| smaller.iter().zip(own).all(|(small, own)| small <= own);
                assert_eq!(set.contains(&marking(own)), chosen.iter().any(is_above), "{own:?} over {chosen:?}");
            }
        }
    }

    /// That five places which hold one token each hold 29 together, in all 40,920 ways.
    #[test]
    fn a_basis_of_many_markings_is_checked() {
        let mut net = Net::default();
        for index in 0..10 {
            net.add_place(format!("p{index}"), OmegaCount::Finite(Count::from(u64::from(index >= 5))));
        }
        for index in 0..5 {
            let (inside, outside) = (vec![(place(index), Count::ONE)], vec![(place(index + 5), Count::ONE)]);
            net.add_transition(format!("in{index}"), outside.clone(), inside.clone());
            net.add_transition(format!("out{index}"), inside, outside);
        }
        let mut basis = Vec::new();
        for code in 0..30_u64.pow(4) {
            let tokens = [code % 30, code / 30 % 30, code / 900 % 30, code / 27_000];
            if let Some(rest) = 29_u64.checked_sub(tokens.iter().sum()) {
                basis.push(marking(&[tokens[0], tokens[1], tokens[2], tokens[3], rest]));
            }
        }
        assert_eq!(basis.len(), 40_920);
        let targets = basis.iter().cloned().map(Target::new).collect();
        let problem = Problem { net, query: Query { targets } };
        let one = |index| Refutation {
            weights: vec![(place(index), 1.into()), (place(index + 5), 1.into())],
            traps: Vec::new(),
        };
        let invariant = Invariant { siphon: Vec::new(), refutations: (0..5).map(one).collect() };
        assert!(check(&problem, &basis, &invariant).is_ok());
        assert!(check(&problem, &basis, &Invariant::default()).is_err());
    }
}
