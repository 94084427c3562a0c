//! The serial program with its monitor, and the check of a set of its states.

use super::cover::Listed;
use super::events_alone;
use super::local::{AccessResult, Accesses, Memory, Move, Place, moves, outcomes};
use crate::CheckFailure;
use crate::failure::reject;
use crate::liveness::{Live, checked_liveness};
use hashbrown::HashMap;
use palisade_evidence::{
    AccessLevels, ConcurrencyCertificate, LocalState, PendingTask, PivotAccess, PivotStage, SerialRun, SerialState,
};
use palisade_model::ordered::CollectOrdered;
use palisade_model::program::{Copies, InstructionId, Program, Value};
use std::collections::BTreeMap;
use std::iter;

/// Checks that `certificate` shows `program` (with its counts of events and its domain) to be
/// robust against concurrency.
pub fn check_concurrency_certificate(
    program: &Program,
    certificate: &ConcurrencyCertificate,
) -> Result<(), CheckFailure> {
    events_alone(program)?;
    let live = checked_liveness(program, &certificate.live)?;
    let checker = Checker::new(program, live, certificate)?;
    let listed = Listed::new(&certificate.states);
    if !listed.cover(&checker.initial()?) {
        reject!(Initial, "the initial state is missing");
    }
    for (number, state) in certificate.states.iter().enumerate() {
        checker.well_formed(state).map_err(|failure| failure.within(format!("state {number}")))?;
        if checker.accepts(state)? {
            reject!(Safe, "state {number} accepts: its λ spoils what has run");
        }
        for next in checker.successors(state).map_err(|failure| failure.within(format!("state {number}")))? {
            if !listed.cover(&next) {
                reject!(Inductive, "state {number}: what comes next is missing: {next:?}");
            }
        }
    }
    Ok(())
}

/// What the tables of the certificate mean, and the numbers of what stands in them.
struct Checker<'a> {
    program: &'a Program,
    live: Live,
    locals: Vec<Place>,
    memories: Vec<Memory>,
    pivots: &'a [PivotAccess],
    /// The address that each of them accesses; nothing for a section.
    pivot_addresses: Vec<Option<Value>>,
    local_numbers: HashMap<Place, usize>,
    memory_numbers: BTreeMap<Memory, usize>,
    pivot_numbers: HashMap<&'a PivotAccess, usize>,
}

impl<'a> Checker<'a> {
    fn new(program: &'a Program, live: Live, certificate: &'a ConcurrencyCertificate) -> Result<Self, CheckFailure> {
        let mut checker = Self {
            program,
            live,
            locals: Vec::new(),
            memories: Vec::new(),
            pivots: &certificate.pivots,
            pivot_addresses: Vec::new(),
            local_numbers: HashMap::new(),
            memory_numbers: BTreeMap::new(),
            pivot_numbers: HashMap::new(),
        };
        for (number, local) in certificate.locals.iter().enumerate() {
            let place = checker.place(local).map_err(|failure| failure.within(format!("local state {number}")))?;
            checker.locals.push(place.clone());
            if checker.local_numbers.insert(place, number).is_some() {
                reject!(Form, "local state {number} is there twice");
            }
        }
        for (number, listed) in certificate.memories.iter().enumerate() {
            let memory: Memory = listed.iter().copied().collect_map();
            let is_ascending = listed.windows(2).all(|pair| pair[0].0 < pair[1].0);
            if !is_ascending || memory.values().any(|value| *value == 0) {
                reject!(Form, "memory {number} is not a list of ascending addresses that do not hold 0");
            }
            checker.memories.push(memory.clone());
            if checker.memory_numbers.insert(memory, number).is_some() {
                reject!(Form, "memory {number} is there twice");
            }
        }
        for (number, pivot) in certificate.pivots.iter().enumerate() {
            let thread = program.threads.get(pivot.template.index());
            let fits = thread.is_some_and(|thread| {
                let instruction = thread.instructions.get(pivot.instruction.index());
                pivot.registers.len() == thread.registers.len()
                    && instruction.is_some_and(|it| it.action.address().is_some() || it.action.drains_buffer())
            });
            if !fits || checker.pivot_numbers.insert(pivot, number).is_some() {
                reject!(Form, "pivot {number} is no access, or is there twice");
            }
            let instruction = program.thread(pivot.template).instruction(pivot.instruction);
            let address = instruction.action.address().map(|address| address.evaluate_address(&pivot.registers));
            match address.transpose() {
                Ok(address) => checker.pivot_addresses.push(address),
                Err(error) => reject!(Form, "pivot {number} has no address: {error}"),
            }
        }
        Ok(checker)
    }

