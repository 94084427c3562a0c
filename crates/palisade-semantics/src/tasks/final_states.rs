//! The final states of an event-driven program: serially, under SC, under TSO.
//!
//! All computations are followed, breadth first. In the *serial* ones an event occurs when nothing
//! is pending, and what is pending runs in depth-first order of the posts, one after the other
//! [NETYS18, §2]. Configurations are told apart by what still matters: returned invocations do not.

use super::machine::TaskMachine;
use super::refusal::TaskRefusal;
use super::state::{InvocationState, Status, TaskEffect, TaskState, TaskStep, Worker};
use crate::exploration::refuse_too_many_choices;
use crate::{BufferedStore, Model};
use palisade_model::limits::{Limits, StopReason};
use palisade_model::ordered;
use palisade_model::program::{Copies, InstructionId, LabelId, Program, ThreadId, Value};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use thiserror::Error;

/// How events and tasks are executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskModel {
    /// One event after the other, the tasks of an event one after the other.
    Serial,
    /// Interleaved.
    Sc,
    /// Interleaved, with store buffers.
    Tso,
}

impl TaskModel {
    /// The memory model of it.
    pub const fn memory(self) -> Model {
        match self {
            Self::Serial | Self::Sc => Model::Sc,
            Self::Tso => Model::Tso,
        }
    }

    /// Its name on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Serial => "serial",
            Self::Sc => "sc",
            Self::Tso => "tso",
        }
    }
}

/// What the computations of a program come to.
#[derive(Clone, Debug, Default)]
pub struct TaskFinalStates {
    /// Memory where nothing more can happen and every invocation has returned: the addresses that
    /// do not hold 0.
    pub completed: BTreeSet<BTreeMap<Value, Value>>,
    /// In how many configurations nothing more can happen, and some invocation has not returned.
    pub stuck: usize,
    /// A shortest computation to one of these.
    pub to_stuck: Option<Vec<TaskStep>>,
    /// For each property that is violated, by its instruction, a shortest computation that violates
    /// it.
    pub violations: BTreeMap<(ThreadId, InstructionId), Vec<TaskStep>>,
    /// How many configurations there are.
    pub configurations: usize,
}

/// Why final states cannot be listed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TaskExplorationError {
    /// Something may happen any number of times.
    #[error("`{0}` has any number of copies")]
    AnyNumber(String),
    /// A step has no value.
    #[error("{0}")]
    Value(TaskRefusal),
    /// A limit was reached.
    #[error("{0}")]
    Stopped(StopReason),
}

/// An invocation as far as it matters for what comes.
type Live = (
    (ThreadId, LabelId, Worker, Status),
    SmallVec<[Value; 4]>,
    SmallVec<[BufferedStore; 2]>,
    (bool, bool),
    SmallVec<[u32; 4]>,
);

/// What distinguishes two configurations.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    memory: BTreeMap<Value, Value>,
    occurrences: Vec<u64>,
    main_buffer: SmallVec<[BufferedStore; 2]>,
    live: Vec<Live>,
}

/// Follows all computations of a program with fixed counts.
///
/// # Errors
///
/// When some count is not fixed, a step has no value, or a limit is reached.
pub fn task_final_states(
    program: &Program,
    model: TaskModel,
    limits: &Limits,
) -> Result<TaskFinalStates, TaskExplorationError> {
    if let Some(thread) = program.threads.iter().find(|thread| thread.copies == Copies::Any) {
        return Err(TaskExplorationError::AnyNumber(thread.name.clone()));
    }
    refuse_too_many_choices(program).map_err(TaskExplorationError::Stopped)?;
    let machine = TaskMachine::new(program, model.memory());
    let mut found = TaskFinalStates::default();
    let mut seen: HashSet<Key> = HashSet::new();
    let mut nodes: Vec<(TaskState, Option<(usize, TaskStep)>)> = vec![(machine.initial_state(), None)];
    seen.insert(key(&nodes[0].0, model));
    let mut next = 0;
    while next < nodes.len() {
        limits.check().map_err(TaskExplorationError::Stopped)?;
        let state = nodes[next].0.clone();
        let mut steps = machine.steps(&state).map_err(TaskExplorationError::Value)?;
        if model == TaskModel::Serial {
            steps.retain(|(step, ..)| is_serial(&state, *step));
        }
        if steps.is_empty() {
            let returned = state.invocations().iter().all(|it| it.status == Status::Returned);
            if returned {
                found.completed.insert(state.nonzero_memory().clone());
            } else {
                found.stuck += 1;
                found.to_stuck.get_or_insert_with(|| way_to(&nodes, next));
            }
        }
        for (step, effect, after) in steps {
            if let (TaskEffect::Violation, TaskStep::Execute { invocation, instruction, .. }) = (effect, step) {
                let template = state.invocations()[invocation].template;
                found.violations.entry((template, instruction)).or_insert_with(|| {
                    let mut way = way_to(&nodes, next);
                    way.push(step);
                    way
                });
            }
            if seen.insert(key(&after, model)) {
                nodes.push((after, Some((next, step))));
            }
        }
        // What has been expanded is needed for its step alone.
        nodes[next].0 = machine.initial_state();
        next += 1;
    }
    found.configurations = nodes.len();
    Ok(found)
}

