//! The definitions themselves, for small programs: every computation on its own, no monitor, no
//! reduction.
//!
//! *Robust against concurrency*: each maximal SC computation can be permuted into a serial one. All
//! orders of its events are tried; each gives one serial computation, which is replayed on a memory
//! of its own, and which must keep the order of all conflicting accesses. *Robust against TSO*:
//! each trace of a TSO computation that ends with empty buffers is the trace of an SC computation.

use super::Level;
use super::concurrency::{access_of, accessor};
use super::search::OracleError;
use crate::Model;
use crate::tasks::{InvocationId, TaskEffect, TaskMachine, TaskState, TaskStep, Worker};
use hashbrown::HashSet;
use palisade_model::program::{InstructionId, Program, Value};
use std::collections::BTreeMap;
use std::hash::Hash;
use std::ops::ControlFlow;

/// The enumeration gives up beyond so many computations.
const MOST: usize = 3_000;

/// A computation.
type Path = Vec<(TaskStep, TaskEffect)>;

/// Enumerates computations, those with the same state and the same form once.
struct Enumeration<'m, 'p, F, K> {
    machine: &'m TaskMachine<'p>,
    /// Whether those that can be extended are visited as well.
    all: bool,
    /// What the definition sees of a computation.
    form: F,
    visited: HashSet<(TaskState, K)>,
}