    /// A local state as it is listed, with the dead registers 0.
    fn place(&self, local: &LocalState) -> Result<Place, CheckFailure> {
        let Some(thread) = self.program.threads.get(local.thread.index()) else { reject!(Form, "no such template") };
        if local.label.index() >= thread.labels.len()
            || local.registers.len() != thread.registers.len()
            || local.holding
        {
            reject!(Form, "it fits no local state of `{}`", thread.name);
        }
        let place = (local.thread, local.label, local.registers.clone());
        if self.without_dead(place.clone()) != place {
            reject!(Form, "a dead register of `{}` is not 0", thread.name);
        }
        Ok(place)
    }

    fn without_dead(&self, mut place: Place) -> Place {
        let live = &self.live[place.0.index()][place.1.index()];
        place.2.iter_mut().zip(live).filter(|(_, live)| !**live).for_each(|(value, _)| *value = 0);
        place
    }

    fn local_number(&self, place: Place) -> Result<usize, CheckFailure> {
        match self.local_numbers.get(&self.without_dead(place)) {
            Some(number) => Ok(*number),
            None => reject!(Inductive, "a local state that comes next is missing"),
        }
    }

    fn memory_number(&self, memory: &Memory) -> Result<usize, CheckFailure> {
        match self.memory_numbers.get(memory) {
            Some(number) => Ok(*number),
            None => reject!(Inductive, "a memory that comes next is missing"),
        }
    }

    /// Checks that a state refers to what is there.
    fn well_formed(&self, state: &SerialState) -> Result<(), CheckFailure> {
        let tasks = state.run.iter().flat_map(|run| run.kids.iter().chain([&run.task])).chain(&state.stack);
        let mut locals = tasks.map(|task| task.local);
        if locals.any(|local| local >= self.locals.len())
            || state.memory >= self.memories.len()
            || state.pivot.is_some_and(|pivot| pivot >= self.pivots.len())
            || state.starts.len() != self.counts().count()
        {
            reject!(Form, "it refers to what is not there");
        }
        // Of an address that is there twice, one reader would see a write and another would not.
        let own = state.run.as_ref().map(|run| &run.own);
        let mut levels = [&state.path, &state.spoiling, &state.current].into_iter().chain(&state.cut).chain(own);
        if levels.any(|levels| levels.windows(2).any(|pair| pair[0].0 >= pair[1].0)) {
            reject!(Form, "accesses are not a list of ascending addresses");
        }
        Ok(())
    }

