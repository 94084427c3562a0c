//! Enumeration of all traces of an instance.
//!
//! A depth-first search over pairs of a state and the trace so far; each pair is visited once,
//! whatever interleavings lead to it. The search follows sufficient events only (see
//! [`reduction`](super::reduction)), or all of them, to test that these suffice.

use super::growth::Growth;
use super::instance::Instance;
use super::machine::{Machine, Model, State};
use super::reduction::{Reduction, all_events};
use super::step::{Effect, Event, Step, ValueError};
use super::trace::{Trace, TraceBuilder, write_number, write_value};
use hashbrown::HashSet;
use palisade_model::limits::{Limits, StopReason};
use palisade_model::ordered;
use palisade_model::program::{Action, Instruction, Program};
use std::ops::ControlFlow;
use thiserror::Error;

/// How far an enumeration goes.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// Each thread copy executes at most so many instructions. A program with loops needs it: what
    /// lies beyond is not seen.
    pub steps: Option<u32>,
    /// Time, memory, interruption.
    pub limits: Limits,
}

/// Why an enumeration has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExplorationError {
    /// A reachable step computes a value that does not exist.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// Values grow without end, up to turns of counters as well.
    #[error(transparent)]
    Growth(#[from] Growth),
    /// A limit was reached.
    #[error("{0}")]
    Stopped(StopReason),
    /// The threads have loops, and no bound on the steps was given.
    #[error("the program has loops; the enumeration needs a bound on the steps of a thread")]
    Loops,
}

impl From<StopReason> for ExplorationError {
    fn from(reason: StopReason) -> Self {
        Self::Stopped(reason)
    }
}

/// The events that the search follows from a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Successors {
    /// Sufficient ones.
    Reduced,
    /// All.
    Full,
}

/// A point of the search.
pub(super) struct Visit<'s> {
    /// The state.
    pub state: &'s State,
    /// The trace so far.
    pub builder: &'s TraceBuilder,
    /// The events that led here.
    pub path: &'s [Event],
    /// Whether nothing can happen any more (within the bound on the steps).
    pub terminal: bool,
    /// Whether the bound on the steps kept some copy from going on.
    pub truncated: bool,
}

impl Visit<'_> {
    /// The trace of the computation that ends here with empty buffers; see
    /// [`TraceBuilder::finished`]. Under PSO, the trace with the stores that are still buffered.
    pub(super) fn trace(&self, machine: &Machine<'_>) -> Trace {
        match machine.model() {
            Model::Sc | Model::Tso => self.builder.finished(),
            Model::Pso => self.builder.unfinished().clone(),
        }
    }

    /// That computation under TSO: every thread stops before its first store that does not reach
    /// memory.
    pub(super) fn computation(&self, machine: &Machine<'_>) -> Vec<Step> {
        let copies = machine.copies().len();
        let mut issued = vec![0usize; copies];
        let mut flushed = vec![0usize; copies];
        for event in self.path {
            let position = machine.position(event.step.copy).expect("an event belongs to a copy of the instance");
            flushed[position] += usize::from(event.step.kind.is_flush());
        }
        let mut steps = Vec::with_capacity(self.path.len());
        for event in self.path {
            let position = machine.position(event.step.copy).expect("an event belongs to a copy of the instance");
            issued[position] += usize::from(matches!(event.effect, Effect::Issue { .. }));
            if issued[position] <= flushed[position] || event.step.kind.is_flush() {
                steps.push(event.step);
            }
        }
        steps
    }
}

/// The most values that a free choice is enumerated over.
const MOST_CHOICES: i128 = 1 << 18;

/// Stops where threads choose among more values than are enumerated: one state alone would have as
/// many successors.
pub(super) fn refuse_too_many_choices(program: &Program) -> Result<(), StopReason> {
    let is_choice = |instruction: &Instruction| matches!(instruction.action, Action::Havoc { .. });
    let mut running = program.threads.iter().filter(|thread| !thread.is_left_out());
    let values = program.domain.map_or(0, |domain| i128::from(domain.high) - i128::from(domain.low) + 1);
    let is_refused = values > MOST_CHOICES && running.any(|thread| thread.instructions.iter().any(is_choice));
    if is_refused { Err(StopReason::TooLarge) } else { Ok(()) }
}

/// A node of the search stack.
struct Frame {
    state: State,
    builder: TraceBuilder,
    executed: Vec<u32>,
    events: Vec<Event>,
    next: usize,
}

