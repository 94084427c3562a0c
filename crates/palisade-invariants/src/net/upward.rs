//! Upward-closed sets given by their basis, relative to an invariant.

use super::arcs::ArcIndex;
use super::separator::CheckedInvariant;
use super::{at, check_sparse, in_words, named};
use crate::CheckFailure;
use crate::failure::reject;
use hashbrown::HashSet;
use palisade_evidence::{Invariant, TokenMarking};
use palisade_model::net::{Count, PlaceId, Problem, Transition};
use palisade_model::ordered::CollectOrdered;
use std::collections::BTreeSet;

/// Checks that the up-set of `basis` contains every target, is closed under predecessors within the invariant and
/// contains no initial marking.
pub(super) fn check(problem: &Problem, basis: &[TokenMarking], invariant: &Invariant) -> Result<(), CheckFailure> {
    for (index, marking) in basis.iter().enumerate() {
        check_sparse(problem, marking, Count::is_zero)
            .map_err(|failure| failure.within(format_args!("basis marking {index}")))?;
    }
    let invariant = CheckedInvariant::check(problem, invariant)?;
    let set = UpSet::new(problem, basis);

    for (number, target) in problem.query.targets.iter().enumerate() {
        if !set.contains(&target.demands) && !invariant.refutes(&target.demands) {
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
            if !set.contains(&before) && !invariant.refutes(&before) {
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

/// The least marking from which firing `transition` covers `marking`: `pre + max(marking − post, 0)`.
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
    /// For each place, the basis markings whose last place it is.
    by_last_place: Vec<Vec<&'a TokenMarking>>,
    /// Whether the empty marking is in the basis: then the set is everything.
    everything: bool,
}

impl<'a> UpSet<'a> {
    fn new(problem: &Problem, basis: &'a [TokenMarking]) -> Self {
        let mut by_last_place = vec![Vec::new(); problem.net.places.len()];
        for marking in basis {
            if let Some((place, _)) = marking.last() {
                by_last_place[place.index()].push(marking);
            }
        }
        Self { exact: basis.iter().collect(), by_last_place, everything: basis.iter().any(Vec::is_empty) }
    }

    /// Whether some basis marking is below `marking`.
    fn contains(&self, marking: &TokenMarking) -> bool {
        let is_above = |smaller: &TokenMarking| {
            smaller.len() <= marking.len()
                && smaller.iter().all(|(place, count)| at(marking, *place).is_some_and(|own| own >= count))
        };
        let ends_at = |(place, _): &(PlaceId, Count)| self.by_last_place[place.index()].iter();
        self.everything || self.exact.contains(marking) || marking.iter().flat_map(ends_at).any(|own| is_above(own))
    }
}
