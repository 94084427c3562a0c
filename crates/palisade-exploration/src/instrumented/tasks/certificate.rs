//! The certificate: the explored set, in the terms of the checker.

use super::control::{Attacker, Control, Main, Phase};
use super::place::Place;
use super::system::TaskSystem;
use crate::lazy::{Entry, Exploration, Interner};
use palisade_evidence::{LocalState, MainState, TaskCertificate, TaskConfiguration, TaskPhase, TaskToken, Tokens};
use palisade_model::program::{Liveness, Value};

/// The certificate of a robust program whose system was explored to the end.
pub fn certificate(system: &TaskSystem<'_>, explored: &Exploration) -> TaskCertificate {
    let mut tables = Tables { system, locals: Interner::default(), memories: Interner::default() };
    let nodes = explored.maximal();
    let configurations =
        nodes.map(|node| tables.configuration(explored.control(node), explored.entries(node))).collect();
    TaskCertificate {
        live: system.program().threads.iter().map(|thread| Liveness::of(thread).by_label()).collect(),
        locals: tables.locals.into_values(),
        memories: tables.memories.into_values(),
        configurations,
    }
}

/// The tables that configurations share.
struct Tables<'s, 'p> {
    system: &'s TaskSystem<'p>,
    locals: Interner<LocalState>,
    memories: Interner<Vec<(Value, Value)>>,
}

impl Tables<'_, '_> {
    fn local(&mut self, local: u32) -> u32 {
        self.locals.intern(self.system.local(local).into()).0
    }

    fn configuration(&mut self, control: u32, entries: &[Entry]) -> TaskConfiguration {
        let Control { memory, locked, main, main_joined, phase } = self.system.control(control);
        let main = match main {
            Main::Idle => MainState::Idle,
            Main::Runs(local) => MainState::Runs(self.local(local)),
            Main::Blocked => MainState::Blocked,
        };
        TaskConfiguration {
            memory: self.memories.intern(self.system.memory(memory).changed.clone()).0,
            locked,
            main,
            main_joined,
            phase: self.phase(phase),
            tokens: entries.iter().filter_map(|entry| self.token(*entry)).collect(),
        }
    }

    fn phase(&mut self, phase: Phase) -> TaskPhase {
        match phase {
            Phase::Sc => TaskPhase::Sc,
            Phase::Delayed(number) => {
                let Attacker { on_main, local, buffer, store_address } = self.system.attacker(number).clone();
                TaskPhase::Delayed { on_main, local: local.map(|local| self.local(local)), buffer, store_address }
            }
            Phase::Helped(number) => {
                let helped = self.system.helped(number).clone();
                TaskPhase::Helped {
                    store_address: helped.store_address,
                    levels: helped.levels,
                    section: helped.section,
                }
            }
        }
    }

    /// What an entry counts. Spare occurrences are none where nothing may have any number.
    fn token(&mut self, entry: Entry) -> Option<(TaskToken, Tokens)> {
        let token = match Place::of_number(entry.place) {
            Place::Own(local, joined) => TaskToken::Own(self.local(local), joined),
            Place::Pending(local, joined) => TaskToken::Pending(self.local(local), joined),
            Place::Start(event) => TaskToken::Start(event),
            Place::Spare => return None,
        };
        Some((token, entry.tokens.into()))
    }
}
