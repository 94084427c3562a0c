//! States of the instrumented program as variables of a script, and the certificate as a predicate
//! on them.
//!
//! With `i` a position in the list of addresses and `k` one in that of states: `m<i>` is the value
//! in memory, `h<i>` and `b<i>` whether the attacker has delayed a store there and its value,
//! `v<i>` and `e<i>` the access level on the happens-before path and in the open section (0 none, 1
//! load, 2 store); `n<k>` and `j<k>` are the numbers of threads in a state, off and on the path. A
//! name with `_` at its end means the same after a step.

use super::tables::{Stage, Tables};
use super::terms::{comment, conjunction, disjunction, equal, integer, line, negation};
use palisade_evidence::{Level, Tokens};
use palisade_model::program::Value;

impl Tables<'_> {
    /// The addresses with their positions.
    pub(super) fn places(&self) -> impl Iterator<Item = (usize, Value)> + '_ {
        self.addresses.iter().copied().enumerate()
    }

    /// Declares the variables of a state.
    pub(super) fn declare_state(&self, text: &mut String, suffix: &str) {
        for (name, sort, meaning) in [
            ("stage", "Int", ""),
            ("point", "Int", "the label, in stages about control flow"),
            ("locked", "Bool", "a thread holds the lock"),
            ("attacker", "Int", "which attacker"),
            ("origin", "Int", "the address of the first delayed store"),
            ("outside", "Bool", "reached what the certificate does not list, or what has no value"),
        ] {
            line(text, &format!("(declare-const {name}{suffix} {sort}) ; {meaning}"));
        }
        for (place, address) in self.places() {
            line(text, &format!("; address {address}, {}", comment(&self.program.address_name(address))));
            for (name, sort) in [("m", "Int"), ("h", "Bool"), ("b", "Int"), ("v", "Int"), ("e", "Int")] {
                line(text, &format!("(declare-const {name}{place}{suffix} {sort})"));
            }
            for name in ["v", "e"] {
                line(text, &format!("(assert (<= 0 {name}{place}{suffix} 2))"));
            }
        }
        for number in 0..self.listed {
            for name in ["n", "j"] {
                line(text, &format!("(declare-const {name}{number}{suffix} Int)"));
                line(text, &format!("(assert (>= {name}{number}{suffix} 0))"));
            }
        }
    }

    /// Comments that say what the numbers mean.
    pub(super) fn legend(&self, text: &mut String) {
        for (number, stage) in self.stages.iter().enumerate() {
            let name = |thread: &palisade_model::program::ThreadId| comment(&self.program.thread(*thread).name);
            let meaning = match stage {
                Stage::Sc => "phase SC".to_owned(),
                Stage::Delayed(thread, store) => format!("phase Delayed, {} from store {store} on", name(thread)),
                Stage::Helped(thread) => format!("phase Helped, after an attack by {}", name(thread)),
                Stage::Flow(thread, store, load, _) => {
                    format!("control flow of {} from {store} to {load}", name(thread))
                }
            };
            line(text, &format!("; stage {number}: {meaning}"));
        }
        let place = |thread: palisade_model::program::ThreadId, label: palisade_model::program::LabelId| {
            let thread = self.program.thread(thread);
            format!("{} at {}", comment(&thread.name), comment(&thread.label(label).name))
        };
        for (number, state) in self.states.iter().enumerate() {
            let holding = if state.holding { ", holding the lock" } else { "" };
            let place = place(state.thread, state.label);
            line(text, &format!("; state {number}: {place} with {:?}{holding}", state.registers));
        }
        for (number, own) in self.attackers.iter().enumerate() {
            line(text, &format!("; attacker {number}: {} with {:?}", place(own.thread, own.label), own.registers));
        }
    }

    /// Whether memory is one of the certificate's, as functions of the values of all addresses.
    pub(super) fn define_memories(&self, text: &mut String) {
        let parameters: String = self.places().map(|(place, _)| format!("(m{place} Int) ")).collect();
        for number in 0..self.certificate.memories.len() {
            let is = |(place, address)| equal(format!("m{place}"), integer(self.in_memory(number, address)));
            let body = conjunction(self.places().map(is));
            line(text, &format!("(define-fun memory{number} ({}) Bool {body})", parameters.trim_end()));
        }
    }

    /// The certificate's sets, as a predicate.
    pub(super) fn invariant(&self, suffix: &str) -> String {
        let arguments: String = self.places().map(|(place, _)| format!(" m{place}{suffix}")).collect();
        let common = |stage: &Stage, memory: u32, locked: bool| {
            let stage = equal(format!("stage{suffix}"), self.stage(stage)?);
            let memory = if self.addresses.is_empty() { None } else { Some(format!("(memory{memory}{arguments})")) };
            let lock = format!("locked{suffix}");
            let lock = if locked { lock } else { negation(&lock) };
            Some([Some(stage), memory, Some(lock)].into_iter().flatten())
        };
        let mut elements = Vec::new();
        for own in &self.certificate.sc {
            let control = common(&Stage::Sc, own.memory, own.locked);
            let tokens = self.counts(suffix, "n", own.tokens.iter().copied());
            elements.extend(control.map(|control| conjunction(control.chain(tokens))));
        }
        for set in &self.certificate.delayed {
            for own in &set.configurations {
                let control = common(&Stage::Delayed(set.thread, set.store), own.memory, own.locked);
                let number = self.attacker(set.thread, own.attacker.label, &own.attacker.registers);
                let attacker = equal(format!("attacker{suffix}"), number.unwrap_or(usize::MAX));
                let origin = equal(format!("origin{suffix}"), integer(own.attacker.store_address));
                let buffer = self.places().flat_map(|(place, address)| {
                    let entry = own.attacker.buffer.iter().find(|(own, _)| *own == address);
                    let there = format!("h{place}{suffix}");
                    let value = entry.map(|(_, value)| equal(format!("b{place}{suffix}"), integer(*value)));
                    let there = if entry.is_some() { there } else { negation(&there) };
                    std::iter::once(there).chain(value)
                });
                let tokens = self.counts(suffix, "n", own.tokens.iter().copied());
                let rest = [attacker, origin].into_iter().chain(buffer).chain(tokens);
                elements.extend(control.map(|control| conjunction(control.chain(rest))));
            }
        }
        for set in &self.certificate.helped {
            for own in &set.configurations {
                let control = common(&Stage::Helped(set.thread), own.memory, own.locked);
                let origin = equal(format!("origin{suffix}"), integer(own.store_address));
                let levels = |name: &str, levels: &[(Value, Level)]| -> Vec<String> {
                    let level = |address| levels.iter().find(|(own, _)| *own == address).map(|(_, level)| *level);
                    let is = |(place, address)| equal(format!("{name}{place}{suffix}"), number_of(level(address)));
                    self.places().map(is).collect()
                };
                let on_path = |wanted: bool| {
                    let tokens = own.tokens.iter().filter(move |(_, joined, _)| *joined == wanted);
                    tokens.map(|(local, _, count)| (*local, *count))
                };
                let rest = std::iter::once(origin)
                    .chain(levels("v", &own.levels))
                    .chain(levels("e", &own.section))
                    .chain(self.counts(suffix, "n", on_path(false)))
                    .chain(self.counts(suffix, "j", on_path(true)));
                elements.extend(control.map(|control| conjunction(control.chain(rest))));
            }
        }
        for (number, stage) in self.stages.iter().enumerate() {
            let Stage::Flow(.., labels) = stage else { continue };
            let inside = labels.iter().map(|label| equal(format!("point{suffix}"), label.index()));
            elements.push(conjunction([equal(format!("stage{suffix}"), number), disjunction(inside)]));
        }
        conjunction([negation(&format!("outside{suffix}")), disjunction(elements)])
    }

    /// No state has more threads than the tokens say.
    fn counts(&self, suffix: &str, name: &str, tokens: impl Iterator<Item = (u32, Tokens)>) -> Vec<String> {
        let mut most = vec![Tokens::Finite(0); self.listed];
        for (local, count) in tokens {
            most[self.local_numbers[local as usize]] = count;
        }
        let bound = |(number, count): (usize, &Tokens)| match count {
            Tokens::Omega => None,
            Tokens::Finite(count) => Some(format!("(<= {name}{number}{suffix} {count})")),
        };
        most.iter().enumerate().filter_map(bound).collect()
    }

    /// The stages of a kind.
    pub(super) fn is_stage(&self, wanted: impl Fn(&Stage) -> bool) -> String {
        let numbers = self.stages.iter().enumerate().filter(|(_, stage)| wanted(stage));
        disjunction(numbers.map(|(number, _)| equal("stage", number)))
    }

    /// A function of an address, by what it is at each one.
    pub(super) fn define_by_address(
        &self,
        text: &mut String,
        (name, sort, otherwise): (&str, &str, &str),
        at: impl Fn(usize) -> String,
    ) {
        let choose = |otherwise: String, (place, address): (usize, Value)| {
            format!("(ite {} {} {otherwise})", equal("a", integer(address)), at(place))
        };
        let body = self.places().fold(otherwise.to_owned(), choose);
        line(text, &format!("(define-fun {name} ((a Int)) {sort} {body})"));
    }
}

fn number_of(level: Option<Level>) -> usize {
    match level {
        None => 0,
        Some(Level::Load) => 1,
        Some(Level::Store) => 2,
    }
}
