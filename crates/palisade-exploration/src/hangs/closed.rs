//! What was explored, in the terms of the checker.

use super::rows::Term;
use super::search::Search;
use palisade_evidence::{BufferConfiguration, BufferedLocal, Tokens, WaitingLocal, WaitingRow, WaitingSet};
use palisade_model::program::{Copies, Value};
use rustc_hash::FxHashMap;

impl Search<'_> {
    /// The closed set that the exploration is.
    pub fn closed_set(&self) -> WaitingSet {
        let (system, most) = (&self.system, self.system.shape().most);
        let leaves_out = self.has_left_out;
        let mut set = WaitingSet { live: system.live(), most, leaves_out, ..WaitingSet::default() };
        let mut locals: FxHashMap<u32, u32> = FxHashMap::default();
        let mut memories: FxHashMap<u32, u32> = FxHashMap::default();
        for configuration in self.configurations() {
            let control = configuration.control;
            let memory = *memories.entry(control.memory).or_insert_with(|| {
                set.memories.push(system.memory(control.memory).clone());
                number(set.memories.len() - 1)
            });
            let token = |(place, count): &(u32, u64)| {
                let local = *locals.entry(*place).or_insert_with(|| {
                    set.locals.push(self.waiting_local(*place));
                    number(set.locals.len() - 1)
                });
                let is_counted = system.program().thread(system.local(*place).thread).copies != Copies::Any;
                let tokens = if is_counted || *count <= most { Tokens::Finite(*count) } else { Tokens::Omega };
                (local, tokens)
            };
            let tokens = configuration.tokens.iter().map(token).collect();
            set.configurations.push(BufferConfiguration { memory, locked: control.locked, tokens });
        }
        set.counters = system.counters().to_vec();
        if !self.rows().is_empty() {
            for place in
                (0..number(system.place_count())).filter(|place| !locals.contains_key(place)).collect::<Vec<_>>()
            {
                locals.insert(place, number(set.locals.len()));
                set.locals.push(self.waiting_local(place));
            }
        }
        for row in self.rows() {
            let mut listed = WaitingRow { constant: row.constant, ..WaitingRow::default() };
            for (term, weight) in &row.terms {
                match *term {
                    Term::Place(place) => listed.locals.extend(locals.get(&place).map(|local| (*local, *weight))),
                    Term::Value(address, value) => listed.values.push((address, value, *weight)),
                    Term::Counter(counter) => listed.counters.push((counter, *weight)),
                }
            }
            set.rows.push(listed);
        }
        set
    }

    /// A place in the terms of the checker.
    fn waiting_local(&self, place: u32) -> WaitingLocal {
        let local = self.system.local(place);
        let registers: Vec<Value> = local.registers.to_vec();
        let (thread, label, holding) = (local.thread, local.label, local.holding);
        let buffer = self.system.buffer(place).to_vec();
        WaitingLocal { local: BufferedLocal { thread, label, registers, holding, buffer }, asleep: local.asleep }
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).expect("tables stay below 2^32 entries")
}
