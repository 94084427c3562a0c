//! The search through all computations, each pair of a state and what its monitor remembers once.
//!
//! Steps that commute with every step of other threads and that nothing can disable are taken at
//! once: local instructions, posts, begins on threads of their own, and under TSO the issue of a
//! store. Each way around a loop still branches, so that no thread is left waiting for ever.
//! [`Successors::Full`] takes all steps everywhere, to test that this loses nothing.

use crate::tasks::order::{is_next, waiting};
use crate::tasks::{InvocationId, Status, TaskEffect, TaskMachine, TaskRefusal, TaskState, TaskStep, Worker};
use crate::trace::{write_number, write_value};
use hashbrown::HashSet;
use palisade_model::limits::{Limits, StopReason};
use palisade_model::ordered;
use palisade_model::program::{Action, Copies, Executor, Posts, Program, Thread};
use thiserror::Error;

/// How far an enumeration goes.
#[derive(Clone, Debug)]
pub struct TaskBounds {
    /// Each invocation executes at most so many instructions; what lies beyond is not seen.
    pub steps: Option<u32>,
    /// The enumeration gives up beyond so many configurations.
    pub configurations: usize,
    /// Whether the main thread takes tasks in the order of their posts alone.
    pub in_order: bool,
    /// Time, memory, interruption.
    pub limits: Limits,
}

impl Default for TaskBounds {
    fn default() -> Self {
        Self { steps: None, configurations: 200_000, in_order: false, limits: Limits::none() }
    }
}

/// What an oracle found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<W> {
    /// No computation violates robustness.
    Robust {
        /// Whether the bound on the steps cut computations short: then the answer speaks of the
        /// bounded ones only.
        truncated: bool,
    },
    /// A computation violates it.
    Violated {
        /// The computation.
        computation: Vec<TaskStep>,
        /// How it does.
        how: W,
    },
}

impl<W> Answer<W> {
    /// Whether the answer is robust.
    pub fn is_robust(&self) -> bool {
        matches!(self, Self::Robust { .. })
    }
}

/// Why an oracle has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OracleError {
    /// A reachable instruction has no value.
    #[error("{0}")]
    Value(TaskRefusal),
    /// A limit was reached.
    #[error("{0}")]
    Stopped(StopReason),
    /// There are more configurations than the bounds admit.
    #[error("the program has more configurations than the enumeration may visit")]
    TooLarge,
    /// An event or a thread has any number of copies.
    #[error("`{0}` has any number of copies; the enumeration needs a number")]
    AnyNumber(String),
    /// The question is about events, and a thread belongs to none.
    #[error("thread `{0}` belongs to no event")]
    NoEvent(String),
}

impl From<StopReason> for OracleError {
    fn from(reason: StopReason) -> Self {
        Self::Stopped(reason)
    }
}

/// The steps that the search follows from a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Successors {
    /// Sufficient ones.
    Reduced,
    /// All.
    #[cfg(test)]
    Full,
}

/// What a search remembers of a computation, and what it looks for.
pub(super) trait Monitor: Clone {
    /// Records a step from `before` to `after`.
    fn record(&mut self, before: &TaskState, step: TaskStep, effect: TaskEffect, after: &TaskState);

    /// Whether the computation so far is what is looked for.
    fn is_found(&self) -> bool;

    /// Writes what the future depends on, with invocations and events named by `names`.
    fn write_key(&self, state: &TaskState, names: &Names, key: &mut Vec<u8>);
}

/// Names of invocations that do not depend on the order in which posts happened.
pub(super) struct Names {
    /// The invocations in order of their paths.
    pub order: Vec<InvocationId>,
    /// The place of each invocation in that order.
    pub place: Vec<usize>,
}

impl Names {
    fn new(state: &TaskState) -> Self {
        let invocations = state.invocations();
        let key = |id: InvocationId| (!invocations[id].is_of_thread, &invocations[id].path);
        let order: Vec<InvocationId> = ordered::order(invocations.len(), &|one, other| key(one).cmp(&key(other)));
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(index, id)| place[*id] = index);
        Self { order, place }
    }
}

