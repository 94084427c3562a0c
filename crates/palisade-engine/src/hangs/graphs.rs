//! Stuck states that a language alone shows: execution graphs, event by event, in which some
//! accesses read older writes than the last ones, or come directly behind these in modification
//! order.
//!
//! A graph that is consistent has consistent prefixes, so each is made by adding events behind
//! those of their copies. Graphs with few such accesses come first. Of a program without loops all
//! graphs are looked at: if none is stuck and none has a race, nobody waits for ever. Of others,
//! those with few such accesses: that nothing is found says nothing then.

use super::replay::{Stuck, Waiter, candidates};
use super::{HangOptions, Hangs, Method, Verdict, Why};
use palisade_evidence::{FreeCertificate, StuckGraph, WaitingSet};
use palisade_exploration::instrumented::Fault;
use palisade_model::limits::StopReason;
use palisade_model::program::{Patience, Program, Thread, Value};
use palisade_semantics::graphs::{Axioms, Execution, by_language, event_reading, is_consistent, not_in_language, race};
use palisade_semantics::{
    CopyId, Effect, Event, Instance, Machine, Model, Refusal, State, Step, StepKind, ThreadState,
};
use palisade_verify::{MOST_EVENTS, MOST_GRAPHS, check_free, check_stuck};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// The most accesses of a graph of a program with loops that read older writes, or come behind
/// these.
const MOST_OLDER: usize = 3;

/// The most steps that a copy goes through alone.
const MOST_ROUND: usize = 256;

/// Looks for a stuck state among the execution graphs of an instance.
///
/// # Errors
///
/// A step without a value.
pub(super) fn stuck_graph(program: &Program, axioms: Axioms, options: &HangOptions) -> Result<Hangs, Fault> {
    let found =
        |verdict, states| Hangs { verdict, by: Method::Graphs, states, never_resting: Vec::new(), is_endless: false };
    let unknown = |why, states| Ok(found(Verdict::Unknown(why), states));
    let Some(instance) = Instance::of(program) else { return unknown(Why::AnyNumber, 0) };
    if not_in_language(program).is_some() {
        return unknown(Why::NoGraph(0), 0);
    }
    let stated = by_language(program);
    let machine = Machine::new(&stated, &instance, Model::Sc).waiting();
    let mut search = Search::new(&machine, axioms);
    let (mut looked_at, mut has_race, mut has_end) = (0, false, false);
    while let Some(point) = search.next() {
        looked_at += 1;
        let limit = options.limits.check().err();
        if let Some(reason) = limit.or((looked_at > MOST_GRAPHS).then_some(StopReason::Budget)) {
            return unknown(Why::Stopped(reason), looked_at);
        }
        if point.is_stuck(&machine) {
            has_end = true;
            if let Some(stuck) = point.settled(&machine).told(program, &stated, &instance, &machine, (axioms, options))
                && check_stuck(program, &stuck.witness()).is_ok()
            {
                return Ok(found(Verdict::Stuck(Box::new(stuck)), looked_at));
            }
        }
        has_race |= search.is_whole && race(&point.execution.graph).is_some();
        search.go_on(&point);
    }
    match search.is_whole {
        false => unknown(Why::NoGraph(MOST_OLDER), looked_at),
        true if has_race => unknown(Why::Race, looked_at),
        true => {
            let certificate = FreeCertificate {
                model: Model::Sc,
                graphs: Some(axioms),
                ignores_timeouts: options.ignore_timeouts,
                is_hopeful: false,
                robust: None,
                set: WaitingSet::default(),
            };
            // A stuck state that the checker did not take for one may have been passed over.
            if check_free(program, &certificate).is_err() {
                return unknown(Why::NoGraph(MOST_OLDER), looked_at);
            }
            let free = found(Verdict::Free(Arc::new(certificate)), looked_at);
            Ok(Hangs { is_endless: !has_end, ..free })
        }
    }
}

/// A graph, with the state behind it.
#[derive(Clone)]
struct Point {
    state: State,
    execution: Execution,
    events: Vec<Event>,
    /// The steps that read older writes, and the steps that have written.
    older: Vec<(usize, Option<usize>)>,
}

struct Search<'m, 'p> {
    machine: &'m Machine<'p>,
    axioms: Axioms,
    /// The graphs that were not looked at, by how many of their accesses read older writes.
    points: Vec<VecDeque<Point>>,
    /// How many were looked at.
    taken: Vec<usize>,
    seen: BTreeSet<(Vec<u64>, Vec<ThreadState>)>,
    /// For each copy, whether control may come back to where it was.
    loops: Vec<bool>,
    /// Whether all graphs are looked at.
    is_whole: bool,
}

