//! The steps that suffice: a partial-order reduction that keeps every final state and every maximal
//! trace.
//!
//! In each state it names a *persistent set* of events: one such that whatever the rest of the
//! system does without taking one of them commutes with all of them. A search that follows only
//! persistent sets reaches every state in which nothing can step, and every trace of a computation
//! that cannot be extended.
//!
//! Three cases, the first that applies:
//!
//! 1. All instructions at a thread's label are *private*: local ones, issues of stores into a
//!    buffer that is not full (TSO, PSO), `sfence`, and fences when the own buffer is empty. They
//!    depend on the own registers only, nobody sees them, and they commute with flushes of the own
//!    buffer: a store and a mark go behind all that waits, and a mark vanishes whether the stores
//!    before it leave before or after it is put there. Where none of them is executable (an
//!    `assert` of 0) the thread stands for ever, and only its flushes are left, which the other
//!    cases see to.
//! 2. A thread holds the lock. The others are blocked from memory, so its own events are all that
//!    matters; a flush of its buffer also commutes with its own loads, and with its flushes of
//!    other addresses (PSO), and goes first.
//! 3. No thread of the program ever takes the lock. Every thread copy is several processes: one
//!    executes its instructions, one flushes its buffer (TSO), or one the buffer of each address
//!    (PSO). What they do commutes unless they are of different copies and touch one address, one
//!    of them writing. (A flush commutes with the own loads: from the buffer or from memory, these
//!    get the same store.) A set of processes is closed when it holds, with each process, all those
//!    that may ever conflict with what it can do next, and where it waits for others, some of which
//!    one has to act before it can: the oldest store's buffer where it waits for an empty buffer,
//!    every buffer that can be flushed where it waits for room, and all that may write the address
//!    where a read waits for another value. A store that may not leave yet – under TSO any but the
//!    oldest, under PSO one behind a mark – waits for the oldest store. The next events of a closed
//!    set are persistent; the search follows the smallest one that it finds.
//!
//! Everything else takes all events.

use super::footprint::{Footprint, footprints};
use super::machine::{Machine, State};
use super::step::{Effect, Event, Refusal, Step, StepKind, ValueError};
use palisade_model::program::{Action, InstructionId, Value};
use std::ops::Range;

/// The reduction for one machine.
#[derive(Debug)]
pub(super) struct Reduction {
    /// For each thread and label, what the thread may still do; nothing where some thread can lock.
    footprints: Option<Vec<Vec<Footprint>>>,
}

/// A process that can act next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Process {
    /// The one that executes the instructions of the thread copy at a position.
    Instructions(usize),
    /// The one whose next event is this flush, by its index among all events.
    Flush(usize),
}

/// The closed sets of processes are computed by marking.
struct Closure {
    /// By position.
    instructions: Vec<bool>,
    /// By the index of an event; only those of flushes are used.
    flushes: Vec<bool>,
    open: Vec<Process>,
}

