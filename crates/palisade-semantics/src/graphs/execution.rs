//! From an interleaving to its execution graph.

use super::axioms::{Axioms, FENCE_ADDRESS};
use super::graph::{EventKind, Graph, GraphEvent};
use super::language::access;
use crate::machine::{Machine, State};
use crate::step::{Effect, Event, Refusal, Step};
use palisade_model::program::{InstructionId, Value};
use thiserror::Error;

/// The graph of an interleaving of a program [by its language](super::by_language), step by step.
#[derive(Clone, Debug)]
pub struct Execution {
    /// The graph.
    pub graph: Graph,
    /// The event that each step is, where it is one.
    pub of_step: Vec<Option<usize>>,
    /// What each event has written.
    values: Vec<Option<Value>>,
    axioms: Axioms,
}

/// Why a step cannot be the last event.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotAnEvent {
    /// It is no event, or a fence.
    #[error("the step accesses no memory")]
    NoAccess,
    /// The write that it is to come behind is none of the address.
    #[error("the write does not write the address of the step")]
    OtherAddress,
    /// The copy cannot take the step.
    #[error("the copy cannot take the step: {0}")]
    Refused(#[from] Refusal),
}

/// What a step does when the address that it accesses holds `value`.
///
/// # Errors
///
/// When the copy cannot take the step.
pub fn event_reading(machine: &Machine<'_>, state: &State, step: Step, value: Value) -> Result<Event, Refusal> {
    let mut state = state.clone();
    if let Some(address) = address_of(machine, &state, step) {
        state.write(address, value);
    }
    machine.event(&state, step)
}

/// The address that a step accesses, where it has one.
pub(super) fn address_of(machine: &Machine<'_>, state: &State, step: Step) -> Option<Value> {
    let position = machine.position(step.copy)?;
    let instruction = machine.thread(position).instructions.get(step.kind.instruction()?.index())?;
    instruction.action.address()?.evaluate_address(&state.threads()[position].registers).ok()
}

impl Execution {
    /// The graph of the empty interleaving.
    pub fn new(axioms: Axioms) -> Self {
        Self { graph: Graph::default(), of_step: Vec::new(), values: Vec::new(), axioms }
    }

    /// The initial write of an address, which holds a value at first.
    fn touch(&mut self, address: Value, initial: Value) {
        self.graph.touch(address);
        self.values.resize(self.graph.events().len(), Some(initial));
    }

    /// What a write has written.
    pub fn value(&self, write: usize) -> Option<Value> {
        self.values[write]
    }

    /// The events of each copy, each with the write that it reads, and the orders of writes: the
    /// same for graphs with the same events that were made in another order.
    pub fn key(&self) -> Vec<u64> {
        let number = |index: usize| u64::try_from(index).expect("an index fits 64 bits");
        let events = self.graph.events();
        let of_copies = |event: &usize| events[*event].position.is_some();
        // The sort keeps the events of a copy in their order.
        let mut ordered: Vec<usize> = (0..events.len()).filter(of_copies).collect();
        ordered.sort_by_key(|event| events[*event].position);
        let mut names = vec![0; events.len()];
        ordered.iter().enumerate().for_each(|(name, event)| names[*event] = 1 + number(name));
        let mut key = vec![number(ordered.len())];
        for event in ordered {
            let own = &events[event];
            let source = self.graph.source(event).map_or(u64::MAX, |source| names[source]);
            let [position, instruction] = [own.position, own.instruction.map(InstructionId::index)];
            let [position, instruction] = [position, instruction].map(|index| index.map_or(u64::MAX, number));
            key.extend([position, instruction, own.address.cast_unsigned(), number(own.kind as usize), source]);
        }
        for (address, writes) in self.graph.addresses().filter(|(_, writes)| writes.len() > 1) {
            key.extend([address.cast_unsigned(), number(writes.len())]);
            key.extend(writes.iter().map(|write| names[*write]));
        }
        key
    }

    /// The write right before a write in modification order.
    ///
    /// # Panics
    ///
    /// If the event does not write, or is an initial write.
    pub fn before(&self, write: usize) -> usize {
        let writes = self.graph.writes(self.graph.events()[write].address);
        let index = writes.iter().position(|own| *own == write).expect("the event writes");
        writes[index - 1]
    }

