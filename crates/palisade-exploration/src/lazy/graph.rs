//! The graph of an exact exploration: which node each step of a node leads to.
//!
//! A net without some of its steps has no marking that the net does not have. So once all markings
//! are known, those that are left without the steps are found by following numbers, and no step is
//! worked out twice.

use super::frontier::Frontier;
use super::search::BETWEEN_LOOKS;
use super::{Exploration, LazyNet, Step};
use fixedbitset::FixedBitSet;
use palisade_model::limits::{Budget, Halt, StopReason};
use std::ops::Range;
use std::sync::atomic::Ordering;

/// A step to a node, with what the caller keeps of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge<L> {
    to: u32,
    label: L,
}

/// The steps of the nodes that were asked for.
#[derive(Clone, Debug)]
pub(crate) struct Graph<L> {
    edges: Vec<Edge<L>>,
    /// By node, its steps.
    of: Vec<Option<Range<u32>>>,
}

/// A node of an exploration that is reached without some steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReachedNode {
    /// Its number in the exploration.
    pub(crate) node: u32,
    /// The position from which it was found first; its own for a root.
    pub(crate) parent: u32,
    /// The number of steps from the beginning.
    pub(crate) depth: u32,
}

impl<L: Copy> Graph<L> {
    /// The graph of an exploration, of which nothing is known yet.
    pub(crate) fn new(explored: &Exploration) -> Self {
        Self { edges: Vec::new(), of: vec![None; explored.len()] }
    }

    /// The steps of a node, in the net's order.
    fn edges_of<N: LazyNet>(
        &mut self,
        explored: &Exploration,
        net: &mut N,
        node: u32,
        label: impl Fn(&N, &Step) -> L,
    ) -> Result<&[Edge<L>], N::Error> {
        if self.of[node as usize].is_none() {
            let first = self.next_edge();
            let (mut steps, mut scratch) = (Vec::new(), Vec::new());
            net.steps(explored.control(node), explored.entries(node), &mut steps)?;
            for step in &steps {
                let control = explored.after(net, node, step, &mut scratch);
                let to = explored.find(control, &scratch).expect("what is explored to the end is closed under steps");
                self.edges.push(Edge { to, label: label(net, step) });
            }
            self.of[node as usize] = Some(first..self.next_edge());
        }
        let range = self.of[node as usize].clone().expect("set above");
        Ok(&self.edges[range.start as usize..range.end as usize])
    }

    fn next_edge(&self) -> u32 {
        u32::try_from(self.edges.len()).expect("fewer than 2^32 steps fit in memory")
    }

    /// The nodes that are reached from some roots by the steps that are allowed, in the order in
    /// which the net without the others would be explored.
    pub(crate) fn reached<N: LazyNet>(
        &mut self,
        explored: &Exploration,
        net: &mut N,
        roots: Vec<u32>,
        label: impl Fn(&N, &Step) -> L,
        is_allowed: impl Fn(L) -> bool,
        budget: &Budget,
    ) -> Result<Vec<ReachedNode>, Halt<N::Error>> {
        let mut search = Reaching {
            is_found: FixedBitSet::with_capacity(explored.len()),
            found: Vec::new(),
            frontier: Frontier::new(),
        };
        for root in roots {
            search.find(root, None, explored.depth(root));
        }
        let mut counted = search.found.len();
        let mut expanded = BETWEEN_LOOKS;
        while let Some(position) = search.frontier.pop() {
            if expanded >= BETWEEN_LOOKS {
                expanded = 0;
                if let Some(counter) = &budget.counter {
                    counter.fetch_add(search.found.len() - counted, Ordering::Relaxed);
                    counted = search.found.len();
                }
                budget.limits.check()?;
            }
            if budget.work.is_some_and(|most| search.found.len() as u64 > most) {
                return Err(StopReason::Budget.into());
            }
            expanded += 1;
            let ReachedNode { node, depth, .. } = search.found[position as usize];
            for edge in self.edges_of(explored, net, node, &label).map_err(Halt::Fault)? {
                if is_allowed(edge.label) {
                    search.find(edge.to, Some(position), depth + 1);
                }
            }
        }
        Ok(search.found)
    }
}

/// A search in a graph.
struct Reaching {
    is_found: FixedBitSet,
    found: Vec<ReachedNode>,
    frontier: Frontier,
}

impl Reaching {
    fn find(&mut self, node: u32, parent: Option<u32>, depth: u32) {
        if !self.is_found.put(node as usize) {
            let position = u32::try_from(self.found.len()).expect("node numbers fit 32 bits");
            self.found.push(ReachedNode { node, parent: parent.unwrap_or(position), depth });
            self.frontier.push(position, depth as usize);
        }
    }
}
