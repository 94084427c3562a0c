//! All combinations of local runs, sources and modification orders, each asked about by the axioms.

use super::Found;
use super::local::{Label, accesses, event, local_steps};
use crate::exploration::ExplorationError;
use crate::graphs::axioms::{Axioms, FENCE_ADDRESS, is_consistent, race};
use crate::graphs::graph::{EventKind, Graph, GraphEvent};
use crate::instance::Instance;
use crate::machine::{Machine, Model, State};
use palisade_model::limits::StopReason;
use palisade_model::program::{Program, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The values that an address may hold.
type Values = BTreeMap<Value, BTreeSet<Value>>;

/// What there is among the consistent graphs of an instance of a program [by its
/// language](crate::graphs::by_language). The error is that of a step without a value, or `Stopped`
/// after so many graphs.
pub fn naive(program: &Program, instance: &Instance, axioms: Axioms, graphs: usize) -> Result<Found, ExplorationError> {
    let machine = Machine::new(program, instance, Model::Sc).waiting();
    let runs = runs(&machine, axioms)?;
    let mut search = Search { found: Found::default(), left: graphs, machine: &machine, axioms };
    search.choose(&runs, &mut Vec::new())?;
    Ok(search.found)
}

/// By copy, what it may do for all values that it may read: every prefix of every run. What may be
/// read are the values that runs write.
fn runs(machine: &Machine<'_>, axioms: Axioms) -> Result<Vec<Vec<Vec<Label>>>, ExplorationError> {
    let mut values = Values::new();
    loop {
        let mut all = Vec::new();
        let before = values.clone();
        for position in 0..machine.copies().len() {
            let mut found = BTreeSet::new();
            extend(machine, axioms, position, (machine.initial_state(), Vec::new()), &mut values, &mut found)?;
            all.push(found.into_iter().collect());
        }
        if values == before {
            return Ok(all);
        }
    }
}

fn extend(
    machine: &Machine<'_>,
    axioms: Axioms,
    position: usize,
    (state, run): (State, Vec<Label>),
    values: &mut Values,
    found: &mut BTreeSet<Vec<Label>>,
) -> Result<(), ExplorationError> {
    found.insert(run.clone());
    for step in local_steps(machine, &state, position)? {
        extend(machine, axioms, position, (machine.successor(&state, &step), run.clone()), values, found)?;
    }
    for (step, address) in accesses(machine, &state, position) {
        let address = address.unwrap_or(FENCE_ADDRESS);
        let initial = if address == FENCE_ADDRESS { 0 } else { machine.program().initial_value(address) };
        let may_hold = values.entry(address).or_default();
        may_hold.insert(initial);
        for value in may_hold.clone() {
            let Some((label, after)) = event(machine, axioms, &state, step, value)? else { continue };
            if let Some(written) = label.and_then(|label| label.written) {
                values.entry(address).or_default().insert(written);
            }
            let run = run.iter().copied().chain(label).collect();
            extend(machine, axioms, position, (after, run), values, found)?;
        }
    }
    Ok(())
}

struct Search<'m, 'p> {
    found: Found,
    left: usize,
    machine: &'m Machine<'p>,
    axioms: Axioms,
}

impl Search<'_, '_> {
    /// Chooses a run for each copy.
    fn choose(&mut self, runs: &[Vec<Vec<Label>>], chosen: &mut Vec<Vec<Label>>) -> Result<(), ExplorationError> {
        let Some(own) = runs.get(chosen.len()) else { return self.choose_sources(chosen) };
        for run in own {
            chosen.push(run.clone());
            self.choose(runs, chosen)?;
            chosen.pop();
        }
        Ok(())
    }

    /// Chooses what each event reads from, for chosen runs.
    fn choose_sources(&mut self, runs: &[Vec<Label>]) -> Result<(), ExplorationError> {
        let mut events: Vec<(Option<usize>, Label)> = Vec::new();
        let addresses: BTreeSet<Value> =
            runs.iter().flatten().filter(|label| label.kind != EventKind::Fence).map(|label| label.address).collect();
        for address in addresses {
            let initial = if address == FENCE_ADDRESS { 0 } else { self.machine.program().initial_value(address) };
            let instruction = palisade_model::program::InstructionId::from_index(0);
            let ordering = palisade_model::program::Ordering::Plain;
            let (kind, written) = (EventKind::Write, Some(initial));
            events.push((None, Label { instruction, kind, ordering, address, read: None, written }));
        }
        for (position, run) in runs.iter().enumerate() {
            events.extend(run.iter().map(|label| (Some(position), *label)));
        }
        self.choose_source(&events, &mut Vec::new())
    }

    fn choose_source(
        &mut self,
        events: &[(Option<usize>, Label)],
        sources: &mut Vec<Option<usize>>,
    ) -> Result<(), ExplorationError> {
        let Some((_, label)) = events.get(sources.len()) else { return self.choose_orders(events, sources) };
        let own = sources.len();
        if !label.kind.reads() {
            sources.push(None);
            self.choose_source(events, sources)?;
            sources.pop();
            return Ok(());
        }
        for (number, (_, write)) in events.iter().enumerate() {
            if number != own && write.kind.writes() && write.address == label.address && write.written == label.read {
                sources.push(Some(number));
                self.choose_source(events, sources)?;
                sources.pop();
            }
        }
        Ok(())
    }

    /// Chooses modification orders, for chosen sources.
    fn choose_orders(
        &mut self,
        events: &[(Option<usize>, Label)],
        sources: &[Option<usize>],
    ) -> Result<(), ExplorationError> {
        let mut by_address: BTreeMap<Value, Vec<usize>> = BTreeMap::new();
        for (number, (_, label)) in events.iter().enumerate().filter(|(_, (_, label))| label.kind.writes()) {
            by_address.entry(label.address).or_default().push(number);
        }
        let mut orders = vec![Vec::new()];
        for writes in by_address.values() {
            let mut longer = Vec::new();
            for order in &orders {
                for permuted in permutations(&writes[1..]) {
                    longer.push([order.as_slice(), &[[&writes[..1], &permuted].concat()]].concat());
                }
            }
            orders = longer;
        }
        for order in orders {
            self.left = self.left.checked_sub(1).ok_or(StopReason::TooLarge)?;
            if let Some(graph) = assemble(events, sources, &order)
                && is_consistent(&graph, self.axioms)
            {
                self.found.beyond_sc |= !graph.is_sc();
                self.found.racy |= graph.is_sc() && race(&graph).is_some();
            }
        }
        Ok(())
    }
}

/// All orders of some numbers.
fn permutations(numbers: &[usize]) -> Vec<Vec<usize>> {
    if numbers.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (index, first) in numbers.iter().enumerate() {
        let rest = [&numbers[..index], &numbers[index + 1..]].concat();
        all.extend(permutations(&rest).into_iter().map(|rest| [&[*first], rest.as_slice()].concat()));
    }
    all
}

/// The graph, where program order and reads-from have no cycle: its events in an order that goes
/// along with both.
fn assemble(events: &[(Option<usize>, Label)], sources: &[Option<usize>], orders: &[Vec<usize>]) -> Option<Graph> {
    let mut order: Vec<usize> = Vec::new();
    while order.len() < events.len() {
        let is_next = |event: usize| {
            let is_done = |other: usize| order.contains(&other);
            !is_done(event)
                && (0..event).all(|other| events[other].0 != events[event].0 || is_done(other))
                && sources[event].is_none_or(is_done)
        };
        order.push((0..events.len()).find(|event| is_next(*event))?);
    }
    let mut graph = Graph::default();
    let mut numbers = vec![usize::MAX; events.len()];
    for event in order {
        let (position, Label { instruction, kind, ordering, address, .. }) = events[event];
        let Some(position) = position else {
            graph.touch(address);
            numbers[event] = graph.events().len() - 1;
            continue;
        };
        // It comes behind the last of those before it that are there already: later ones come
        // between them.
        let behind = kind.writes().then(|| {
            let own = orders.iter().find(|order| order.contains(&event)).expect("every write is ordered");
            let before = own.iter().take_while(|write| **write != event).filter(|write| numbers[**write] != usize::MAX);
            numbers[*before.last().expect("the initial write is there")]
        });
        let source = sources[event].map(|source| numbers[source]);
        let made = GraphEvent { position: Some(position), instruction: Some(instruction), kind, address, ordering };
        numbers[event] = graph.add(made, source, behind);
    }
    Some(graph)
}