/// The outcome of a search: the computation that was looked for, and its monitor.
pub(super) struct Found<M> {
    /// What was found, if anything was.
    pub found: Option<(Vec<TaskStep>, M, TaskState)>,
    /// Whether the bound on the steps cut computations short.
    pub truncated: bool,
}

/// A node of the search stack: a configuration and the steps that are still to be taken from it.
struct Frame<M> {
    monitor: M,
    state: TaskState,
    /// Instructions that each invocation has executed; nothing without a bound on them.
    executed: Vec<u32>,
    steps: std::vec::IntoIter<(TaskStep, TaskEffect, TaskState)>,
    /// The step that led here.
    by: Option<TaskStep>,
}

/// A search through all computations.
pub(super) struct Search<'m, 'p> {
    machine: &'m TaskMachine<'p>,
    successors: Successors,
    bounds: &'m TaskBounds,
    truncated: bool,
}

/// Checks that a program's copies are fixed.
pub(super) fn fixed(program: &Program) -> Result<(), OracleError> {
    let any = program.threads.iter().find(|thread| thread.copies == Copies::Any);
    any.map_or(Ok(()), |thread| Err(OracleError::AnyNumber(thread.name.clone())))
}

impl<'m, 'p> Search<'m, 'p> {
    pub(super) fn new(machine: &'m TaskMachine<'p>, successors: Successors, bounds: &'m TaskBounds) -> Self {
        Self { machine, successors, bounds, truncated: false }
    }

    /// Visits every configuration until one is found.
    pub(super) fn run<M: Monitor>(mut self, monitor: M) -> Result<Found<M>, OracleError> {
        let mut visited: HashSet<Box<[u8]>> = HashSet::new();
        let initial = self.machine.initial_state();
        let executed = vec![0; initial.invocations().len()];
        visited.insert(self.key(&initial, &monitor, &executed));
        let mut stack = vec![self.frame(initial, monitor, executed, None)?];
        while let Some(frame) = stack.last_mut() {
            let Some((step, effect, after)) = frame.steps.next() else {
                stack.pop();
                continue;
            };
            let mut monitor = frame.monitor.clone();
            monitor.record(&frame.state, step, effect, &after);
            let mut executed = frame.executed.clone();
            executed.resize(after.invocations().len(), 0);
            if let TaskStep::Execute { invocation, .. } = step {
                executed[invocation] += 1;
            }
            if monitor.is_found() {
                let computation = stack.iter().filter_map(|frame| frame.by).chain([step]).collect();
                return Ok(Found { found: Some((computation, monitor, after)), truncated: self.truncated });
            }
            if visited.insert(self.key(&after, &monitor, &executed)) {
                if visited.len() > self.bounds.configurations {
                    return Err(OracleError::TooLarge);
                }
                if visited.len().is_multiple_of(1024) {
                    self.bounds.limits.check()?;
                }
                stack.push(self.frame(after, monitor, executed, Some(step))?);
            }
        }
        Ok(Found { found: None, truncated: self.truncated })
    }

    fn frame<M>(
        &mut self,
        state: TaskState,
        monitor: M,
        executed: Vec<u32>,
        by: Option<TaskStep>,
    ) -> Result<Frame<M>, OracleError> {
        let mut steps = self.machine.steps(&state).map_err(OracleError::Value)?;
        if let Some(bound) = self.bounds.steps {
            let all = steps.len();
            steps.retain(
                |(step, ..)| !matches!(step, TaskStep::Execute { invocation, .. } if executed[*invocation] >= bound),
            );
            self.truncated |= steps.len() < all;
        }
        if self.bounds.in_order {
            steps.retain(|(step, ..)| !matches!(step, TaskStep::Begin { invocation } if !is_next(&state, *invocation)));
        }
        if self.successors == Successors::Reduced
            && let Some(first) = steps.iter().find_map(|(step, ..)| self.commutes(&state, *step))
        {
            steps.retain(|(step, ..)| Self::actor(*step) == Some(first));
        }
        Ok(Frame { monitor, state, executed, steps: steps.into_iter(), by })
    }

