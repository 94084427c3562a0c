//! The serial program with its monitor: what leads from a state to the next.
//!
//! | rule | what happens |
//! |---|---|
//! | occur | no event runs; the handler begins on the main thread. Before the pivot's event this may be the pivot's. The guard is a read |
//! | begin, skip | the next pending task begins, or never does. A late main task never does |
//! | access | happens after the cut main task if the invocation does so already or the access meets H; then a main task dies, and an `any` task is late from here on |
//! | post | the task is late if its poster is |
//! | return | what was posted comes next, in the order of the posts |
//! | cut | the invocation goes no further. On the main thread there is one such invocation at most; its accesses become H, and what it posted is late |
//! | pivot | a cut before an access in the pivot's event, which is λ |
//!
//! λ is not executed. A state is *accepting* when λ, taken in it, would close a cycle of events or
//! go backward in the pivot's event, and what has run is an interleaving that can be followed by λ:
//! the main thread has run everything but the cut task to its end.
//!
//! DIVERGENCE: the accesses that λ would have to meet are remembered (`spoiling`) and not only that
//! it met one. λ is a local state and is taken from the memory at hand when a state is judged. So
//! locked updates and sections, whose accesses depend on memory, need no guesses.

use crate::levels::{Levels, Numbering};
use crate::locals::Locals;
use crate::moves::{AccessResult, Accesses, Memories, Memory};
use crate::state::{Label, LocalId, MemoryId, Monitor, Pending, Pivot, Run, Stage, State};
use palisade_engine::robustness::{Fault, FaultKind};
use palisade_model::program::{Copies, Program, ThreadId};
use smallvec::SmallVec;

/// The serial program with its monitor.
pub(super) struct System<'p> {
    pub(super) program: &'p Program,
    pub(super) locals: Locals<'p>,
    pub(super) memories: Memories,
    pub(super) numbering: Numbering,
    limit: usize,
    /// The events that occur.
    events: Vec<Event>,
}

/// An event that occurs.
#[derive(Clone, Copy, Debug)]
struct Event {
    template: ThreadId,
    /// Its local state at the start.
    local: LocalId,
    /// Where a state counts how often it may still occur; nothing for any number of times.
    counter: Option<usize>,
}

impl<'p> System<'p> {
    pub(super) fn new(program: &'p Program, limit: usize) -> Result<Self, Fault> {
        let mut locals = Locals::new(program, limit);
        let mut events = Vec::new();
        let mut counters = 0..;
        for (template, thread) in program.events().filter(|(_, thread)| !thread.is_left_out()) {
            let local = locals.start(template)?;
            let counter = (thread.copies != Copies::Any).then(|| counters.next().expect("the range is endless"));
            events.push(Event { template, local, counter });
        }
        Ok(Self { program, locals, memories: Memories::default(), numbering: Numbering::default(), limit, events })
    }

    /// The event of a number.
    pub(super) fn event(&self, number: u32) -> ThreadId {
        self.events[number as usize].template
    }

    /// Nothing has happened.
    pub(super) fn initial(&mut self) -> State {
        let memory = self.program.initial_memory.iter().map(|(address, value)| (*address, *value));
        let memory: Memory = memory.filter(|(_, value)| *value != 0).collect();
        let counted = self.events.iter().filter_map(|event| match self.program.thread(event.template).copies {
            Copies::Exactly(count) => Some(count),
            Copies::Any => None,
        });
        State {
            memory: self.memories.intern(memory),
            starts: counted.collect(),
            monitor: Monitor {
                stage: Stage::Before,
                pivot: None,
                path: Levels::default(),
                cut: None,
                spoiling: Levels::default(),
                current: Levels::default(),
                on: false,
            },
            run: None,
            stack: Vec::new(),
        }
    }

    /// Whether λ, taken now, would spoil what has run, and can be taken.
    pub(super) fn is_accepting(&mut self, state: &State) -> Result<bool, Fault> {
        let monitor = &state.monitor;
        let Some(pivot) = monitor.pivot else { return Ok(false) };
        if state.run.as_ref().is_some_and(|run| run.main) && monitor.cut.is_some() {
            return Ok(false);
        }
        let outcomes = self.pivot_outcomes(pivot, state.memory)?;
        Ok(outcomes.iter().any(|outcome| outcome.accesses.meets(&monitor.spoiling)))
    }

