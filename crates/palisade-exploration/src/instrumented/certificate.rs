//! Explored sets, in the terms of the checker.

use super::search::ThreadSearch;
use super::system::{Control, Instrumented, MemoryModel, Phase, Place};
use super::tso::System;
use crate::lazy::{Entry, Exploration, Interner};
use palisade_evidence::{
    Attacker, DelayedConfiguration, DelayedSet, HelpedConfiguration, HelpedSet, LocalState, RobustCertificate,
    ScConfiguration, Tokens,
};
use palisade_model::program::{Liveness, Program, RegisterId, Value};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// For each thread and label the registers that are live there.
pub(super) fn live(program: &Program) -> Vec<Vec<Vec<RegisterId>>> {
    program.threads.iter().map(|thread| Liveness::of(thread).by_label()).collect()
}

/// The tables of a certificate of one exploration.
pub(super) struct Tables<'s, 'p, M: MemoryModel> {
    system: &'s Instrumented<'p, M>,
    locals: Interner<LocalState>,
    memories: Interner<Vec<(Value, Value)>>,
}

impl<'s, 'p, M: MemoryModel> Tables<'s, 'p, M> {
    /// Tables that are empty.
    pub(super) fn new(system: &'s Instrumented<'p, M>) -> Self {
        Self { system, locals: Interner::default(), memories: Interner::default() }
    }

    /// The number of a local state.
    pub(super) fn local(&mut self, local: u32) -> u32 {
        self.locals.intern(self.system.local(local).into()).0
    }

    /// The number of a memory.
    pub(super) fn memory(&mut self, memory: u32) -> u32 {
        self.memories.intern(self.system.memory(memory).changed.clone()).0
    }

    /// The local states and the memories.
    pub(super) fn finish(self) -> (Vec<LocalState>, Vec<Vec<(Value, Value)>>) {
        (self.locals.into_values(), self.memories.into_values())
    }
}

/// The tables that configurations share. Each thread's search numbers its own; these tables number
/// them all.
#[derive(Debug, Default)]
pub struct SharedTables {
    locals: Interner<LocalState>,
    memories: Interner<Vec<(Value, Value)>>,
}

impl SharedTables {
    /// A certificate of a program that says nothing yet.
    pub fn certificate(program: &Program) -> RobustCertificate {
        RobustCertificate { live: live(program), ..RobustCertificate::default() }
    }

    /// Puts the tables into the certificate whose sets refer to them.
    pub fn finish(self, certificate: &mut RobustCertificate) {
        certificate.locals = self.locals.into_values();
        certificate.memories = self.memories.into_values();
    }

    /// A set of interleavings.
    pub fn sc(&mut self, system: &System<'_>, set: &Exploration) -> Vec<ScConfiguration> {
        let mut own = Translation::new(self, system);
        set.maximal()
            .map(|node| {
                let control = system.control(set.control(node));
                ScConfiguration {
                    memory: own.memory(control),
                    locked: control.locked,
                    tokens: own.tokens(set.entries(node)),
                }
            })
            .collect()
    }

    /// Adds the sets of a thread's attacks to a certificate.
    pub fn thread(&mut self, search: &ThreadSearch<'_>, certificate: &mut RobustCertificate) {
        let system = &search.system;
        let Some(thread) = search.answers.first().map(|answer| answer.attack.thread) else { return };
        let mut own = Translation::new(self, system);
        for (store, set) in &search.delayed {
            let configurations = set
                .maximal()
                .map(|node| {
                    let control = system.control(set.control(node));
                    let Phase::Delayed(number) = control.phase else { unreachable!("a delaying set") };
                    DelayedConfiguration {
                        memory: own.memory(control),
                        locked: control.locked,
                        tokens: own.tokens(set.entries(node)),
                        attacker: own.attacker(number),
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
                    memory: own.memory(control),
                    locked: control.locked,
                    tokens: set
                        .entries(node)
                        .iter()
                        .map(|entry| {
                            let place = Place::from_number(entry.place);
                            (own.local(place), place.joined(), entry.tokens.into())
                        })
                        .collect(),
                    store_address: helped.store_address,
                    levels: helped.path.levels.clone(),
                    section: helped.path.section.clone(),
                }
            })
            .collect();
        certificate.helped.push(HelpedSet { thread, configurations });
    }
}

/// What a system numbers, in the terms of the shared tables, as far as it was met.
struct Translation<'t, 's> {
    tables: &'t mut SharedTables,
    system: &'s System<'s>,
    locals: FxHashMap<u32, u32>,
    memories: FxHashMap<u32, u32>,
    attackers: FxHashMap<u32, Arc<Attacker>>,
}

impl<'t, 's> Translation<'t, 's> {
    fn new(tables: &'t mut SharedTables, system: &'s System<'s>) -> Self {
        let (locals, memories, attackers) = (FxHashMap::default(), FxHashMap::default(), FxHashMap::default());
        Self { tables, system, locals, memories, attackers }
    }

    fn memory(&mut self, control: Control<Phase>) -> u32 {
        let Self { tables, system, memories, .. } = self;
        let shared = || tables.memories.intern(system.memory(control.memory).changed.clone()).0;
        *memories.entry(control.memory).or_insert_with(shared)
    }

    fn local(&mut self, place: Place) -> u32 {
        let Self { tables, system, locals, .. } = self;
        *locals.entry(place.local()).or_insert_with(|| tables.locals.intern(system.local_at(place).into()).0)
    }

    fn tokens(&mut self, entries: &[Entry]) -> Vec<(u32, Tokens)> {
        entries.iter().map(|entry| (self.local(Place::from_number(entry.place)), entry.tokens.into())).collect()
    }

    fn attacker(&mut self, number: u32) -> Arc<Attacker> {
        let shared = || {
            let own = self.system.attacker(number);
            Arc::new(Attacker {
                label: own.label,
                registers: own.registers.to_vec(),
                buffer: own.buffer.clone(),
                store_address: own.store_address,
            })
        };
        self.attackers.entry(number).or_insert_with(shared).clone()
    }
}
