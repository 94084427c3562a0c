//! Happens-before: program order, store order, source and conflict of a trace, and its cycles
//! ([ESOP13, §3]).
//!
//! A load that reads its own thread's buffered store has a source edge like every other load. Edges
//! inside one node are no edges.

use super::trace::{AccessKind, NodeId, Trace};
use palisade_model::program::Value;
use std::collections::{HashMap, VecDeque};

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

/// Whether happens-before has a cycle.
pub fn is_cyclic(trace: &Trace) -> bool {
    let graph = Graph::new(trace);
    // Remove nodes without predecessors until none is left, or all that are left lie behind a
    // cycle.
    let mut indegree = vec![0u32; graph.nodes.len()];
    (0..indegree.len()).flat_map(|node| graph.neighbours(node)).for_each(|target| indegree[target] += 1);
    let mut free: Vec<usize> = (0..indegree.len()).filter(|node| indegree[*node] == 0).collect();
    let mut removed = 0;
    while let Some(node) = free.pop() {
        removed += 1;
        for target in graph.neighbours(node) {
            indegree[target] -= 1;
            if indegree[target] == 0 {
                free.push(target);
            }
        }
    }
    removed < graph.nodes.len()
}

/// A shortest cycle of happens-before, if there is one; among those the first in the order of
/// positions. Each edge starts where the one before it ends, and the first starts where the last
/// one ends.
pub fn shortest_cycle(trace: &Trace) -> Option<Vec<Edge>> {
    if !is_cyclic(trace) {
        return None;
    }
    let graph = Graph::new(trace);
    (0..graph.nodes.len()).filter_map(|start| graph.shortest_path(start, start)).min_by_key(Vec::len)
}

/// A shortest path along happens-before from one node to another, if there is one; of the same
/// node, a cycle through it. Takes time linear in the trace.
pub fn shortest_path(trace: &Trace, from: NodeId, to: NodeId) -> Option<Vec<Edge>> {
    let graph = Graph::new(trace);
    graph.shortest_path(graph.number(from), graph.number(to))
}

/// Outgoing edges of a node by one relation.
#[derive(Clone, Copy)]
enum Successors {
    /// One edge.
    One(usize),
    /// Edges to all nodes of a line from this place on.
    Line(usize, usize),
}

/// The nodes of a trace, numbered by position and program order, with their outgoing edges.
///
/// Program order, store order and conflict are transitive along lines: a thread, or the stores to
/// an address. A trace of n nodes has up to n² edges, and lines of n nodes in all.
struct Graph {
    /// The number of each thread's first node.
    first: Vec<usize>,
    nodes: Vec<NodeId>,
    /// The nodes of each thread, then the stores to each address.
    lines: Vec<Vec<usize>>,
    successors: Vec<Vec<(Successors, Relation, Option<Value>)>>,
}

impl Graph {
    fn new(trace: &Trace) -> Self {
        let (mut first, mut nodes, mut lines) = (Vec::with_capacity(trace.threads().len()), Vec::new(), Vec::new());
        for (position, thread) in trace.threads().iter().enumerate() {
            first.push(nodes.len());
            lines.push((nodes.len()..nodes.len() + thread.len()).collect());
            nodes.extend((0..thread.len()).map(|index| NodeId { position, index }));
        }
        let mut graph = Self { first, successors: vec![Vec::new(); nodes.len()], nodes, lines };
        for (from, node) in graph.nodes.iter().enumerate() {
            let behind = Successors::Line(node.position, node.index + 1);
            graph.successors[from].push((behind, Relation::ProgramOrder, None));
        }
        // The line of each address, and where in it a store has its place.
        let (mut line_of, mut place_of) = (HashMap::new(), HashMap::new());
        for (address, stores) in trace.store_order() {
            let line = graph.lines.len();
            line_of.insert(*address, line);
            graph.lines.push(stores.iter().map(|store| graph.number(store.node)).collect());
            for (place, store) in stores.iter().enumerate() {
                place_of.insert(*store, place);
                let later = (Successors::Line(line, place + 1), Relation::StoreOrder, Some(*address));
                let from = graph.number(store.node);
                graph.successors[from].push(later);
            }
        }
        for (position, thread) in trace.threads().iter().enumerate() {
            for (index, node) in thread.iter().enumerate() {
                let load = graph.number(NodeId { position, index });
                for loaded in &node.accesses {
                    let AccessKind::Load(source) = loaded.kind else {
                        continue;
                    };
                    if let Some(source) = source {
                        let read = (Successors::One(load), Relation::Source, Some(loaded.address));
                        let from = graph.number(source.node);
                        graph.successors[from].push(read);
                    }
                    // A source that is still buffered is the newest store of all so far.
                    let overwritten = source.map_or(Some(0), |source| place_of.get(&source).map(|place| place + 1));
                    if let (Some(place), Some(line)) = (overwritten, line_of.get(&loaded.address)) {
                        let later = (Successors::Line(*line, place), Relation::Conflict, Some(loaded.address));
                        graph.successors[load].push(later);
                    }
                }
            }
        }
        graph
    }

    fn number(&self, node: NodeId) -> usize {
        self.first[node.position] + node.index
    }

    /// Targets of edges that are enough for reachability: of a line the first one.
    fn neighbours(&self, from: usize) -> impl Iterator<Item = usize> {
        let targets = self.successors[from].iter().filter_map(|(successors, ..)| match *successors {
            Successors::One(target) => Some(target),
            Successors::Line(line, place) => self.lines[line].get(place).copied(),
        });
        targets.filter(move |target| *target != from)
    }

    /// A shortest path, by breadth-first search. Of each line, what is reached is a part at its
    /// end, so that each place is looked at once.
    fn shortest_path(&self, from: usize, to: usize) -> Option<Vec<Edge>> {
        let mut reached_by: Vec<Option<Edge>> = vec![None; self.nodes.len()];
        let mut open: Vec<usize> = self.lines.iter().map(Vec::len).collect();
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for (successors, relation, address) in &self.successors[node] {
                let targets = match *successors {
                    Successors::One(ref target) => std::slice::from_ref(target),
                    Successors::Line(line, place) => {
                        let end = open[line];
                        // Edges back to the start are none of its own, but may be others'.
                        if node != from {
                            open[line] = end.min(place);
                        }
                        self.lines[line].get(place..end).unwrap_or_default()
                    }
                };
                for target in targets.iter().copied().filter(|target| *target != node) {
                    if reached_by[target].is_some() {
                        continue;
                    }
                    let (relation, address) = (*relation, *address);
                    let edge = Edge { from: self.nodes[node], to: self.nodes[target], relation, address };
                    reached_by[target] = Some(edge);
                    if target == to {
                        return Some(self.path_back(from, to, &reached_by));
                    }
                    queue.push_back(target);
                }
            }
        }
        None
    }

    fn path_back(&self, from: usize, to: usize, reached_by: &[Option<Edge>]) -> Vec<Edge> {
        let mut path = Vec::new();
        let mut node = to;
        loop {
            let edge = reached_by[node].expect("the search reached every node on its way back");
            path.push(edge);
            node = self.number(edge.from);
            if node == from {
                break;
            }
        }
        path.reverse();
        path
    }
}