    /// What λ comes to in a memory.
    pub(super) fn pivot_outcomes(&mut self, pivot: Pivot, memory: MemoryId) -> Result<Vec<AccessResult>, Fault> {
        self.outcomes(pivot.local, pivot.point, memory)
    }

    /// What an access at a point of a local state comes to.
    pub(super) fn outcomes(
        &mut self,
        local: LocalId,
        point: u32,
        memory: MemoryId,
    ) -> Result<Vec<AccessResult>, Fault> {
        let settled = self.locals.settled(local)?;
        let point = &settled.points[point as usize];
        let template = self.locals.get(local).template;
        self.accesses().outcomes(template, point.instruction, &point.registers, memory)
    }

    fn accesses(&mut self) -> Accesses<'_, 'p> {
        let Self { locals, memories, numbering, limit, .. } = self;
        Accesses { locals, memories, numbering, limit: *limit }
    }

    /// All states that come next, with what leads there.
    pub(super) fn successors(&mut self, state: &State) -> Result<Vec<(Label, State)>, Fault> {
        let mut found = Vec::new();
        if let Some(run) = &state.run {
            self.goes_on(state, run, &mut found)?;
        } else if let Some(next) = state.stack.last() {
            take_next(state, next, &mut found);
        } else {
            self.occurrences(state, &mut found);
        }
        Ok(found)
    }

    /// Events occur.
    fn occurrences(&mut self, state: &State, found: &mut Vec<(Label, State)>) {
        for number in 0..self.events.len() {
            let event = self.events[number];
            let mut after = state.clone();
            if let Some(counter) = event.counter {
                let Some(left) = after.starts[counter].checked_sub(1) else { continue };
                after.starts[counter] = left;
            }
            let run = Run {
                main: true,
                local: event.local,
                late: false,
                begun: false,
                own: Levels::default(),
                kids: SmallVec::new(),
            };
            after.run = Some(run);
            let mut read = Levels::default();
            if let Some(guard) = self.program.thread(event.template).guard() {
                // The reader of the text has refused guards without a value.
                let Ok(address) = guard.read_address() else { continue };
                let value = self.memories.get(state.memory).get(&address).copied().unwrap_or(0);
                if !guard.admits(value, self.program.domain).unwrap_or(false) {
                    continue;
                }
                read.insert(self.numbering.number(address), false);
            }
            let has_guard = read != Levels::default();
            let number = u32::try_from(number).expect("events are threads, which are numbered with 32 bits");
            for is_pivots in [false, true] {
                let mut after = after.clone();
                if is_pivots {
                    if after.monitor.stage != Stage::Before {
                        continue;
                    }
                    after.monitor.stage = Stage::In;
                }
                if !has_guard || observe(&mut after, &read) {
                    found.push((Label::Occur(number, is_pivots), after));
                }
            }
        }
    }

    /// What runs goes on.
    fn goes_on(&mut self, state: &State, run: &Run, found: &mut Vec<(Label, State)>) -> Result<(), Fault> {
        let settled = self.locals.settled(run.local)?;
        let mut may_cut = settled.is_stuck;
        for (index, point) in (0u32..).zip(&settled.points) {
            if let Some((main, local)) = point.post {
                let mut after = state.clone();
                let target = self.after(run.local, index)?;
                let poster = after.run.as_mut().expect("it runs");
                (poster.begun, poster.local) = (true, target);
                poster.kids.push(Pending { main, local, late: run.late });
                found.push((Label::Point(index, 0), after));
                continue;
            }
            may_cut = true;
            let outcomes = self.outcomes(run.local, index, state.memory)?;
            for (number, outcome) in (0u32..).zip(&outcomes) {
                let mut after = state.clone();
                if observe(&mut after, &outcome.accesses) {
                    after.memory = outcome.memory;
                    after.run.as_mut().expect("it runs").local = outcome.local;
                    found.push((Label::Point(index, number), after));
                }
            }
            if state.monitor.stage == Stage::In && state.monitor.pivot.is_none() {
                let pivot = Pivot { local: run.local, point: index, address: self.address(run.local, index)? };
                found.extend(pivoted(state, run, pivot).map(|after| (Label::Pivot(index), after)));
            }
        }
        if settled.returns.is_some() {
            let mut after = state.clone();
            ends(&mut after);
            found.extend(closed(after).map(|after| (Label::Return, after)));
        }
        if may_cut && run.begun {
            found.extend(cut(state, run).and_then(closed).map(|after| (Label::Cut, after)));
        }
        Ok(())
    }