/// The steps that lead to a configuration.
fn way_to(nodes: &[(TaskState, Option<(usize, TaskStep)>)], mut number: usize) -> Vec<TaskStep> {
    let mut way = Vec::new();
    while let Some((before, step)) = nodes[number].1 {
        way.push(step);
        number = before;
    }
    way.reverse();
    way
}

/// Whether a step is one of the serial program: what runs goes on; else what comes first in
/// depth-first order begins; else an event occurs.
fn is_serial(state: &TaskState, step: TaskStep) -> bool {
    let of_events = || state.invocations().iter().enumerate().filter(|(_, it)| !it.is_of_thread);
    let running = of_events().find(|(_, it)| matches!(it.status, Status::Running | Status::Failed)).map(|(id, _)| id);
    let first = of_events().filter(|(_, it)| it.status == Status::Pending).min_by_key(|(_, it)| &it.path);
    match step {
        TaskStep::Occur { .. } => running.is_none() && first.is_none(),
        TaskStep::Begin { invocation } => running.is_none() && first.is_some_and(|(id, _)| id == invocation),
        TaskStep::Execute { invocation, .. } | TaskStep::Return { invocation } => running == Some(invocation),
        TaskStep::Flush { .. } | TaskStep::FlushMain => true,
    }
}

fn key(state: &TaskState, model: TaskModel) -> Key {
    let live = |(id, it): (usize, &InvocationState)| -> Live {
        let place = (it.template, it.label, it.worker, it.status);
        let holds = (state.holder() == Some(id), state.on_main() == Some(id));
        // The order of the posts matters for what comes next in the serial program alone.
        let path = if model == TaskModel::Serial { it.path.clone() } else { SmallVec::new() };
        (place, it.registers.clone(), it.buffer.clone(), holds, path)
    };
    let is_live = |(_, it): &(usize, &InvocationState)| it.status != Status::Returned || !it.buffer.is_empty();
    let mut all: Vec<Live> = state.invocations().iter().enumerate().filter(is_live).map(live).collect();
    ordered::sort_by(&mut all, Live::cmp);
    Key {
        memory: state.nonzero_memory().clone(),
        occurrences: state.occurrences.clone(),
        main_buffer: state.main_buffer.clone(),
        live: all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::event_program_of;
    use crate::tasks::oracle::{Kind, TaskBounds, concurrency, tso};
    use palisade_model::program::Action;
    use std::time::Duration;

    /// Serial states are states under SC, and these states under TSO; and what is robust has no
    /// others.
    #[test]
    fn more_is_possible_in_weaker_models_unless_the_program_is_robust() {
        let (mut with_more, mut without, mut compared) = (0, 0, 0);
        for seed in 0..150 {
            let program = event_program_of(seed);
            let limits = Limits::none().with_timeout(Duration::from_millis(500));
            let of = |model| task_final_states(&program, model, &limits);
            let (Ok(serial), Ok(sc), Ok(relaxed)) = (of(TaskModel::Serial), of(TaskModel::Sc), of(TaskModel::Tso))
            else {
                continue;
            };
            assert!(serial.completed.is_subset(&sc.completed), "seed {seed}");
            assert!(sc.completed.is_subset(&relaxed.completed), "seed {seed}");
            let bounds = TaskBounds::default();
            if tso(&program, &bounds).is_ok_and(|answer| answer.is_robust()) {
                compared += 1;
                assert_eq!(sc.completed, relaxed.completed, "seed {seed}");
            }
            let kinds = [Kind::Serializability, Kind::Determinism];
            if concurrency(&program, &kinds, &bounds).is_ok_and(|answer| answer.is_robust()) {
                assert!(sc.completed.is_subset(&serial.completed), "seed {seed}");
                without += 1;
            }
            with_more += usize::from(sc.completed.len() > serial.completed.len());
        }
        assert!(with_more > 1 && without > 5 && compared > 5, "{with_more} {without} {compared}");
    }

    /// What ends inside a locked section never returns: the main thread stays busy, and nobody
    /// accesses memory any more.
    #[test]
    fn whoever_ends_with_the_lock_stays() {
        let (mut open, mut tried) = (0, 0);
        for seed in (2..700).step_by(7) {
            let mut program = event_program_of(seed);
            program.threads.iter_mut().flat_map(|thread| &mut thread.instructions).for_each(|instruction| {
                if instruction.action == Action::Unlock {
                    instruction.action = Action::Nop;
                }
            });
            for model in [TaskModel::Sc, TaskModel::Tso] {
                let machine = TaskMachine::new(&program, model.memory());
                let mut state = machine.initial_state();
                while let Ok(steps) = machine.steps(&state) {
                    if let Some(holder) = state.holder() {
                        assert_eq!(state.invocations()[holder].status, Status::Running, "seed {seed}");
                        assert!(state.on_main() == Some(holder) || state.invocations()[holder].worker == Worker::Own);
                        open += 1;
                    }
                    tried += 1;
                    // Different ways for different seeds; loops end it.
                    let way = (usize::try_from(seed).expect("few seeds") * 31 + tried) % steps.len().max(1);
                    let Some((_, _, after)) = steps.into_iter().nth(way).filter(|_| tried % 50 != 0) else { break };
                    state = after;
                }
            }
        }
        assert!(open > 50, "{open} of {tried}");
    }
}
