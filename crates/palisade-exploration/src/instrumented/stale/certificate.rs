//! The certificate: the explored set, in the terms of the checker.

use super::system::{Attack, StaleSystem};
use super::views::{Families, Location, View};
use crate::lazy::{Entry, Exploration, Interner};
use palisade_evidence::{
    LocalState, StaleAttack, StaleCertificate, StaleConfiguration, StaleLocation, StaleView, Tokens,
};
use palisade_model::program::{Liveness, Value};

/// The certificate of a robust program whose system was explored to the end, up to the shifts of
/// its counters where the addresses are given that values are far behind, with the distances.
pub fn certificate(
    system: &StaleSystem<'_>,
    explored: &Exploration,
    shifts: Option<Vec<(Value, Value)>>,
) -> StaleCertificate {
    let mut tables = Tables { system, locals: Interner::default(), memories: Interner::default() };
    let nodes = explored.maximal();
    let configurations =
        nodes.map(|node| tables.configuration(explored.control(node), explored.entries(node))).collect();
    StaleCertificate {
        axioms: system.modes.axioms,
        live: system.program().threads.iter().map(|thread| Liveness::of(thread).by_label()).collect(),
        forgotten: system.modes.forgotten(),
        unheard: system.modes.unheard(),
        shifts,
        locals: tables.locals.into_values(),
        memories: tables.memories.into_values(),
        configurations,
    }
}

/// The tables that configurations share.
struct Tables<'s, 'p> {
    system: &'s StaleSystem<'p>,
    locals: Interner<LocalState>,
    memories: Interner<Vec<(Value, Value)>>,
}

impl Tables<'_, '_> {
    fn configuration(&mut self, control: u32, entries: &[Entry]) -> StaleConfiguration {
        let control = self.system.control(control);
        let memory = self.memories.intern(self.system.memory(control.memory).changed.clone()).0;
        let attack = self.system.attack(control).map(in_numbers);
        StaleConfiguration { memory, attack, tokens: entries.iter().map(|entry| self.token(*entry)).collect() }
    }

    fn token(&mut self, entry: Entry) -> (u32, StaleView, Tokens) {
        let token = self.system.token(entry.place);
        let local = self.locals.intern(self.system.local(token.local).into()).0;
        (local, view(&token.view), entry.tokens.into())
    }
}

fn in_numbers(attack: &Attack) -> StaleAttack {
    let locations = attack.locations.iter().map(|(address, known)| (*address, location(known))).collect();
    StaleAttack { address: attack.address, goal: attack.goal, locations }
}

fn view(view: &View) -> StaleView {
    let View { joined, current, acquirable, released, reached } = view;
    [u8::from(*joined), current.0, acquirable.0, released.0, reached.0]
}

fn location(known: &Location) -> StaleLocation {
    let level = |level: Option<palisade_evidence::Level>| level.map_or(0, |level| 1 + level as u8);
    let Location { level: own, message, behind, reached: Families(reached), last: Families(last) } = known;
    [level(*own), message.0, level(behind[0]), level(behind[1]), *reached, *last]
}
