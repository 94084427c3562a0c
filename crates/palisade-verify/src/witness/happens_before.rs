//! The happens-before relation of a trace, as [ESOP13, §3] defines it, found again from sources and
//! store order.

use hashbrown::HashMap;
use palisade_model::program::Value;
use palisade_semantics::{Access, AccessId, AccessKind, Edge, Node, NodeId, Relation, Trace};
use std::collections::BTreeSet;

/// Whether the edge belongs to happens-before.
pub(super) fn is_edge(trace: &Trace, edge: &Edge) -> bool {
    let (Some(from), Some(to)) = (node(trace, edge.from), node(trace, edge.to)) else { return false };
    if edge.from == edge.to {
        return false;
    }
    match (edge.relation, edge.address) {
        (Relation::ProgramOrder, None) => edge.from.position == edge.to.position && edge.from.index < edge.to.index,
        (Relation::StoreOrder, Some(address)) => {
            let earlier = places(trace, edge.from, address).min();
            let later = places(trace, edge.to, address).max();
            earlier.is_some_and(|earlier| later.is_some_and(|later| earlier < later))
        }
        (Relation::Source, Some(address)) => {
            sources(to, address).any(|source| source.is_some_and(|source| source.node == edge.from))
        }
        (Relation::Conflict, Some(address)) => {
            let later = places(trace, edge.to, address).max();
            sources(from, address).any(|source| {
                let first = overwritten_from(trace, source, address);
                first.is_some_and(|first| later.is_some_and(|later| first <= later))
            })
        }
        _ => false,
    }
}

/// Every node that happens-before leads to from `start`, in one step or more.
pub(super) fn reachable_from(trace: &Trace, start: NodeId) -> BTreeSet<NodeId> {
    let mut readers: HashMap<AccessId, Vec<NodeId>> = HashMap::new();
    for (position, nodes) in trace.threads().iter().enumerate() {
        for (index, node) in nodes.iter().enumerate() {
            for access in &node.accesses {
                if let AccessKind::Load(Some(source)) = access.kind {
                    readers.entry(source).or_default().push(NodeId { position, index });
                }
            }
        }
    }
    let place: HashMap<AccessId, usize> =
        trace.store_order().iter().flat_map(|(_, stores)| stores.iter().copied().zip(0..)).collect();

    let mut reached = BTreeSet::new();
    let mut waiting = vec![start];
    while let Some(id) = waiting.pop() {
        let next_in_program = NodeId { index: id.index + 1, ..id };
        let mut successors: Vec<NodeId> = node(trace, next_in_program).map(|_| next_in_program).into_iter().collect();
        for (number, access) in trace.node(id).accesses.iter().enumerate() {
            let own = AccessId { node: id, access: number };
            let overwriting = match access.kind {
                AccessKind::Store => place.get(&own).map(|place| place + 1),
                AccessKind::Load(None) => Some(0),
                AccessKind::Load(Some(source)) => place.get(&source).map(|place| place + 1),
            };
            // The first store that overwrites; later ones follow it in store order. When that is
            // this node itself (a read-modify-write, a section), its own store leads on.
            let stores = trace.stores(access.address);
            successors.extend(overwriting.and_then(|place| stores.get(place)).map(|store| store.node));
            successors.extend(readers.get(&own).into_iter().flatten());
        }
        waiting.extend(successors.into_iter().filter(|next| *next != id && reached.insert(*next)));
    }
    reached
}

fn node(trace: &Trace, id: NodeId) -> Option<&Node> {
    trace.threads().get(id.position)?.get(id.index)
}

/// The places of a node's stores in the store order of an address.
fn places(trace: &Trace, id: NodeId, address: Value) -> impl Iterator<Item = usize> {
    let stores = trace.stores(address).iter().enumerate();
    stores.filter(move |(_, store)| store.node == id).map(|(place, _)| place)
}

/// What a node's loads of an address read from: a store, or nothing for the initial memory.
fn sources(node: &Node, address: Value) -> impl Iterator<Item = Option<AccessId>> {
    let source = move |access: &Access| match access.kind {
        AccessKind::Load(source) if access.address == address => Some(source),
        _ => None,
    };
    node.accesses.iter().filter_map(source)
}

/// The place in store order from which on stores overwrite what was read from `source`.
fn overwritten_from(trace: &Trace, source: Option<AccessId>, address: Value) -> Option<usize> {
    match source {
        None => Some(0),
        Some(source) => trace.stores(address).iter().position(|store| *store == source).map(|place| place + 1),
    }
}
