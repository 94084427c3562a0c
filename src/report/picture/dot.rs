//! The trace as a Graphviz graph: a column per thread copy, po, st, src and cf, the cycle in bold.

use crate::program::Program;
use crate::report::violation::node_text;
use crate::robustness::Violation;
use crate::semantics::{AccessId, AccessKind, NodeId, Relation, Trace};
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
        let colour = match relation {
            Relation::ProgramOrder => "black",
            Relation::StoreOrder => "blue",
            Relation::Source => "darkgreen",
            Relation::Conflict => "red",
        };
        let width = if cycle.contains(&edge) { ", penwidth=3" } else { "" };
        let _ = writeln!(
            out,
            "  {} -> {} [label=\"{}\", color={colour}, fontcolor={colour}{width}];",
            id(from),
            id(to),
            relation.name()
        );
    }
    out.push_str("}\n");
    out
}

/// Happens-before without what follows by transitivity within one relation.
fn direct_edges(trace: &Trace) -> BTreeSet<(NodeId, NodeId, Relation)> {
    let mut edges = BTreeSet::new();
    let mut add = |from: NodeId, to: NodeId, relation| {
        if from != to {
            edges.insert((from, to, relation));
        }
    };
    for (position, nodes) in trace.threads().iter().enumerate() {
        for index in 1..nodes.len() {
            add(NodeId { position, index: index - 1 }, NodeId { position, index }, Relation::ProgramOrder);
        }
        for (index, node) in nodes.iter().enumerate() {
            let here = NodeId { position, index };
            for access in &node.accesses {
                let AccessKind::Load(source) = access.kind else { continue };
                let stores: &[AccessId] = trace.stores(access.address);
                let next = match source {
                    Some(source) => {
                        add(source.node, here, Relation::Source);
                        stores.iter().position(|store| *store == source).map_or(stores.len(), |place| place + 1)
                    }
                    None => 0,
                };
                if let Some(overwriting) = stores.get(next) {
                    add(here, overwriting.node, Relation::Conflict);
                }
            }
        }
    }
    for (_, stores) in trace.store_order() {
        for pair in stores.windows(2) {
            add(pair[0].node, pair[1].node, Relation::StoreOrder);
        }
    }
    edges
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
