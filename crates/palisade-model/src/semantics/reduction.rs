//! Which steps suffice: a partial-order reduction that keeps every final state and every maximal trace.
//!
//! In each state it names a *persistent set* of events: one such that whatever the rest of the system does without
//! taking one of them commutes with all of them. A search that follows only persistent sets reaches every state in
//! which nothing can step, and every trace of a computation that cannot be extended.
//!
//! Three cases, the first that applies:
//!
//! 1. All instructions at a thread's label are *private*: local ones, issues of stores into a buffer that is not full
//!    (TSO), and fences when the own buffer is empty. They depend on the own registers only, nobody sees them, and
//!    they commute with flushes of the own buffer. Where none of them is executable (an `assert` of 0) the thread
//!    stands for ever, and only its flushes are left, which the other cases see to.
//! 2. A thread holds the lock. The others are blocked from memory, so its own events are all that matters; a flush of
//!    its buffer also commutes with its own loads and goes first.
//! 3. No thread of the program ever takes the lock. Every thread copy is two processes, the one that executes
//!    instructions and the one that flushes the buffer; what these do commutes unless they are of different copies and
//!    touch one address, one of them writing. (A flush commutes with the own loads: from the buffer or from memory,
//!    these get the same store.) A set of processes is closed when it holds, with each process, all those that may
//!    ever conflict with what it can do next, and the own flushes where it waits for an empty buffer or for room. The
//!    next events of a closed set are persistent; the smallest one found is taken.
//!
//! Everything else takes all events.

use super::footprint::{Footprint, footprints};
use super::machine::{Machine, Model, State};
use super::step::{Effect, Event, StepKind, ValueError};
use crate::program::{Action, InstructionId, Value};

/// The reduction for one machine.
#[derive(Debug)]
pub(super) struct Reduction {
    /// For each thread and label, what the thread may still do; nothing where some thread can lock.
    footprints: Option<Vec<Vec<Footprint>>>,
}

/// One of the two processes of the thread copy at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Process {
    Instructions(usize),
    Buffer(usize),
}

/// The closed sets of processes are computed by marking.
struct Closure {
    instructions: Vec<bool>,
    buffers: Vec<bool>,
    open: Vec<Process>,
}

impl Closure {
    fn add(&mut self, process: Process) {
        let mark = match process {
            Process::Instructions(position) => &mut self.instructions[position],
            Process::Buffer(position) => &mut self.buffers[position],
        };
        if !*mark {
            *mark = true;
            self.open.push(process);
        }
    }
}

impl Reduction {
    /// The reduction for a machine.
    pub(super) fn new(machine: &Machine<'_>) -> Self {
        let locks = machine.copies().iter().any(|copy| {
            let instructions = &machine.program().thread(copy.thread).instructions;
            instructions.iter().any(|instruction| instruction.action == Action::Lock)
        });
        Self { footprints: (!locks).then(|| footprints(machine.program())) }
    }

    /// Adds a sufficient set of events to `events`, which is empty; none only where no copy can do anything.
    ///
    /// `may_execute` says which copies may still execute instructions; the others can only flush.
    pub(super) fn sufficient_events(
        &self,
        machine: &Machine<'_>,
        state: &State,
        may_execute: &impl Fn(usize) -> bool,
        events: &mut Vec<Event>,
    ) -> Result<(), ValueError> {
        let positions = 0..machine.copies().len();
        for position in positions.clone().filter(|position| may_execute(*position)) {
            let instructions = machine.instructions_at(state, position);
            if !instructions.is_empty()
                && instructions.iter().all(|instruction| is_private(machine, state, position, *instruction))
            {
                machine.events(state, position, events)?;
                events.retain(|event| event.step.kind != StepKind::Flush);
                if !events.is_empty() {
                    return Ok(());
                }
            }
        }
        if let Some(holder) = state.holder() {
            all_events(machine, state, holder, may_execute, events)?;
            if let Some(flush) = events.iter().position(|event| event.step.kind == StepKind::Flush) {
                events.swap(0, flush);
                events.truncate(1);
            }
            if !events.is_empty() {
                return Ok(());
            }
        }
        let mut ends = Vec::with_capacity(positions.len());
        for position in positions {
            all_events(machine, state, position, may_execute, events)?;
            ends.push(events.len());
        }
        if let Some(footprints) = &self.footprints
            && events.len() > 1
        {
            keep_smallest_closed_set(&Scene { machine, state, footprints, events, ends: &ends, may_execute })
                .into_iter()
                .for_each(|kept| *events = kept);
        }
        Ok(())
    }
}

/// A state with all of its events, sorted by position.
struct Scene<'s, 'p, M> {
    machine: &'s Machine<'p>,
    state: &'s State,
    footprints: &'s [Vec<Footprint>],
    events: &'s [Event],
    /// For each position, one past its last event.
    ends: &'s [usize],
    may_execute: &'s M,
}

