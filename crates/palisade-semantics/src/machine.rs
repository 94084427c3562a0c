//! The step relations of SC, TSO and PSO for an instance ([ESOP13, Table 1], with the locked
//! instructions of [X86TSO]).
//!
//! Under TSO every thread copy has an unbounded FIFO store buffer. While a thread holds the lock
//! all others are blocked: they can neither load, not even from their own buffers, nor flush, nor
//! execute locked instructions; they can issue stores and take local steps. `lock`, `unlock`,
//! `mfence` and every locked read-modify-write need an empty own buffer. Under SC there are no
//! buffers and a store needs memory at once, so that the lock blocks it too.
//!
//! Under PSO every thread copy has one such buffer for each address: a store may reach memory
//! before older ones to other addresses, unless a *mark* stands between them, which `sfence` puts
//! behind the stores that wait. All else is as under TSO; what needs an empty buffer needs all of
//! them empty.

use super::executed::{BufferedStore, Lock, Sight, Stores, Unexecuted};
use super::instance::{CopyId, Instance};
use super::marks::Marks;
use super::step::{Effect, Event, Refusal, Step, StepKind, Subject, ValueCause, ValueError, choices};
use palisade_model::program::{Action, ByLabel, InstructionId, LabelId, Program, Thread, ThreadId, Value};
use smallvec::SmallVec;

/// A memory model, the strongest first: what one reaches, the next ones reach, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Model {
    /// Sequential consistency.
    Sc,
    /// Total store ordering as on x86.
    Tso,
    /// Partial store ordering: stores to different addresses may reach memory in another order.
    Pso,
}

/// Where one thread copy is.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadState {
    /// Its label; nothing after `fail`.
    pub label: Option<LabelId>,
    /// The values of its registers.
    pub registers: SmallVec<[Value; 4]>,
    /// Its buffered stores in the order of their issue, oldest first; always empty under SC.
    pub buffer: SmallVec<[BufferedStore; 2]>,
    /// The marks of `sfence` between them; none under SC and TSO.
    pub marks: Marks,
    /// Whether it sleeps at its label, and by which instruction; only on machines that
    /// [wait](Machine::waiting).
    pub asleep: Option<InstructionId>,
}

// Searches copy states more often than they do anything else. A derived copy would go value by
// value.
impl Clone for ThreadState {
    #[inline]
    fn clone(&self) -> Self {
        Self {
            label: self.label,
            registers: SmallVec::from_slice(&self.registers),
            buffer: SmallVec::from_slice(&self.buffer),
            marks: self.marks.clone(),
            asleep: self.asleep,
        }
    }

    #[inline]
    fn clone_from(&mut self, source: &Self) {
        self.label = source.label;
        copy_into(&mut self.registers, &source.registers);
        copy_into(&mut self.buffer, &source.buffer);
        self.marks.clone_from(&source.marks);
        self.asleep = source.asleep;
    }
}

/// Replaces what a vector holds, and keeps its room.
#[inline]
fn copy_into<A: smallvec::Array<Item: Copy>>(vector: &mut SmallVec<A>, source: &[A::Item]) {
    vector.clear();
    vector.extend_from_slice(source);
}

/// The addresses that do not hold 0, ascending, with their values.
pub(super) type Memory = SmallVec<[(Value, Value); 4]>;

/// A state of an instance.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State {
    /// What memory holds.
    pub(super) memory: Memory,
    /// The position of the copy that holds the lock.
    pub(super) holder: Option<usize>,
    /// The thread copies, in the instance's order.
    pub(super) threads: Vec<ThreadState>,
}

impl Clone for State {
    #[inline]
    fn clone(&self) -> Self {
        Self { memory: SmallVec::from_slice(&self.memory), holder: self.holder, threads: self.threads.clone() }
    }

    #[inline]
    fn clone_from(&mut self, source: &Self) {
        copy_into(&mut self.memory, &source.memory);
        self.holder = source.holder;
        self.threads.clone_from(&source.threads);
    }
}

impl State {
    /// The value in memory at an address.
    pub fn memory(&self, address: Value) -> Value {
        self.memory.binary_search_by_key(&address, |entry| entry.0).map_or(0, |index| self.memory[index].1)
    }

    /// The addresses that do not hold 0, ascending, with their values.
    pub fn nonzero_memory(&self) -> &[(Value, Value)] {
        &self.memory
    }

    /// The position of the copy that holds the lock.
    pub fn holder(&self) -> Option<usize> {
        self.holder
    }

    /// The thread copies, in the instance's order.
    pub fn threads(&self) -> &[ThreadState] {
        &self.threads
    }

