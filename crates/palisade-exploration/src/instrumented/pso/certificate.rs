//! The certificate: the explored set, in the terms of the checker.

use super::system::PsoSystem;
use crate::instrumented::system::Place;
use crate::lazy::{Entry, Exploration, Interner};
use palisade_evidence::{LocalState, PsoAttack, PsoCertificate, PsoConfiguration, Tokens};
use palisade_model::program::{Liveness, Value};

/// The certificate of a robust program whose system was explored to the end.
pub fn certificate(system: &PsoSystem<'_>, explored: &Exploration) -> PsoCertificate {
    let mut tables = Tables { system, locals: Interner::default(), memories: Interner::default() };
    let nodes = explored.maximal();
    let configurations =
        nodes.map(|node| tables.configuration(explored.control(node), explored.entries(node))).collect();
    PsoCertificate {
        live: system.program().threads.iter().map(|thread| Liveness::of(thread).by_label()).collect(),
        locals: tables.locals.into_values(),
        memories: tables.memories.into_values(),
        configurations,
    }
}

/// The tables that configurations share.
struct Tables<'s, 'p> {
    system: &'s PsoSystem<'p>,
    locals: Interner<LocalState>,
    memories: Interner<Vec<(Value, Value)>>,
}

impl Tables<'_, '_> {
    fn local(&mut self, local: u32) -> u32 {
        self.locals.intern(self.system.local(local).into()).0
    }

    fn configuration(&mut self, control: u32, entries: &[Entry]) -> PsoConfiguration {
        let control = self.system.control(control);
        let attack = self.system.attack(control).cloned().map(|attack| PsoAttack {
            store_address: attack.store_address,
            attacker: attack.attacker.map(|(local, value)| (self.local(local), value)),
            levels: attack.levels,
        });
        let memory = self.memories.intern(self.system.memory(control.memory).changed.clone()).0;
        PsoConfiguration { memory, attack, tokens: entries.iter().map(|entry| self.token(*entry)).collect() }
    }

    fn token(&mut self, entry: Entry) -> (u32, bool, Tokens) {
        let place = Place::from_number(entry.place);
        (self.local(place.local()), place.joined(), entry.tokens.into())
    }
}
