//! All consistent graphs of an instance, event by event, each checked in full.

use super::Found;
use super::local::{Label, accesses, event, local_steps};
use crate::exploration::ExplorationError;
use crate::graphs::axioms::{Axioms, FENCE_ADDRESS, is_consistent, race};
use crate::graphs::graph::{Graph, GraphEvent};
use crate::instance::Instance;
use crate::machine::{Machine, Model, State};
use crate::step::Step;
use hashbrown::HashSet;
use palisade_model::limits::StopReason;
use palisade_model::program::{Program, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A graph with the local states of the copies behind it. Memory is not used.
#[derive(Clone)]
struct Point {
    state: State,
    graph: Graph,
    /// What each write has written.
    values: Vec<Option<Value>>,
}

/// What there is among the consistent graphs of an instance of a program [by its
/// language](crate::graphs::by_language). The error is that of a step without a value, or `Stopped`
/// after so many graphs.
pub fn by_events(
    program: &Program,
    instance: &Instance,
    axioms: Axioms,
    graphs: usize,
) -> Result<Found, ExplorationError> {
    let machine = Machine::new(program, instance, Model::Sc).waiting();
    let mut found = Found::default();
    each_graph(&machine, axioms, graphs, |point| {
        let is_sc = point.graph.is_sc();
        found.beyond_sc |= !is_sc;
        found.racy |= is_sc && race(&point.graph).is_some();
        is_sc
    })?;
    Ok(found)
}

/// The ends of the executions of an instance of a program by its language: the registers of each
/// copy, and what addresses that are accessed hold.
pub type Ends = BTreeSet<(Vec<Vec<Value>>, BTreeMap<Value, Value>)>;

/// All ends of an instance, by its consistent graphs. The error is that of [`by_events`].
pub fn ends(program: &Program, instance: &Instance, axioms: Axioms, graphs: usize) -> Result<Ends, ExplorationError> {
    let machine = Machine::new(program, instance, Model::Sc).waiting();
    let mut ends = Ends::new();
    let positions = 0..machine.copies().len();
    let is_over = |state: &State| positions.clone().all(|position| machine.instructions_at(state, position).is_empty());
    each_graph(&machine, axioms, graphs, |point| {
        if is_over(&point.state) {
            let registers = point.state.threads().iter().map(|thread| thread.registers.to_vec()).collect();
            let last = |writes: &[usize]| point.values[writes[writes.len() - 1]].expect("a write has a value");
            let accessed = point.graph.addresses().filter(|(address, _)| *address != FENCE_ADDRESS);
            ends.insert((registers, accessed.map(|(address, writes)| (address, last(writes))).collect()));
        }
        true
    })?;
    Ok(ends)
}

/// Whether some consistent graph of an instance ends where nobody goes on who reads what was
/// written last, and somebody has not come to its end. The error is that of [`by_events`].
pub fn stuck(program: &Program, instance: &Instance, axioms: Axioms, graphs: usize) -> Result<bool, ExplorationError> {
    let machine = Machine::new(program, instance, Model::Sc).waiting();
    let rests = |point: &Point, position: usize| {
        let goes_on = |(step, address): (Step, Option<Value>)| {
            let address = address.unwrap_or(FENCE_ADDRESS);
            let writes = point.graph.addresses().find(|(own, _)| *own == address).map(|(_, writes)| writes);
            let last = writes.and_then(|writes| point.values[*writes.last()?]);
            let last = last.unwrap_or_else(|| program.initial_value(address));
            !matches!(event(&machine, axioms, &point.state, step, last), Ok(None))
        };
        let has_local = local_steps(&machine, &point.state, position).is_ok_and(|steps| !steps.is_empty());
        !has_local && !accesses(&machine, &point.state, position).into_iter().any(goes_on)
    };
    let mut is_one = false;
    each_graph(&machine, axioms, graphs, |point| {
        let positions = 0..machine.copies().len();
        let waits = positions.clone().any(|own| !machine.instructions_at(&point.state, own).is_empty());
        is_one |= waits && positions.clone().all(|position| rests(point, position));
        true
    })?;
    Ok(is_one)
}

/// Comes to each consistent graph once, and goes on from those from which `visit` says so.
fn each_graph(
    machine: &Machine<'_>,
    axioms: Axioms,
    graphs: usize,
    mut visit: impl FnMut(&Point) -> bool,
) -> Result<(), ExplorationError> {
    let start = Point { state: machine.initial_state(), graph: Graph::default(), values: Vec::new() };
    let mut seen: HashSet<_> = HashSet::from([key(&start)]);
    let mut open = if visit(&start) { vec![start] } else { Vec::new() };
    while let Some(point) = open.pop() {
        for next in successors(machine, axioms, &point)? {
            if is_consistent(&next.graph, axioms) && visit(&next) && seen.insert(key(&next)) {
                open.push(next);
            }
        }
        if seen.len() > graphs {
            return Err(StopReason::TooLarge.into());
        }
    }
    Ok(())
}

/// The graphs with one more event, or after one more local step.
fn successors(machine: &Machine<'_>, axioms: Axioms, point: &Point) -> Result<Vec<Point>, ExplorationError> {
    let mut next = Vec::new();
    for position in 0..machine.copies().len() {
        for step in local_steps(machine, &point.state, position)? {
            next.push(Point { state: machine.successor(&point.state, &step), ..point.clone() });
        }
        for (step, address) in accesses(machine, &point.state, position) {
            let mut point = point.clone();
            let address = address.unwrap_or(FENCE_ADDRESS);
            point.touch(machine, address);
            let writes = point.graph.writes(address).to_vec();
            let mut is_placed = false;
            for write in writes.iter().copied() {
                let value = point.values[write].expect("a write has a value");
                let Some((label, state)) = event(machine, axioms, &point.state, step, value)? else { continue };
                let Some(label) = label.filter(|label| label.kind.reads()) else {
                    // What it does is the same whatever the address holds.
                    if !std::mem::replace(&mut is_placed, true) {
                        point.place(label, position, &state, &writes, None, &mut next);
                    }
                    continue;
                };
                point.place(Some(label), position, &state, &writes, Some(write), &mut next);
            }
        }
    }
    Ok(next)
}

impl Point {
    fn touch(&mut self, machine: &Machine<'_>, address: Value) {
        self.graph.touch(address);
        let initial = if address == FENCE_ADDRESS { 0 } else { machine.program().initial_value(address) };
        self.values.resize(self.graph.events().len(), Some(initial));
    }

    /// Adds an event wherever it can stand in modification order.
    fn place(
        &self,
        label: Option<Label>,
        position: usize,
        state: &State,
        writes: &[usize],
        source: Option<usize>,
        next: &mut Vec<Self>,
    ) {
        let places: Vec<Option<usize>> = match label {
            Some(label) if label.kind.writes() => writes.iter().copied().map(Some).collect(),
            _ => vec![None],
        };
        for behind in places {
            let mut after = Self { state: state.clone(), ..self.clone() };
            if let Some(Label { instruction, kind, ordering, address, written, .. }) = label {
                let (position, instruction) = (Some(position), Some(instruction));
                after.graph.add(GraphEvent { position, instruction, kind, address, ordering }, source, behind);
                after.values.push(written);
            }
            next.push(after);
        }
    }
}

/// The same for graphs with the same events that were made in another order.
fn key(point: &Point) -> (Vec<Vec<u64>>, Vec<(Value, Vec<u64>)>, Vec<crate::machine::ThreadState>) {
    let events = point.graph.events();
    let copies = point.state.threads().len();
    let mut names = vec![0; events.len()];
    let mut counts = vec![0; copies];
    for (number, event) in events.iter().enumerate() {
        if let Some(position) = event.position {
            counts[position] += 1;
            names[number] = 1 + number_of(position) + (number_of(counts[position]) << 8);
        }
    }
    let mut sources = vec![Vec::new(); copies];
    for (number, event) in events.iter().enumerate() {
        if let Some(position) = event.position {
            // The copies' states do not say which way they have come.
            let instruction = event.instruction.map_or(0, |instruction| number_of(instruction.index()));
            let source = point.graph.source(number).map_or(u64::MAX, |source| names[source]);
            sources[position].extend([
                instruction,
                event.address.cast_unsigned(),
                number_of(event.kind as usize),
                source,
            ]);
        }
    }
    let writes = point.graph.addresses().filter(|(_, writes)| writes.len() > 1);
    let orders = writes.map(|(address, writes)| (address, writes.iter().map(|write| names[*write]).collect()));
    (sources, orders.collect(), point.state.threads().to_vec())
}

fn number_of(index: usize) -> u64 {
    u64::try_from(index).expect("an index fits 64 bits")
}
