//! Sleeping and waking: what futexes, condition variables and their like do beside the locked
//! update that they are on x86.
//!
//! Each address has a set of copies asleep there. A sleep is a locked update that changes nothing:
//! `sleep mem[a] if = e` compares, `sleep mem[a]` does not; `sleep mem[a] releasing mem[m]` stores
//! 0 at `m`. A copy whose update stores is asleep from then on. A wake-up is a locked update that
//! changes nothing and lets one copy go on that sleeps at the address, or all of them; if nobody
//! sleeps there, nothing else happens. A sleeper may go on at any time for no reason.
//!
//! **What is reached.** Questions about reached states, and about traces, need no set of sleepers:
//! an instruction that sleeps is its update, and goes on at once. *Proof.* Take a computation with
//! sleepers, leave out the steps of sleepers that go on, and let each sleeper stand where it goes
//! on: the locked updates, and so memory, registers and traces, are the same. Conversely let each
//! sleeper go on for no reason directly after it fell asleep; then nobody is asleep when somebody
//! wakes sleepers, and a wake-up is its update. ∎ Only who hangs depends on the sleepers.

use super::Program;
use super::expression::Expression;
use super::instruction::{Action, Instruction};
use super::ordering::Stated;
use super::queue::{Patience, Queue};
use crate::text::Span;

impl Queue {
    /// `sleep mem[address] if = expected`.
    pub fn sleep_if(address: Expression, expected: Expression) -> (Action, Self) {
        let new = expected.clone();
        (Action::Cas { register: None, address: address.clone(), expected, new }, Self::Sleep { address })
    }

    /// `sleep mem[address]`, or `sleep mem[address] releasing mem[released]`.
    pub fn sleep(address: Expression, released: Option<Expression>) -> (Action, Self) {
        let new = if released.is_some() { Expression::Constant(0) } else { Expression::Old };
        let updated = released.unwrap_or_else(|| address.clone());
        (Action::Rmw { register: None, address: updated, new }, Self::Sleep { address })
    }

    /// `wake mem[address] 1`, or `wake mem[address] all`.
    pub fn wake(address: Expression, all: bool) -> (Action, Self) {
        let updated = address.clone();
        (Action::Rmw { register: None, address: updated, new: Expression::Old }, Self::Wake { address, all })
    }
}

impl Instruction {
    /// Says what the instruction does to sleepers, beside its update.
    pub fn set_queue(&mut self, queue: Queue) {
        self.stated_mut().queue = Some(queue);
    }

    /// What the instruction does to sleepers.
    #[inline]
    pub fn queue(&self) -> Option<&Queue> {
        self.stated.as_ref().and_then(|stated| stated.queue.as_ref())
    }

    /// The address at which the instruction falls asleep.
    #[inline]
    pub fn sleeps(&self) -> Option<&Expression> {
        match self.queue() {
            Some(Queue::Sleep { address }) => Some(address),
            _ => None,
        }
    }

    /// Who may wait for ever here.
    #[inline]
    pub fn patience(&self) -> Patience {
        self.stated.as_ref().map_or(Patience::Finite, |stated| stated.patience)
    }

    /// Says who may wait for ever here.
    pub fn set_patience(&mut self, patience: Patience) {
        self.stated_mut().patience = patience;
    }

    /// Whether the instruction may wait: for a value that it reads, or asleep.
    #[inline]
    pub fn may_wait(&self) -> bool {
        self.until().is_some() || self.sleeps().is_some()
    }

    /// What the text says beyond what x86 makes of the instruction, to change.
    pub(super) fn stated_mut(&mut self) -> &mut Stated {
        self.stated.get_or_insert_with(Box::default)
    }
}

impl Program {
    /// Whether a thread waits for the read sections of others to end (RCU). A thread is quiescent
    /// behind its sections without a step that says so, so that who waits for ever is not told by
    /// what threads do.
    pub fn has_grace_periods(&self) -> bool {
        let is_grace = |name: &str| name.starts_with("gp") && name.contains("'P");
        self.addresses.iter().any(|address| is_grace(&address.name))
    }

    /// Whether some instruction waits for a value or sleeps. A loop that goes round without effect
    /// may wait as well; that depends on values.
    pub fn says_waits(&self) -> bool {
        self.threads.iter().flat_map(|thread| &thread.instructions).any(Instruction::may_wait)
    }

    /// The program in which no time runs out: what is `timed` waits like all else.
    #[must_use]
    pub fn ignoring_timeouts(&self) -> Self {
        let mut program = self.clone();
        for own in program.threads.iter_mut().flat_map(|thread| &mut thread.instructions) {
            if own.patience() == Patience::Timed {
                own.set_patience(Patience::Finite);
            }
        }
        program
    }

    /// The program in which nothing waits by the language: it goes round and tries again, as on
    /// x86.
    #[must_use]
    pub fn spinning(&self) -> Self {
        let mut program = self.clone();
        for own in program.threads.iter_mut().flat_map(|thread| &mut thread.instructions) {
            if let Some(stated) = &mut own.stated {
                stated.until = None;
            }
        }
        program
    }

    /// Where the first instruction stands that sleeps or wakes sleepers, if there is one.
    pub fn first_sleeper(&self) -> Option<Span> {
        let mut instructions = self.threads.iter().flat_map(|thread| &thread.instructions);
        instructions.find(|own| own.queue().is_some()).map(|own| own.span)
    }

    /// Whether some instruction sleeps, wakes sleepers, or waits to update what it reads, as for a
    /// lock.
    pub fn waits_for_others(&self) -> bool {
        let mut instructions = self.threads.iter().flat_map(|thread| &thread.instructions);
        let updates = |own: &Instruction| matches!(own.action, Action::Cas { .. } | Action::Rmw { .. });
        instructions.any(|own| own.queue().is_some() || own.until().is_some() && updates(own))
    }

    /// Whether some instruction sleeps or wakes sleepers.
    pub fn has_sleepers(&self) -> bool {
        self.first_sleeper().is_some()
    }
}
