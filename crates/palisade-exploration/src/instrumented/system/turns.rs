//! Turns of copies, in programs without their tickets ([`Tickets`]).
//!
//! A copy takes its turn where a local instruction sets its register to 1, if no other copy has its
//! turn; the served address of the pair is 1 from then on. The store that serves the next ticket
//! sets both to 0 when it reaches memory. The store of a delaying attacker does not.

use super::{Instrumented, Locals, MemoryModel};
use palisade_model::program::{InstructionId, RegisterId, ThreadId, Tickets, Value};
use smallvec::SmallVec;
use std::sync::Arc;

/// The numbers of pairs.
pub(in crate::instrumented) type Taken = SmallVec<[usize; 1]>;

impl Locals<'_> {
    /// The register of the turn that a store ends which serves the next ticket.
    pub(super) fn turn_that_ends(&self, thread: ThreadId, instruction: InstructionId) -> Option<RegisterId> {
        let tickets = self.tickets.as_ref()?;
        tickets.services.get(&(thread, instruction)).map(|pair| tickets.turn(thread, *pair))
    }

    /// The pairs of which a thread takes its turn that holds these registers before and after a
    /// step.
    pub(in crate::instrumented) fn turns_taken(&self, thread: ThreadId, before: &[Value], after: &[Value]) -> Taken {
        let Some(tickets) = &self.tickets else { return Taken::new() };
        let is_taken = |pair: &usize| {
            let turn = tickets.turn(thread, *pair).index();
            before[turn] == 0 && after[turn] != 0
        };
        (0..tickets.pairs.len()).filter(is_taken).collect()
    }
}

impl<M: MemoryModel> Instrumented<'_, M> {
    /// The system of a program whose tickets are erased.
    #[must_use]
    pub fn with_turns(mut self, tickets: Arc<Tickets>) -> Self {
        self.locals.tickets = Some(tickets);
        self
    }

    /// The pairs of which a thread takes its turn between two local states.
    pub(in crate::instrumented) fn turns_taken(&self, before: u32, after: Option<u32>) -> Taken {
        let (Some(_), Some(after)) = (&self.locals.tickets, after) else { return Taken::new() };
        let (before, after) = (self.local(before), self.local(after));
        self.locals.turns_taken(after.thread, &before.registers, &after.registers)
    }

    /// Memory once turns are taken; nothing where another copy has one of them.
    pub(in crate::instrumented) fn with_turns_taken(&mut self, memory: u32, pairs: &[usize]) -> Option<u32> {
        let mut memory = memory;
        for pair in pairs {
            let served = self.locals.tickets.as_ref()?.pairs[*pair].served;
            if self.read(memory, served) != 0 {
                return None;
            }
            memory = self.write(memory, served, 1);
        }
        Some(memory)
    }
}