impl<'m, 'p> Search<'m, 'p> {
    fn new(machine: &'m Machine<'p>, axioms: Axioms) -> Self {
        let threads = || (0..machine.copies().len()).map(|position| machine.thread(position));
        let loops = threads().map(Thread::has_loop).collect();
        let is_whole = !threads().any(Thread::has_local_loop);
        let (points, taken, seen) = (Vec::new(), vec![0; MOST_OLDER + 1], BTreeSet::new());
        let mut search = Self { machine, axioms, points, taken, seen, loops, is_whole };
        search.add(Point::first(machine, axioms));
        search
    }

    /// The next graph: of those with few such accesses one whose number of them had its turn least
    /// often, and then others, if there may be an end of them.
    fn next(&mut self) -> Option<Point> {
        let waiting = |older: &usize| !self.points[*older].is_empty();
        let few = self.points.len().min(MOST_OLDER + 1);
        let next = (0..few).filter(waiting).min_by_key(|older| self.taken[*older]);
        let next = next.or_else(|| (few..self.points.len()).find(waiting).filter(|_| self.is_whole))?;
        if let Some(taken) = self.taken.get_mut(next) {
            *taken += 1;
        }
        self.points[next].pop_front()
    }

    fn add(&mut self, point: Point) {
        if point.execution.graph.events().len() > MOST_EVENTS {
            self.is_whole = false;
            return;
        }
        if self.seen.insert((point.execution.key(), point.state.threads().to_vec())) {
            let older = point.older.len();
            self.points.resize_with(self.points.len().max(older + 1), VecDeque::new);
            self.points[older].push_back(point);
        }
    }

    /// Adds the graphs with one more step.
    fn go_on(&mut self, point: &Point) {
        let machine = self.machine;
        let (mut events, positions) = (Vec::new(), 0..machine.copies().len());
        // What a copy does by itself commutes with all else.
        for position in positions.clone() {
            events.clear();
            if machine.events(&point.state, position, &mut events).is_ok()
                && !events.is_empty()
                && events.iter().all(|event| matches!(event.effect, Effect::Local { .. }))
                && !self.goes_round(point, position)
            {
                events.iter().for_each(|event| self.add(point.with(machine, event)));
                return;
            }
        }
        for position in positions {
            events.clear();
            if machine.events(&point.state, position, &mut events).is_err() {
                self.is_whole = false;
                continue;
            }
            if !events.is_empty() && self.goes_round(point, position) {
                self.is_whole = false;
            } else {
                for event in &events {
                    let next = point.with(machine, event);
                    if next.older.is_empty() || is_consistent(&next.execution.graph, self.axioms) {
                        self.add(next);
                    }
                }
            }
            self.read_older(point, position);
        }
    }

    /// Whether a copy may go round reading what was written last, and change nothing: then to go
    /// round once more shows nothing.
    fn goes_round(&self, point: &Point, position: usize) -> bool {
        self.loops[position] && point.rests(self.machine, position) == Some(true)
    }

    /// Adds the graphs in which a copy reads an older write than the last one, or comes behind it.
    fn read_older(&mut self, point: &Point, position: usize) {
        let (machine, thread) = (self.machine, self.machine.thread(position));
        let registers = &point.state.threads()[position].registers;
        for instruction in machine.instructions_at(&point.state, position) {
            let own = thread.instruction(*instruction);
            let Some(Ok(address)) = own.action.address().map(|address| address.evaluate_address(registers)) else {
                continue;
            };
            let kind = StepKind::Execute { instruction: *instruction, chosen: None };
            let step = Step { copy: machine.copies()[position], kind };
            let mut touched = point.execution.graph.addresses();
            let writes = touched.find(|(own, _)| *own == address).map_or(&[][..], |(_, writes)| writes);
            for write in writes.iter().rev().skip(1) {
                let Some(value) = point.execution.value(*write) else { continue };
                if let Err(refusal) = event_reading(machine, &point.state, step, value) {
                    self.is_whole &= refusal == Refusal::Waits;
                    continue;
                }
                let next = point.with_older(machine, step, *write);
                if let Some(next) = next.filter(|next| is_consistent(&next.execution.graph, self.axioms)) {
                    self.add(next);
                }
            }
        }
    }
}

impl Point {
    fn first(machine: &Machine<'_>, axioms: Axioms) -> Self {
        let (state, execution) = (machine.initial_state(), Execution::new(axioms));
        Self { state, execution, events: Vec::new(), older: Vec::new() }
    }

    /// The graph with a step that reads the last write.
    fn with(&self, machine: &Machine<'_>, event: &Event) -> Self {
        let mut next = self.clone();
        next.execution.take(machine, event);
        machine.take(&mut next.state, event);
        next.events.push(*event);
        next
    }

    /// The graph with a step that reads an older write.
    fn with_older(&self, machine: &Machine<'_>, step: Step, write: usize) -> Option<Self> {
        let mut next = self.clone();
        let event = next.execution.take_older(machine, &mut next.state, step, Some(write)).ok()?;
        let of_step = |own: &Option<usize>| *own == Some(write);
        next.older.push((next.events.len(), self.execution.of_step.iter().position(of_step)));
        next.events.push(event);
        Some(next)
    }

