//! Turns of copies, in programs without their tickets ([`Tickets`]).
//!
//! A copy takes its turn where a local instruction sets its register to 1, if no other copy has its turn; the served address of the pair is 1 from then on. The
//! store that serves the next ticket sets both to 0 when it reaches memory. The store of a delaying attacker does not.

use super::control::Attacker;
use super::{Locals, System};
use palisade_model::program::{InstructionId, RegisterId, ThreadId, Tickets, Value};
use smallvec::SmallVec;
use std::sync::Arc;

/// The numbers of pairs.
type Pairs = SmallVec<[usize; 1]>;

impl Locals<'_> {
    /// The register of the turn that a store ends which serves the next ticket.
    pub(super) fn turn_that_ends(&self, thread: ThreadId, instruction: InstructionId) -> Option<RegisterId> {
        let tickets = self.tickets.as_ref()?;
        tickets.services.get(&(thread, instruction)).map(|pair| tickets.turn(thread, *pair))
    }
}

impl System<'_> {
    /// The system of a program whose tickets are erased.
    #[must_use]
    pub fn with_turns(mut self, tickets: Arc<Tickets>) -> Self {
        self.locals.tickets = Some(tickets);
        self
    }

    /// The pairs of which a thread takes its turn between two local states.
    pub(super) fn turns_taken(&self, before: u32, after: Option<u32>) -> Pairs {
        let (Some(tickets), Some(after)) = (&self.locals.tickets, after) else { return Pairs::new() };
        let (before, after) = (self.local_state(before), self.local_state(after));
        taken(tickets, after.thread, &before.registers, &after.registers)
    }

    /// The pairs of which a delaying attacker takes its turn by a step.
    pub(super) fn turns_taken_by_attacker(&self, before: u32, after: u32) -> Pairs {
        let Some(tickets) = &self.locals.tickets else { return Pairs::new() };
        let Attacker { registers: before, .. } = self.attacker(before);
        let Attacker { registers: after, thread, .. } = self.attacker(after);
        taken(tickets, *thread, before, after)
    }

    /// Memory once turns are taken; nothing where another copy has one of them.
    pub(super) fn with_turns_taken(&mut self, memory: u32, pairs: &[usize]) -> Option<u32> {
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

fn taken(tickets: &Tickets, thread: ThreadId, before: &[Value], after: &[Value]) -> Pairs {
    let is_taken = |pair: &usize| {
        let turn = tickets.turn(thread, *pair).index();
        before[turn] == 0 && after[turn] != 0
    };
    (0..tickets.pairs.len()).filter(is_taken).collect()
}
