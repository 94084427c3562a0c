//! The cycle that no interleaving has.

use palisade_semantics::graphs::{Graph, Relation};
use std::collections::VecDeque;

/// The relation of an edge of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphRelation {
    /// Program order.
    ProgramOrder,
    /// Reads-from.
    ReadsFrom,
    /// Modification order.
    ModificationOrder,
    /// From-reads.
    FromReads,
}

impl GraphRelation {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::ProgramOrder => "po",
            Self::ReadsFrom => "rf",
            Self::ModificationOrder => "mo",
            Self::FromReads => "fr",
        }
    }
}

/// An edge of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphEdge {
    /// The event that it leaves.
    pub from: usize,
    /// The event that it enters.
    pub to: usize,
    /// Its relation.
    pub relation: GraphRelation,
}

/// A shortest cycle of the four relations through an event; none where there is none.
pub(super) fn cycle_through(graph: &Graph, event: usize) -> Vec<GraphEdge> {
    let relations: [(GraphRelation, Relation); 4] = [
        (GraphRelation::ReadsFrom, graph.reads_from()),
        (GraphRelation::FromReads, graph.from_reads()),
        (GraphRelation::ModificationOrder, graph.modification_order()),
        (GraphRelation::ProgramOrder, graph.program_order()),
    ];
    let mut found: Vec<Option<GraphEdge>> = vec![None; graph.events().len()];
    let mut open = VecDeque::from([event]);
    while let Some(from) = open.pop_front() {
        for (relation, pairs) in &relations {
            for to in pairs.after(from) {
                if found[to].is_none() {
                    found[to] = Some(GraphEdge { from, to, relation: *relation });
                    open.push_back(to);
                }
            }
        }
    }
    let mut cycle: Vec<GraphEdge> = Vec::new();
    while cycle.last().is_none_or(|edge| edge.from != event) {
        let to = cycle.last().map_or(event, |edge| edge.from);
        let Some(edge) = found[to] else { return Vec::new() };
        cycle.push(edge);
    }
    cycle.reverse();
    cycle
}