    /// Whether a copy that has ended, or goes on reading what was written last and changes nothing,
    /// may come back to where it was; nothing of one that does something.
    fn rests(&self, machine: &Machine<'_>, position: usize) -> Option<bool> {
        if machine.has_ended(&self.state, position) {
            return Some(false);
        }
        let (mut open, mut seen, mut events) = (vec![self.state.clone()], BTreeSet::new(), Vec::new());
        let mut comes_back = false;
        while let Some(state) = open.pop() {
            let own = &state.threads()[position];
            if machine.has_ended(&state, position) || seen.len() > MOST_ROUND {
                return None;
            }
            if !seen.insert((own.label, own.registers.to_vec())) {
                comes_back = true;
                continue;
            }
            events.clear();
            if machine.events(&state, position, &mut events).is_err() {
                return None;
            }
            for event in &events {
                match event.effect {
                    Effect::Load { .. } | Effect::Local { .. } | Effect::Fence | Effect::Rmw { new: None, .. } => {}
                    Effect::Rmw { old, new: Some(new), .. } if old == new => {}
                    _ => return None,
                }
                open.push(machine.successor(&state, event));
            }
        }
        Some(comes_back)
    }

    /// Whether nobody goes on.
    fn is_stuck(&self, machine: &Machine<'_>) -> bool {
        (0..machine.copies().len()).all(|position| self.rests(machine, position).is_some())
    }

    /// The graph with the steps in registers that lead each copy to the access at which it waits.
    /// Who goes round without one stays where it is.
    fn settled(&self, machine: &Machine<'_>) -> Self {
        let mut settled = self.clone();
        for position in 0..machine.copies().len() {
            let (mut next, mut events) = (settled.clone(), Vec::new());
            for _ in 0..MOST_ROUND {
                events.clear();
                let is_there = machine.events(&next.state, position, &mut events).is_err();
                match events.first().filter(|event| !is_there && matches!(event.effect, Effect::Local { .. })) {
                    Some(event) => next = next.with(machine, event),
                    None => {
                        settled = next;
                        break;
                    }
                }
            }
        }
        settled
    }

    fn waiter(&self, machine: &Machine<'_>, position: usize, copy: CopyId) -> Option<Waiter> {
        let (thread, registers) = (machine.thread(position), &self.state.threads()[position].registers);
        let here = machine.instructions_at(&self.state, position);
        let instruction = *here.first()?;
        let addresses = here.iter().filter_map(|own| thread.instruction(*own).action.address());
        let mut addresses: Vec<Value> = addresses.filter_map(|own| own.evaluate_address(registers).ok()).collect();
        addresses.sort_unstable();
        addresses.dedup();
        let is_idle = here.iter().any(|own| thread.instruction(*own).patience() == Patience::Idle) || thread.is_daemon;
        let steps = here.iter().map(|own| Step { copy, kind: StepKind::Execute { instruction: *own, chosen: None } });
        let goes_on =
            |value: &Value| steps.clone().any(|step| event_reading(machine, &self.state, step, *value).is_ok());
        let waits = here.iter().any(|own| thread.instruction(*own).until().is_some());
        let released_by = match addresses.as_slice() {
            [address] if waits => {
                candidates(machine.program()).into_iter().find(goes_on).map(|value| (*address, value))
            }
            _ => None,
        };
        let looks_at = addresses.into_iter().map(|address| (address, self.state.memory(address))).collect();
        Some(Waiter { copy, instruction, looks_at, released_by, is_locked_out: false, sleeps_at: None, is_idle })
    }

    /// What is told of a stuck state.
    fn told(
        &self,
        program: &Program,
        stated: &Program,
        instance: &Instance,
        machine: &Machine<'_>,
        (axioms, options): (Axioms, &HangOptions),
    ) -> Option<Stuck> {
        let copies = machine.copies().iter().enumerate();
        let waiters: Vec<Waiter> = copies.filter_map(|(own, copy)| self.waiter(machine, own, *copy)).collect();
        let is_broken =
            |position: &usize| !program.finally[*position].holds(program.domain, |address| self.state.memory(address));
        let all_may = waiters.iter().all(|own| own.is_idle);
        let broken: Vec<usize> = (0..program.finally.len()).filter(|own| all_may && is_broken(own)).collect();
        (!all_may || !broken.is_empty()).then(|| Stuck {
            model: Model::Sc,
            graph: Some((StuckGraph { axioms, older: self.older.clone() }, Box::new(stated.clone()))),
            ignores_timeouts: options.ignore_timeouts,
            hopeless: None,
            instance: instance.clone(),
            copies: instance.copies().collect(),
            events: self.events.clone(),
            last: self.state.clone(),
            waiters,
            broken,
            is_interleaving: self.older.is_empty(),
        })
    }
}
