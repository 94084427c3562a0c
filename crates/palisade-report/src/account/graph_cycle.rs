//! An execution graph as what a violation shows, with its cycle.

use super::cycle::{Cycle, CycleEdge, CycleNode};
use super::{Run, Shown};
use crate::computation::{address_text, value_text};
use crate::context::instance_words;
use crate::documents::EdgeDocument;
use crate::graph::{Graph, GraphWords};
use crate::place::brief;
use palisade_engine::robustness::{GraphEdge, GraphRelation, GraphViolation};
use palisade_model::program::Program;
use palisade_semantics::graphs::{EventKind, GraphEvent};
use palisade_semantics::{NodeId, Relation};

/// The label of an event, in words.
fn label(program: &Program, found: &GraphViolation, event: usize) -> String {
    let GraphEvent { position, instruction, .. } = found.execution.graph.events()[event];
    position.zip(instruction).map_or_else(String::new, |(position, instruction)| {
        let thread = program.thread(found.acting[position].thread);
        brief(program, thread.label(thread.instruction(instruction).source))
    })
}

/// What an event does: `reads x = 1`.
fn deed(program: &Program, found: &GraphViolation, event: usize) -> String {
    let graph = &found.execution.graph;
    let GraphEvent { kind, address, .. } = graph.events()[event];
    let name = address_text(program, address);
    let value = |event: Option<usize>| event.and_then(|event| found.execution.value(event)).unwrap_or(0);
    let [read, written] = [graph.source(event), Some(event)].map(|of| value_text(program, value(of)));
    match kind {
        EventKind::Fence => "has a fence".to_owned(),
        EventKind::Read => format!("reads {name} = {read}"),
        EventKind::Write => format!("writes {name} = {written}"),
        EventKind::Update => format!("updates {name} from {read} to {written}"),
    }
}

impl<'a> Shown<'a> {
    /// What a violation of a program by its language shows.
    pub fn of_graph(stated: &'a Program, found: &'a GraphViolation) -> Self {
        let GraphWords { words, first, .. } = GraphWords::of(stated, found);
        let copies = stated.threads.iter().zip(found.instance.counts());
        let instance = instance_words(stated, &found.instance, found.instance_minimal);
        Self {
            headline: format!("violation: {words}"),
            above: instance.map(|words| format!("instance: {words}")).into_iter().collect(),
            run: Run::Graph(Graph::of(stated, found)),
            below: Vec::new(),
            cycle: Cycle::of_graph(stated, found),
            instance: copies.map(|(thread, count)| (thread.name.as_str(), *count)).collect(),
            instance_minimal: Some(found.instance_minimal),
            shortest: false,
            attacker: None,
            related: vec![(stated.thread(first.0).instruction(first.1).span, "what it is not ordered behind")],
        }
    }
}

impl Cycle {
    /// The cycle of an execution graph that no interleaving has; nothing for a race.
    pub fn of_graph(program: &Program, found: &GraphViolation) -> Option<Self> {
        let graph = &found.execution.graph;
        let cycle = found.cycle();
        let position = |event: usize| cycle.iter().position(|edge| edge.from == event).unwrap_or(0);
        let place = |event: usize| graph.events()[event].position.unwrap_or(0);
        let copy = |event: usize| found.instance.copy_name(program, found.acting[place(event)]);
        let text = |event: usize| format!("{} {}", label(program, found, event), deed(program, found, event));
        let node = |edge: &GraphEdge| CycleNode {
            id: NodeId { position: place(edge.from), index: edge.from },
            copy: copy(edge.from),
            text: text(edge.from),
        };
        let edge = |edge: &GraphEdge| {
            let relation = match edge.relation {
                GraphRelation::ProgramOrder => Relation::ProgramOrder,
                GraphRelation::ReadsFrom => Relation::Source,
                GraphRelation::ModificationOrder => Relation::StoreOrder,
                GraphRelation::FromReads => Relation::Conflict,
            };
            let side = |event: usize| format!("{} {}", copy(event), text(event));
            let address = address_text(program, graph.events()[edge.to].address);
            CycleEdge {
                from: position(edge.from),
                to: position(edge.to),
                relation,
                name: edge.relation.name().to_owned(),
                words: format!("{} before {} ({})", side(edge.from), side(edge.to), edge.relation.name()),
                document: EdgeDocument {
                    from: side(edge.from),
                    to: side(edge.to),
                    relation: edge.relation.name(),
                    herd: None,
                    address: (edge.relation != GraphRelation::ProgramOrder).then_some(address),
                },
            }
        };
        let title = "cycle that no interleaving has";
        let (nodes, edges) = (cycle.iter().map(node).collect(), cycle.iter().map(edge).collect());
        (!cycle.is_empty()).then_some(Self { title, nodes, edges })
    }
}
