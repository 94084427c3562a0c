//! Configurations with store buffers up to turns of counters.
//!
//! Turns of counters ([`Counters`]) commute with what buffers do: a store that waits for an address
//! of a class is turned with it, which stores are silent depends on equal values of one class, and
//! which are overtaken on labels alone. So an exploration keeps one configuration for all that turn
//! into each other (THEORY.md, "Shift symmetry"). An `ensure` among its targets counts as a
//! condition.

use super::buffer::Order;
use super::goal::Goal;
use super::system::{BufferSystem, Control};
use crate::instrumented::Fault;
use crate::instrumented::system::{Counting, NO_TURN, Turned};
use crate::lazy::{Entry, put_together};
use palisade_evidence::BufferEntry;
use palisade_model::program::{Action, Counters, Program};

/// The classes of a program up to whose turns an exploration for a goal may be; nothing where there
/// are none, and where final states or snapshots are looked at.
pub(super) fn counting(program: &Program, goal: &Goal<'_>, order: Order) -> Option<Counting> {
    let is_of_buffers = matches!(order, Order::Sc | Order::Tso | Order::Pso);
    if goal.final_states().is_some() || !is_of_buffers || program.is_parameterized() {
        return None;
    }
    let mut seen = program.clone();
    for (thread, instruction, _) in goal.properties() {
        let action = &mut seen.threads[thread.index()].instructions[instruction.index()].action;
        if let Action::Ensure(condition) = action {
            *action = Action::Assume(condition.clone());
        }
    }
    Counting::of(Counters::of(&seen).into())
}

impl BufferSystem<'_> {
    /// The system that is explored up to turns of counters.
    pub(super) fn turning(mut self, counting: &Counting, copies: u64) -> Self {
        self.locals.count(counting, usize::try_from(copies).unwrap_or(usize::MAX));
        self.turned = Some(Box::new(Turned::new(counting.clone())));
        self
    }

    /// Whether what was assumed of computed addresses is not true, so that turns mean nothing.
    pub(super) fn turns_are_broken(&self) -> bool {
        self.turned.as_ref().is_some_and(|turned| turned.counting.is_broken())
    }

    /// The fault that turns have led to more values than are admitted.
    pub(super) fn overgrown(&self) -> Result<(), Fault> {
        self.turned.as_ref().and_then(|turned| turned.overgrown.clone()).map_or(Ok(()), Err)
    }

    /// Turns a marking into the one that stands for it and all that turn into it; its control then.
    pub(super) fn turn(&mut self, control: u32, entries: &mut Vec<Entry>) -> u32 {
        if self.turned.is_none() || Self::target_of(control).is_some() {
            return control;
        }
        let (control, turn) = self.turned_control(control);
        if turn != NO_TURN {
            for entry in entries.iter_mut() {
                entry.place = self.turned_place(turn, entry.place);
            }
            put_together(entries);
        }
        control
    }

    fn turned_control(&mut self, control: u32) -> (u32, u32) {
        let program = self.program();
        let Control { memory, locked } = self.control(control);
        let memory = self.memory(memory).clone();
        let turned = self.turned.as_mut().expect("only systems with counters turn");
        if let Some(known) = turned.controls.get(&control) {
            return *known;
        }
        let turn = turned.turn_of(program, &memory);
        let memory = turned.memory(program, turn, &memory);
        let memory = self.memory_number(memory);
        let after = self.control_number(Control { memory, locked });
        let turned = self.turned.as_mut().expect("only systems with counters turn");
        turned.controls.insert(control, (after, turn));
        (after, turn)
    }

    fn turned_place(&mut self, turn: u32, place: u32) -> u32 {
        let turned = self.turned.as_ref().expect("only systems with counters turn");
        if let Some(known) = turned.places.get(&(turn, place)) {
            return *known;
        }
        let (local, buffer) = self.place(place);
        let (local, entries) = (local.clone(), self.buffers.entries(buffer).to_vec());
        let turned = self.turned.as_mut().expect("only systems with counters turn");
        let local = turned.local(&mut self.locals, turn, &local);
        let entries = entries.into_iter().map(|entry| match entry {
            BufferEntry::Store(address, value) => BufferEntry::Store(address, turned.at_address(turn, address, value)),
            other => other,
        });
        let entries: Vec<BufferEntry> = entries.collect();
        let buffer = self.buffers.intern(&entries);
        let local = self.locals.table.intern(local).0;
        let after = self.place_of(local, buffer).expect("a copy that is there stays there");
        self.turned.as_mut().expect("only systems with counters turn").places.insert((turn, place), after);
        after
    }
}
