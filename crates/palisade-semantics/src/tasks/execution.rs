//! What one instruction of an invocation does.

use super::machine::TaskMachine;
use super::refusal::TaskRefusal;
use super::state::{InvocationId, InvocationState, Status, TaskEffect, TaskState, Worker};
use palisade_model::program::{Action, EvaluationError, InstructionId, Posts, Role, ThreadId, Value};
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
        let registers = own.registers.clone();
        let domain = self.program().domain;
        let valued = |result: Result<Value, EvaluationError>| {
            result.map_err(|error| TaskRefusal::Value { template, instruction: id, error })
        };
        let needs_memory = |state: &TaskState| match state.holder {
            Some(holder) if holder != invocation => Err(TaskRefusal::Locked),
            _ => Ok(()),
        };
        let drains = instruction.action.drains_buffer()
            || matches!(instruction.action, Action::Post { .. }) && self.program().posts == Posts::Drain;
        if drains && !state.buffer(invocation).is_empty() {
            return Err(TaskRefusal::BufferNotEmpty);
        }
        let mut written = None;
        let effect = match &instruction.action {
            Action::Load { register, address } => {
                needs_memory(state)?;
                let address = valued(address.evaluate_address(&registers))?;
                let buffered =
                    state.buffer(invocation).iter().rev().find(|store| store.0 == address).map(|store| store.1);
                let value = buffered.unwrap_or_else(|| state.memory(address));
                written = Some((*register, value));
                TaskEffect::Read { address, value, early: buffered.is_some() }
            }
            Action::Store { address, value } => {
                let address = valued(address.evaluate_address(&registers))?;
                let value = valued(value.evaluate(&registers, domain))?;
                if self.model().has_buffers() {
                    match state.invocations[invocation].worker {
                        Worker::Main => state.main_buffer.push((address, value)),
                        Worker::Own => state.invocations[invocation].buffer.push((address, value)),
                    }
                    TaskEffect::Issue { address, value }
                } else {
                    needs_memory(state)?;
                    state.write(address, value);
                    TaskEffect::Write { address, value }
                }
            }
            Action::Cas { register, address, expected, new } => {
                needs_memory(state)?;
                let address = valued(address.evaluate_address(&registers))?;
                let expected = valued(expected.evaluate(&registers, domain))?;
                let old = state.memory(address);
                let new = (old == expected).then(|| valued(new.evaluate(&registers, domain))).transpose()?;
                new.into_iter().for_each(|new| state.write(address, new));
                written = register.map(|register| (register, old));
                TaskEffect::Update { address, old, new }
            }
            Action::Rmw { register, address, new } => {
                needs_memory(state)?;
                let address = valued(address.evaluate_address(&registers))?;
                let old = state.memory(address);
                let new = valued(new.evaluate_with_old(&registers, old, domain))?;
                state.write(address, new);
                written = register.map(|register| (register, old));
                TaskEffect::Update { address, old, new: Some(new) }
            }
            Action::Lock => {
                needs_memory(state)?;
                if state.holder == Some(invocation) {
                    return Err(TaskRefusal::WrongLock);
                }
                state.holder = Some(invocation);
                TaskEffect::Lock
            }
            Action::Unlock => {
                if state.holder != Some(invocation) {
                    return Err(TaskRefusal::WrongLock);
                }
                state.holder = None;
                TaskEffect::Unlock
            }
            Action::Assign { register, value } => {
                written = Some((*register, valued(value.evaluate(&registers, domain))?));
                TaskEffect::Local
            }
            Action::Havoc { register } => {
                let Some(domain) = domain else { return Err(TaskRefusal::NoDomain { template, instruction: id }) };
                let value = chosen.filter(|value| domain.contains(*value)).ok_or(TaskRefusal::NoSuchStep)?;
                written = Some((*register, value));
                TaskEffect::Local
            }
            Action::Assume(condition) => {
                let holds = condition.holds(&registers, domain);
                if !holds.map_err(|error| TaskRefusal::Value { template, instruction: id, error })? {
                    return Err(TaskRefusal::DoesNotHold);
                }
                TaskEffect::Local
            }
            Action::Ensure(condition) => {
                let holds = condition.holds(&registers, domain);
                let holds = holds.map_err(|error| TaskRefusal::Value { template, instruction: id, error })?;
                if holds { TaskEffect::Local } else { TaskEffect::Violation }
            }
            Action::Fail => {
                state.invocations[invocation].status = Status::Failed;
                TaskEffect::Violation
            }
            Action::Fence | Action::StoreFence | Action::Nop => TaskEffect::Local,
            Action::Post { executor, task, arguments } => {
                let values = arguments.iter().map(|argument| valued(argument.evaluate(&registers, domain)));
                let values = values.collect::<Result<Vec<Value>, TaskRefusal>>()?;
                let posted = self.posted(state, invocation, *task, Worker::from(*executor), &values);
                state.invocations.push(posted);
                state.invocations[invocation].posts += 1;
                TaskEffect::Post { invocation: state.invocations.len() - 1 }
            }
        };
        let own = &mut state.invocations[invocation];
        own.label = instruction.target;
        if let Some((register, value)) = written {
            own.registers[register.index()] = value;
        }
        Ok(effect)
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