    /// How often the events occur that occur so many times only, in order.
    fn counts(&self) -> impl Iterator<Item = u64> + '_ {
        let occurring = self.program.events().filter(|(_, event)| !event.is_left_out());
        occurring.filter_map(|(_, event)| match event.copies {
            Copies::Exactly(count) => Some(count),
            Copies::Any => None,
        })
    }

    fn initial(&self) -> Result<SerialState, CheckFailure> {
        let memory = self.program.initial_memory.iter().filter(|(_, value)| **value != 0);
        Ok(SerialState {
            memory: self.memory_number(&memory.map(|(address, value)| (*address, *value)).collect_map())?,
            starts: self.counts().collect(),
            stage: PivotStage::Before,
            pivot: None,
            path: Vec::new(),
            cut: None,
            spoiling: Vec::new(),
            current: Vec::new(),
            on: false,
            run: None,
            stack: Vec::new(),
        })
    }

    /// Whether λ, taken now, conflicts with what it must not, in an interleaving that can be
    /// followed by it: no main task but the cut one is unfinished, unless none is cut.
    fn accepts(&self, state: &SerialState) -> Result<bool, CheckFailure> {
        let Some(pivot) = state.pivot else { return Ok(false) };
        if state.cut.is_some() && state.run.as_ref().is_some_and(|run| run.task.main) {
            return Ok(false);
        }
        let PivotAccess { template, instruction, registers } = &self.pivots[pivot];
        let taken = outcomes(self.program, *template, *instruction, registers, &self.memories[state.memory])?;
        Ok(taken.iter().any(|outcome| meets(&outcome.accesses, &state.spoiling)))
    }

    fn successors(&self, state: &SerialState) -> Result<Vec<SerialState>, CheckFailure> {
        if let Some(run) = &state.run {
            return self.goes_on(state, run);
        }
        if state.stack.is_empty() {
            return self.occurrences(state);
        }
        let mut found = Vec::new();
        let mut after = state.clone();
        let next = after.stack.pop().expect("it is not empty");
        if !(next.main && next.late) {
            let run = SerialRun { task: next, begun: false, own: Vec::new(), kids: Vec::new() };
            found.push(SerialState { run: Some(run), ..after.clone() });
        }
        found.extend(closed(after));
        Ok(found)
    }

    /// No event runs: each that may occur does, and may be the pivot's.
    fn occurrences(&self, state: &SerialState) -> Result<Vec<SerialState>, CheckFailure> {
        let mut found = Vec::new();
        let mut counter = 0;
        for (event, thread) in self.program.events().filter(|(_, event)| !event.is_left_out()) {
            let mut after = state.clone();
            if thread.copies != Copies::Any {
                let left = &mut after.starts[counter];
                counter += 1;
                if *left == 0 {
                    continue;
                }
                *left -= 1;
            }
            let registers = thread.registers.iter().map(|register| register.initial).collect();
            let local = self.local_number((event, thread.initial, registers))?;
            let task = PendingTask { main: true, local, late: false };
            after.run = Some(SerialRun { task, begun: false, own: Vec::new(), kids: Vec::new() });
            let mut read = None;
            if let Some(guard) = thread.guard() {
                let Ok(address) = guard.read_address() else { reject!(Form, "a guard reads no address") };
                let value = self.memories[state.memory].get(&address).copied().unwrap_or(0);
                match guard.admits(value, self.program.domain) {
                    Ok(true) => read = Some(iter::once((address, false)).collect_map()),
                    Ok(false) => continue,
                    Err(error) => reject!(Form, "a guard has no value: {error}"),
                }
            }
            let mut variants = vec![after.clone()];
            if state.stage == PivotStage::Before {
                variants.push(SerialState { stage: PivotStage::In, ..after });
            }
            for variant in variants {
                match &read {
                    None => found.push(variant),
                    Some(read) => found.extend(self.observed(variant, read)),
                }
            }
        }
        Ok(found)
    }

    /// What runs goes on, returns, goes no further, or stops before λ.
    fn goes_on(&self, state: &SerialState, run: &SerialRun) -> Result<Vec<SerialState>, CheckFailure> {
        let mut found = Vec::new();
        let mut may_stop = false;
        for next in moves(self.program, &self.locals[run.task.local], &self.memories[state.memory])? {
            match next {
                Move::Access { instruction, registers, outcomes } => {
                    may_stop = true;
                    for outcome in outcomes {
                        found.extend(self.accessed(state, outcome)?);
                    }
                    if state.stage == PivotStage::In && state.pivot.is_none() {
                        found.extend(self.pivot(state, run, instruction, registers)?);
                    }
                }
                Move::Post { main, task, after } => {
                    let mut posted = state.clone();
                    let poster = posted.run.as_mut().expect("it runs");
                    (poster.begun, poster.task.local) = (true, self.local_number(after)?);
                    poster.kids.push(PendingTask { main, local: self.local_number(task)?, late: run.task.late });
                    found.push(posted);
                }
                Move::Return => found.extend(closed(over(state.clone()))),
                Move::Stuck => may_stop = true,
            }
        }
        if may_stop && run.begun {
            found.extend(stopped(state).and_then(closed));
        }
        Ok(found)
    }

    fn accessed(&self, state: &SerialState, outcome: AccessResult) -> Result<Option<SerialState>, CheckFailure> {
        let Some(mut after) = self.observed(state.clone(), &outcome.accesses) else { return Ok(None) };
        after.memory = self.memory_number(&outcome.memory)?;
        after.run.as_mut().expect("it runs").task.local = self.local_number(outcome.after)?;
        Ok(Some(after))
    }

    /// What runs stops before an access, which is λ.
    fn pivot(
        &self,
        state: &SerialState,
        run: &SerialRun,
        instruction: InstructionId,
        registers: Vec<Value>,
    ) -> Result<Option<SerialState>, CheckFailure> {
        let Some(mut after) = stopped(state) else { return Ok(None) };
        let template = self.locals[run.task.local].0;
        let Some(number) = self.pivot_numbers.get(&PivotAccess { template, instruction, registers }) else {
            reject!(Inductive, "an access that may be λ is missing")
        };
        after.pivot = Some(*number);
        Ok(closed(after))
    }

    /// The monitor sees an access of what runs; nothing when that is a main task that would happen
    /// after the cut one.
    fn observed(&self, mut state: SerialState, accesses: &Accesses) -> Option<SerialState> {
        let run = state.run.as_mut().expect("it runs");
        run.begun = true;
        match &mut state.cut {
            Some(cut) if run.task.late || meets(accesses, cut) => {
                if run.task.main {
                    return None;
                }
                run.task.late = true;
                add(cut, accesses);
            }
            None if run.task.main => add(&mut run.own, accesses),
            _ => {}
        }
        match state.stage {
            PivotStage::Before => {}
            PivotStage::In => {
                add(&mut state.path, accesses);
                self.spoils(&mut state, accesses);
            }
            PivotStage::After => {
                let joins = meets(accesses, &state.path);
                add(&mut state.current, accesses);
                state.on |= joins;
                if state.on {
                    let current: Accesses = state.current.iter().copied().collect_map();
                    add(&mut state.path, &current);
                    self.spoils(&mut state, &current);
                }
            }
        }
        Some(state)
    }

    /// Remembers accesses that λ must not meet: those to its address, or all if it is a section.
    fn spoils(&self, state: &mut SerialState, accesses: &Accesses) {
        let Some(pivot) = state.pivot else { return };
        let address = self.pivot_addresses[pivot];
        let relevant = accesses.iter().filter(|(at, _)| address.is_none_or(|address| address == **at));
        add(&mut state.spoiling, &relevant.map(|(at, writes)| (*at, *writes)).collect_map());
    }
}