    /// Adds a step under SC: it reads from the last write of its address, and comes behind it.
    pub fn take(&mut self, machine: &Machine<'_>, event: &Event) {
        let made = self.event_of(machine, event).map(|(made, value)| {
            self.touch_for(machine, made.address, made.kind);
            let last =
                (made.kind != EventKind::Fence).then(|| self.graph.writes(made.address).last().copied()).flatten();
            self.add(made, value, last)
        });
        self.of_step.push(made);
    }

    /// Adds a last step: it reads from a write, or comes directly behind it in modification order,
    /// or both.
    ///
    /// # Errors
    ///
    /// When it cannot be taken so.
    pub fn take_stale(
        &mut self,
        machine: &Machine<'_>,
        state: &State,
        step: Step,
        write: Option<usize>,
    ) -> Result<Event, NotAnEvent> {
        let address = address_of(machine, state, step).ok_or(NotAnEvent::NoAccess)?;
        self.touch_for(machine, address, EventKind::Read);
        let write = write.unwrap_or(self.graph.writes(address)[0]);
        if !self.graph.writes(address).contains(&write) {
            return Err(NotAnEvent::OtherAddress);
        }
        let value = self.values[write].expect("a write has a value");
        let event = event_reading(machine, state, step, value)?;
        let (made, value) = self.event_of(machine, &event).ok_or(NotAnEvent::NoAccess)?;
        let made = self.add(made, value, Some(write));
        self.of_step.push(Some(made));
        Ok(event)
    }

    /// Adds a step that reads from an older write, or comes directly behind it, or both, and takes
    /// it. Memory keeps what the last write of the address has written.
    ///
    /// # Errors
    ///
    /// When it cannot be taken so.
    pub fn take_older(
        &mut self,
        machine: &Machine<'_>,
        state: &mut State,
        step: Step,
        write: Option<usize>,
    ) -> Result<Event, NotAnEvent> {
        let event = self.take_stale(machine, state, step, write)?;
        machine.take(state, &event);
        let made = self.of_step.last().copied().flatten().map(|made| self.graph.events()[made].address);
        if let Some(address) = made.filter(|address| *address != FENCE_ADDRESS) {
            let last = self.graph.writes(address).last().expect("an address has its initial write");
            state.write(address, self.values[*last].expect("a write has a value"));
        }
        Ok(event)
    }

    fn touch_for(&mut self, machine: &Machine<'_>, address: Value, kind: EventKind) {
        if kind != EventKind::Fence {
            let initial = if address == FENCE_ADDRESS { 0 } else { machine.program().initial_value(address) };
            self.touch(address, initial);
        }
    }

    /// Adds an event that reads from a write, or comes behind it.
    fn add(&mut self, made: GraphEvent, value: Option<Value>, write: Option<usize>) -> usize {
        let source = write.filter(|_| made.kind.reads());
        let behind = write.filter(|_| made.kind.writes());
        self.values.push(value);
        self.graph.add(made, source, behind)
    }

    /// What a step is to the axioms, with the value that it writes.
    fn event_of(&self, machine: &Machine<'_>, event: &Event) -> Option<(GraphEvent, Option<Value>)> {
        let (address, value, stores) = match event.effect {
            Effect::Load { address, .. } => (address, None, false),
            Effect::Store { address, value } => (address, Some(value), true),
            Effect::Rmw { address, new, .. } => (address, new, new.is_some()),
            Effect::Fence => (0, None, false),
            _ => return None,
        };
        let position = machine.position(event.step.copy)?;
        let instruction = event.step.kind.instruction()?;
        let (kind, ordering) = access(self.axioms, machine.thread(position).instruction(instruction), stores)?;
        let is_fence = event.effect == Effect::Fence;
        let address = if is_fence && kind != EventKind::Fence { FENCE_ADDRESS } else { address };
        let value = if is_fence && kind != EventKind::Fence { Some(0) } else { value };
        let (position, instruction) = (Some(position), Some(instruction));
        Some((GraphEvent { position, instruction, kind, address, ordering }, value))
    }
}