    /// Who begins, executes or returns.
    fn actor(step: TaskStep) -> Option<InvocationId> {
        match step {
            TaskStep::Begin { invocation } | TaskStep::Execute { invocation, .. } | TaskStep::Return { invocation } => {
                Some(invocation)
            }
            TaskStep::Occur { .. } | TaskStep::Flush { .. } | TaskStep::FlushMain => None,
        }
    }

    /// The invocation of a step, if it suffices to follow the steps of that one.
    fn commutes(&self, state: &TaskState, step: TaskStep) -> Option<InvocationId> {
        let invocation = Self::actor(step)?;
        let own = &state.invocations()[invocation];
        let commutes = match step {
            TaskStep::Begin { .. } => own.worker == Worker::Own,
            TaskStep::Return { .. } => true,
            _ => {
                let thread = self.machine.program().thread(own.template);
                let is_drained = state.buffer(invocation).is_empty();
                let mut here = thread.instructions.iter().filter(|it| it.source == own.label);
                here.all(|it| it.target.index() > it.source.index() && self.is_private(&it.action, is_drained))
            }
        };
        commutes.then_some(invocation)
    }

    /// Whether an instruction neither touches memory nor the lock, nor waits for a buffer.
    fn is_private(&self, action: &Action, is_drained: bool) -> bool {
        match action {
            Action::Store { .. } => self.machine.model().has_buffers(),
            Action::Fence => is_drained,
            // Posts to an ordinary queue do not commute.
            Action::Post { executor: Executor::Main, .. } if self.bounds.in_order => false,
            Action::Post { .. } => is_drained || self.machine.program().posts == Posts::Plain,
            action => action.is_local_under_tso(),
        }
    }

    /// What distinguishes two configurations.
    fn key<M: Monitor>(&self, state: &TaskState, monitor: &M, executed: &[u32]) -> Box<[u8]> {
        let names = Names::new(state);
        let mut key = Vec::with_capacity(160);
        let name = |id: Option<InvocationId>| id.map_or(0, |id| names.place[id] + 1);
        for (address, value) in state.nonzero_memory() {
            write_value(&mut key, *address);
            write_value(&mut key, *value);
        }
        write_value(&mut key, 0);
        write_value(&mut key, 0);
        write_number(&mut key, name(state.on_main()));
        write_number(&mut key, name(state.holder()));
        write_buffer(&mut key, state.main_buffer());
        write_number(&mut key, names.order.len());
        for id in &names.order {
            let own = &state.invocations()[*id];
            write_number(&mut key, own.path.len());
            own.path.iter().for_each(|number| write_number(&mut key, *number as usize));
            write_number(&mut key, own.template.index());
            write_number(&mut key, usize::from(own.worker == Worker::Main));
            write_number(&mut key, own.status as usize);
            write_buffer(&mut key, &own.buffer);
            if matches!(own.status, Status::Pending | Status::Running) {
                write_number(&mut key, own.label.index());
                write_number(&mut key, own.posts as usize);
                own.registers.iter().for_each(|value| write_value(&mut key, *value));
                if self.bounds.steps.is_some() {
                    write_number(&mut key, executed[*id] as usize);
                }
            }
        }
        if self.bounds.in_order {
            waiting(state).for_each(|id| write_number(&mut key, names.place[id]));
        }
        monitor.write_key(state, &names, &mut key);
        key.into_boxed_slice()
    }
}

fn write_buffer(key: &mut Vec<u8>, buffer: &[crate::BufferedStore]) {
    write_number(key, buffer.len());
    for (address, value) in buffer {
        write_value(key, *address);
        write_value(key, *value);
    }
}

/// The name of the first thread that belongs to no event and has copies.
pub(super) fn without_event(program: &Program) -> Option<&Thread> {
    program.threads.iter().find(|thread| thread.is_thread() && !thread.is_left_out())
}
