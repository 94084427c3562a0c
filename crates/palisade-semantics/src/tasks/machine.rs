//! The step relation of event-driven programs.

use super::refusal::TaskRefusal;
use super::state::{InvocationId, InvocationState, Status, TaskEffect, TaskState, TaskStep, Worker};
use crate::Model;
use crate::step::choices;
use palisade_model::ordered::CollectOrdered;
use palisade_model::program::{Action, ByLabel, Copies, Posts, Program, Thread, ThreadId};
use smallvec::{SmallVec, smallvec};

/// The step relation of an event-driven program under SC or TSO.
#[derive(Clone, Debug)]
pub struct TaskMachine<'p> {
    program: &'p Program,
    model: Model,
    /// For each template and label, the instructions that stand there.
    instructions: Vec<ByLabel>,
}

impl<'p> TaskMachine<'p> {
    /// The step relation of a program with its copies: events occur as often as they have copies,
    /// any number of times for `[*]`. Any number of copies of a thread counts as none; choose a
    /// number for these.
    ///
    /// # Panics
    ///
    /// If the model is neither SC nor TSO.
    pub fn new(program: &'p Program, model: Model) -> Self {
        assert!(model != Model::Pso, "events and tasks run under SC or TSO");
        Self { program, model, instructions: program.threads.iter().map(Thread::instructions_by_label).collect() }
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// The memory model.
    pub fn model(&self) -> Model {
        self.model
    }

    /// The initial state: only threads run.
    pub fn initial_state(&self) -> TaskState {
        let mut invocations = Vec::new();
        for (id, thread) in self.program.thread_ids().filter(|(_, thread)| thread.is_thread()) {
            let Copies::Exactly(copies) = thread.copies else { continue };
            for _ in 0..copies {
                let number = u32::try_from(invocations.len()).expect("a machine runs few threads");
                invocations.push(self.invocation(id, Worker::Own, smallvec![number]));
            }
        }
        let memory = self.program.initial_memory.iter().map(|(address, value)| (*address, *value));
        TaskState {
            memory: memory.filter(|(_, value)| *value != 0).collect_map(),
            occurrences: vec![0; self.program.threads.len()],
            invocations,
            on_main: None,
            main_buffer: SmallVec::new(),
            holder: None,
        }
    }

    /// Everything that can happen in a state, with what it does and the state after it.
    ///
    /// # Errors
    ///
    /// When an instruction that could be executed has no value.
    pub fn steps(&self, state: &TaskState) -> Result<Vec<(TaskStep, TaskEffect, TaskState)>, TaskRefusal> {
        let mut steps = Vec::new();
        for step in self.candidates(state) {
            let mut after = state.clone();
            match self.apply(&mut after, step) {
                Ok(effect) => steps.push((step, effect, after)),
                Err(error @ (TaskRefusal::Value { .. } | TaskRefusal::NoDomain { .. })) => return Err(error),
                Err(_) => {}
            }
        }
        Ok(steps)
    }

    /// Steps among which are all that can be taken.
    fn candidates(&self, state: &TaskState) -> Vec<TaskStep> {
        let mut found: Vec<TaskStep> = self.program.events().map(|(event, _)| TaskStep::Occur { event }).collect();
        for (invocation, own) in state.invocations.iter().enumerate() {
            match own.status {
                Status::Pending => found.push(TaskStep::Begin { invocation }),
                Status::Running => self.executions(invocation, own, &mut found),
                Status::Failed | Status::Returned => {}
            }
            if !own.buffer.is_empty() {
                found.push(TaskStep::Flush { invocation });
            }
        }
        if !state.main_buffer.is_empty() {
            found.push(TaskStep::FlushMain);
        }
        found
    }

    fn executions(&self, invocation: InvocationId, own: &InvocationState, found: &mut Vec<TaskStep>) {
        let here = &self.instructions[own.template.index()][own.label.index()];
        for instruction in here.iter().copied() {
            let action = &self.program.thread(own.template).instruction(instruction).action;
            if matches!(action, Action::Havoc { .. }) && self.program.domain.is_some() {
                let values = choices(self.program.domain);
                found.extend(values.map(|value| TaskStep::Execute { invocation, instruction, chosen: Some(value) }));
            } else {
                found.push(TaskStep::Execute { invocation, instruction, chosen: None });
            }
        }
        if here.is_empty() {
            found.push(TaskStep::Return { invocation });
        }
    }

    /// Lets a step happen. The state is unspecified after a refusal.
    ///
    /// # Errors
    ///
    /// When it cannot.
    pub fn apply(&self, state: &mut TaskState, step: TaskStep) -> Result<TaskEffect, TaskRefusal> {
        match step {
            TaskStep::Occur { event } => self.occur(state, event),
            TaskStep::Begin { invocation } => self.begin(state, invocation),
            TaskStep::Execute { invocation, instruction, chosen } => {
                self.execute(state, invocation, instruction, chosen)
            }
            TaskStep::Return { invocation } => self.returns(state, invocation),
            TaskStep::Flush { invocation } => {
                let own = state.invocations.get(invocation).ok_or(TaskRefusal::NoSuchStep)?;
                let (address, value) = own.buffer.first().copied().ok_or(TaskRefusal::BufferEmpty)?;
                if state.holder.is_some_and(|holder| holder != invocation) {
                    return Err(TaskRefusal::Locked);
                }
                state.invocations[invocation].buffer.remove(0);
                state.write(address, value);
                Ok(TaskEffect::Write { address, value })
            }
            TaskStep::FlushMain => {
                let (address, value) = state.main_buffer.first().copied().ok_or(TaskRefusal::BufferEmpty)?;
                if state.holder.is_some_and(|holder| Some(holder) != state.on_main) {
                    return Err(TaskRefusal::Locked);
                }
                state.main_buffer.remove(0);
                state.write(address, value);
                Ok(TaskEffect::Write { address, value })
            }
        }
    }

    /// An event occurs. Its guard is a read by the main thread.
    fn occur(&self, state: &mut TaskState, event: ThreadId) -> Result<TaskEffect, TaskRefusal> {
        let thread =
            self.program.threads.get(event.index()).filter(|it| it.is_event()).ok_or(TaskRefusal::NoSuchStep)?;
        self.main_can_begin(state)?;
        if matches!(thread.copies, Copies::Exactly(count) if state.occurrences[event.index()] >= count) {
            return Err(TaskRefusal::NoMoreOccurrences);
        }
        let mut effect = TaskEffect::Local;
        if let Some(guard) = thread.guard() {
            if state.holder.is_some() {
                return Err(TaskRefusal::Locked);
            }
            let address = guard.read_address().map_err(|_| TaskRefusal::DoesNotHold)?;
            let buffered = state.main_buffer.iter().rev().find(|store| store.0 == address).map(|store| store.1);
            let value = buffered.unwrap_or_else(|| state.memory(address));
            if !guard.admits(value, self.program.domain).unwrap_or(false) {
                return Err(TaskRefusal::DoesNotHold);
            }
            effect = TaskEffect::Read { address, value, early: buffered.is_some() };
        }
        let occurrences: u64 = state.occurrences.iter().sum();
        let number = u32::try_from(occurrences).map_err(|_| TaskRefusal::NoMoreOccurrences)?;
        state.occurrences[event.index()] += 1;
        state.on_main = Some(state.invocations.len());
        state.invocations.push(self.invocation(event, Worker::Main, smallvec![number]));
        Ok(effect)
    }

    fn begin(&self, state: &mut TaskState, invocation: InvocationId) -> Result<TaskEffect, TaskRefusal> {
        let own = state.invocations.get(invocation).ok_or(TaskRefusal::NoSuchStep)?;
        if own.status != Status::Pending {
            return Err(TaskRefusal::NoSuchStep);
        }
        if own.worker == Worker::Main {
            self.main_can_begin(state)?;
            state.on_main = Some(invocation);
        }
        state.invocations[invocation].status = Status::Running;
        Ok(TaskEffect::Local)
    }

    /// An invocation that has come to its end returns. One that holds the lock does not: it stands
    /// there for ever, as a thread that ends inside a locked section does. So whoever holds the
    /// lock runs.
    fn returns(&self, state: &mut TaskState, invocation: InvocationId) -> Result<TaskEffect, TaskRefusal> {
        let own = state.invocations.get(invocation).ok_or(TaskRefusal::NoSuchStep)?;
        let is_at_end = self.instructions[own.template.index()][own.label.index()].is_empty();
        if own.status != Status::Running || !is_at_end {
            return Err(TaskRefusal::NoSuchStep);
        }
        if state.holder == Some(invocation) {
            return Err(TaskRefusal::WrongLock);
        }
        if own.worker == Worker::Main {
            self.main_is_drained(state)?;
            state.on_main = None;
        }
        state.invocations[invocation].status = Status::Returned;
        Ok(TaskEffect::Local)
    }

    fn main_can_begin(&self, state: &TaskState) -> Result<(), TaskRefusal> {
        if state.on_main.is_some() {
            return Err(TaskRefusal::MainIsBusy);
        }
        self.main_is_drained(state)
    }

    /// With posts that drain, begins and returns on the main thread wait for its buffer to be
    /// empty.
    fn main_is_drained(&self, state: &TaskState) -> Result<(), TaskRefusal> {
        if self.program.posts == Posts::Drain && !state.main_buffer.is_empty() {
            return Err(TaskRefusal::BufferNotEmpty);
        }
        Ok(())
    }
}
