//! Sets that are closed up to turns of counters, with all their turns: these are closed as they
//! stand, and scripts say so.
//!
//! Nothing rests on this: what it makes of a certificate is checked like any other.

use palisade_evidence::{LocalState, RobustCertificate};
use palisade_model::program::{Counters, Program, Value};
use palisade_verify::{CheckFailure, is_closed_without_counters, plain_program};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// More turns than this are not written out.
const MOST_TURNS: i128 = 64;

/// The program that a certificate's sets are about, and these sets, closed as they stand; nothing
/// where they know no tickets, or where turns are too many.
///
/// # Errors
///
/// As the checker rejects the certificate.
pub fn closed_as_they_stand(
    program: &Program,
    certificate: &RobustCertificate,
) -> Result<Option<(Program, RobustCertificate)>, CheckFailure> {
    let Some(plain) = plain_program(program, certificate)? else { return Ok(None) };
    let own = RobustCertificate { ends: Vec::new(), modulo: None, ..certificate.clone() };
    if is_closed_without_counters(&plain, &own)? {
        return Ok(Some((plain, own)));
    }
    let Some(turned) = with_all_turns(&plain, &own) else { return Ok(None) };
    Ok(is_closed_without_counters(&plain, &turned)?.then_some((plain, turned)))
}

/// A certificate with all turns of its configurations.
fn with_all_turns(program: &Program, certificate: &RobustCertificate) -> Option<RobustCertificate> {
    let counters = Counters::of(program);
    let size = i128::try_from(program.domain?.size()).ok()?;
    let mut turns: Vec<Vec<Value>> = vec![Vec::new()];
    for class in counters.classes() {
        let count = size / i128::from(class.step);
        if i128::try_from(turns.len()).ok()?.checked_mul(count)? > MOST_TURNS {
            return None;
        }
        let steps = (0..Value::try_from(count).ok()?).map(|number| number * class.step);
        let more = steps.flat_map(|by| turns.iter().map(move |turn| [turn.as_slice(), &[by]].concat()));
        turns = more.collect();
    }
    let mut unfolding = Unfolding { program, counters: &counters, certificate, turned: certificate.clone() };
    unfolding.turned.sc = Vec::new();
    unfolding.turned.delayed.iter_mut().for_each(|set| set.configurations = Vec::new());
    unfolding.turned.helped.iter_mut().for_each(|set| set.configurations = Vec::new());
    unfolding.turned.locals = Vec::new();
    unfolding.turned.memories = Vec::new();
    let (mut locals, mut memories) = (Table::default(), Table::default());
    for turn in &turns {
        unfolding.add(turn, &mut locals, &mut memories);
    }
    Some(RobustCertificate { locals: locals.values, memories: memories.values, ..unfolding.turned })
}

/// Values with their numbers.
struct Table<T> {
    values: Vec<T>,
    numbers: HashMap<T, u32>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { values: Vec::new(), numbers: HashMap::new() }
    }
}

impl<T: Clone + Eq + Hash> Table<T> {
    fn number(&mut self, value: T) -> u32 {
        let next = u32::try_from(self.values.len()).expect("few turns of a table of 32-bit numbers");
        *self.numbers.entry(value.clone()).or_insert_with(|| {
            self.values.push(value);
            next
        })
    }
}

/// A certificate under construction.
struct Unfolding<'a> {
    program: &'a Program,
    counters: &'a Counters,
    certificate: &'a RobustCertificate,
    turned: RobustCertificate,
}

impl Unfolding<'_> {
    /// Adds all configurations, turned.
    fn add(&mut self, turn: &[Value], locals: &mut Table<LocalState>, memories: &mut Table<Vec<(Value, Value)>>) {
        let own_locals: Vec<u32> =
            self.certificate.locals.iter().map(|local| locals.number(self.local(turn, local))).collect();
        let own_memories: Vec<u32> =
            self.certificate.memories.iter().map(|memory| memories.number(self.memory(turn, memory))).collect();
        let at = |numbers: &[u32], number: u32| numbers.get(number as usize).copied().unwrap_or(u32::MAX);
        for mut configuration in self.certificate.sc.iter().cloned() {
            configuration.memory = at(&own_memories, configuration.memory);
            configuration.tokens.iter_mut().for_each(|(local, _)| *local = at(&own_locals, *local));
            configuration.tokens.sort_unstable_by_key(|(local, _)| *local);
            add(&mut self.turned.sc, configuration);
        }
        for (set, number) in self.certificate.delayed.iter().zip(0..) {
            for mut configuration in set.configurations.iter().cloned() {
                configuration.memory = at(&own_memories, configuration.memory);
                configuration.tokens.iter_mut().for_each(|(local, _)| *local = at(&own_locals, *local));
                configuration.tokens.sort_unstable_by_key(|(local, _)| *local);
                let attacker = Arc::make_mut(&mut configuration.attacker);
                for (register, member) in self.counters.registers_at(set.thread, attacker.label) {
                    let value = &mut attacker.registers[register.index()];
                    *value = self.counters.turned(*member, *value, turn[member.class]);
                }
                for (address, value) in &mut attacker.buffer {
                    if let Some(member) = self.counters.member_at(*address) {
                        *value = self.counters.turned(member, *value, turn[member.class]);
                    }
                }
                add(&mut self.turned.delayed[number].configurations, configuration);
            }
        }
        for (set, number) in self.certificate.helped.iter().zip(0..) {
            for mut configuration in set.configurations.iter().cloned() {
                configuration.memory = at(&own_memories, configuration.memory);
                configuration.tokens.iter_mut().for_each(|(local, ..)| *local = at(&own_locals, *local));
                configuration.tokens.sort_unstable_by_key(|(local, joined, _)| (*local, *joined));
                add(&mut self.turned.helped[number].configurations, configuration);
            }
        }
    }

    fn local(&self, turn: &[Value], local: &LocalState) -> LocalState {
        let mut turned = local.clone();
        for (register, member) in self.counters.registers_at(local.thread, local.label) {
            let value = &mut turned.registers[register.index()];
            *value = self.counters.turned(*member, *value, turn[member.class]);
        }
        turned
    }

    fn memory(&self, turn: &[Value], memory: &[(Value, Value)]) -> Vec<(Value, Value)> {
        let mut turned: Vec<(Value, Value)> = memory.to_vec();
        turned.retain(|(address, _)| self.counters.class_of_cell(*address).is_none());
        for (class, cells) in self.counters.classes().iter().map(|class| &class.cells).enumerate() {
            for cell in cells {
                let listed = memory.iter().find(|(address, _)| address == cell).map(|(_, value)| *value);
                let value = listed.unwrap_or_else(|| self.program.initial_value(*cell));
                let member = self.counters.member_at(*cell).expect("an address of a class is a member");
                let value = self.counters.turned(member, value, turn[class]);
                if value != self.program.initial_value(*cell) {
                    turned.push((*cell, value));
                }
            }
        }
        turned.sort_unstable();
        turned
    }
}

/// Adds a configuration that is not there yet.
fn add<T: PartialEq>(configurations: &mut Vec<T>, configuration: T) {
    if !configurations.contains(&configuration) {
        configurations.push(configuration);
    }
}
