//! Happens-before: program order, store order, source and conflict of a trace, and its cycles ([ESOP13, §3]).
//!
//! A load that reads its own thread's buffered store has a source edge like every other load. Edges inside one node
//! are no edges.

use super::trace::{AccessId, AccessKind, NodeId, Trace};
use palisade_model::program::Value;
use std::collections::VecDeque;

/// A relation of happens-before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// `po`: both in one thread copy, in this order.
    ProgramOrder,
    /// `st`: two stores to one address, in this order.
    StoreOrder,
    /// `src`: a store and a load that reads from it.
    Source,
    /// `cf`: a load and a store that overwrites what it read.
    Conflict,
}

impl Relation {
    /// The relation's short name.
    pub fn name(self) -> &'static str {
        match self {
            Self::ProgramOrder => "po",
            Self::StoreOrder => "st",
            Self::Source => "src",
            Self::Conflict => "cf",
        }
    }
}

/// An edge of happens-before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// Where it starts.
    pub from: NodeId,
    /// Where it ends.
    pub to: NodeId,
    /// Its relation.
    pub relation: Relation,
    /// The address, for all but program order.
    pub address: Option<Value>,
}

/// How many edges of a transitive relation are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// Those between neighbours: enough for reachability.
    Neighbours,
    /// All: shortest cycles take the fewest steps.
    All,
}

/// Whether happens-before has a cycle.
pub fn is_cyclic(trace: &Trace) -> bool {
    let graph = Graph::new(trace, Extent::Neighbours);
    // Remove nodes without predecessors until none is left, or all that are left lie behind a cycle.
    let mut indegree = vec![0u32; graph.nodes.len()];
    for edges in &graph.successors {
        edges.iter().for_each(|(target, ..)| indegree[*target] += 1);
    }
    let mut free: Vec<usize> = (0..indegree.len()).filter(|node| indegree[*node] == 0).collect();
    let mut removed = 0;
    while let Some(node) = free.pop() {
        removed += 1;
        for (target, ..) in &graph.successors[node] {
            indegree[*target] -= 1;
            if indegree[*target] == 0 {
                free.push(*target);
            }
        }
    }
    removed < graph.nodes.len()
}

/// A shortest cycle of happens-before, if there is one; among those the first in the order of positions. Each edge
/// starts where the one before it ends, and the first starts where the last one ends.
pub fn shortest_cycle(trace: &Trace) -> Option<Vec<Edge>> {
    if !is_cyclic(trace) {
        return None;
    }
    let graph = Graph::new(trace, Extent::All);
    (0..graph.nodes.len()).filter_map(|start| graph.shortest_cycle_through(start)).min_by_key(Vec::len)
}

/// All edges of happens-before, transitive ones included, by their start.
pub fn edges(trace: &Trace) -> Vec<Edge> {
    let graph = Graph::new(trace, Extent::All);
    (0..graph.nodes.len())
        .flat_map(|from| graph.successors[from].iter().map(move |successor| (from, *successor)))
        .map(|(from, successor)| graph.edge(from, successor))
        .collect()
}

/// An outgoing edge: the target's number, the relation and its address.
type Successor = (usize, Relation, Option<Value>);

/// The nodes of a trace, numbered by position and program order, with their outgoing edges.
struct Graph {
    nodes: Vec<NodeId>,
    successors: Vec<Vec<Successor>>,
}

impl Graph {
    fn new(trace: &Trace, extent: Extent) -> Self {
        let mut first = Vec::with_capacity(trace.threads().len());
        let mut nodes = Vec::new();
        for (position, thread) in trace.threads().iter().enumerate() {
            first.push(nodes.len());
            nodes.extend((0..thread.len()).map(|index| NodeId { position, index }));
        }
        let number = |node: NodeId| first[node.position] + node.index;
        let mut graph = Self { successors: vec![Vec::new(); nodes.len()], nodes };
        for (position, thread) in trace.threads().iter().enumerate() {
            for index in 0..thread.len() {
                let from = number(NodeId { position, index });
                let end = if extent == Extent::All { thread.len() } else { thread.len().min(index + 2) };
                for later in index + 1..end {
                    graph.successors[from].push((from + (later - index), Relation::ProgramOrder, None));
                }
            }
        }
        for (address, stores) in trace.store_order() {
            for (index, store) in stores.iter().enumerate() {
                graph.add_later(number, *store, &stores[index + 1..], Relation::StoreOrder, *address, extent);
            }
        }
        for (position, thread) in trace.threads().iter().enumerate() {
            for (index, node) in thread.iter().enumerate() {
                for (access, loaded) in node.accesses.iter().enumerate() {
                    let AccessKind::Load(source) = loaded.kind else {
                        continue;
                    };
                    let load = AccessId { node: NodeId { position, index }, access };
                    let stores = trace.stores(loaded.address);
                    let overwriting = match source {
                        None => stores,
                        Some(source) => {
                            graph.add(number(source.node), number(load.node), Relation::Source, loaded.address);
                            // A source that is still buffered is the newest store of all so far.
                            let place = stores.iter().position(|store| *store == source);
                            place.map_or(&[][..], |place| &stores[place + 1..])
                        }
                    };
                    graph.add_later(number, load, overwriting, Relation::Conflict, loaded.address, extent);
                }
            }
        }
        graph
    }

    /// Adds edges to the stores in `later`: to all, or to the first one.
    fn add_later(
        &mut self,
        number: impl Fn(NodeId) -> usize,
        from: AccessId,
        later: &[AccessId],
        relation: Relation,
        address: Value,
        extent: Extent,
    ) {
        let count = if extent == Extent::All { later.len() } else { later.len().min(1) };
        for store in &later[..count] {
            self.add(number(from.node), number(store.node), relation, address);
        }
    }

    fn add(&mut self, from: usize, to: usize, relation: Relation, address: Value) {
        if from != to {
            self.successors[from].push((to, relation, Some(address)));
        }
    }

    fn edge(&self, from: usize, (to, relation, address): Successor) -> Edge {
        Edge { from: self.nodes[from], to: self.nodes[to], relation, address }
    }

    /// A shortest cycle through a node, by breadth-first search.
    fn shortest_cycle_through(&self, start: usize) -> Option<Vec<Edge>> {
        let mut reached_by: Vec<Option<Edge>> = vec![None; self.nodes.len()];
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for successor in &self.successors[node] {
                let target = successor.0;
                if reached_by[target].is_some() {
                    continue;
                }
                reached_by[target] = Some(self.edge(node, *successor));
                if target == start {
                    return Some(self.path_back(start, &reached_by));
                }
                queue.push_back(target);
            }
        }
        None
    }

    fn path_back(&self, start: usize, reached_by: &[Option<Edge>]) -> Vec<Edge> {
        let mut cycle = Vec::new();
        let mut node = start;
        loop {
            let edge = reached_by[node].expect("the search reached every node on its way back");
            cycle.push(edge);
            node = self.nodes.binary_search(&edge.from).expect("the nodes are sorted");
            if node == start {
                break;
            }
        }
        cycle.reverse();
        cycle
    }
}
