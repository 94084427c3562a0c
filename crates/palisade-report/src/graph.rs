//! Execution graphs for people: the steps, and the edges between threads by the numbers of steps.

use super::computation::{ComputationReport, Marks, address_text, value_text};
use palisade_engine::robustness::GraphViolation;
use palisade_model::program::{InstructionId, Program, ThreadId};
use palisade_semantics::graphs::Relations;
use serde::Serialize;

/// What a violation is in a sentence, with its two instructions.
#[derive(Clone, Debug)]
pub struct GraphWords {
    /// The sentence, without a full stop.
    pub words: String,
    /// What the last event is not ordered behind.
    pub first: (ThreadId, InstructionId),
    /// The last event.
    pub last: (ThreadId, InstructionId),
}

impl GraphWords {
    /// The words about a violation of a program by its language.
    ///
    /// # Panics
    ///
    /// If the graph is none of a violation.
    pub fn of(stated: &Program, found: &GraphViolation) -> Self {
        let graph = &found.execution.graph;
        let at = |event: usize| {
            let own = graph.events()[event];
            let (position, instruction) = own.position.zip(own.instruction).expect("no initial write is meant");
            (found.acting[position].thread, instruction)
        };
        let name = |(thread, instruction)| stated.place(thread, instruction);
        if let Some((first, last)) = found.race() {
            let address = address_text(stated, graph.events()[last].address);
            let (first, last) = (at(first), at(last));
            let words = format!("{} and {} access {address} without an order: a race", name(first), name(last));
            return Self { words, first, last };
        }
        let last = found.last_event();
        let event = graph.events()[last];
        let (address, writes) = (address_text(stated, event.address), graph.writes(event.address));
        let old = found.overwritten();
        let behind = writes.iter().skip_while(|write| **write != old).skip(1).find(|write| **write != last);
        let first = at(*behind.expect("something has overwritten it"));
        let value = |event: usize| value_text(stated, found.execution.value(event).unwrap_or(0));
        let words = if event.kind.reads() {
            let what = format!("{} reads {address} = {}", name(at(last)), value(old));
            format!("{what}, which {} has overwritten", name(first))
        } else {
            let what = format!("{} writes {address} = {}", name(at(last)), value(last));
            format!("{what}, which comes before what {} has written", name(first))
        };
        Self { words, first, last: at(last) }
    }
}

/// An execution graph: an interleaving with a last event that no interleaving has, or that races.
#[derive(Clone, Debug)]
pub struct Graph<'a> {
    /// The steps.
    pub computation: ComputationReport<'a>,
    /// The edges between threads, relation by relation.
    relations: Vec<(&'static str, Vec<(Option<usize>, usize)>)>,
}

/// An edge of an execution graph in a document.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GraphEdgeDocument {
    /// The relation: `rf` reads-from, `mo` modification order, `fr` from-reads, `hb`
    /// happens-before, the last three without what follows from the others of their kind and from
    /// program order.
    pub relation: &'static str,
    /// The row of the step that it leaves; null for an initial value.
    pub from: Option<usize>,
    /// The row of the step that it enters.
    pub to: usize,
}

impl<'a> Graph<'a> {
    /// The graph of a violation, of the program by its language.
    pub fn of(stated: &'a Program, found: &'a GraphViolation) -> Self {
        let marks = Marks::Orderings(found.axioms);
        let computation = ComputationReport::new(found.machine(stated), &found.instance, &found.events, marks);
        Self { computation, relations: edges(found) }
    }

    /// A line for each relation.
    pub fn lines(&self) -> Vec<String> {
        let edge = |(from, to): &(Option<usize>, usize)| {
            let from = from.map_or_else(|| "init".to_owned(), |from| from.to_string());
            format!("{from}→{to}")
        };
        let line = |(relation, edges): &(&'static str, Vec<(Option<usize>, usize)>)| {
            let edges: Vec<String> = edges.iter().map(edge).collect();
            format!("{relation}  {}", if edges.is_empty() { "none".to_owned() } else { edges.join(", ") })
        };
        self.relations.iter().map(line).collect()
    }

    /// The edges below the table.
    pub fn text(&self) -> String {
        let lines: String = self.lines().iter().map(|line| format!("  {line}\n")).collect();
        format!("edges between threads, by steps (`init` is an initial value):\n{lines}")
    }

    /// The edges in a document.
    pub fn documents(&self) -> Vec<GraphEdgeDocument> {
        let of = |(relation, edges): &(&'static str, Vec<(Option<usize>, usize)>)| {
            let relation = *relation;
            edges.iter().map(move |(from, to)| GraphEdgeDocument { relation, from: *from, to: *to }).collect::<Vec<_>>()
        };
        self.relations.iter().flat_map(of).collect()
    }
}

/// The edges between threads, by the rows of their steps.
fn edges(found: &GraphViolation) -> Vec<(&'static str, Vec<(Option<usize>, usize)>)> {
    let graph = &found.execution.graph;
    let events = graph.events();
    let row = |event: usize| found.execution.of_step.iter().position(|own| *own == Some(event)).map(|step| step + 1);
    let is_between =
        |from: usize, to: usize| events[from].position != events[to].position && events[to].position.is_some();
    let by_rows = |pairs: Vec<(usize, usize)>| {
        let pairs = pairs.into_iter().filter(|(from, to)| is_between(*from, *to));
        pairs.filter_map(|(from, to)| Some((row(from), row(to)?))).collect::<Vec<_>>()
    };
    let all = 0..events.len();
    let rf = all.clone().filter_map(|event| Some((graph.source(event)?, event))).collect();
    let fr = all.clone().filter_map(|event| {
        let source = graph.source(event)?;
        let writes = graph.writes(events[event].address);
        let place = writes.iter().position(|write| *write == source)?;
        Some((event, writes[place + 1..].iter().copied().find(|write| *write != event)?))
    });
    let mo = graph.addresses().flat_map(|(_, writes)| writes[1..].windows(2).map(|pair| (pair[0], pair[1])));
    let hb = Relations::of(graph).hb;
    let direct = |from: usize, to: usize| {
        is_between(from, to) && !all.clone().any(|middle| hb.contains(from, middle) && hb.contains(middle, to))
    };
    let hb = hb.pairs().filter(|(from, to)| events[*from].position.is_some() && direct(*from, *to));
    vec![
        ("rf", by_rows(rf)),
        ("fr", by_rows(fr.collect())),
        ("mo", by_rows(mo.collect())),
        ("hb", by_rows(hb.collect())),
    ]
}
