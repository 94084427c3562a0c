//! A net with inhibitor arcs as one without them: each place that they test gets a complement.
//!
//! Where a place is never above `b` tokens, its complement always holds what it lacks of `b`. That
//! the place holds fewer than `k` tokens is then a lower bound of the complement.

use super::Machine;
use super::observed::{neighbours, watch};
use super::observers::Observers;
use crate::Context;
use num_bigint::{BigInt, BigUint};
use palisade_evidence::Complement;
use palisade_model::limits::{Budget, Limits, StopReason};
use palisade_model::net::{Count, Inhibitor, Net, PlaceId, normalize};
use std::collections::{BTreeMap, BTreeSet};

/// A net without inhibitor arcs that has the runs of one with them.
#[derive(Clone, Debug)]
pub struct Uninhibited {
    /// The net, with the complements behind its own places.
    pub net: Net,
    /// Why the places that inhibitor arcs test are bounded.
    pub complements: Vec<Complement>,
}

/// Why inhibitor arcs have no complement places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inhibited {
    /// A place may have no bound.
    Unproved(String),
    /// Numbers are too large, or any number of tokens is somewhere initially.
    TooLarge,
    /// A limit came first.
    Stopped(StopReason),
}

impl std::fmt::Display for Inhibited {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unproved(place) => write!(
                f,
                "inhibitor arcs test place `{place}`, and no bound of its tokens is proved, which takes the state equation"
            ),
            Self::TooLarge => f.write_str("inhibitor arcs are supported where every number of tokens is below 2^31"),
            Self::Stopped(reason) => write!(f, "no bounds of the places that inhibitor arcs test are known: {reason}"),
        }
    }
}

/// The net with complement places instead of inhibitor arcs.
///
/// # Errors
///
/// Where a place that they test has no bound that the state equation proves.
pub fn without_inhibitors(net: Net, limits: &Limits) -> Result<Uninhibited, Inhibited> {
    if net.inhibitors.is_empty() {
        return Ok(Uninhibited { net, complements: Vec::new() });
    }
    let inhibitors = net.inhibitors.clone();
    let plain = Net { inhibitors: Vec::new(), ..net };
    let context = Context::new(Budget::within(limits));
    let machine = Machine::new(&plain, &[]).ok_or(Inhibited::TooLarge)?;
    let (mut observers, neighbours) = (Observers::new(&machine), neighbours(&plain));
    let tested: BTreeSet<PlaceId> = inhibitors.iter().map(|inhibitor| inhibitor.place).collect();
    let (mut extended, mut complements, mut places) = (plain.clone(), Vec::new(), BTreeMap::new());
    for place in tested {
        let terms = vec![(place, BigInt::from(-1))];
        let name = &plain.places[place.index()].name;
        let bound = observers.get(&terms, &context).map_err(Inhibited::Stopped)?;
        let (observer, low) = bound.ok_or_else(|| Inhibited::Unproved(name.to_string()))?;
        let complement = watch(&mut extended, &plain, &neighbours, &terms, &low, Complement::name(name));
        places.insert(place, (complement.ok_or(Inhibited::TooLarge)?, -low));
        complements.push(Complement { place, observer });
    }
    for Inhibitor { transition, place, count } in inhibitors {
        let (complement, bound) = &places[&place];
        // What the place never holds keeps nothing from firing.
        let Ok(needed) = BigUint::try_from(bound + 1 - BigInt::from(count.to_big())) else { continue };
        let transition = &mut extended.transitions[transition.index()];
        let taken = transition.pre.iter().find(|(other, _)| other == complement);
        let taken = taken.map_or_else(BigUint::default, |(_, count)| count.to_big());
        if needed > taken {
            let more = Count::from(needed - taken);
            for arcs in [&mut transition.pre, &mut transition.post] {
                arcs.push((*complement, more.clone()));
                normalize(arcs);
            }
        }
    }
    Ok(Uninhibited { net: extended, complements })
}