/// The events of the smallest closed set of processes that has one, when it is smaller than the set of all.
fn keep_smallest_closed_set<M: Fn(usize) -> bool>(scene: &Scene<'_, '_, M>) -> Option<Vec<Event>> {
    let mut smallest: Option<Vec<Event>> = None;
    let mut best = scene.events.len();
    for position in 0..scene.ends.len() {
        for seed in [Process::Instructions(position), Process::Buffer(position)] {
            if scene.events_of(seed).next().is_none() {
                continue;
            }
            let closure = scene.closure(seed);
            let kept = || scene.events.iter().enumerate().filter(|(index, event)| scene.keeps(&closure, *index, event));
            let count = kept().count();
            if count < best {
                best = count;
                smallest = Some(kept().map(|(_, event)| *event).collect());
            }
            if best == 1 {
                return smallest;
            }
        }
    }
    smallest
}

impl<M: Fn(usize) -> bool> Scene<'_, '_, M> {
    fn closure(&self, seed: Process) -> Closure {
        let copies = self.ends.len();
        let mut closure =
            Closure { instructions: vec![false; copies], buffers: vec![false; copies], open: Vec::with_capacity(4) };
        closure.add(seed);
        while let Some(process) = closure.open.pop() {
            for event in self.events_of(process) {
                if let Some((address, writes)) = conflict(&event.effect) {
                    self.add_conflicting(&mut closure, process, address, writes);
                }
            }
            if let Process::Instructions(position) = process
                && !self.state.threads()[position].buffer.is_empty()
                && self.may_wait_for_flush(position)
            {
                closure.add(Process::Buffer(position));
            }
        }
        closure
    }

    fn events_at(&self, position: usize) -> &[Event] {
        let start = if position == 0 { 0 } else { self.ends[position - 1] };
        &self.events[start..self.ends[position]]
    }

    fn events_of(&self, process: Process) -> impl Iterator<Item = &Event> {
        let (position, flushes) = match process {
            Process::Instructions(position) => (position, false),
            Process::Buffer(position) => (position, true),
        };
        self.events_at(position).iter().filter(move |event| (event.step.kind == StepKind::Flush) == flushes)
    }

    fn keeps(&self, closure: &Closure, index: usize, event: &Event) -> bool {
        let position = self.ends.partition_point(|end| *end <= index);
        if event.step.kind == StepKind::Flush { closure.buffers[position] } else { closure.instructions[position] }
    }

    /// Adds the processes of other copies that may ever touch the address, with a write on either side.
    fn add_conflicting(&self, closure: &mut Closure, process: Process, address: Value, writes: bool) {
        let (Process::Instructions(own) | Process::Buffer(own)) = process;
        for (position, thread) in self.state.threads().iter().enumerate() {
            if position == own {
                continue;
            }
            if thread.buffer.iter().any(|store| store.0 == address) {
                closure.add(Process::Buffer(position));
            }
            if let Some(label) = thread.label
                && (self.may_execute)(position)
            {
                let later = &self.footprints[self.machine.copies()[position].thread.index()][label.index()];
                if later.writes.contains(address) || writes && later.reads.contains(address) {
                    closure.add(Process::Instructions(position));
                }
            }
        }
    }

    /// Whether an instruction at the copy's label waits for its buffer to empty, or for room in it.
    fn may_wait_for_flush(&self, position: usize) -> bool {
        let full = self.machine.buffer_is_full(self.state, position);
        let thread = self.machine.thread(position);
        self.machine.instructions_at(self.state, position).iter().any(|id| {
            let action = &thread.instruction(*id).action;
            action.drains_buffer() || full && matches!(action, Action::Store { .. })
        })
    }
}

/// The address that others may see touched by an effect, and whether it is written.
fn conflict(effect: &Effect) -> Option<(Value, bool)> {
    match effect {
        // Also when it reads the own buffer: after a flush of that store another one may come between.
        Effect::Load { address, .. } => Some((*address, false)),
        Effect::Store { address, .. } | Effect::Rmw { address, .. } => Some((*address, true)),
        _ => None,
    }
}

/// Adds every event of a copy: executions where it may still execute, and its flush.
pub(super) fn all_events(
    machine: &Machine<'_>,
    state: &State,
    position: usize,
    may_execute: &impl Fn(usize) -> bool,
    events: &mut Vec<Event>,
) -> Result<(), ValueError> {
    if may_execute(position) {
        return machine.events(state, position, events);
    }
    events.extend(machine.flush_event(state, position));
    Ok(())
}

fn is_private(machine: &Machine<'_>, state: &State, position: usize, instruction: InstructionId) -> bool {
    match &machine.thread(position).instruction(instruction).action {
        Action::Store { .. } => machine.model() == Model::Tso && !machine.buffer_is_full(state, position),
        Action::Fence => state.threads()[position].buffer.is_empty(),
        action => action.is_local(),
    }
}