impl Closure {
    fn add(&mut self, process: Process) {
        let mark = match process {
            Process::Instructions(position) => &mut self.instructions[position],
            Process::Flush(event) => &mut self.flushes[event],
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

    /// The private event that alone suffices in a state, where all copies may execute instructions;
    /// nothing where several do, others, or one without a value.
    pub(super) fn only_private_event(machine: &Machine<'_>, state: &State) -> Option<Event> {
        let mut events = Vec::new();
        for position in (0..machine.copies().len()).filter(|position| is_all_private(machine, state, *position)) {
            machine.events(state, position, &mut events).ok()?;
            events.retain(|event| !event.step.kind.is_flush());
            match events[..] {
                [] => {}
                [only] => return Some(only),
                _ => return None,
            }
        }
        None
    }

    /// Adds a sufficient set of events to `events`, which is empty; none only where no copy can do
    /// anything.
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
            if is_all_private(machine, state, position) {
                machine.events(state, position, events)?;
                events.retain(|event| !event.step.kind.is_flush());
                if !events.is_empty() {
                    return Ok(());
                }
            }
        }
        if let Some(holder) = state.holder() {
            all_events(machine, state, holder, may_execute, events)?;
            if let Some(flush) = events.iter().position(|event| event.step.kind.is_flush()) {
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

/// Whether all instructions at the label of the copy at a position are private, and there are some.
fn is_all_private(machine: &Machine<'_>, state: &State, position: usize) -> bool {
    let instructions = machine.instructions_at(state, position);
    !instructions.is_empty() && instructions.iter().all(|own| is_private(machine, state, position, *own))
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

/// The events of the smallest closed set of processes that has one, when it is smaller than the set
/// of all.
fn keep_smallest_closed_set<M: Fn(usize) -> bool>(scene: &Scene<'_, '_, M>) -> Option<Vec<Event>> {
    let mut smallest: Option<Vec<Event>> = None;
    let mut best = scene.events.len();
    for position in 0..scene.ends.len() {
        for seed in scene.processes(position) {
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
        let mut closure = Closure {
            instructions: vec![false; self.ends.len()],
            flushes: vec![false; self.events.len()],
            open: Vec::with_capacity(4),
        };
        closure.add(seed);
        while let Some(process) = closure.open.pop() {
            match process {
                Process::Flush(index) => {
                    self.add_conflicting(&mut closure, self.position_of(index), &self.events[index]);
                }
                Process::Instructions(position) => {
                    let own = &self.events[self.range(position)];
                    for event in own.iter().filter(|event| !event.step.kind.is_flush()) {
                        self.add_conflicting(&mut closure, position, event);
                    }
                    self.add_awaited(&mut closure, position);
                    self.add_releasing(&mut closure, position);
                }
            }
        }
        closure
    }

    /// The indices of the events of the copy at a position.
    fn range(&self, position: usize) -> Range<usize> {
        position.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[position]
    }

    /// The position of the copy that an event belongs to.
    fn position_of(&self, index: usize) -> usize {
        self.ends.partition_point(|end| *end <= index)
    }

    /// The indices of the flushes of the copy at a position, that of its oldest store first.
    fn flushes(&self, position: usize) -> impl Iterator<Item = usize> + '_ {
        self.range(position).filter(|index| self.events[*index].step.kind.is_flush())
    }

    /// The processes of the copy at a position that can act next.
    fn processes(&self, position: usize) -> impl Iterator<Item = Process> + '_ {
        let mut own = self.range(position);
        let executes = own.any(|index| !self.events[index].step.kind.is_flush());
        executes
            .then_some(Process::Instructions(position))
            .into_iter()
            .chain(self.flushes(position).map(Process::Flush))
    }

    fn keeps(&self, closure: &Closure, index: usize, event: &Event) -> bool {
        if event.step.kind.is_flush() { closure.flushes[index] } else { closure.instructions[self.position_of(index)] }
    }

    /// Adds the processes of other copies that may ever touch the address of an event, with a write
    /// on either side.
    fn add_conflicting(&self, closure: &mut Closure, own: usize, event: &Event) {
        if let Some((address, writes)) = conflict(&event.effect) {
            self.add_touching(closure, own, (address, writes));
        }
    }

    /// Adds the processes of other copies that may ever write an address, or touch it if it is
    /// written here.
    fn add_touching(&self, closure: &mut Closure, own: usize, (address, writes): (Value, bool)) {
        for (position, thread) in self.state.threads().iter().enumerate() {
            if position == own {
                continue;
            }
            if thread.buffer.iter().any(|store| store.0 == address) {
                self.add_flush(closure, position, address);
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

    /// Adds the processes of which one has to act before a read at the copy's label that waits for
    /// another value: those that may write its address, and the flush of the own store that it
    /// would read.
    fn add_releasing(&self, closure: &mut Closure, position: usize) {
        let thread = &self.state.threads()[position];
        if !(self.may_execute)(position) {
            return;
        }
        for id in self.machine.instructions_at(self.state, position) {
            let step = StepKind::Execute { instruction: *id, chosen: None };
            let step = Step { copy: self.machine.copies()[position], kind: step };
            if self.machine.event(self.state, step) != Err(Refusal::Waits) {
                continue;
            }
            let action = &self.machine.thread(position).instruction(*id).action;
            let address = action.address().and_then(|address| address.evaluate_address(&thread.registers).ok());
            let Some(address) = address else { continue };
            self.add_touching(closure, position, (address, false));
            if thread.buffer.iter().any(|store| store.0 == address) {
                self.add_flush(closure, position, address);
            }
        }
    }

    /// Adds the flush of a copy's oldest store to an address, or where that may not leave yet, of
    /// its oldest store.
    fn add_flush(&self, closure: &mut Closure, position: usize, address: Value) {
        let stores =
            |index: &usize| matches!(self.events[*index].effect, Effect::Store { address: own, .. } if own == address);
        let next = self.flushes(position).find(stores).or_else(|| self.flushes(position).next());
        closure.add(Process::Flush(next.expect("without a lock the oldest store can reach memory")));
    }

    /// Adds the flushes of which one has to come before an instruction at the copy's label that is
    /// not executable.
    fn add_awaited(&self, closure: &mut Closure, position: usize) {
        let thread = &self.state.threads()[position];
        if thread.buffer.is_empty() || !(self.may_execute)(position) {
            return;
        }
        let waits = |for_what: fn(&Action) -> bool| {
            let template = self.machine.thread(position);
            self.machine
                .instructions_at(self.state, position)
                .iter()
                .any(|id| for_what(&template.instruction(*id).action))
        };
        if self.machine.buffer_is_full(self.state, position) && waits(|action| matches!(action, Action::Store { .. })) {
            self.flushes(position).for_each(|flush| closure.add(Process::Flush(flush)));
        } else if waits(Action::drains_buffer) {
            closure.add(Process::Flush(self.flushes(position).next().expect("the oldest store can reach memory")));
        }
    }
}

/// The address that others may see touched by an effect, and whether it is written.
fn conflict(effect: &Effect) -> Option<(Value, bool)> {
    match effect {
        // Also when it reads the own buffer: after a flush of that store another one may come
        // between.
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
    machine.flush_events(state, position, events);
    Ok(())
}

fn is_private(machine: &Machine<'_>, state: &State, position: usize, instruction: InstructionId) -> bool {
    match &machine.thread(position).instruction(instruction).action {
        Action::Store { .. } => machine.model().has_buffers() && !machine.buffer_is_full(state, position),
        Action::StoreFence => true,
        Action::Fence => state.threads()[position].buffer.is_empty(),
        action => action.is_local(),
    }
}
