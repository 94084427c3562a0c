//! What leads on from a state, and what tells states apart, for the searches of a placement.
//!
//! * *settling*: steps that nobody else sees – local instructions, issues, fences before an empty
//!   buffer – are taken at once, where control flow says that they come to an end;
//! * *dead delays*: a store that nothing overtakes before the buffer is drained reaches memory at
//!   once when the buffer is empty;
//! * dead registers, the names of copies of one thread, and under PSO the order of stores to
//!   different addresses between two marks tell no states apart.

use super::aim::Aim;
use super::cut::Cut;
use super::flow::BufferFlow;
use palisade_model::program::{Action, Liveness, Program, Value};
use palisade_semantics::{CopyId, Effect, Event, Instance, Machine, Model, State, StepKind, ThreadState};
use smallvec::SmallVec;

/// One event, or the issue of a store with its flush.
#[derive(Clone, Copy, Debug)]
pub struct Move {
    /// What comes first.
    pub event: Event,
    /// The flush.
    flush: Option<Event>,
}

impl Move {
    /// Its events in order.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        std::iter::once(&self.event).chain(&self.flush)
    }

    /// What comes before its last event, if there are two.
    pub fn before_last(&self) -> Option<Event> {
        self.flush.map(|_| self.event)
    }

    /// What comes last.
    pub fn last(&self) -> Event {
        self.flush.unwrap_or(self.event)
    }
}

/// Room for the moves of one state after the other.
#[derive(Debug, Default)]
pub struct Moves {
    all: Vec<Move>,
    /// Those of one copy.
    events: Vec<Event>,
}

/// The steps of one instance.
pub struct Steps<'s, 'p> {
    /// The machine of the instance.
    pub machine: Machine<'p>,
    aim: &'s Aim<'s>,
    /// For each thread, what its control flow says.
    flows: Vec<BufferFlow>,
    /// For each thread, its live registers.
    liveness: Vec<Liveness>,
}

impl<'s, 'p> Steps<'s, 'p> {
    /// The steps of an instance of a program with buffers of some capacity.
    pub fn new(program: &'p Program, instance: &Instance, model: Model, capacity: usize, aim: &'s Aim<'s>) -> Self {
        Self {
            machine: Machine::new(program, instance, model).with_capacity(capacity),
            aim,
            flows: program.threads.iter().map(|thread| BufferFlow::of(thread, model)).collect(),
            liveness: program.threads.iter().map(Liveness::of).collect(),
        }
    }

