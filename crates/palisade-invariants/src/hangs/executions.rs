//! Programs by their language, if they have few execution graphs: all of them, none of which is
//! stuck.
//!
//! A consistent graph has consistent prefixes, so all graphs are made event by event. Each event
//! reads each write that is there, or comes directly behind it in modification order. A stuck state
//! goes on to one in which each copy has ended or stands at an access that waits, by events that
//! have nothing behind them in any relation.

use super::stuck::check_end;
use crate::CheckFailure;
use crate::failure::reject;
use palisade_model::program::{Program, Value};
use palisade_semantics::graphs::{Axioms, Execution, NotAnEvent, by_language, is_consistent, not_in_language, race};
use palisade_semantics::{Effect, Event, Instance, Machine, Model, Refusal, State, Step, StepKind, ThreadState};
use std::collections::BTreeSet;

/// The most graphs that are looked at.
pub const MOST_GRAPHS: usize = 20_000;

/// The most events of a graph, with initial writes: in a loop there are ever more.
pub const MOST_EVENTS: usize = 48;

/// Checks that a program has few consistent graphs, that none ends in a stuck state or against
/// `finally`, and that none has a race, after which the language says nothing.
pub(super) fn check_executions(program: &Program, axioms: Axioms) -> Result<(), CheckFailure> {
    if let Some(obstacle) = not_in_language(program) {
        reject!(Form, "the program has no execution graphs: {}", obstacle.describe());
    }
    if !Axioms::LANGUAGES.contains(&axioms) {
        reject!(Form, "the graphs are those of C11 or release/acquire");
    }
    // Others add an event each time, so that there are ever more graphs.
    if program.threads.iter().any(|thread| !thread.is_left_out() && thread.has_local_loop()) {
        reject!(Form, "a copy may go round without an event");
    }
    let Some(instance) = Instance::of(program) else {
        reject!(Form, "any number of copies have ever more graphs");
    };
    let stated = by_language(program);
    let machine = Machine::new(&stated, &instance, Model::Sc).waiting();
    let mut graphs = Graphs { machine: &machine, axioms, open: Vec::new(), seen: BTreeSet::new() };
    graphs.add(machine.initial_state(), Execution::new(axioms))?;
    while let Some((state, execution)) = graphs.open.pop() {
        if nobody_goes_on(&machine, &state)? && check_end(&machine, &state).is_ok() {
            reject!(Safe, "an execution ends in a stuck state, or against `finally`");
        }
        if race(&execution.graph).is_some() {
            reject!(Safe, "an execution has a race of plain data");
        }
        graphs.go_on(&state, &execution)?;
    }
    Ok(())
}

/// Whether no copy has a step that reads what was written last.
fn nobody_goes_on(machine: &Machine<'_>, state: &State) -> Result<bool, CheckFailure> {
    let mut events = Vec::new();
    for position in 0..machine.copies().len() {
        if let Err(error) = machine.events(state, position, &mut events) {
            reject!(Safe, "a copy does what has no meaning: {error}");
        }
    }
    Ok(events.is_empty())
}

/// Graphs, with the states behind them.
struct Graphs<'m, 'p> {
    machine: &'m Machine<'p>,
    axioms: Axioms,
    open: Vec<(State, Execution)>,
    seen: BTreeSet<(Vec<u64>, Vec<ThreadState>)>,
}

impl Graphs<'_, '_> {
    /// Adds a graph that is consistent and not known.
    fn add(&mut self, state: State, execution: Execution) -> Result<(), CheckFailure> {
        if !is_consistent(&execution.graph, self.axioms)
            || !self.seen.insert((execution.key(), state.threads().to_vec()))
        {
            return Ok(());
        }
        if execution.graph.events().len() > MOST_EVENTS {
            reject!(Form, "a graph has more than {MOST_EVENTS} events");
        }
        if self.seen.len() > MOST_GRAPHS {
            reject!(Form, "the program has more than {MOST_GRAPHS} graphs");
        }
        self.open.push((state, execution));
        Ok(())
    }

    /// Adds the graphs with one more step.
    fn go_on(&mut self, state: &State, execution: &Execution) -> Result<(), CheckFailure> {
        let machine = self.machine;
        let mut all = Vec::new();
        for position in 0..machine.copies().len() {
            let mut own = Vec::new();
            if let Err(error) = machine.events(state, position, &mut own) {
                reject!(Safe, "a copy does what has no meaning: {error}");
            }
            // What a copy does by itself commutes with all else.
            if !own.is_empty() && own.iter().all(|event| matches!(event.effect, Effect::Local { .. })) {
                return own.iter().try_for_each(|event| self.take(state, execution, event));
            }
            all.push(own);
        }
        for (position, own) in all.iter().enumerate() {
            let thread = machine.thread(position);
            for instruction in machine.instructions_at(state, position) {
                let kind = StepKind::Execute { instruction: *instruction, chosen: None };
                match thread.instruction(*instruction).action.address() {
                    Some(address) => {
                        let registers = &state.threads()[position].registers;
                        let Ok(address) = address.evaluate_address(registers) else {
                            reject!(Safe, "a copy accesses what is no address");
                        };
                        self.access(state, execution, (Step { copy: machine.copies()[position], kind }, address))?;
                    }
                    None => {
                        let is_own = |event: &&Event| event.step.kind.instruction() == Some(*instruction);
                        own.iter().filter(is_own).try_for_each(|event| self.take(state, execution, event))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds the graph with an event that accesses no memory.
    fn take(&mut self, state: &State, execution: &Execution, event: &Event) -> Result<(), CheckFailure> {
        let (mut state, mut execution) = (state.clone(), execution.clone());
        execution.take(self.machine, event);
        self.machine.take(&mut state, event);
        self.add(state, execution)
    }

    /// Adds the graphs in which an access reads one of the writes of its address, or comes directly
    /// behind it.
    fn access(&mut self, state: &State, execution: &Execution, of: (Step, Value)) -> Result<(), CheckFailure> {
        let (step, address) = of;
        let mut writes = execution.graph.addresses().find(|(own, _)| *own == address);
        let writes = writes.take().map_or(vec![None], |(_, own)| own.iter().copied().map(Some).collect());
        for write in writes {
            let (mut state, mut execution) = (state.clone(), execution.clone());
            match execution.take_older(self.machine, &mut state, step, write) {
                Ok(_) => self.add(state, execution)?,
                Err(NotAnEvent::Refused(Refusal::Waits)) => {}
                Err(error) => reject!(Safe, "a copy does what has no meaning: {error}"),
            }
        }
        Ok(())
    }
}
