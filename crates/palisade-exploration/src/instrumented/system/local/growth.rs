//! Values that grow without a domain: how many are admitted.

use super::Locals;
use crate::instrumented::fault::{Fault, FaultKind, Growing};
use crate::instrumented::system::counting::Counting;
use palisade_model::program::{InstructionId, LabelId, RegisterId, ThreadId, Value};

/// How values outside every expectation are treated in programs without a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// More than so many distinct values of a register or an address are a fault.
    Fault(usize),
    /// Steps to further values are left out: what is found is real, what is not found means
    /// nothing.
    Cut(usize),
}

impl Growth {
    /// Whether steps are left out.
    pub(crate) fn cuts(self) -> bool {
        matches!(self, Self::Cut(_))
    }

    fn limit(self) -> usize {
        match self {
            Self::Fault(limit) | Self::Cut(limit) => limit,
        }
    }
}

impl Locals<'_> {
    /// Notes a value stored at an address; whether it is admitted.
    pub(crate) fn admit_stored(
        &mut self,
        thread: ThreadId,
        instruction: InstructionId,
        address: Value,
        value: Value,
    ) -> Result<bool, Fault> {
        if self.domain().is_some() {
            return Ok(true);
        }
        let is_counter = |counting: &Counting| counting.counters.class_of_cell(address).is_some();
        let more = if self.counting.as_ref().is_some_and(is_counter) { self.more_values } else { 0 };
        let values = self.address_values.entry(address).or_default();
        let admitted = values.contains(&value) || values.len() < self.growth.limit().saturating_add(more);
        if admitted {
            values.insert(value);
        }
        self.refuse_unless(admitted, thread, instruction, Growing::Address(address))
    }

    fn refuse_unless(
        &mut self,
        admitted: bool,
        thread: ThreadId,
        instruction: InstructionId,
        what: Growing,
    ) -> Result<bool, Fault> {
        match self.growth {
            _ if admitted => Ok(true),
            Growth::Fault(limit) => Err(Fault { thread, instruction, kind: FaultKind::Growth { what, limit } }),
            Growth::Cut(_) => {
                self.was_cut = true;
                Ok(false)
            }
        }
    }

    /// Notes the values of the registers that are live at a label; whether they are admitted.
    /// `cause` is the instruction blamed.
    pub(crate) fn admit_registers(
        &mut self,
        thread: ThreadId,
        cause: InstructionId,
        label: LabelId,
        registers: &[Value],
    ) -> Result<bool, Fault> {
        if self.domain().is_some() {
            return Ok(true);
        }
        let live: Vec<RegisterId> = self.liveness[thread.index()].at(label).collect();
        for register in live {
            let values = self.register_values.entry((thread, register)).or_default();
            let value = registers[register.index()];
            let is_counter = |counting: &Counting| {
                counting.counters.registers_at(thread, label).iter().any(|(member, _)| *member == register)
            };
            let more = if self.counting.as_ref().is_some_and(is_counter) { self.more_values } else { 0 };
            let admitted = values.contains(&value) || values.len() < self.growth.limit().saturating_add(more);
            if admitted {
                values.insert(value);
            }
            if !self.refuse_unless(admitted, thread, cause, Growing::Register(register))? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
