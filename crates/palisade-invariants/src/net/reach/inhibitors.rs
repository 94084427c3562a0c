//! A net with inhibitor arcs as one without them, once bounds of the places that they test are
//! shown.
//!
//! A place that is never above `b` tokens gets a complement, which always holds what it lacks of
//! `b`. That it holds fewer than `k` tokens is then that the complement holds more than `b − k`.
//! The bounds hold of the net without its inhibitor arcs, which has all runs of the net with them,
//! and more.

use super::super::arcs::ArcIndex;
use super::super::check_problem;
use super::super::separator::Siphon;
use super::observed::observe;
use super::observer::lowest;
use crate::CheckFailure;
use crate::failure::reject;
use num_bigint::{BigInt, BigUint};
use num_traits::{One, Zero};
use palisade_evidence::Complement;
use palisade_model::net::{Count, Inhibitor, LinearBound, Net, PlaceId, Problem, Query};
use std::collections::{BTreeMap, BTreeSet};

/// The net without inhibitor arcs, with a complement for each place that they test, in ascending
/// order.
pub fn without_inhibitors(net: &Net, complements: &[Complement]) -> Result<Net, CheckFailure> {
    let tested: BTreeSet<PlaceId> = net.inhibitors.iter().map(|inhibitor| inhibitor.place).collect();
    if !complements.iter().map(|complement| &complement.place).eq(&tested) {
        reject!(Form, "the complements are not those of the places that inhibitor arcs test, ascending");
    }
    let plain = Net { inhibitors: Vec::new(), ..net.clone() };
    let problem = Problem { net: plain, query: Query::default() };
    check_problem(&problem)?;
    let arcs = ArcIndex::new(&problem.net);
    let siphon = Siphon::check(&problem, &arcs, &[])?;
    let mut extended = problem.net.clone();
    let mut places: BTreeMap<PlaceId, (PlaceId, BigInt)> = BTreeMap::new();
    for Complement { place, observer } in complements {
        if place.index() >= problem.net.places.len() {
            reject!(Form, "there is no place {place}");
        }
        let what = format!("complement of place {place}");
        let terms = vec![(*place, -BigInt::one())];
        let low = lowest(&problem, &arcs, &siphon, &terms, observer, &what)?;
        let sum = LinearBound { terms, bound: BigInt::zero() };
        let name = Complement::name(&problem.net.places[place.index()].name);
        places.insert(*place, (observe(&mut extended, &problem.net, &sum, &low, name, &what)?, low));
    }
    for Inhibitor { transition, place, count } in &net.inhibitors {
        if transition.index() >= extended.transitions.len() || count.is_zero() {
            reject!(Form, "an inhibitor arc from place {place} to no transition, or of weight 0");
        }
        let (complement, low) = &places[place];
        let needed = BigInt::one() - BigInt::from(count.to_big()) - low;
        // What the place never holds keeps nothing from firing.
        let Ok(needed) = BigUint::try_from(needed) else { continue };
        let transition = &mut extended.transitions[transition.index()];
        let taken = transition.pre.iter().find(|(other, _)| other == complement);
        let taken = taken.map_or_else(BigUint::zero, |(_, count)| count.to_big());
        if needed > taken {
            let more: Count = (needed - taken).into();
            for arcs in [&mut transition.pre, &mut transition.post] {
                arcs.push((*complement, more.clone()));
                palisade_model::net::normalize(arcs);
            }
        }
    }
    Ok(extended)
}