impl<'m, 'p, K: Eq + Hash + Clone, F: Fn(&TaskMachine<'p>, &Path) -> K> Enumeration<'m, 'p, F, K> {
    fn run(
        machine: &'m TaskMachine<'p>,
        all: bool,
        form: F,
        mut visit: impl FnMut(&K, &TaskState) -> ControlFlow<()>,
    ) -> Result<(), OracleError> {
        let mut enumeration = Self { machine, all, form, visited: HashSet::new() };
        enumeration.extend(&machine.initial_state(), &mut Vec::new(), &mut visit).map(drop)
    }

    fn extend(
        &mut self,
        state: &TaskState,
        path: &mut Path,
        visit: &mut impl FnMut(&K, &TaskState) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, OracleError> {
        let form = (self.form)(self.machine, path);
        if !self.visited.insert((state.clone(), form.clone())) {
            return Ok(ControlFlow::Continue(()));
        }
        if self.visited.len() > MOST {
            return Err(OracleError::TooLarge);
        }
        let steps = self.machine.steps(state).map_err(OracleError::Value)?;
        if (self.all || steps.is_empty()) && visit(&form, state).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        for (step, effect, after) in steps {
            path.push((step, effect));
            let flow = self.extend(&after, path, visit)?;
            path.pop();
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// One access of a computation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Access {
    /// Its invocation.
    invocation: InvocationId,
    address: Value,
    level: Level,
    /// The value read, unless it only writes.
    read: Option<Value>,
    /// The value written, if any.
    written: Option<Value>,
}

fn accesses(machine: &TaskMachine<'_>, path: &Path) -> Vec<Access> {
    let mut state = machine.initial_state();
    let mut found = Vec::new();
    for (step, effect) in path {
        machine.apply(&mut state, *step).expect("it is a computation");
        let (Some((address, level)), Some(invocation)) = (access_of(*effect), accessor(*step, &state)) else {
            continue;
        };
        let (read, written) = match *effect {
            TaskEffect::Read { value, .. } => (Some(value), None),
            TaskEffect::Update { old, new, .. } => (Some(old), new),
            TaskEffect::Write { value, .. } => (None, Some(value)),
            _ => (None, None),
        };
        found.push(Access { invocation, address, level, read, written });
    }
    found
}

/// Whether all computations have serial permutations, by trying all orders of their events.
pub(super) fn is_serial(program: &Program) -> Result<bool, OracleError> {
    let machine = TaskMachine::new(program, Model::Sc);
    let mut answer = true;
    Enumeration::run(&machine, false, accesses, |accesses, state| {
        answer = has_serial_order(program, accesses, state);
        if answer { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(answer)
}

fn has_serial_order(program: &Program, accesses: &[Access], state: &TaskState) -> bool {
    let mut events: Vec<u32> =
        state.invocations().iter().filter(|it| it.path.len() == 1).map(|it| it.path[0]).collect();
    let count = events.len();
    permutations(&mut events, count, &mut |order| {
        let mut serial: Vec<usize> = (0..accesses.len()).collect();
        let place = |position: usize| {
            let path = &state.invocations()[accesses[position].invocation].path;
            (order.iter().position(|event| *event == path[0]), path, position)
        };
        serial.sort_by(|left, right| place(*left).cmp(&place(*right)));
        let keeps = keeps_conflicts(&serial, accesses);
        assert!(!keeps || replays(program, &serial, accesses), "accesses read what they read before");
        keeps
    })
}

/// Whether some permutation passes a test.
fn permutations(items: &mut Vec<u32>, left: usize, test: &mut impl FnMut(&[u32]) -> bool) -> bool {
    if left <= 1 {
        return test(items);
    }
    (0..left).any(|index| {
        items.swap(index, left - 1);
        let passes = permutations(items, left - 1, test);
        items.swap(index, left - 1);
        passes
    })
}

/// Whether conflicting accesses come in the order in which they came.
fn keeps_conflicts(serial: &[usize], accesses: &[Access]) -> bool {
    serial.iter().enumerate().all(|(place, first)| {
        serial[place + 1..].iter().all(|second| {
            let (one, other) = (&accesses[*first], &accesses[*second]);
            let conflict = one.address == other.address && one.level.max(other.level) == Level::Write;
            first < second || !conflict
        })
    })
}

/// Whether every access reads the value that it read.
fn replays(program: &Program, serial: &[usize], accesses: &[Access]) -> bool {
    let mut memory = program.initial_memory.clone();
    serial.iter().all(|position| {
        let access = &accesses[*position];
        let holds = access.read.is_none_or(|value| memory.get(&access.address).copied().unwrap_or(0) == value);
        if let Some(value) = access.written {
            memory.insert(access.address, value);
        }
        holds
    })
}

/// A node of a trace: the thread (main, or the path of an invocation) and its place in program
/// order.
type Node = (Vec<u32>, usize);

/// A trace: per thread its labels, per address its stores in order, per read the store that it
/// reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct LiteralTrace {
    labels: BTreeMap<Vec<u32>, Vec<Label>>,
    stores: BTreeMap<Value, Vec<Node>>,
    sources: BTreeMap<Node, Option<Node>>,
}

/// What a thread does: the invocation's path, the instruction, and what it posts, begins or occurs
/// as.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Label {
    Occur(usize),
    Begin(Vec<u32>),
    Execute(Vec<u32>, InstructionId, Option<Value>, TaskEffectKind),
}

/// What tells two executions of an instruction apart, its source aside.
type TaskEffectKind = (Option<Value>, Option<Value>);

/// The threads of the paper: main has an empty name.
fn line_of(state: &TaskState, invocation: InvocationId) -> Vec<u32> {
    let own = &state.invocations()[invocation];
    match own.worker {
        Worker::Main => Vec::new(),
        // Numbers of threads and of events may coincide; a mark tells them apart.
        Worker::Own => own.path.iter().copied().chain(own.is_of_thread.then_some(u32::MAX)).collect(),
    }
}

fn trace_of(machine: &TaskMachine<'_>, path: &Path) -> LiteralTrace {
    let mut state = machine.initial_state();
    let mut trace = LiteralTrace::default();
    let mut buffers: BTreeMap<Vec<u32>, Vec<(Value, Node)>> = BTreeMap::new();
    let name = |state: &TaskState, id: InvocationId| state.invocations()[id].path.to_vec();
    for (step, effect) in path {
        machine.apply(&mut state, *step).expect("it is a computation");
        let (line, label) = match *step {
            TaskStep::Occur { event } => (Vec::new(), Label::Occur(event.index())),
            TaskStep::Begin { invocation } => (line_of(&state, invocation), Label::Begin(name(&state, invocation))),
            TaskStep::Execute { invocation, instruction, chosen } => {
                let values = match *effect {
                    TaskEffect::Read { value, .. } => (Some(value), None),
                    TaskEffect::Issue { value, .. } | TaskEffect::Write { value, .. } => (None, Some(value)),
                    TaskEffect::Update { old, new, .. } => (Some(old), new),
                    _ => (None, None),
                };
                (line_of(&state, invocation), Label::Execute(name(&state, invocation), instruction, chosen, values))
            }
            TaskStep::Return { .. } => continue,
            TaskStep::Flush { .. } | TaskStep::FlushMain => {
                let line =
                    if let TaskStep::Flush { invocation } = *step { line_of(&state, invocation) } else { Vec::new() };
                let (address, node) = buffers.get_mut(&line).expect("stores wait").remove(0);
                trace.stores.entry(address).or_default().push(node);
                continue;
            }
        };
        let labels = trace.labels.entry(line.clone()).or_default();
        labels.push(label);
        let node = (line.clone(), labels.len() - 1);
        let last = |trace: &LiteralTrace, address| trace.stores.get(&address).and_then(|all| all.last().cloned());
        match *effect {
            TaskEffect::Read { address, early, .. } => {
                let own = buffers.get(&line).and_then(|it| it.iter().rev().find(|store| store.0 == address));
                let source = if early { own.map(|store| store.1.clone()) } else { last(&trace, address) };
                trace.sources.insert(node, source);
            }
            TaskEffect::Issue { address, .. } => buffers.entry(line).or_default().push((address, node)),
            TaskEffect::Write { address, .. } => trace.stores.entry(address).or_default().push(node),
            TaskEffect::Update { address, new, .. } => {
                let source = last(&trace, address);
                trace.sources.insert(node.clone(), source);
                if new.is_some() {
                    trace.stores.entry(address).or_default().push(node);
                }
            }
            _ => {}
        }
    }
    trace
}

/// Whether every trace of a TSO computation with empty buffers at its end is one of an SC
/// computation.
pub(super) fn is_sc(program: &Program) -> Result<bool, OracleError> {
    let sc = TaskMachine::new(program, Model::Sc);
    let mut traces = HashSet::new();
    Enumeration::run(&sc, true, trace_of, |trace, _| {
        traces.insert(trace.clone());
        ControlFlow::Continue(())
    })?;
    let tso = TaskMachine::new(program, Model::Tso);
    let mut answer = true;
    Enumeration::run(&tso, false, trace_of, |trace, state| {
        let is_empty = state.main_buffer().is_empty() && state.invocations().iter().all(|it| it.buffer.is_empty());
        answer = !is_empty || traces.contains(trace);
        if answer { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(answer)
}
