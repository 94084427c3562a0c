//! Siphons without tokens, linear inequalities and marked traps: invariants that are checked
//! transition by transition.

use super::arcs::ArcIndex;
use super::{at, check_places, check_sparse, in_words, named};
use crate::CheckFailure;
use crate::failure::reject;
use hashbrown::HashMap;
use num_bigint::BigInt;
use num_traits::{Signed, Zero};
use palisade_evidence::{Invariant, PlaceWeights, Refutation};
use palisade_model::net::{Count, OmegaCount, PlaceId, Problem, TransitionId};
use palisade_model::ordered::CollectOrdered;
use std::collections::BTreeSet;

/// Checks that for each target its refutation holds and refutes it.
pub(super) fn check(problem: &Problem, siphon: &[PlaceId], refutations: &[Refutation]) -> Result<(), CheckFailure> {
    let targets = &problem.query.targets;
    if refutations.len() != targets.len() {
        reject!(Form, "{} refutations for {} targets", refutations.len(), targets.len());
    }
    let arcs = ArcIndex::new(&problem.net);
    let siphon = Siphon::check(problem, &arcs, siphon)?;
    for (number, (target, refutation)) in targets.iter().zip(refutations).enumerate() {
        let separator = Separator::check(problem, &arcs, &siphon, refutation, number)?;
        if !siphon.refutes(&target.demands) && !separator.refutes(&target.demands) {
            reject!(Safe, "refutation {number} does not refute target {}", in_words(problem, &target.demands));
        }
    }
    Ok(())
}

/// An invariant whose parts have been checked.
pub(super) struct CheckedInvariant {
    siphon: Siphon,
    separators: Vec<Separator>,
}

impl CheckedInvariant {
    /// Checks every part of `invariant`.
    pub(super) fn check(problem: &Problem, invariant: &Invariant) -> Result<Self, CheckFailure> {
        let arcs = ArcIndex::new(&problem.net);
        let siphon = Siphon::check(problem, &arcs, &invariant.siphon)?;
        let separators = invariant
            .refutations
            .iter()
            .enumerate()
            .map(|(number, refutation)| Separator::check(problem, &arcs, &siphon, refutation, number))
            .collect::<Result<_, _>>()?;
        Ok(Self { siphon, separators })
    }

    /// Whether no reachable marking covers `demands`.
    pub(super) fn refutes(&self, demands: &[(PlaceId, Count)]) -> bool {
        self.siphon.refutes(demands) || self.separators.iter().any(|separator| separator.refutes(demands))
    }
}

/// Places that stay empty for ever: without tokens initially, and every transition that puts a
/// token into one of them takes one from one of them.
pub(super) struct Siphon {
    /// Whether each place is in it.
    contains: Vec<bool>,
}

impl Siphon {
    pub(super) fn check(problem: &Problem, arcs: &ArcIndex, places: &[PlaceId]) -> Result<Self, CheckFailure> {
        check_places(problem, places.iter().copied()).map_err(|failure| failure.within("siphon"))?;
        let mut siphon = Self { contains: vec![false; problem.net.places.len()] };
        for place in places {
            siphon.contains[place.index()] = true;
        }
        for place in places {
            if problem.net.initial[place.index()] != OmegaCount::Finite(Count::ZERO) {
                reject!(Initial, "siphon: place {place} is marked initially");
            }
            for producer in arcs.producers(*place) {
                if !siphon.disables(problem, *producer) {
                    reject!(Inductive, "siphon: transition {} puts a token into it", named(problem, *producer));
                }
            }
        }
        Ok(siphon)
    }

    pub(super) fn has(&self, place: PlaceId) -> bool {
        self.contains[place.index()]
    }

    /// Whether `transition` takes from the siphon, so that it never fires.
    fn disables(&self, problem: &Problem, transition: TransitionId) -> bool {
        problem.net.transitions[transition.index()].pre.iter().any(|(place, _)| self.has(*place))
    }

    /// Whether `demands` asks for a token in the siphon.
    fn refutes(&self, demands: &[(PlaceId, Count)]) -> bool {
        demands.iter().any(|(place, _)| self.has(*place))
    }
}

/// A checked linear inequality `coefficients · m ≤ bound` over every reachable marking `m`,
/// restricted to places outside the siphon: `y·m ≤ y·m0` less the marked traps' `m(Q) ≥ 1`, each as
/// often as its multiplier says.
struct Separator {
    /// `y_p − Σ z_i` over the traps that contain `p`; places not listed have 0.
    coefficients: HashMap<PlaceId, BigInt>,
    /// `y·m0 − Σ z_i`.
    bound: BigInt,
    /// Whether no coefficient is negative: then covering more only adds.
    is_monotone: bool,
}

