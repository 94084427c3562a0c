//! The proof obligations of attacks that a program certificate answers by proofs about their nets.

use super::{Script, net_scripts};
use crate::evidence::{AttackNetProof, AttackReason, Fact, RobustCertificate};
use crate::limits::Limits;
use crate::net::{Count, OmegaCount, PlaceId};
use crate::program::Program;
use crate::robustness::{Attack, attack_net_with_facts};
use std::collections::HashMap;

/// The obligations of all proofs about nets, attack by attack.
pub(super) fn attack_net_scripts(program: &Program, certificate: &RobustCertificate) -> Vec<Script> {
    let mut scripts = Vec::new();
    for (number, attack) in (1..).zip(&certificate.attacks) {
        let AttackReason::Net(proof) = &attack.reason else { continue };
        let own = Attack { thread: attack.thread, store: attack.store, load: attack.load };
        for script in scripts_of(program, &own, proof) {
            scripts.push(Script { obligation: format!("attack-{number}.{}", script.obligation), ..script });
        }
    }
    scripts
}

/// The three obligations of one proof.
fn scripts_of(program: &Program, attack: &Attack, proof: &AttackNetProof) -> Vec<Script> {
    let (mut problem, facts) = attack_net_with_facts(program, attack, usize::MAX, &Limits::none())
        .expect("the checker has listed the net, and there is no limit");
    let mut places: HashMap<Fact, PlaceId> = facts.into_iter().zip((0..).map(PlaceId::from_index)).collect();
    // A fact that never holds is a place that nothing marks.
    for fact in &proof.places {
        places
            .entry(fact.clone())
            .or_insert_with(|| problem.net.add_place(format!("{fact:?}"), OmegaCount::Finite(Count::ZERO)));
    }
    let of = |place: PlaceId| places[&proof.places[place.index()]];
    net_scripts(&problem, &proof.certificate.clone().renumbered(of))
}
