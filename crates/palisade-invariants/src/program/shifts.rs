//! Configurations up to shifts of counters.

use super::configuration::{Configuration, Control, DelayingThread, Memory, Phase, Token};
use super::counters::Counters;
use super::model::Model;
use super::spans::{Variable, size};
use crate::CheckFailure;
use crate::failure::reject;
use crate::tokens::in_order;
use palisade_evidence::{LocalState, Tokens};
use palisade_model::program::{LabelId, RegisterId, ThreadId, Value};
use std::rc::Rc;

impl Model<'_> {
    /// The configuration that stands for one and all that are it shifted: in it, the first address of each class holds its initial value, or as
    /// much more as the class cannot be shifted by. While stores are delayed, `attacker` is the thread that delays them.
    pub(super) fn unshifted(
        &mut self,
        attacker: ThreadId,
        configuration: Configuration,
    ) -> Result<Configuration, CheckFailure> {
        let Some(counters) = self.terms().counters.clone() else { return Ok(configuration) };
        self.shift(&counters, attacker, configuration)
    }

    fn shift(
        &mut self,
        counters: &Counters,
        attacker: ThreadId,
        configuration: Configuration,
    ) -> Result<Configuration, CheckFailure> {
        let Control { memory, locked, phase } = configuration.control;
        let by = self.shifts(counters, memory);
        counters.check_rise(&by)?;
        if by.iter().all(|by| *by == 0) && !counters.knows_far() {
            return Ok(configuration);
        }
        let memory = self.shifted_memory(counters, &by, memory)?;
        let phase = match self.phase(&configuration.control) {
            Phase::Delayed(delaying) => {
                let mut delaying = DelayingThread::clone(delaying);
                delaying.registers = shifted_registers(counters, &by, attacker, delaying.label, delaying.registers)?;
                for (address, value) in &mut delaying.buffer {
                    if let Some(member) = counters.members.get(&Variable::Cell(*address)) {
                        *value = counters.put(*member, *value, by[member.0])?;
                    }
                }
                self.phase_number(Phase::Delayed(Rc::new(delaying)))
            }
            Phase::Sc | Phase::Helped(_) => phase,
        };
        let mut shifted = Vec::with_capacity(configuration.tokens.len());
        for (Token { local, joined }, count) in configuration.tokens {
            let LocalState { thread, label, registers, holding } = self.local(local).clone();
            let registers = shifted_registers(counters, &by, thread, label, registers)?;
            let local = self.local_number(LocalState { thread, label, registers, holding });
            shifted.push((Token { local, joined }, count));
        }
        Ok(Configuration { control: Control { memory, locked, phase }, tokens: together(shifted)? })
    }

    /// By how much the members of each class are shifted.
    fn shifts(&self, counters: &Counters, memory: u32) -> Vec<i128> {
        let shift = |(address, grain): &(Value, i128)| {
            let above = i128::from(self.value_in(memory, *address)) - i128::from(self.program.initial_value(*address));
            let above = match (counters.domain, counters.members[&Variable::Cell(*address)].1.residues()) {
                (Some(domain), _) => above.rem_euclid(size(domain)),
                // The shorter way around.
                (None, Some(residues)) => (above + residues / 2).rem_euclid(residues) - residues / 2,
                (None, None) => above,
            };
            above.rem_euclid(*grain) - above
        };
        counters.classes.iter().map(shift).collect()
    }

    fn shifted_memory(&mut self, counters: &Counters, by: &[i128], memory: u32) -> Result<u32, CheckFailure> {
        let mut shifted: Memory = self.memories.get(memory).clone();
        for (variable, member) in &counters.members {
            let Variable::Cell(address) = *variable else { continue };
            let value = counters.put(*member, self.value_in(memory, address), by[member.0])?;
            if value == self.program.initial_value(address) {
                shifted.remove(&address);
            } else {
                shifted.insert(address, value);
            }
        }
        Ok(self.memories.number(shifted))
    }
}

/// The registers of a state at a label, shifted.
fn shifted_registers(
    counters: &Counters,
    by: &[i128],
    thread: ThreadId,
    label: LabelId,
    mut registers: Vec<Value>,
) -> Result<Vec<Value>, CheckFailure> {
    for (register, value) in registers.iter_mut().enumerate() {
        let variable = Variable::Register(thread, label, RegisterId::from_index(register));
        if let Some(member) = counters.members.get(&variable) {
            *value = counters.put(*member, *value, by[member.0])?;
        }
    }
    Ok(registers)
}

/// Numbers of tokens in order, those of equal tokens added.
fn together(mut tokens: Vec<(Token, Tokens)>) -> Result<Vec<(Token, Tokens)>, CheckFailure> {
    in_order(&mut tokens);
    let mut sums: Vec<(Token, Tokens)> = Vec::with_capacity(tokens.len());
    for (token, count) in tokens {
        match sums.last_mut().filter(|(last, _)| *last == token) {
            Some((_, sum)) => {
                *sum = match (*sum, count) {
                    (Tokens::Finite(one), Tokens::Finite(other)) => match one.checked_add(other) {
                        Some(both) => Tokens::Finite(both),
                        None => reject!(Form, "there are too many tokens"),
                    },
                    _ => Tokens::Omega,
                };
            }
            None => sums.push((token, count)),
        }
    }
    Ok(sums)
}
