//! Values that grow: what takes more values than are admitted, in a program without a domain.

use super::machine::{Machine, State};
use super::step::Subject;
use palisade_model::program::{Action, InstructionId, LabelId, Program, RegisterId, ThreadId, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use thiserror::Error;

/// A register or an address takes more values than are admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("more than {limit} values (thread {thread}, instruction {instruction})")]
pub struct Growth {
    /// The register, of this thread, or the address.
    pub what: Subject,
    /// A thread that writes it.
    pub thread: ThreadId,
    /// An instruction that does.
    pub instruction: InstructionId,
    /// How many values were admitted.
    pub limit: usize,
}

/// The values that registers of threads and addresses have been seen to take.
#[derive(Clone, Debug)]
pub(super) struct Spread {
    most: usize,
    registers: FxHashMap<(ThreadId, usize), FxHashSet<Value>>,
    cells: FxHashMap<Value, FxHashSet<Value>>,
}

impl Spread {
    /// No values yet, of which so many are admitted.
    pub(super) fn new(most: usize) -> Self {
        Self { most, registers: FxHashMap::default(), cells: FxHashMap::default() }
    }

    /// Takes in the values of a state.
    pub(super) fn see(&mut self, machine: &Machine<'_>, state: &State) -> Result<(), Growth> {
        for (copy, thread) in machine.copies().iter().zip(state.threads()) {
            for (index, value) in thread.registers.iter().enumerate() {
                let values = self.registers.entry((copy.thread, index)).or_default();
                if values.insert(*value) && values.len() > self.most {
                    let register = RegisterId::from_index(index);
                    return Err(self.of_register(machine.program(), copy.thread, register, thread.label));
                }
            }
        }
        let buffered = state.threads().iter().flat_map(|thread| &thread.buffer);
        for (address, value) in state.nonzero_memory().iter().chain(buffered) {
            let values = self.cells.entry(*address).or_default();
            if values.insert(*value) && values.len() > self.most {
                return Err(self.of_cell(machine.program(), *address));
            }
        }
        Ok(())
    }

    /// A register that grows; an instruction that leads to the label is rather named than others.
    fn of_register(&self, program: &Program, thread: ThreadId, register: RegisterId, label: Option<LabelId>) -> Growth {
        let writers = program.thread(thread).instruction_ids();
        let writers = writers.filter(|(_, own)| own.action.written_register() == Some(register));
        let writer = writers.min_by_key(|(_, own)| Some(own.target) != label);
        let instruction = writer.map_or(InstructionId::from_index(0), |(id, _)| id);
        Growth { what: Subject::Register(register), thread, instruction, limit: self.most }
    }

    fn of_cell(&self, program: &Program, cell: Value) -> Growth {
        let writes = |action: &Action| {
            let writes = matches!(action, Action::Store { .. } | Action::Rmw { .. } | Action::Cas { .. });
            writes && action.address().is_some_and(|own| !own.is_constant() || own.evaluate_address(&[]) == Ok(cell))
        };
        let mut all = program
            .thread_ids()
            .flat_map(|(id, thread)| thread.instruction_ids().map(move |(own, instruction)| (id, own, instruction)));
        let writer = all.find(|(_, _, instruction)| writes(&instruction.action));
        let (thread, instruction, _) = writer.expect("an address with several values is written");
        Growth { what: Subject::Memory(cell), thread, instruction, limit: self.most }
    }
}
