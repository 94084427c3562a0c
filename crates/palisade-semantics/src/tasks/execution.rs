//! What one instruction of an invocation does.

use super::machine::TaskMachine;
use super::refusal::TaskRefusal;
use super::state::{InvocationId, InvocationState, Status, TaskEffect, TaskState, Worker};
use crate::executed::{Lock, Sight, Stores};
use crate::step::Effect;
use palisade_model::program::{Action, EvaluationError, Expression, InstructionId, Posts, Role, ThreadId, Value};
use smallvec::SmallVec;

impl TaskMachine<'_> {
    /// Executes an instruction of a running invocation.
    pub(super) fn execute(
        &self,
        state: &mut TaskState,
        invocation: InvocationId,
        id: InstructionId,
        chosen: Option<Value>,
    ) -> Result<TaskEffect, TaskRefusal> {
        let own = state.invocations.get(invocation).ok_or(TaskRefusal::NoSuchStep)?;
        let template = own.template;
        let thread = self.program().thread(template);
        let instruction = thread.instructions.get(id.index()).ok_or(TaskRefusal::NoSuchStep)?;
        let is_choice = matches!(instruction.action, Action::Havoc { .. });
        if own.status != Status::Running || own.label != instruction.source || (chosen.is_some() && !is_choice) {
            return Err(TaskRefusal::NoSuchStep);
        }
        if let Action::Post { executor, task, arguments } = &instruction.action {
            if self.program().posts == Posts::Drain && !state.buffer(invocation).is_empty() {
                return Err(TaskRefusal::BufferNotEmpty);
            }
            let valued = |argument: &Expression| argument.evaluate(&own.registers, self.program().domain);
            let values: Result<Vec<Value>, EvaluationError> = arguments.iter().map(valued).collect();
            let values = values.map_err(|error| TaskRefusal::Value { template, instruction: id, error })?;
            let posted = self.posted(state, invocation, *task, Worker::from(*executor), &values);
            state.invocations.push(posted);
            let posts = TaskEffect::Post { invocation: state.invocations.len() - 1 };
            let own = &mut state.invocations[invocation];
            own.posts += 1;
            own.label = instruction.target;
            return Ok(posts);
        }
        let effect = self.sight(state, invocation).execute(&instruction.action, chosen);
        let effect = effect.map_err(|unexecuted| TaskRefusal::of(unexecuted, template, id))?;
        let effect = Self::take(state, invocation, effect);
        state.invocations[invocation].label = instruction.target;
        Ok(effect)
    }

    /// What an invocation sees.
    pub(super) fn sight<'s>(
        &self,
        state: &'s TaskState,
        invocation: InvocationId,
    ) -> Sight<'s, impl Fn(Value) -> Value + use<'s>> {
        Sight {
            domain: self.program().domain,
            registers: &state.invocations[invocation].registers,
            buffer: state.buffer(invocation),
            memory: |address| state.memory(address),
            lock: Lock::of(state.holder.as_ref(), &invocation),
            stores: if self.model().has_buffers() { Stores::Buffered } else { Stores::AtOnce },
        }
    }

    /// Takes the effect of an instruction of an invocation.
    fn take(state: &mut TaskState, invocation: InvocationId, effect: Effect) -> TaskEffect {
        let registers = &mut state.invocations[invocation].registers;
        match effect {
            Effect::Load { register, address, value, early } => {
                registers[register.index()] = value;
                TaskEffect::Read { address, value, early }
            }
            Effect::Issue { address, value } => {
                state.buffer_mut(invocation).push((address, value));
                TaskEffect::Issue { address, value }
            }
            Effect::Store { address, value } => {
                state.write(address, value);
                TaskEffect::Write { address, value }
            }
            Effect::Rmw { register, address, old, new } => {
                if let Some(register) = register {
                    registers[register.index()] = old;
                }
                if let Some(new) = new {
                    state.write(address, new);
                }
                TaskEffect::Update { address, old, new }
            }
            Effect::Lock => {
                state.holder = Some(invocation);
                TaskEffect::Lock
            }
            Effect::Unlock => {
                state.holder = None;
                TaskEffect::Unlock
            }
            Effect::Local { written } => {
                if let Some((register, value)) = written {
                    registers[register.index()] = value;
                }
                TaskEffect::Local
            }
            Effect::Fence | Effect::StoreFence => TaskEffect::Local,
            Effect::Violation => TaskEffect::Violation,
            Effect::Failure => {
                state.invocations[invocation].status = Status::Failed;
                TaskEffect::Violation
            }
        }
    }

    /// The invocation that a post makes.
    fn posted(
        &self,
        state: &TaskState,
        poster: InvocationId,
        task: ThreadId,
        worker: Worker,
        arguments: &[Value],
    ) -> InvocationState {
        let poster = &state.invocations[poster];
        let mut path = poster.path.clone();
        path.push(poster.posts);
        let mut posted = self.invocation(task, worker, path);
        posted.is_of_thread = poster.is_of_thread;
        posted.status = Status::Pending;
        posted.registers[..arguments.len()].copy_from_slice(arguments);
        posted
    }

    /// An invocation at its start, running.
    pub(super) fn invocation(&self, template: ThreadId, worker: Worker, path: SmallVec<[u32; 4]>) -> InvocationState {
        let thread = self.program().thread(template);
        InvocationState {
            template,
            worker,
            path,
            is_of_thread: thread.role == Role::Thread,
            status: Status::Running,
            label: thread.initial,
            registers: thread.registers.iter().map(|register| register.initial).collect(),
            posts: 0,
            buffer: SmallVec::new(),
        }
    }
}