    /// The number of the address that an access is to; nothing for a section.
    fn address(&mut self, local: LocalId, point: u32) -> Result<Option<usize>, Fault> {
        let settled = self.locals.settled(local)?;
        let point = &settled.points[point as usize];
        let template = self.locals.get(local).template;
        let action = &self.program.thread(template).instruction(point.instruction).action;
        let Some(address) = action.address() else { return Ok(None) };
        let fault =
            |error| Fault { thread: template, instruction: point.instruction, kind: FaultKind::Evaluation(error) };
        Ok(Some(self.numbering.number(address.evaluate_address(&point.registers).map_err(fault)?)))
    }

    /// The local state after a post.
    fn after(&mut self, local: LocalId, point: u32) -> Result<LocalId, Fault> {
        let settled = self.locals.settled(local)?;
        let point = &settled.points[point as usize];
        let template = self.locals.get(local).template;
        let target = self.program.thread(template).instruction(point.instruction).target;
        let after = super::locals::Local { template, label: target, registers: point.registers.clone() };
        self.locals.intern(after, (template, point.instruction))
    }
}

/// The next pending task begins, or never does.
fn take_next(state: &State, next: &Pending, found: &mut Vec<(Label, State)>) {
    let mut after = state.clone();
    after.stack.pop();
    if !(next.main && next.late) {
        let mut begun = after.clone();
        begun.run = Some(Run {
            main: next.main,
            local: next.local,
            late: next.late,
            begun: false,
            own: Levels::default(),
            kids: SmallVec::new(),
        });
        found.push((Label::Begin, begun));
    }
    found.extend(closed(after).map(|after| (Label::Skip, after)));
}

/// The monitor sees an access of what runs. Whether the branch lives: a main task must not happen
/// after the cut one.
fn observe(state: &mut State, accesses: &Levels) -> bool {
    let monitor = &mut state.monitor;
    let run = state.run.as_mut().expect("what accesses memory runs");
    run.begun = true;
    if let Some(cut) = &mut monitor.cut {
        if run.late || accesses.meets(cut) {
            if run.main {
                return false;
            }
            run.late = true;
            cut.add(accesses);
        }
    } else if run.main {
        run.own.add(accesses);
    }
    match monitor.stage {
        Stage::Before => {}
        Stage::In => {
            if let Some(pivot) = monitor.pivot {
                monitor.spoiling.add_at(accesses, pivot.address);
            }
            monitor.path.add(accesses);
        }
        Stage::After => {
            monitor.current.add(accesses);
            monitor.on |= accesses.meets(&monitor.path);
            if monitor.on {
                monitor.path.add(&monitor.current);
                let address = monitor.pivot.and_then(|pivot| pivot.address);
                monitor.spoiling.add_at(&monitor.current, address);
            }
        }
    }
    true
}

/// What runs goes no further. On the main thread that is possible once.
fn cut(state: &State, run: &Run) -> Option<State> {
    let mut after = state.clone();
    if run.main {
        if after.monitor.cut.is_some() {
            return None;
        }
        after.monitor.cut = Some(run.own.clone());
        let running = after.run.as_mut().expect("it runs");
        running.kids.iter_mut().for_each(|kid| kid.late = true);
    }
    ends(&mut after);
    Some(after)
}

/// What runs goes no further, and its next access is λ.
fn pivoted(state: &State, run: &Run, pivot: Pivot) -> Option<State> {
    let mut after = cut(state, run)?;
    after.monitor.pivot = Some(pivot);
    closed(after)
}

/// What runs is over; what it has posted comes next.
fn ends(state: &mut State) {
    let run = state.run.take().expect("it runs");
    state.stack.extend(run.kids.into_iter().rev());
}

/// The state when an event that is over is put away; nothing if it was the pivot's and λ was not
/// among its accesses.
fn closed(mut state: State) -> Option<State> {
    if !state.is_idle() {
        return Some(state);
    }
    let monitor = &mut state.monitor;
    (monitor.current, monitor.on) = (Levels::default(), false);
    if monitor.stage == Stage::In {
        monitor.pivot?;
        monitor.stage = Stage::After;
    }
    Some(state)
}
