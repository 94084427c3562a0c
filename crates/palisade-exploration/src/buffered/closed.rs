//! What was explored, in the terms of the checker.

use super::system::BufferSystem;
use crate::lazy::{Entry, Exploration, Interner};
use palisade_evidence::{BufferConfiguration, BufferEntry, BufferInvariant, BufferedLocal, Tokens};
use palisade_model::program::{Liveness, Value};
use rustc_hash::FxHashMap;

/// The closed set that an exploration is.
pub fn closed_set(system: &BufferSystem<'_>, explored: &Exploration) -> BufferInvariant {
    let live = system.locals.liveness.iter().map(Liveness::by_label);
    let mut tables = Tables::default();
    let mut configurations = Vec::new();
    for node in explored.maximal() {
        let control = explored.control(node);
        if BufferSystem::target_of(control).is_some() {
            continue;
        }
        let control = system.control(control);
        let memory = tables.memories.intern(system.memory(control.memory).clone()).0;
        let tokens = explored.entries(node).iter().map(|entry| tables.token(system, *entry)).collect();
        configurations.push(BufferConfiguration { memory, locked: control.locked, tokens });
    }
    BufferInvariant {
        live: live.collect(),
        silent: system.silent().iter().copied().collect(),
        locals: tables.locals.into_values(),
        memories: tables.memories.into_values(),
        configurations,
    }
}

#[derive(Default)]
struct Tables {
    /// The number of the local state of each place met.
    places: FxHashMap<u32, u32>,
    locals: Interner<BufferedLocal>,
    memories: Interner<Vec<(Value, Value)>>,
}

impl Tables {
    fn token(&mut self, system: &BufferSystem<'_>, entry: Entry) -> (u32, Tokens) {
        let tokens = entry.tokens.into();
        if let Some(local) = self.places.get(&entry.place) {
            return (*local, tokens);
        }
        let (local, buffer) = system.place(entry.place);
        let entries = system.buffers.entries(buffer).iter().map(|own| match *own {
            BufferEntry::Snapshot(memory) => {
                BufferEntry::Snapshot(self.memories.intern(system.memory(memory).clone()).0)
            }
            other => other,
        });
        let state = BufferedLocal {
            thread: local.thread,
            label: (!local.is_stopped()).then_some(local.label),
            registers: local.registers.to_vec(),
            holding: local.holding,
            buffer: entries.collect(),
        };
        let number = self.locals.intern(state).0;
        self.places.insert(entry.place, number);
        (number, tokens)
    }
}
