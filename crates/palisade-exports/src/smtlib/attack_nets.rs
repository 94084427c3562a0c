//! The proof obligations of attacks that a program certificate answers by proofs about their nets.
//!
//! The net is the one that the checker lists, place by place and transition by transition: what the
//! scripts claim is about the net of the proof that was accepted, and about nothing that the search
//! has made.

use super::{Script, net_scripts};
use palisade_evidence::{AttackEvidence, AttackNetProof, AttackReason, Fact, RobustCertificate};
use palisade_model::net::PlaceId;
use palisade_model::program::Program;
use palisade_verify::{CheckFailure, Obligation, attack_net};
use std::collections::HashMap;

/// The obligations of all proofs about nets, attack by attack; fails where the checker cannot list
/// a net, or a proof is about places that are not there.
pub(super) fn attack_net_scripts(
    program: &Program,
    certificate: &RobustCertificate,
) -> Result<Vec<Script>, CheckFailure> {
    let mut scripts = Vec::new();
    for (number, attack) in (1..).zip(&certificate.attacks) {
        let AttackReason::Net(proof) = &attack.reason else { continue };
        for script in scripts_of(program, certificate, attack, proof)? {
            scripts.push(Script { obligation: format!("attack-{number}.{}", script.obligation), ..script });
        }
    }
    Ok(scripts)
}

/// The three obligations of one proof.
fn scripts_of(
    program: &Program,
    certificate: &RobustCertificate,
    attack: &AttackEvidence,
    proof: &AttackNetProof,
) -> Result<Vec<Script>, CheckFailure> {
    let (problem, facts) = attack_net(program, &certificate.live, (attack.thread, attack.store, attack.load))?;
    let numbers: HashMap<Fact, PlaceId> = facts.into_iter().zip((0..).map(PlaceId::from_index)).collect();
    let missing = |index: usize| CheckFailure {
        obligation: Obligation::Form,
        detail: format!("place {index} of the proof is not a place of the net"),
    };
    let place = |(index, fact): (usize, &Fact)| numbers.get(fact).copied().ok_or_else(|| missing(index));
    let places: Vec<PlaceId> = proof.places.iter().enumerate().map(place).collect::<Result<_, _>>()?;
    if let Some(place) = proof.certificate.places().into_iter().find(|place| place.index() >= places.len()) {
        return Err(missing(place.index()));
    }
    Ok(net_scripts(&problem, &proof.certificate.clone().renumbered(|place| places[place.index()])))
}
