//! What searches for shortest computations ask: how many local instructions settling takes.

use super::System;
use crate::instrumented::fault::Fault;
use crate::instrumented::system::{Control, Local, Operation, Phase};
use palisade_model::program::{InstructionId, LabelId, ThreadId, Value};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// Settled local states, each with the least number of local instructions that lead there.
pub(crate) type Settled = Vec<(u32, u32)>;

impl System<'_> {
    /// The control after a token in a local state has issued a store that will be delayed, if it
    /// can.
    pub(crate) fn delay_start(&mut self, control: u32, local: u32, store: InstructionId) -> Result<Option<u32>, Fault> {
        let before = self.control(control);
        let attacker = self.attacker_from(local, store)?;
        Ok(attacker.map(|attacker| self.intern(Control { phase: Phase::Delayed(attacker), ..before })))
    }

    /// The value that an instruction of a token reads in a control; 0 if it reads none.
    pub(crate) fn value_read(&mut self, control: u32, local: u32, instruction: InstructionId) -> Value {
        match self.operation(local, instruction) {
            Some(Operation::Load(address) | Operation::Update(address)) => {
                self.read(self.control(control).memory, address)
            }
            _ => 0,
        }
    }

    /// Where a thread settles at the beginning.
    pub(crate) fn settled_initially(&mut self, thread: ThreadId) -> Result<Settled, Fault> {
        let template = self.program().thread(thread);
        let registers = template.initial_registers().into_boxed_slice();
        self.settled_from(Local { thread, label: template.initial, registers, holding: false })
    }

    /// Where a token settles after an instruction that, if it reads memory, reads `read`.
    pub(crate) fn settled_after(
        &mut self,
        local: u32,
        instruction: InstructionId,
        read: Value,
    ) -> Result<Settled, Fault> {
        let Local { thread, registers, holding, .. } = self.local(local).clone();
        let operation = self.operation(local, instruction);
        let (registers, _) = self.locals.execute(thread, instruction, registers, read)?;
        let holding = match operation {
            Some(Operation::Lock) => true,
            Some(Operation::Unlock) => false,
            _ => holding,
        };
        let label = self.program().thread(thread).instruction(instruction).target;
        self.settled_from(Local { thread, label, registers, holding })
    }

    /// Breadth first through the local instructions.
    fn settled_from(&mut self, from: Local) -> Result<Settled, Fault> {
        let Local { thread, label, registers, holding } = from;
        let program = self.program();
        let mut settled = Settled::new();
        let mut seen: FxHashSet<(LabelId, Box<[Value]>)> = FxHashSet::default();
        let mut open = VecDeque::from([(label, registers, 0)]);
        let mut steps = 0;
        while let Some((label, mut registers, length)) = open.pop_front() {
            self.locals.liveness[thread.index()].forget_dead(label, &mut registers);
            if !seen.insert((label, registers.clone())) {
                continue;
            }
            let mut touches_memory = false;
            for id in self.locals.instructions_at(thread, label) {
                let instruction = program.thread(thread).instruction(*id);
                if !instruction.action.is_local_under_tso() {
                    touches_memory = true;
                    continue;
                }
                for after in self.locals.local_successors(thread, *id, &registers)? {
                    self.locals.count_step(thread, *id, &mut steps)?;
                    open.push_back((instruction.target, after, length + 1));
                }
            }
            if touches_memory {
                let local = Local { thread, label, registers, holding };
                settled.push((self.locals.table.intern(local).0, length));
            }
        }
        Ok(settled)
    }
}
