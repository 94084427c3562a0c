//! States up to turns of counters.
//!
//! [`OutcomeCounters`] finds classes of registers and addresses whose values matter only relative
//! to each other: adding one number to all members commutes with every step, every violation and
//! every end. So of all states that turn into each other one is enough: the one in which the first
//! address of each class holds its initial value, or less than a step more. Registers that nobody
//! looks at again hold 0 in it.
//!
//! Nothing is lost: let a labelled transition system have classes of such states as its nodes and
//! steps as its labels. Since turns commute with steps, and dead registers change none, each state
//! of a class has the steps of every other one, and they lead to the same class. Which steps
//! suffice ([`reduction`](super::reduction)) depends on steps and addresses alone, and no address
//! depends on a member.
//!
//! Computed addresses are assumed to stay in their regions, or to miss the addresses of classes;
//! who explores watches that they do ([`Turns::is_broken_by`]). A step that does not, the first one
//! of its computation, can be seen as one that ends its copy, which commutes with more than the
//! step does. So an exploration of steps that suffice comes to it.

use super::machine::{Machine, State};
use super::step::{Effect, Event, StepKind};
use palisade_model::program::{CounterClass, OutcomeCounters, Program, Value};
use std::collections::BTreeSet;

/// The classes of counters up to whose turns the states of a program are told apart.
#[derive(Clone, Debug)]
pub struct Turns(OutcomeCounters);

impl Turns {
    /// The turns of a program; none where it has no counters.
    pub fn of(program: &Program) -> Option<Self> {
        OutcomeCounters::of(program).map(Self)
    }

    /// The classes.
    pub fn classes(&self) -> &[CounterClass] {
        self.0.counters().classes()
    }

    /// The registers, by position of a copy and index, that are members of a class in one of these
    /// states.
    pub fn registers(&self, machine: &Machine<'_>, class: usize, states: &[State]) -> BTreeSet<(usize, usize)> {
        let mut registers = BTreeSet::new();
        for state in states {
            for (position, thread) in state.threads().iter().enumerate() {
                let members = self.0.registers_at(machine.copies()[position].thread, thread.label);
                let own = members.iter().filter(|(_, other)| other.class == class);
                registers.extend(own.map(|(register, _)| (position, register.index())));
            }
        }
        registers
    }

    /// Takes a state to the one that stands for all that turn into it.
    pub fn turn(&self, machine: &Machine<'_>, state: &mut State) {
        let counters = self.0.counters();
        let by = |(class, it): (usize, &CounterClass)| {
            counters.turn_to(class, state.memory(it.reference), machine.program().initial_value(it.reference))
        };
        let turns: Vec<Value> = counters.classes().iter().enumerate().map(by).collect();
        for (class, by) in counters.classes().iter().zip(&turns).filter(|(_, by)| **by != 0) {
            for cell in &class.cells {
                let member = counters.member_at(*cell).expect("an address of a class is a member");
                state.write(*cell, counters.turned(member, state.memory(*cell), *by));
            }
        }
        for (position, copy) in machine.copies().iter().enumerate() {
            let thread = state.thread_mut(position);
            for (register, member) in self.0.registers_at(copy.thread, thread.label) {
                let value = &mut thread.registers[register.index()];
                *value = counters.turned(*member, *value, turns[member.class]);
            }
            for (address, value) in &mut thread.buffer {
                if let Some(member) = counters.member_at(*address) {
                    *value = counters.turned(member, *value, turns[member.class]);
                }
            }
            self.0.forget_dead(copy.thread, thread.label, &mut thread.registers);
        }
    }

    /// Whether an event accesses a computed address that is not where it was assumed to be.
    pub fn is_broken_by(&self, event: &Event) -> bool {
        let StepKind::Execute { instruction, .. } = event.step.kind else { return false };
        let (Effect::Load { address, .. }
        | Effect::Issue { address, .. }
        | Effect::Store { address, .. }
        | Effect::Rmw { address, .. }) = event.effect
        else {
            return false;
        };
        self.0.counters().is_broken_by((event.step.copy.thread, instruction), address)
    }
}