/// Visits every pair of a state and a trace, each once, until `visit` breaks off.
pub(super) fn explore(
    machine: &Machine<'_>,
    successors: Successors,
    bounds: &Bounds,
    visit: &mut impl FnMut(&Visit<'_>) -> ControlFlow<()>,
) -> Result<(), ExplorationError> {
    let copies = machine.copies().len();
    if bounds.steps.is_none() && machine.copies().iter().any(|copy| machine.program().thread(copy.thread).has_loop()) {
        return Err(ExplorationError::Loops);
    }
    refuse_too_many_choices(machine.program())?;
    let reduction = Reduction::new(machine);
    let mut visited: HashSet<Box<[u8]>> = HashSet::new();
    let mut path: Vec<Event> = Vec::new();
    let mut stack: Vec<Frame> = Vec::new();
    let mut entered = Some((machine.initial_state(), TraceBuilder::new(copies), vec![0u32; copies]));
    let mut steps = 0u32;
    loop {
        if let Some((state, builder, executed)) = entered.take()
            && visited.insert(search_key(&state, &builder, &executed, bounds))
        {
            let may_execute = |position: usize| bounds.steps.is_none_or(|bound| executed[position] < bound);
            let mut events = Vec::new();
            match successors {
                Successors::Reduced => reduction.sufficient_events(machine, &state, &may_execute, &mut events)?,
                Successors::Full => {
                    for position in 0..copies {
                        all_events(machine, &state, position, &may_execute, &mut events)?;
                    }
                }
            }
            let truncated = (0..copies).any(|position| !may_execute(position) && !machine.has_ended(&state, position));
            let point = Visit { state: &state, builder: &builder, path: &path, terminal: events.is_empty(), truncated };
            if visit(&point).is_break() {
                return Ok(());
            }
            stack.push(Frame { state, builder, executed, events, next: 0 });
        } else {
            path.pop();
        }
        steps += 1;
        if steps.is_multiple_of(1024) {
            bounds.limits.check()?;
        }
        // Go on with the next event of the deepest node that has one left.
        loop {
            let Some(frame) = stack.last_mut() else {
                return Ok(());
            };
            let Some(event) = frame.events.get(frame.next).copied() else {
                stack.pop();
                path.pop();
                continue;
            };
            frame.next += 1;
            let (mut state, mut builder, mut executed) =
                (frame.state.clone(), frame.builder.clone(), frame.executed.clone());
            machine.take(&mut state, &event);
            builder.record(machine, &event);
            if !event.step.kind.is_flush() {
                let position = machine.position(event.step.copy).expect("an event belongs to a copy of the instance");
                executed[position] += 1;
            }
            path.push(event);
            entered = Some((state, builder, executed));
            break;
        }
    }
}

/// What distinguishes two points of the search: the trace, and of the state what the trace does not
/// determine.
pub(super) fn search_key(state: &State, builder: &TraceBuilder, executed: &[u32], bounds: &Bounds) -> Box<[u8]> {
    let mut key = Vec::with_capacity(160);
    for (position, thread) in state.threads().iter().enumerate() {
        write_number(&mut key, thread.label.map_or(0, |label| label.index() + 1));
        thread.registers.iter().for_each(|value| write_value(&mut key, *value));
        write_number(&mut key, thread.buffer.len());
        write_number(&mut key, thread.marks.positions().len());
        thread.marks.positions().iter().for_each(|stores| write_number(&mut key, *stores));
        if bounds.steps.is_some() {
            write_number(&mut key, executed[position] as usize);
        }
    }
    write_number(&mut key, state.holder().map_or(0, |holder| holder + 1));
    builder.unfinished().write_key(&mut key);
    key.into_boxed_slice()
}

/// All traces of computations that cannot be extended (within the bounds), in no particular order
/// but always the same one.
pub fn maximal_traces(
    program: &Program,
    instance: &Instance,
    model: Model,
    bounds: &Bounds,
) -> Result<Vec<Trace>, ExplorationError> {
    let machine = Machine::new(program, instance, model);
    let mut found = HashSet::new();
    let mut traces = Vec::new();
    explore(&machine, Successors::Reduced, bounds, &mut |visit| {
        if visit.terminal {
            let trace = visit.trace(&machine);
            if found.insert(trace.canonical_form()) {
                traces.push(trace);
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok(traces)
}

/// The final states of all complete executions, one for each: distinct traces, or one trace with
/// distinct values chosen by `r <- *`, of computations in which every thread copy comes to its end.
#[derive(Clone, Debug, Default)]
pub struct Executions {
    /// The final states, ascending, as often as there are executions that end in them.
    pub final_states: Vec<State>,
    /// Whether the bound on the steps cut computations short.
    pub truncated: bool,
}

/// Enumerates all complete executions.
pub fn executions(
    program: &Program,
    instance: &Instance,
    model: Model,
    bounds: &Bounds,
) -> Result<Executions, ExplorationError> {
    let mut final_states = Vec::new();
    let truncated = each_execution(program, instance, model, bounds, &mut |state, _| final_states.push(state.clone()))?;
    ordered::sort_by(&mut final_states, State::cmp);
    Ok(Executions { final_states, truncated })
}

/// Calls `visit` with the final state and the trace of every complete execution, each once; whether
/// the bound on the steps cut computations short.
pub fn each_execution(
    program: &Program,
    instance: &Instance,
    model: Model,
    bounds: &Bounds,
    visit: &mut impl FnMut(&State, &Trace),
) -> Result<bool, ExplorationError> {
    let machine = Machine::new(program, instance, model);
    let mut found = HashSet::new();
    let mut truncated = false;
    explore(&machine, Successors::Reduced, bounds, &mut |point| {
        truncated |= point.truncated;
        let ended = || (0..machine.copies().len()).all(|position| machine.has_ended(point.state, position));
        if point.terminal && ended() && point.state.buffers_are_empty() {
            let trace = point.builder.unfinished();
            if found.insert((trace.canonical_form(), point.state.clone())) {
                visit(point.state, trace);
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok(truncated)
}
