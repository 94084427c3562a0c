//! Configurations with store buffers up to turns of counters.
//!
//! Turns of counters ([`Counters`]) commute with what buffers do: a store that waits for an address
//! of a class is turned with it, which stores are silent depends on equal values of one class, and
//! which are overtaken on labels alone. So an exploration keeps one configuration for all that turn
//! into each other (THEORY.md, "Shift symmetry"). An `ensure` among its targets counts as a
//! condition.

use super::buffer::Order;
use super::goal::Goal;
use super::system::{BufferSystem, Control, Memory};
use super::turns::Turned;
use crate::instrumented::Fault;
use crate::instrumented::system::{Counting, Local};
use crate::lazy::{Entry, put_together};
use palisade_evidence::BufferEntry;
use palisade_model::program::{Action, Counters, InstructionId, Program, Value};

/// A turn that is none.
const NO_TURN: u32 = 0;

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
        let turned = self.turned.as_ref().expect("only systems with counters turn");
        if let Some(known) = turned.controls.get(&control) {
            return *known;
        }
        let counters = turned.counting.counters.clone();
        let Control { memory, locked } = self.control(control);
        let initial = |address| self.program().initial_value(address);
        let by = counters
            .classes()
            .iter()
            .enumerate()
            .map(|(class, own)| counters.turn_to(class, self.read(memory, own.reference), initial(own.reference)));
        let by: Box<[Value]> = by.collect();
        let mut changed: Memory = self.memory(memory).clone();
        changed.retain(|(address, _)| counters.class_of_cell(*address).is_none());
        for (address, value) in counters.classes().iter().flat_map(|class| &class.cells).map(|cell| {
            let member = counters.member_at(*cell).expect("an address of a class is a member");
            (*cell, counters.turned(member, self.read(memory, *cell), by[member.class]))
        }) {
            if value != initial(address) {
                changed.push((address, value));
            }
        }
        changed.sort_unstable();
        let memory = self.memory_number(changed);
        let after = self.control_number(Control { memory, locked });
        let turned = self.turned.as_mut().expect("only systems with counters turn");
        let turn = turned.turns.intern(by).0;
        turned.controls.insert(control, (after, turn));
        (after, turn)
    }

    fn turned_place(&mut self, turn: u32, place: u32) -> u32 {
        let turned = self.turned.as_ref().expect("only systems with counters turn");
        if let Some(known) = turned.places.get(&(turn, place)) {
            return *known;
        }
        let (counters, by) = (turned.counting.counters.clone(), turned.turns.get(turn).clone());
        let (local, buffer) = self.place(place);
        let mut local: Local = local.clone();
        for (register, member) in counters.registers_at(local.thread, local.label) {
            let value = &mut local.registers[register.index()];
            *value = counters.turned(*member, *value, by[member.class]);
        }
        let entries = self.buffers.entries(buffer).iter().map(|entry| match *entry {
            BufferEntry::Store(address, value) => {
                let member = counters.member_at(address);
                let value = member.map_or(value, |member| counters.turned(member, value, by[member.class]));
                BufferEntry::Store(address, value)
            }
            other => other,
        });
        let entries: Vec<BufferEntry> = entries.collect();
        let buffer = self.buffers.intern(&entries);
        if !local.is_stopped() {
            let cause = self.locals.instructions_at(local.thread, local.label).first().copied();
            let cause = cause.unwrap_or_else(|| InstructionId::from_index(0));
            let admitted = self.locals.admit_registers(local.thread, cause, local.label, &local.registers);
            if let Err(fault) = admitted {
                self.turned.as_mut().expect("only systems with counters turn").overgrown.get_or_insert(fault);
            }
        }
        let local = self.locals.table.intern(local).0;
        let after = self.place_of(local, buffer).expect("a copy that is there stays there");
        self.turned.as_mut().expect("only systems with counters turn").places.insert((turn, place), after);
        after
    }
}