/// What runs goes no further. Of the main tasks only one can do so; what it has posted happens
/// after it.
fn stopped(state: &SerialState) -> Option<SerialState> {
    let mut after = state.clone();
    let run = after.run.as_mut().expect("it runs");
    if run.task.main {
        if after.cut.is_some() {
            return None;
        }
        after.cut = Some(run.own.clone());
        run.kids.iter_mut().for_each(|kid| kid.late = true);
    }
    Some(over(after))
}

/// What runs is over; what it has posted comes next, in the order of the posts.
fn over(mut state: SerialState) -> SerialState {
    let run = state.run.take().expect("it runs");
    state.stack.extend(run.kids.into_iter().rev());
    state
}

/// Puts an event away that is over; nothing if it is the pivot's and λ is not one of its accesses.
fn closed(mut state: SerialState) -> Option<SerialState> {
    if state.run.is_some() || !state.stack.is_empty() {
        return Some(state);
    }
    state.current.clear();
    state.on = false;
    if state.stage == PivotStage::In {
        state.pivot?;
        state.stage = PivotStage::After;
    }
    Some(state)
}

/// Whether some address is accessed by both and written by one.
fn meets(accesses: &Accesses, levels: &AccessLevels) -> bool {
    levels.iter().any(|(address, written)| accesses.get(address).is_some_and(|writes| *writes || *written))
}

fn add(levels: &mut AccessLevels, accesses: &Accesses) {
    let mut all: Accesses = levels.iter().copied().collect_map();
    for (address, writes) in accesses {
        *all.entry(*address).or_insert(false) |= writes;
    }
    *levels = all.into_iter().collect();
}