    /// The thread copy at a position.
    pub(super) fn thread_mut(&mut self, position: usize) -> &mut ThreadState {
        &mut self.threads[position]
    }

    /// Whether every store buffer is empty.
    pub fn buffers_are_empty(&self) -> bool {
        self.threads.iter().all(|thread| thread.buffer.is_empty())
    }

    pub(super) fn write(&mut self, address: Value, value: Value) {
        match self.memory.binary_search_by_key(&address, |entry| entry.0) {
            Ok(index) if value == 0 => {
                self.memory.remove(index);
            }
            Ok(index) => self.memory[index].1 = value,
            Err(_) if value == 0 => {}
            Err(index) => self.memory.insert(index, (address, value)),
        }
    }
}

/// The step relation of one instance of a program under one memory model.
///
/// Thread copies are addressed by their *position* in the instance's order ([`Instance::copies`]).
#[derive(Clone, Debug)]
pub struct Machine<'p> {
    program: &'p Program,
    model: Model,
    copies: Vec<CopyId>,
    /// For each thread, the position of its first copy, and one past the last of all.
    first_positions: Vec<usize>,
    /// For each thread and label, the instructions that stand there.
    instructions: Vec<ByLabel>,
    /// The most stores a buffer can hold, where that is bounded.
    capacity: Option<usize>,
    /// Whether reads that wait by the language do wait.
    pub(super) awaits: bool,
    /// Whether, beside that, who sleeps does sleep.
    pub(super) sleeps: bool,
}

impl<'p> Machine<'p> {
    /// The step relation of an instance.
    pub fn new(program: &'p Program, instance: &Instance, model: Model) -> Self {
        Self::of_copies(program, instance.copies().collect(), model)
    }

    /// The step relation of some copies of an instance, ascending, while all others do nothing.
    ///
    /// # Panics
    ///
    /// If the program has events or tasks, which this machine does not know.
    pub fn of_copies(program: &'p Program, copies: Vec<CopyId>, model: Model) -> Self {
        assert!(!program.is_event_driven(), "a machine runs the threads of a program without events and tasks");
        let first = |thread: usize| copies.partition_point(|copy| copy.thread.index() < thread);
        let first_positions = (0..=program.threads.len()).map(first).collect();
        Self {
            program,
            model,
            copies,
            first_positions,
            instructions: program.threads.iter().map(Thread::instructions_by_label).collect(),
            capacity: None,
            awaits: false,
            sleeps: false,
        }
    }

    /// The step relation with buffers that hold so many stores at most; a store waits while its
    /// buffer is full.
    #[must_use]
    pub fn with_capacity(mut self, capacity: usize) -> Self {
        self.capacity = Some(capacity);
        self
    }

    /// Whether the buffer of the copy at a position can hold no further store.
    #[inline]
    pub fn buffer_is_full(&self, state: &State, position: usize) -> bool {
        self.capacity.is_some_and(|capacity| state.threads[position].buffer.len() >= capacity)
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// The memory model.
    pub fn model(&self) -> Model {
        self.model
    }

    /// The thread copies by position.
    pub fn copies(&self) -> &[CopyId] {
        &self.copies
    }

    /// The thread of the copy at a position.
    #[inline]
    pub fn thread(&self, position: usize) -> &'p Thread {
        self.program.thread(self.copies[position].thread)
    }

    /// The position of a copy, when the instance has it.
    #[inline]
    pub fn position(&self, copy: CopyId) -> Option<usize> {
        let first = *self.first_positions.get(copy.thread.index())?;
        let end = *self.first_positions.get(copy.thread.index() + 1)?;
        let of_thread = &self.copies[first..end];
        // Mostly all copies of a thread are there.
        let guess = usize::try_from(copy.copy).ok().filter(|guess| of_thread.get(*guess) == Some(&copy));
        guess.or_else(|| of_thread.binary_search(&copy).ok()).map(|index| first + index)
    }

    /// The positions of the copies of a thread.
    #[inline]
    pub fn positions(&self, thread: ThreadId) -> std::ops::Range<usize> {
        self.first_positions[thread.index()]..self.first_positions[thread.index() + 1]
    }

    /// The initial state.
    pub fn initial_state(&self) -> State {
        let thread_state = |copy: &CopyId| {
            let thread = self.program.thread(copy.thread);
            ThreadState {
                label: Some(thread.initial),
                registers: thread.registers.iter().map(|register| register.initial).collect(),
                buffer: SmallVec::new(),
                marks: Marks::default(),
                asleep: None,
            }
        };
        let memory = self.program.initial_memory.iter().map(|(address, value)| (*address, *value));
        State {
            memory: memory.filter(|(_, value)| *value != 0).collect(),
            holder: None,
            threads: self.copies.iter().map(thread_state).collect(),
        }
    }

