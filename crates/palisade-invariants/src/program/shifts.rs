//! Configurations up to shifts of counters.

use super::configuration::{Configuration, Control, DelayingThread, Memory, Phase, Token};
use super::counters::Counters;
use super::model::Model;
use super::spans::{Variable, size};
use crate::CheckFailure;
use crate::liveness::Live;
use crate::tokens::together;
use palisade_evidence::LocalState;
use palisade_model::program::{InstructionId, LabelId, Program, RegisterId, ThreadId, Value};
use std::rc::Rc;

impl Model<'_> {
    /// The configuration that stands for one and all that are it shifted: in it, the first address
    /// of each class holds its initial value, or as much more as the class cannot be shifted by.
    /// While stores are delayed, `attacker` is the thread that delays them.
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
        let by = counters.shifts(self.program, |address| self.value_in(memory, address));
        counters.check_rise(&by)?;
        if by.iter().all(|by| *by == 0) && !counters.knows_far() {
            return Ok(configuration);
        }
        let memory = put_in_memory(self, counters, &by, memory)?;
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
}

/// A memory, shifted, with what stands for what is far behind.
pub(super) fn put_in_memory(
    model: &mut Model<'_>,
    counters: &Counters,
    by: &[i128],
    memory: u32,
) -> Result<u32, CheckFailure> {
    let mut shifted: Memory = model.memories.get(memory).clone();
    for (variable, member) in &counters.members {
        let Variable::Cell(address) = *variable else { continue };
        let value = counters.put(*member, model.value_in(memory, address), by[member.0])?;
        if value == model.program.initial_value(address) {
            shifted.remove(&address);
        } else {
            shifted.insert(address, value);
        }
    }
    Ok(model.memories.number(shifted))
}

impl Counters {
    /// By how much the members of each class are shifted where memory has these values.
    pub(super) fn shifts(&self, program: &Program, value_at: impl Fn(Value) -> Value) -> Vec<i128> {
        let shift = |(address, grain): &(Value, i128)| {
            let above = i128::from(value_at(*address)) - i128::from(program.initial_value(*address));
            let above = match (self.domain, self.members[&Variable::Cell(*address)].1.residues()) {
                (Some(domain), _) => above.rem_euclid(size(domain)),
                // The shorter way around.
                (None, Some(residues)) => (above + residues / 2).rem_euclid(residues) - residues / 2,
                (None, None) => above,
            };
            above.rem_euclid(*grain) - above
        };
        self.classes.iter().map(shift).collect()
    }
}

/// The shifts of a program's counters, for configurations of other kinds than the instrumented
/// program's.
pub(crate) struct Shifts(Counters);

impl Shifts {
    /// The shifts of a program with live registers, if there are any.
    pub(crate) fn of(program: &Program, live: &Live) -> Option<Self> {
        Counters::of(program, live).map(Self)
    }

    /// By how much the normal form of a configuration in which memory has these values is shifted;
    /// nothing where it is in normal form.
    pub(crate) fn to_form(&self, program: &Program, value_at: impl Fn(Value) -> Value) -> Option<Vec<i128>> {
        Some(self.0.shifts(program, value_at)).filter(|by| by.iter().any(|by| *by != 0))
    }

    /// The addresses that shift.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = Value> {
        self.0.members.keys().filter_map(|variable| match variable {
            Variable::Cell(address) => Some(*address),
            Variable::Register(..) => None,
        })
    }

    /// A value at an address, in memory or waiting for it, shifted.
    pub(crate) fn at_address(&self, by: &[i128], address: Value, value: Value) -> Result<Value, CheckFailure> {
        match self.0.members.get(&Variable::Cell(address)) {
            Some((class, span)) => self.0.shifted(*span, value, by[*class]),
            None => Ok(value),
        }
    }

    /// The registers of a thread at a label, shifted.
    pub(crate) fn registers(
        &self,
        by: &[i128],
        thread: ThreadId,
        label: LabelId,
        registers: Vec<Value>,
    ) -> Result<Vec<Value>, CheckFailure> {
        shifted_registers(&self.0, by, thread, label, registers)
    }

    /// Whether an instruction that accesses an address keeps to what shifts rest on.
    pub(crate) fn keep_to(&self, thread: ThreadId, instruction: InstructionId, address: Value) -> bool {
        self.0.keeps_to(thread, instruction, address)
    }
}

/// The registers of a state at a label, shifted.
pub(super) fn shifted_registers(
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
