//! Accesses: what they read and write, and what they lead to.

use crate::levels::{Levels, Numbering};
use crate::locals::{Local, LocalStep, Locals, Registers};
use crate::state::{LocalId, MemoryId};
use palisade_engine::robustness::{Fault, FaultKind, Growing};
use palisade_model::program::{Action, EvaluationError, InstructionId, LabelId, ThreadId, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The addresses that do not hold 0, with their values.
pub(super) type Memory = BTreeMap<Value, Value>;

/// All memories that have come up.
#[derive(Debug, Default)]
pub(super) struct Memories {
    ids: FxHashMap<Rc<Memory>, MemoryId>,
    all: Vec<Rc<Memory>>,
    /// The values that each address has held.
    values: FxHashMap<Value, FxHashSet<Value>>,
}

impl Memories {
    /// The number of a memory.
    pub(super) fn intern(&mut self, memory: Memory) -> MemoryId {
        if let Some(id) = self.ids.get(&memory) {
            return *id;
        }
        let id = MemoryId::try_from(self.all.len()).expect("memories are numbered with 32 bits");
        let memory = Rc::new(memory);
        self.all.push(memory.clone());
        self.ids.insert(memory, id);
        id
    }

    /// All of them, by number.
    pub(super) fn all(&self) -> impl Iterator<Item = &Memory> {
        self.all.iter().map(|memory| &**memory)
    }

    /// The memory of a number.
    pub(super) fn get(&self, id: MemoryId) -> &Rc<Memory> {
        &self.all[id as usize]
    }
}

/// What an access comes to.
#[derive(Clone, Debug)]
pub(super) struct AccessResult {
    /// What it accesses.
    pub(super) accesses: Levels,
    /// Memory afterwards.
    pub(super) memory: MemoryId,
    /// The local state afterwards.
    pub(super) local: LocalId,
    /// The instructions executed, the first one included.
    pub(super) steps: Vec<LocalStep>,
}

/// One place inside a locked section.
#[derive(Clone, Debug)]
struct Inside {
    label: LabelId,
    registers: Registers,
    memory: Memory,
    accesses: Levels,
    steps: Vec<LocalStep>,
}

/// Executes accesses.
pub(super) struct Accesses<'a, 'p> {
    pub(super) locals: &'a mut Locals<'p>,
    pub(super) memories: &'a mut Memories,
    pub(super) numbering: &'a mut Numbering,
    pub(super) limit: usize,
}

impl Accesses<'_, '_> {
    /// All outcomes of the access or the section at an instruction.
    pub(super) fn outcomes(
        &mut self,
        template: ThreadId,
        id: InstructionId,
        registers: &Registers,
        memory: MemoryId,
    ) -> Result<Vec<AccessResult>, Fault> {
        let memory = Memory::clone(self.memories.get(memory));
        let instruction = self.locals.program().thread(template).instruction(id);
        let label = instruction.source;
        let start =
            Inside { label, registers: registers.clone(), memory, accesses: Levels::default(), steps: Vec::new() };
        if instruction.action == Action::Lock {
            return self.section(template, id, &start);
        }
        // An `unlock` without the lock is not executable.
        if instruction.action == Action::Unlock {
            return Ok(Vec::new());
        }
        let after = self.single(template, id, &start)?;
        self.outcome(template, id, after).map(|outcome| vec![outcome])
    }

    fn outcome(&mut self, template: ThreadId, id: InstructionId, after: Inside) -> Result<AccessResult, Fault> {
        let local = Local { template, label: after.label, registers: after.registers };
        let local = self.locals.intern(local, (template, id))?;
        let memory = self.memories.intern(after.memory);
        Ok(AccessResult { accesses: after.accesses, memory, local, steps: after.steps })
    }

    /// Every way through a section, from `lock` to `unlock`. A section that is not closed is no
    /// access.
    fn section(&mut self, template: ThreadId, id: InstructionId, start: &Inside) -> Result<Vec<AccessResult>, Fault> {
        let thread = self.locals.program().thread(template);
        let by_label = thread.instructions_by_label();
        let mut inside = start.clone();
        inside.steps.push((id, None));
        inside.label = thread.instruction(id).target;
        let mut outcomes = Vec::new();
        let mut seen = FxHashSet::default();
        let mut open = vec![inside];
        while let Some(here) = open.pop() {
            for next in &by_label[here.label.index()] {
                let instruction = thread.instruction(*next);
                match &instruction.action {
                    Action::Lock | Action::Post { .. } => {}
                    Action::Unlock => {
                        let mut after = here.clone();
                        after.label = instruction.target;
                        after.steps.push((*next, None));
                        outcomes.push(self.outcome(template, *next, after)?);
                    }
                    Action::Load { .. } | Action::Store { .. } | Action::Cas { .. } | Action::Rmw { .. } => {
                        let after = self.single(template, *next, &here)?;
                        if seen.insert((
                            after.label,
                            after.registers.clone(),
                            after.memory.clone(),
                            after.accesses.clone(),
                        )) {
                            open.push(after);
                        }
                    }
                    _ => {
                        for (chosen, registers) in self.locals.local(template, *next, &here.registers)? {
                            let mut after = Inside { label: instruction.target, registers, ..here.clone() };
                            after.steps.push((*next, chosen));
                            if seen.insert((
                                after.label,
                                after.registers.clone(),
                                after.memory.clone(),
                                after.accesses.clone(),
                            )) {
                                open.push(after);
                            }
                        }
                    }
                }
            }
        }
        Ok(outcomes)
    }

    /// One load, store or locked update.
    fn single(&mut self, template: ThreadId, id: InstructionId, before: &Inside) -> Result<Inside, Fault> {
        let program = self.locals.program();
        let (instruction, domain) = (program.thread(template).instruction(id), program.domain);
        let fault = |kind| Fault { thread: template, instruction: id, kind };
        let valued =
            |result: Result<Value, EvaluationError>| result.map_err(|error| fault(FaultKind::Evaluation(error)));
        let registers = &before.registers;
        let address = instruction.action.address().expect("an access has an address");
        let address = valued(address.evaluate_address(registers))?;
        let old = before.memory.get(&address).copied().unwrap_or(0);
        let (written, read_into) = match &instruction.action {
            Action::Load { register, .. } => (None, Some(*register)),
            Action::Store { value, .. } => (Some(valued(value.evaluate(registers, domain))?), None),
            Action::Cas { register, expected, new, .. } => {
                let expected = valued(expected.evaluate(registers, domain))?;
                let new = (expected == old).then(|| valued(new.evaluate(registers, domain))).transpose()?;
                (new, *register)
            }
            Action::Rmw { register, new, .. } => {
                (Some(valued(new.evaluate_with_old(registers, old, domain))?), *register)
            }
            _ => unreachable!("only accesses have addresses"),
        };
        let mut after = before.clone();
        after.label = instruction.target;
        after.steps.push((id, None));
        after.accesses.insert(self.numbering.number(address), written.is_some());
        if let Some(register) = read_into {
            after.registers[register.index()] = old;
        }
        match written {
            Some(0) => drop(after.memory.remove(&address)),
            Some(value) => drop(after.memory.insert(address, value)),
            None => {}
        }
        if let (Some(value), None) = (written, domain) {
            let values = self.memories.values.entry(address).or_default();
            if values.insert(value) && values.len() > self.limit {
                return Err(fault(FaultKind::Growth { what: Growing::Address(address), limit: self.limit }));
            }
        }
        Ok(after)
    }
}