impl Separator {
    fn check(
        problem: &Problem,
        arcs: &ArcIndex,
        siphon: &Siphon,
        refutation: &Refutation,
        number: usize,
    ) -> Result<Self, CheckFailure> {
        let what = format!("refutation {number}");
        let mut bound = check_inequality(problem, arcs, siphon, &refutation.weights, &what)?;
        let mut coefficients: HashMap<PlaceId, BigInt> =
            refutation.weights.iter().filter(|(place, _)| !siphon.has(*place)).cloned().collect();
        for (index, trap) in refutation.traps.iter().enumerate() {
            let what = format!("{what}, trap {index}");
            check_trap(problem, arcs, siphon, &trap.places, &what)?;
            if trap.multiplier.is_negative() {
                reject!(Form, "{what}: the multiplier is negative");
            }
            bound -= &trap.multiplier;
            for place in trap.places.iter().filter(|place| !siphon.has(**place)) {
                *coefficients.entry(*place).or_default() -= &trap.multiplier;
            }
        }
        let is_monotone = coefficients.values().all(|coefficient| !coefficient.is_negative());
        Ok(Self { coefficients, bound, is_monotone })
    }

    /// Whether every marking that covers `demands` violates the inequality.
    fn refutes(&self, demands: &[(PlaceId, Count)]) -> bool {
        let term = |(place, count): &(PlaceId, Count)| {
            self.coefficients.get(place).map(|coefficient| coefficient * BigInt::from(count.to_big()))
        };
        self.is_monotone && demands.iter().filter_map(term).sum::<BigInt>() > self.bound
    }
}

/// Checks that no transition that can fire increases `y·m`, and returns the largest initial `y·m0`.
pub(super) fn check_inequality(
    problem: &Problem,
    arcs: &ArcIndex,
    siphon: &Siphon,
    weights: &PlaceWeights,
    what: &str,
) -> Result<BigInt, CheckFailure> {
    check_sparse(problem, weights, BigInt::is_zero).map_err(|failure| failure.within(what))?;
    let weigh = |arcs: &[(PlaceId, Count)]| -> BigInt {
        arcs.iter()
            .filter_map(|(place, count)| at(weights, *place).map(|weight| weight * BigInt::from(count.to_big())))
            .sum()
    };
    // A transition touches the sum only where it puts at a positive weight or takes at a negative
    // one.
    let relevant: BTreeSet<TransitionId> = weights
        .iter()
        .flat_map(|(place, weight)| if weight.is_positive() { arcs.producers(*place) } else { arcs.consumers(*place) })
        .copied()
        .collect_set();
    for id in relevant {
        let transition = &problem.net.transitions[id.index()];
        if !siphon.disables(problem, id) && weigh(&transition.post) > weigh(&transition.pre) {
            reject!(Inductive, "{what}: transition {} increases the weighted sum", named(problem, id));
        }
    }
    let mut initial = BigInt::zero();
    for (place, weight) in weights.iter().filter(|(place, _)| !siphon.has(*place)) {
        match &problem.net.initial[place.index()] {
            OmegaCount::Finite(count) => initial += weight * BigInt::from(count.to_big()),
            OmegaCount::Omega if weight.is_positive() => {
                reject!(Initial, "{what}: place {place} has a positive weight and any number of tokens initially")
            }
            // No token there makes the sum largest.
            OmegaCount::Omega => {}
        }
    }
    Ok(initial)
}

/// Checks that a trap is marked in every initial marking, and that every transition that can fire
/// and takes from it puts into it.
pub(super) fn check_trap(
    problem: &Problem,
    arcs: &ArcIndex,
    siphon: &Siphon,
    trap: &[PlaceId],
    what: &str,
) -> Result<(), CheckFailure> {
    check_places(problem, trap.iter().copied()).map_err(|failure| failure.within(what))?;
    // An ω place does not count: there may be none there.
    let is_marked =
        |place: &PlaceId| matches!(&problem.net.initial[place.index()], OmegaCount::Finite(count) if !count.is_zero());
    if !trap.iter().any(is_marked) {
        reject!(Initial, "{what}: it need not be marked initially");
    }
    let consumers: BTreeSet<TransitionId> = trap.iter().flat_map(|place| arcs.consumers(*place)).copied().collect_set();
    for id in consumers {
        let puts = |(place, _): &(PlaceId, Count)| trap.binary_search(place).is_ok();
        if !siphon.disables(problem, id) && !problem.net.transitions[id.index()].post.iter().any(puts) {
            reject!(Inductive, "{what}: transition {} takes from it and puts nothing back", named(problem, id));
        }
    }
    Ok(())
}
