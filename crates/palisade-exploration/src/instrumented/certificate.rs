//! Explored sets, in the terms of the checker.

use super::search::ThreadSearch;
use super::system::{Control, Phase, Place, System};
use crate::lazy::{Entry, Exploration, Interner};
use palisade_evidence::{
    Attacker, DelayedConfiguration, DelayedSet, HelpedConfiguration, HelpedSet, LocalState, RobustCertificate,
    ScConfiguration, Tokens,
};
use palisade_model::program::{Liveness, Program, Value};

/// The tables that configurations share. Each thread's search numbers its own; these tables number them all.
#[derive(Debug, Default)]
pub struct SharedTables {
    locals: Interner<LocalState>,
    memories: Interner<Vec<(Value, Value)>>,
}

impl SharedTables {
    /// A certificate of a program that says nothing yet.
    pub fn certificate(program: &Program) -> RobustCertificate {
        RobustCertificate {
            live: program.threads.iter().map(|thread| Liveness::of(thread).by_label()).collect(),
            ..RobustCertificate::default()
        }
    }

    /// Puts the tables into the certificate whose sets refer to them.
    pub fn finish(self, certificate: &mut RobustCertificate) {
        certificate.locals = self.locals.into_values();
        certificate.memories = self.memories.into_values();
    }

    fn memory(&mut self, system: &System<'_>, control: Control) -> u32 {
        self.memories.intern(system.memory(control).changed.clone()).0
    }

    fn local(&mut self, system: &System<'_>, place: Place) -> u32 {
        self.locals.intern(system.local(place).into()).0
    }

    fn tokens(&mut self, system: &System<'_>, entries: &[Entry]) -> Vec<(u32, Tokens)> {
        entries.iter().map(|entry| (self.local(system, Place::from_number(entry.place)), entry.tokens.into())).collect()
    }

    /// A set of interleavings.
    pub fn sc(&mut self, system: &System<'_>, set: &Exploration) -> Vec<ScConfiguration> {
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

    /// Adds the sets of a thread's attacks to a certificate.
    pub fn thread(&mut self, search: &ThreadSearch<'_>, certificate: &mut RobustCertificate) {
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
                            (self.local(system, place), place.joined(), entry.tokens.into())
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
