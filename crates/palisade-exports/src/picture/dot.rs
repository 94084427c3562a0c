//! The trace as a Graphviz graph: a column per thread copy, its relations, the cycle in bold.

use palisade_engine::robustness::Violation;
use palisade_model::program::Program;
use palisade_report::relations::{direct_edges, edge_name};
use palisade_report::violation::node_text;
use palisade_semantics::{Edge, NodeId, Relation};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The graph.
pub fn dot(program: &Program, violation: &Violation) -> String {
    let trace = &violation.replay.trace;
    let mut out = String::from(
        "digraph trace {\n  node [shape=box, fontname=\"monospace\"];\n  edge [fontname=\"monospace\"];\n",
    );
    let id = |node: NodeId| format!("n{}_{}", node.position, node.index);
    for (position, (copy, nodes)) in violation.acting.iter().zip(trace.threads()).enumerate() {
        if nodes.is_empty() {
            continue;
        }
        let name = violation.instance.copy_name(program, *copy);
        let _ = writeln!(out, "  subgraph cluster_{position} {{\n    label=\"{}\";", quoted(&name));
        for index in 0..nodes.len() {
            let node = NodeId { position, index };
            let _ = writeln!(out, "    {} [label=\"{}\"];", id(node), quoted(&node_text(program, violation, node)));
        }
        out.push_str("  }\n");
    }
    let mut edges = direct_edges(trace);
    let cycle: BTreeSet<(NodeId, NodeId, Relation)> =
        violation.cycle.iter().map(|edge| (edge.from, edge.to, edge.relation)).collect();
    edges.extend(&cycle);
    for edge in edges {
        let (from, to, relation) = edge;
        let colour = colour(relation);
        let width = if cycle.contains(&edge) { ", penwidth=3" } else { "" };
        let _ = writeln!(
            out,
            "  {} -> {} [label=\"{}\", color={colour}, fontcolor={colour}{width}];",
            id(from),
            id(to),
            edge_name(program, trace, &Edge { from, to, relation, address: None })
        );
    }
    out.push_str("}\n");
    out
}

/// The colour of a relation.
pub(super) fn colour(relation: Relation) -> &'static str {
    match relation {
        Relation::ProgramOrder => "black",
        Relation::StoreOrder => "blue",
        Relation::Source => "darkgreen",
        Relation::Conflict => "red",
    }
}

pub(super) fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