    /// What leads on from a state. Notes when a step has no value, or a store waits for room.
    pub fn of<'m>(&self, state: &State, moves: &'m mut Moves, cut: &mut Option<Cut>) -> &'m [Move] {
        let Moves { all, events } = moves;
        all.clear();
        for position in 0..self.machine.copies().len() {
            events.clear();
            if let Err(error) = self.machine.events(state, position, events) {
                // What comes before the step without a value may still reach a target.
                cut.get_or_insert(Cut::Value(error));
            }
            if self.machine.buffer_is_full(state, position) && self.machine.may_store(state, position) {
                cut.get_or_insert(Cut::Buffers(state.threads()[position].buffer.len()));
            }
            if self.settles(state, position) {
                events.retain(|event| !event.step.kind.is_flush());
                if !events.is_empty() {
                    all.clear();
                    all.extend(events.iter().map(|event| Move { event: *event, flush: None }));
                    break;
                }
                self.machine.flush_events(state, position, events);
            }
            all.extend(events.iter().filter_map(|event| self.with_flush(state, position, event)));
        }
        all
    }

    /// The only step of the first copy that takes steps nobody else sees, unless it reaches a
    /// target or has no value.
    pub(super) fn only_unseen(&self, state: &State) -> Option<Event> {
        let position = (0..self.machine.copies().len()).find(|position| self.settles(state, *position))?;
        let mut events = Vec::new();
        self.machine.events(state, position, &mut events).ok()?;
        let mut unseen = events.into_iter().filter(|event| !event.step.kind.is_flush());
        let only = unseen.next().filter(|_| unseen.next().is_none())?;
        (!matches!(only.effect, Effect::Violation | Effect::Failure)).then_some(only)
    }

    /// Whether all that the copy at a position can execute is unseen by others.
    fn settles(&self, state: &State, position: usize) -> bool {
        let thread = &state.threads()[position];
        let Some(label) = thread.label else { return false };
        let flow = &self.flows[self.machine.copies()[position].thread.index()];
        let template = self.machine.thread(position);
        let is_unseen = |id| match &template.instruction(id).action {
            Action::Fence => thread.buffer.is_empty(),
            Action::StoreFence => true,
            Action::Store { .. } => {
                self.machine.model().has_buffers()
                    && !self.machine.buffer_is_full(state, position)
                    && !(thread.buffer.is_empty() && flow.is_dead_delay(template, id))
            }
            action => action.is_local(),
        };
        let instructions = self.machine.instructions_at(state, position);
        flow.settles(label) && !instructions.is_empty() && instructions.iter().all(|id| is_unseen(*id))
    }

    /// An event, with the flush of its store where that is a dead delay; none where this has to
    /// wait for the lock.
    fn with_flush(&self, state: &State, position: usize, event: &Event) -> Option<Move> {
        let alone = Some(Move { event: *event, flush: None });
        let StepKind::Execute { instruction, .. } = event.step.kind else { return alone };
        let template = self.machine.thread(position);
        let is_store = matches!(template.instruction(instruction).action, Action::Store { .. });
        let flow = &self.flows[self.machine.copies()[position].thread.index()];
        let is_empty = state.threads()[position].buffer.is_empty();
        let delays = self.machine.model().has_buffers() && is_store;
        if !delays || !is_empty || !flow.is_dead_delay(template, instruction) {
            return alone;
        }
        let mut flushes = Vec::new();
        self.machine.flush_events(&self.machine.successor(state, event), position, &mut flushes);
        Some(Move { event: *event, flush: Some(flushes.pop()?) })
    }

    /// What tells a state apart, besides what `more` adds for the copy at a position.
    pub fn key(&self, state: &State, more: impl Fn(usize, &mut Vec<Value>)) -> Box<[Value]> {
        let mut key = Vec::with_capacity(64);
        self.put_key(&mut key, state, more);
        key.into()
    }

    /// The same in place of what was there before.
    pub(super) fn put_key(&self, key: &mut Vec<Value>, state: &State, more: impl Fn(usize, &mut Vec<Value>)) {
        let copies = self.machine.copies();
        key.clear();
        let memory = state.nonzero_memory();
        key.push(count(memory.len()));
        put_pairs(key, memory);
        let local = |key: &mut Vec<Value>, position: usize| {
            key.push(Value::from(state.holder() == Some(position)));
            self.add_local(key, copies[position], &state.threads()[position]);
            more(position, key);
        };
        let mut position = 0;
        while position < copies.len() {
            let end = self.machine.positions(copies[position].thread).end;
            // A question speaks of first copies.
            if end == position + 1 || self.aim.asks_final_states() {
                (position..end).for_each(|position| local(key, position));
            } else {
                let mut locals: Vec<Vec<Value>> = (position..end)
                    .map(|position| {
                        let mut own = Vec::new();
                        local(&mut own, position);
                        own
                    })
                    .collect();
                locals.sort_unstable();
                key.extend(locals.into_iter().flatten());
            }
            position = end;
        }
    }

    fn add_local(&self, key: &mut Vec<Value>, copy: CopyId, thread: &ThreadState) {
        key.push(thread.label.map_or(-1, |label| count(label.index())));
        if self.aim.asks_final_states() {
            key.extend(&thread.registers);
        } else if let Some(label) = thread.label {
            let live = self.liveness[copy.thread.index()].at(label);
            key.extend(live.map(|register| thread.registers[register.index()]));
        }
        key.push(count(thread.buffer.len()));
        if self.machine.model() != Model::Pso {
            put_pairs(key, &thread.buffer);
            return;
        }
        let mut start = 0;
        for end in thread.marks.positions().iter().copied().chain([thread.buffer.len()]) {
            let mut stores: SmallVec<[(Value, Value); 8]> = SmallVec::from_slice(&thread.buffer[start..end]);
            stores.sort_by_key(|store| store.0);
            key.push(count(stores.len()));
            put_pairs(key, &stores);
            start = end;
        }
    }
}

/// Addresses with values, one after the other, as a part of a key.
fn put_pairs(key: &mut Vec<Value>, pairs: &[(Value, Value)]) {
    key.reserve(2 * pairs.len());
    for (address, value) in pairs {
        key.extend([*address, *value]);
    }
}

/// A number as a part of a key.
pub fn count(number: usize) -> Value {
    Value::try_from(number).expect("numbers of labels and stores are small")
}
