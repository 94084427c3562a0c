//! Checks that an attack is not feasible by a proof about its net.
//!
//! The net is derived here ([`closure`], with [`facts`] to and from configurations) from the
//! program, its live registers and the attack alone. From the certificate the checker takes the
//! places that the proof talks of, and the proof, which is checked as one about a net from a file
//! would be. docs/certificate/attack-nets.md says why an attack is not feasible when `success`
//! cannot be marked.
//!
//! A set of markings that is not closed as it stands may be closed up to shifts of the program's
//! counters ([`symmetry`]).

mod closure;
mod facts;
mod symmetry;

use super::model::Model;
use crate::failure::reject;
use crate::net::check_downward_up_to;
use crate::{CheckFailure, Obligation, check_net_certificate};
use closure::{Attack, AttackNet, close};
use hashbrown::HashSet;
use palisade_evidence::{
    AttackNetProof, Fact, Invariant, NetCertificate, OmegaMarking, Refutation, RobustCertificate, WeightedTrap,
};
use palisade_model::net::{Count, PlaceId, Problem, Query, Target};
use palisade_model::program::{InstructionId, Program, RegisterId, ThreadId};
use symmetry::Symmetry;

/// The net of an attack – a store and a load instruction of one thread – with the question whether
/// success can be marked, and what its places stand for. `live` are registers for each thread and
/// label, as in a certificate.
pub fn attack_net(
    program: &Program,
    live: &[Vec<Vec<RegisterId>>],
    attack: (ThreadId, InstructionId, InstructionId),
) -> Result<(Problem, Vec<Fact>), CheckFailure> {
    let certificate = RobustCertificate { live: live.to_vec(), ..RobustCertificate::default() };
    let mut found = close(&mut Model::new(program, &certificate)?, attack)?;
    Ok((question(&mut found), found.facts))
}

/// Checks that the proof shows the attack not to be feasible.
pub(super) fn check(model: &mut Model, attack: Attack, proof: &AttackNetProof) -> Result<(), CheckFailure> {
    let (problem, certificate, found) = proved(model, attack, proof)?;
    match (check_net_certificate(&problem, &certificate), &certificate) {
        (Err(failure), NetCertificate::Downward { markings }) if failure.obligation == Obligation::Inductive => {
            let Some(symmetry) = Symmetry::of(model, attack.0, &problem.net, &found) else { return Err(failure) };
            let markings: Vec<OmegaMarking> = markings.iter().cloned().map(|own| symmetry.form(own)).collect();
            check_downward_up_to(&problem, &markings, |marking| symmetry.form(marking))
        }
        (checked, _) => checked,
    }
}

/// Checks that the proof shows the attack not to be feasible, by what is closed as it stands.
pub(super) fn check_without_counters(
    model: &mut Model,
    attack: Attack,
    proof: &AttackNetProof,
) -> Result<(), CheckFailure> {
    let (problem, certificate, _) = proved(model, attack, proof)?;
    check_net_certificate(&problem, &certificate)
}

/// The net with its question, and what the proof says of its places.
fn proved(
    model: &mut Model,
    attack: Attack,
    proof: &AttackNetProof,
) -> Result<(Problem, NetCertificate, AttackNet), CheckFailure> {
    let mut found = close(model, attack)?;
    let places = places_of(model, attack.0, &found, &proof.places)?;
    let certificate = Renumbering { places }.certificate(&proof.certificate)?;
    Ok((question(&mut found), certificate, found))
}

/// The net with the question whether success can be marked.
fn question(found: &mut AttackNet) -> Problem {
    let success = found.places[&Fact::Success];
    let targets = vec![Target::new(vec![(success, Count::ONE)])];
    Problem { net: std::mem::take(&mut found.net), query: Query { targets } }
}

/// The places of the net that the proof's places stand for.
fn places_of(model: &Model, thread: ThreadId, found: &AttackNet, facts: &[Fact]) -> Result<Vec<PlaceId>, CheckFailure> {
    let mut listed = HashSet::new();
    let mut places = Vec::with_capacity(facts.len());
    for (index, fact) in facts.iter().enumerate() {
        let Some(place) = found.places.get(fact) else {
            reject!(Form, "place {index} of the proof is not a place of the net");
        };
        if !listed.insert(*place) {
            reject!(Form, "the proof lists the place `{}` twice", model.fact_in_words(thread, fact));
        }
        places.push(*place);
    }
    Ok(places)
}

/// A net certificate with other numbers for its places.
struct Renumbering {
    /// The new number by the old one.
    places: Vec<PlaceId>,
}

impl Renumbering {
    fn certificate(&self, given: &NetCertificate) -> Result<NetCertificate, CheckFailure> {
        Ok(match given {
            NetCertificate::Downward { markings } => {
                NetCertificate::Downward { markings: each(markings, |marking| self.vector(marking))? }
            }
            NetCertificate::Upward { basis, invariant } => NetCertificate::Upward {
                basis: each(basis, |marking| self.vector(marking))?,
                invariant: Invariant {
                    siphon: self.set(&invariant.siphon)?,
                    refutations: each(&invariant.refutations, |refutation| self.refutation(refutation))?,
                },
            },
            NetCertificate::Separator { siphon, refutations } => NetCertificate::Separator {
                siphon: self.set(siphon)?,
                refutations: each(refutations, |refutation| self.refutation(refutation))?,
            },
        })
    }

    fn refutation(&self, given: &Refutation) -> Result<Refutation, CheckFailure> {
        let trap = |trap: &WeightedTrap| {
            Ok(WeightedTrap { places: self.set(&trap.places)?, multiplier: trap.multiplier.clone() })
        };
        Ok(Refutation { weights: self.vector(&given.weights)?, traps: each(&given.traps, trap)? })
    }

    /// A set of places, ascending before and after.
    fn set(&self, given: &[PlaceId]) -> Result<Vec<PlaceId>, CheckFailure> {
        let pairs: Vec<(PlaceId, ())> = given.iter().map(|place| (*place, ())).collect();
        Ok(self.vector(&pairs)?.into_iter().map(|(place, ())| place).collect())
    }

    /// A sparse vector over places, ascending before and after.
    fn vector<T: Clone>(&self, given: &[(PlaceId, T)]) -> Result<Vec<(PlaceId, T)>, CheckFailure> {
        if let Some(pair) = given.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
            reject!(Form, "place {} of the proof is not in ascending order", pair[1].0.index());
        }
        let mut order: Vec<(PlaceId, usize)> = Vec::with_capacity(given.len());
        for (index, (place, _)) in given.iter().enumerate() {
            match self.places.get(place.index()) {
                Some(own) => order.push((*own, index)),
                None => reject!(Form, "there is no place {} in the proof's list", place.index()),
            }
        }
        order.sort_unstable();
        Ok(order.into_iter().map(|(own, index)| (own, given[index].1.clone())).collect())
    }
}

/// Every item translated, or the first failure.
fn each<T, U>(items: &[T], translate: impl FnMut(&T) -> Result<U, CheckFailure>) -> Result<Vec<U>, CheckFailure> {
    items.iter().map(translate).collect()
}
