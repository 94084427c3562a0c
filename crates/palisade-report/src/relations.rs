//! How reports name the relations of happens-before: as herd does, and edges of litmus tests as diy
//! does.

use palisade_model::program::Program;
use palisade_semantics::{AccessId, AccessKind, Edge, NodeId, Relation, Trace};
use std::collections::BTreeSet;

/// The name of a relation: `po`, `co`, `rf`, `fr`.
pub fn name(relation: Relation) -> &'static str {
    match relation {
        Relation::ProgramOrder => "po",
        Relation::StoreOrder => "co",
        Relation::Source => "rf",
        Relation::Conflict => "fr",
    }
}

/// The name of an edge: that of its relation, or of litmus tests the one that diy has for it, as
/// `PodWR` and `Rfe`.
pub fn edge_name(program: &Program, trace: &Trace, edge: &Edge) -> String {
    if program.source.is_litmus { herd_name(trace, edge) } else { name(edge.relation).to_owned() }
}

/// The name that diy has for an edge: external (`e`) between threads and internal (`i`) inside of
/// one; program order to the same address (`s`) or to a different one (`d`), from a read or a write
/// to a read or a write.
pub fn herd_name(trace: &Trace, edge: &Edge) -> String {
    let side = if edge.from.position == edge.to.position { 'i' } else { 'e' };
    let relation = match edge.relation {
        Relation::StoreOrder => "Co",
        Relation::Source => "Rf",
        Relation::Conflict => "Fr",
        Relation::ProgramOrder => {
            // Of a node with several accesses the outer ones stand next to the edge.
            let last = trace.node(edge.from).accesses.last();
            let first = trace.node(edge.to).accesses.first();
            let (Some(last), Some(first)) = (last, first) else { return "Po".to_owned() };
            let place = if last.address == first.address { 's' } else { 'd' };
            return format!("Po{place}{}{}", letter(last.kind), letter(first.kind));
        }
    };
    format!("{relation}{side}")
}

/// `R` or `W`.
pub fn letter(kind: AccessKind) -> char {
    match kind {
        AccessKind::Load(_) => 'R',
        AccessKind::Store => 'W',
    }
}

/// Happens-before without what follows by transitivity within one relation.
pub fn direct_edges(trace: &Trace) -> BTreeSet<(NodeId, NodeId, Relation)> {
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