    /// The instructions at the label of the copy at a position; none after `fail`.
    #[inline]
    pub fn instructions_at(&self, state: &State, position: usize) -> &[InstructionId] {
        let thread = self.copies[position].thread;
        state.threads[position].label.map_or(&[], |label| &self.instructions[thread.index()][label.index()])
    }

    /// Whether a copy has come to its end: a label without instructions, or `fail`.
    pub fn has_ended(&self, state: &State, position: usize) -> bool {
        self.instructions_at(state, position).is_empty()
    }

    /// What a step does in a state, or why the copy cannot take it.
    pub fn event(&self, state: &State, step: Step) -> Result<Event, Refusal> {
        let position = self.position(step.copy).ok_or(Refusal::NoSuchCopy)?;
        let effect = match step.kind {
            StepKind::Execute { instruction, chosen } => {
                if instruction.index() >= self.thread(position).instructions.len() {
                    return Err(Refusal::NoSuchInstruction);
                }
                self.execution(state, position, instruction, chosen)?
            }
            StepKind::Crowd { instruction, copies } => {
                if instruction.index() >= self.thread(position).instructions.len() {
                    return Err(Refusal::NoSuchInstruction);
                }
                self.crowd(state, position, instruction, copies)?
            }
            StepKind::Flush => self.flush(state, position, None)?,
            StepKind::FlushAddress(address) => self.flush(state, position, Some(address))?,
        };
        Ok(Event { step, effect })
    }

    /// Takes an event that [`event`](Self::event) or [`events`](Self::events) has given for this
    /// very state.
    pub fn take(&self, state: &mut State, event: &Event) {
        let position = self.position(event.step.copy).expect("an event belongs to a copy of the instance");
        let thread = &mut state.threads[position];
        match event.effect {
            Effect::Load { register, value, .. } => thread.registers[register.index()] = value,
            Effect::Issue { address, value } => thread.buffer.push((address, value)),
            Effect::Store { address, value } => {
                match event.step.kind {
                    StepKind::Flush => thread.leaves(0),
                    StepKind::FlushAddress(address) => {
                        thread.leaves(thread.flushable(address).expect("the event has found a store to flush"));
                    }
                    StepKind::Execute { .. } | StepKind::Crowd { .. } => {}
                }
                state.write(address, value);
            }
            Effect::Rmw { register, address, old, new } => {
                if let Some(register) = register {
                    thread.registers[register.index()] = old;
                }
                if let Some(new) = new {
                    state.write(address, new);
                }
            }
            Effect::Local { written: Some((register, value)) } => thread.registers[register.index()] = value,
            Effect::Lock => state.holder = Some(position),
            Effect::Unlock => state.holder = None,
            Effect::StoreFence if self.model.has_marks() => thread.marks.put_behind(thread.buffer.len()),
            Effect::StoreFence
            | Effect::Fence
            | Effect::Local { written: None }
            | Effect::Violation
            | Effect::Failure => {}
        }
        if let Some(instruction) = event.step.kind.instruction()
            && !(self.sleeps && self.sleeps_or_wakes(state, position, event))
        {
            let target = self.thread(position).instruction(instruction).target;
            state.threads[position].label = (event.effect != Effect::Failure).then_some(target);
        }
    }

    /// The state after an event.
    pub fn successor(&self, state: &State, event: &Event) -> State {
        let mut successor = state.clone();
        self.take(&mut successor, event);
        successor
    }

    /// Takes events from the initial state on, shows each state, the initial one first, and gives
    /// the last one. States are made one after the other: all at once would be as many copies of a
    /// long buffer as there are steps.
    pub fn walk(&self, events: &[Event], mut see: impl FnMut(&State)) -> State {
        let mut state = self.initial_state();
        see(&state);
        for event in events {
            self.take(&mut state, event);
            see(&state);
        }
        state
    }

    /// Whether no store waits in a buffer while another step touches memory: then a computation is
    /// an interleaving as it stands.
    pub fn is_interleaving(&self, events: &[Event]) -> bool {
        let mut following = events.iter();
        let mut is_one = true;
        self.walk(events, |state| {
            let Some(Event { step, .. }) = following.next() else { return };
            let is_local = |id| self.program.thread(step.copy.thread).instruction(id).action.is_local();
            let is_own = step.kind.is_flush() || step.kind.instruction().is_some_and(is_local);
            is_one &= is_own || state.buffers_are_empty();
        });
        is_one
    }

