//! A cycle of the happens-before relation, by its accesses and edges.

use crate::computation::address_text;
use crate::documents::EdgeDocument;
use crate::relations::{edge_name, herd_name};
use crate::violation::{edge_text, node, node_text};
use palisade_engine::robustness::Violation;
use palisade_model::program::Program;
use palisade_semantics::{NodeId, Relation};

/// A cycle: each edge leads from one access to the next.
#[derive(Clone, Debug)]
pub struct Cycle {
    /// Of what it is a cycle.
    pub title: &'static str,
    /// The accesses, in the order of the cycle.
    pub nodes: Vec<CycleNode>,
    /// The edges, by positions of accesses.
    pub edges: Vec<CycleEdge>,
}

/// An access on a cycle.
#[derive(Clone, Debug)]
pub struct CycleNode {
    /// The access in the trace.
    pub id: NodeId,
    /// The copy whose access it is.
    pub copy: String,
    /// What it does: `l0: store x = 1`.
    pub text: String,
}

/// An edge of a cycle.
#[derive(Clone, Debug)]
pub struct CycleEdge {
    /// The position of the access that it leaves.
    pub from: usize,
    /// The position of the access that it enters.
    pub to: usize,
    /// Its relation.
    pub relation: Relation,
    /// The name of the relation; of litmus tests that of the edge: `PodWR`.
    pub name: String,
    /// What it says: `left (line 6) writes x = 1 before right (line 9) reads y = 0 (po)`.
    pub words: String,
    /// Its document.
    pub document: EdgeDocument,
}

impl Cycle {
    /// The cycle of a violation.
    pub fn of(program: &Program, violation: &Violation) -> Self {
        let mut ids: Vec<NodeId> = Vec::new();
        for id in violation.cycle.iter().flat_map(|edge| [edge.from, edge.to]) {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        let position = |id: NodeId| ids.iter().position(|other| *other == id).unwrap_or(0);
        let edges = violation.cycle.iter().map(|edge| CycleEdge {
            from: position(edge.from),
            to: position(edge.to),
            relation: edge.relation,
            name: edge_name(program, &violation.replay.trace, edge),
            words: edge_text(program, violation, edge, |_| String::new()),
            document: EdgeDocument {
                from: node(program, violation, edge.from),
                to: node(program, violation, edge.to),
                relation: edge.relation.name(),
                herd: program.source.is_litmus.then(|| herd_name(&violation.replay.trace, edge)),
                address: edge.address.map(|address| address_text(program, address)),
            },
        });
        let copy = |id: &NodeId| violation.instance.copy_name(program, violation.acting[id.position]);
        let edges = edges.collect();
        let nodes =
            ids.iter().map(|id| CycleNode { id: *id, copy: copy(id), text: node_text(program, violation, *id) });
        Self { title: "happens-before cycle", nodes: nodes.collect(), edges }
    }

    /// The edges, each on a line.
    pub fn lines(&self) -> String {
        let line = |edge: &CycleEdge| format!("  {}\n", edge.words);
        format!("{}:\n", self.title) + &self.edges.iter().map(line).collect::<String>()
    }
}
