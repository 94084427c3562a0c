//! Downward-closed invariants given by ω-markings.

use super::arcs::ArcIndex;
use super::{at, check_sparse, in_words, is_below, named};
use crate::CheckFailure;
use crate::failure::reject;
use hashbrown::HashSet;
use palisade_evidence::OmegaMarking;
use palisade_model::net::{Count, OmegaCount, PlaceId, Problem, Transition};

/// Checks that the union of the down-sets of `markings` contains the initial markings, is closed
/// under every transition and meets no target.
pub(super) fn check(problem: &Problem, markings: &[OmegaMarking]) -> Result<(), CheckFailure> {
    check_up_to(problem, markings, |marking| marking)
}

/// The same, where `form` gives for a marking one that a symmetry of the net takes it to: the
/// initial marking and successors may be in the set in this form. A symmetry is a permutation of
/// places that takes each transition to a transition and each target to itself.
///
/// No reachable marking covers a target then. Proof: each is below some element e, taken by a
/// symmetry σ. Initially so, as the form is in the set. If c is below σ(e) and t leads from c to
/// c', then σ⁻¹(t) leads from e to some d that σ⁻¹(c') is below; and the form of d, which is τ(d),
/// is below an element e', so that c' is below σ(τ⁻¹(e')). If c covers a target, so does σ(e), and
/// so does e, which the target is the same for. ∎
pub(super) fn check_up_to(
    problem: &Problem,
    markings: &[OmegaMarking],
    form: impl Fn(OmegaMarking) -> OmegaMarking,
) -> Result<(), CheckFailure> {
    for (index, marking) in markings.iter().enumerate() {
        check_sparse(problem, marking, |count| *count == OmegaCount::Finite(Count::ZERO))
            .map_err(|failure| failure.within(format_args!("marking {index}")))?;
    }
    let set = DownSet::new(problem, markings);

    let initial = form(initial_marking(problem));
    if !set.contains(&initial) {
        reject!(Initial, "no marking of the certificate covers the initial one, {}", in_words(problem, &initial));
    }

    for (index, marking) in markings.iter().enumerate() {
        for (number, target) in problem.query.targets.iter().enumerate() {
            if target.demands.iter().all(|(place, count)| at(marking, *place).is_some_and(|own| own.covers(count))) {
                reject!(Safe, "marking {index}, {}, covers target {number}", in_words(problem, marking));
            }
        }
    }

    let arcs = ArcIndex::new(&problem.net);
    for (index, marking) in markings.iter().enumerate() {
        let mut escape = None;
        arcs.for_each_possibly_enabled(&problem.net, marking.iter().map(|(place, _)| *place), |id| {
            let transition = &problem.net.transitions[id.index()];
            if escape.is_none() && !stays_below(marking, transition) {
                escape =
                    successor(marking, transition).map(&form).filter(|next| !set.contains(next)).map(|next| (id, next));
            }
        });
        if let Some((id, next)) = escape {
            reject!(
                Inductive,
                "from marking {index}, {}, transition {} leads to {}, which no marking of the certificate covers",
                in_words(problem, marking),
                named(problem, id),
                in_words(problem, &next)
            );
        }
    }
    Ok(())
}

/// The initial marking, sparse.
fn initial_marking(problem: &Problem) -> OmegaMarking {
    problem
        .net
        .place_ids()
        .zip(&problem.net.initial)
        .filter(|(_, count)| **count != OmegaCount::Finite(Count::ZERO))
        .map(|(place, count)| (place, count.clone()))
        .collect()
}

/// Whether the successor of `marking` by `transition`, if it is enabled at all, is not above
/// `marking` anywhere.
fn stays_below(marking: &OmegaMarking, transition: &Transition) -> bool {
    transition.post.iter().all(|(place, put)| {
        at(marking, *place) == Some(&OmegaCount::Omega) || at(&transition.pre, *place).is_some_and(|taken| taken >= put)
    })
}

/// The marking after `transition`, if it is enabled: ω minus and plus anything is ω.
fn successor(marking: &OmegaMarking, transition: &Transition) -> Option<OmegaMarking> {
    let mut next = marking.clone();
    for (place, taken) in &transition.pre {
        let position = next.binary_search_by_key(place, |(place, _)| *place).ok()?;
        if let OmegaCount::Finite(count) = &mut next[position].1 {
            *count = count.minus(taken)?;
        }
    }
    for (place, put) in &transition.post {
        match next.binary_search_by_key(place, |(place, _)| *place) {
            Ok(position) => {
                if let OmegaCount::Finite(count) = &mut next[position].1 {
                    *count = count.plus(put);
                }
            }
            Err(position) => next.insert(position, (*place, OmegaCount::Finite(put.clone()))),
        }
    }
    next.retain(|(_, count)| *count != OmegaCount::Finite(Count::ZERO));
    Some(next)
}

/// The union of down-sets of ω-markings, with the means to find a covering one.
struct DownSet<'a> {
    markings: &'a [OmegaMarking],
    exact: HashSet<&'a OmegaMarking>,
    /// For each place, the positions of the markings that mark it.
    marking_it: Vec<Vec<u32>>,
}

impl<'a> DownSet<'a> {
    fn new(problem: &Problem, markings: &'a [OmegaMarking]) -> Self {
        let mut marking_it = vec![Vec::new(); problem.net.places.len()];
        for (index, marking) in (0u32..).zip(markings) {
            for (place, _) in marking {
                marking_it[place.index()].push(index);
            }
        }
        Self { markings, exact: markings.iter().collect(), marking_it }
    }

    /// Whether some marking of the set covers `marking`.
    fn contains(&self, marking: &OmegaMarking) -> bool {
        if self.exact.contains(marking) {
            return true;
        }
        let candidates = |(place, _): &(PlaceId, OmegaCount)| &self.marking_it[place.index()];
        match marking.iter().map(candidates).min_by_key(|indices| indices.len()) {
            Some(indices) => indices.iter().any(|index| is_below(marking, &self.markings[*index as usize])),
            None => !self.markings.is_empty(),
        }
    }
}