    /// Whether a store stands at the label of the copy at a position.
    #[inline]
    pub fn may_store(&self, state: &State, position: usize) -> bool {
        let thread = self.thread(position);
        let is_store = |id: &InstructionId| matches!(thread.instruction(*id).action, Action::Store { .. });
        self.instructions_at(state, position).iter().any(is_store)
    }

    /// Adds to `events` everything the copy at a position can do in a state.
    pub fn events(&self, state: &State, position: usize, events: &mut Vec<Event>) -> Result<(), ValueError> {
        for instruction in self.instructions_at(state, position) {
            self.executions(state, position, *instruction, events)?;
        }
        self.flush_events(state, position, events);
        Ok(())
    }

    /// Adds to `events` the flushes that the copy at a position can take: of the oldest store under
    /// TSO, of one store for each address that has one before all marks under PSO.
    pub fn flush_events(&self, state: &State, position: usize, events: &mut Vec<Event>) {
        let thread = &state.threads[position];
        if thread.buffer.is_empty() || Self::lock(state, position).admit().is_err() {
            return;
        }
        let copy = self.copies[position];
        for (kind, index) in self.model.flushes(thread) {
            let (address, value) = thread.buffer[index];
            events.push(Event { step: Step { copy, kind }, effect: Effect::Store { address, value } });
        }
    }

    /// Adds to `events` the executions of one instruction, one for each choice it has.
    fn executions(
        &self,
        state: &State,
        position: usize,
        instruction: InstructionId,
        events: &mut Vec<Event>,
    ) -> Result<(), ValueError> {
        let copy = self.copies[position];
        let woken = if self.sleeps { self.woken_choices(state, position, instruction)? } else { SmallVec::new() };
        let mut add = |chosen| match self.execution(state, position, instruction, chosen) {
            Ok(effect) => {
                events.push(Event { step: Step { copy, kind: StepKind::Execute { instruction, chosen } }, effect });
                Ok(())
            }
            Err(Refusal::Value(error)) => Err(error),
            Err(_) => Ok(()),
        };
        if matches!(self.thread(position).instruction(instruction).action, Action::Havoc { .. })
            && self.program.domain.is_some()
        {
            return choices(self.program.domain).try_for_each(|value| add(Some(value)));
        }
        if !woken.is_empty() {
            return woken.into_iter().try_for_each(|position| add(Some(position)));
        }
        add(None)
    }

    /// The effect of flushing a copy's buffer (TSO), or its buffer of an address (PSO).
    fn flush(&self, state: &State, position: usize, address: Option<Value>) -> Result<Effect, Refusal> {
        let thread = &state.threads[position];
        let index = self.model.flushed(thread, address)?;
        Self::lock(state, position).admit()?;
        let (address, value) = thread.buffer[index];
        Ok(Effect::Store { address, value })
    }

    /// The effect of executing an instruction of the thread.
    pub(super) fn execution(
        &self,
        state: &State,
        position: usize,
        id: InstructionId,
        chosen: Option<Value>,
    ) -> Result<Effect, Refusal> {
        if self.sleeps {
            return self.waiting_execution(state, position, id, chosen);
        }
        let effect = self.execution_at_once(state, position, id, chosen)?;
        self.unless_held_up(state, position, id, effect)
    }

    pub(super) fn execution_at_once(
        &self,
        state: &State,
        position: usize,
        id: InstructionId,
        chosen: Option<Value>,
    ) -> Result<Effect, Refusal> {
        let instruction = self.thread(position).instruction(id);
        let thread = &state.threads[position];
        match thread.label {
            None => return Err(Refusal::Ended),
            Some(label) if label != instruction.source => return Err(Refusal::OtherLabel),
            Some(_) => {}
        }
        let stores = match self.model.has_buffers() {
            false => Stores::AtOnce,
            true if self.buffer_is_full(state, position) => Stores::Wait,
            true => Stores::Buffered,
        };
        let sight = Sight {
            domain: self.program.domain,
            registers: &thread.registers,
            buffer: &thread.buffer,
            memory: |address| state.memory(address),
            lock: Self::lock(state, position),
            stores,
        };
        sight.execute(&instruction.action, chosen).map_err(|unexecuted| match unexecuted {
            Unexecuted::Refused(refusal) => refusal,
            Unexecuted::Value(subject, cause) => self.value_error(position, id, subject, cause).into(),
        })
    }

    pub(super) fn value_error(
        &self,
        position: usize,
        id: InstructionId,
        subject: Subject,
        cause: ValueCause,
    ) -> ValueError {
        ValueError { copy: self.copies[position], instruction: id, subject, cause }
    }

    /// The lock, as the copy at a position sees it.
    #[inline]
    fn lock(state: &State, position: usize) -> Lock {
        Lock::of(state.holder.as_ref(), &position)
    }
}
