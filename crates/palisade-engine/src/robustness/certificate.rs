//! The certificate of a robust program: the explored sets, in the terms of the checker.

use super::attacks::{Attack, DelayRange};
use super::check::{AttackReport, Check};
use super::search::ThreadSearch;
use super::system::{Control, Phase, Place, System};
use crate::exploration::{Entry, Exploration, Interner};
use crate::robustness::{AttackOutcome, Verdict};
use palisade_evidence::{
    AttackEvidence, AttackNetProof, AttackReason, Attacker, DelayedConfiguration, DelayedSet, HelpedConfiguration,
    HelpedSet, LocalState, RobustCertificate, ScConfiguration, Tokens,
};
use palisade_model::program::{LabelId, Liveness, Program, Value};
use std::collections::BTreeMap;

/// The certificate of a check that found the program robust.
pub fn certificate(program: &Program, check: &Check<'_>) -> Option<RobustCertificate> {
    if check.verdict != Verdict::Robust {
        return None;
    }
    Some(check.abstraction.as_ref().map_or_else(|| reasons(program, check), |own| own.certificate().clone()))
}

/// A set of interleavings of a system's program, as a certificate that says nothing about attacks.
pub(super) fn interleavings(system: &System<'_>, sc: &Exploration) -> RobustCertificate {
    let mut tables = Tables::default();
    let sc = tables.sc(system, sc);
    RobustCertificate {
        live: system.program().threads.iter().map(|thread| Liveness::of(thread).by_label()).collect(),
        sc,
        locals: tables.locals.into_values(),
        memories: tables.memories.into_values(),
        ..RobustCertificate::default()
    }
}

/// Why the attacks that a check was about are not feasible.
pub(super) fn reasons(program: &Program, check: &Check<'_>) -> RobustCertificate {
    let mut tables = Tables::default();
    let mut certificate = RobustCertificate {
        live: program.threads.iter().map(|thread| Liveness::of(thread).by_label()).collect(),
        ..RobustCertificate::default()
    };
    if let Some(proof) = &check.proof {
        if let Some(thread) = proof.threads.first() {
            certificate.sc = tables.sc(&thread.system, &proof.sc);
        }
        for thread in &proof.threads {
            tables.thread(thread, &mut certificate);
        }
    }
    certificate.locals = tables.locals.into_values();
    certificate.memories = tables.memories.into_values();
    let proofs: BTreeMap<Attack, &AttackNetProof> = check.net_proofs.iter().map(|(proved, it)| (*proved, it)).collect();
    for reports in check.attacks.chunk_by(|a, b| (a.attack.thread, a.attack.store) == (b.attack.thread, b.attack.store))
    {
        // All loads that a store's range does not reach have the same cut.
        let Attack { thread, store, .. } = reports[0].attack;
        let mut range: Option<Vec<LabelId>> = None;
        for AttackReport { attack, outcome, .. } in reports {
            let reason = match (outcome, proofs.get(attack)) {
                (AttackOutcome::Pruned, _) => {
                    let own = || DelayRange::of(program.thread(thread), store).labels().collect();
                    AttackReason::Pruned { reachable: range.get_or_insert_with(own).clone() }
                }
                (_, Some(proof)) => AttackReason::Net((*proof).clone()),
                (_, None) => AttackReason::Infeasible,
            };
            certificate.attacks.push(AttackEvidence { thread, store, load: attack.load, reason });
        }
    }
    certificate
}

/// The tables that configurations share. Each thread's search numbers its own; these tables number them all.
#[derive(Default)]
struct Tables {
    locals: Interner<LocalState>,
    memories: Interner<Vec<(Value, Value)>>,
}

impl Tables {
    fn memory(&mut self, system: &System<'_>, control: Control) -> u32 {
        self.memories.intern(system.memory(control).changed.clone()).0
    }

    fn local(&mut self, system: &System<'_>, place: Place) -> u32 {
        self.locals.intern(system.local(place).into()).0
    }

    fn tokens(&mut self, system: &System<'_>, entries: &[Entry]) -> Vec<(u32, Tokens)> {
        entries.iter().map(|entry| (self.local(system, Place::from_number(entry.place)), tokens(*entry))).collect()
    }

    fn sc(&mut self, system: &System<'_>, set: &Exploration) -> Vec<ScConfiguration> {
        set.maximal()
            .map(|node| {
                let control = system.control(set.control(node));
                ScConfiguration {
                    memory: self.memory(system, control),
                    locked: control.locked,
                    tokens: self.tokens(system, set.entries(node)),
                }
            })
            .collect()
    }

    fn thread(&mut self, search: &ThreadSearch<'_>, certificate: &mut RobustCertificate) {
        let system = &search.system;
        let Some(thread) = search.answers.first().map(|answer| answer.attack.thread) else { return };
        for (store, set) in &search.delayed {
            let configurations = set
                .maximal()
                .map(|node| {
                    let control = system.control(set.control(node));
                    let Phase::Delayed(number) = control.phase else { unreachable!("a delaying set") };
                    let attacker = system.attacker(number);
                    DelayedConfiguration {
                        memory: self.memory(system, control),
                        locked: control.locked,
                        tokens: self.tokens(system, set.entries(node)),
                        attacker: Attacker {
                            label: attacker.label,
                            registers: attacker.registers.to_vec(),
                            buffer: attacker.buffer.clone(),
                            store_address: attacker.store_address,
                        },
                    }
                })
                .collect();
            certificate.delayed.push(DelayedSet { thread, store: *store, configurations });
        }
        let set = &search.helped;
        let configurations = set
            .maximal()
            .map(|node| {
                let control = system.control(set.control(node));
                let Phase::Helped(number) = control.phase else { unreachable!("a set after the load") };
                let helped = system.helped(number);
                HelpedConfiguration {
                    memory: self.memory(system, control),
                    locked: control.locked,
                    tokens: set
                        .entries(node)
                        .iter()
                        .map(|entry| {
                            let place = Place::from_number(entry.place);
                            (self.local(system, place), place.joined(), tokens(*entry))
                        })
                        .collect(),
                    store_address: helped.store_address,
                    levels: helped.levels.clone(),
                    section: helped.section.clone(),
                }
            })
            .collect();
        certificate.helped.push(HelpedSet { thread, configurations });
    }
}

fn tokens(entry: Entry) -> Tokens {
    entry.tokens.count().map_or(Tokens::Omega, |count| Tokens::Finite(count.into()))
}
