//! The search itself: nodes, covering, acceleration, frontier.

use super::tokens::{put, take};
use super::{Entry, LazyNet, Step, Tokens, is_covered};
use hashbrown::HashTable;
use palisade_model::limits::{Limits, StopReason};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Whether markings are enumerated or covered by ω-markings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Every place is bounded: each marking once, breadth first.
    Exact,
    /// Some places are unbounded: ω-markings, depth first.
    Omega,
}

/// What to do with a node that was just found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// Explore it.
    Expand,
    /// Do not: its successors are accounted for elsewhere.
    Leave,
    /// This is what was sought.
    Stop,
}

/// Why a search ended without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt<E> {
    /// A limit was reached.
    Stopped(StopReason),
    /// The node budget of this search is used up.
    Budget,
    /// The net failed.
    Fault(E),
}

/// Limits of one search.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    /// Time, memory, interruption.
    pub limits: Limits,
    /// The number of nodes in the exploration not to exceed; nor may it compare markings much more often than so many
    /// nodes need as a rule.
    pub nodes: Option<usize>,
    /// Where to count the nodes found, for an observer.
    pub counter: Option<Arc<AtomicUsize>>,
}

impl Budget {
    /// Looks at the limits now and then while nodes that are there already are gone through.
    pub(crate) fn heed<E>(&self, index: usize) -> Result<(), Halt<E>> {
        if index.is_multiple_of(4 * BETWEEN_LOOKS) { self.limits.check().map_err(Halt::Stopped) } else { Ok(()) }
    }
}

#[derive(Clone, Debug)]
struct Node {
    control: u32,
    /// Where the entries start in the arena.
    offset: u32,
    /// How many there are.
    length: u32,
    /// The node it was found from; itself for a root.
    parent: u32,
    /// The number of steps from the beginning, counting those before its root.
    depth: u32,
    /// A newer node covers it.
    covered: bool,
}

/// A set of markings under construction, closed under steps when its frontier is empty.
#[derive(Clone, Debug)]
pub struct Exploration {
    mode: Mode,
    nodes: Vec<Node>,
    arena: Vec<Entry>,
    /// Exact mode: the node with a given marking.
    exact: HashTable<u32>,
    /// Omega mode: for each control, the nodes not covered by others.
    maximal: FxHashMap<u32, Vec<u32>>,
    /// Nodes to explore; exact mode uses one bucket per depth, omega mode the first bucket as a stack.
    frontier: Vec<Vec<u32>>,
    /// The lowest bucket that may hold a node.
    lowest: usize,
    /// Nodes below this number belong to finished searches and are never uncovered again.
    settled: u32,
    /// Ancestors that markings have been compared with since the limits were looked at.
    compared: usize,
    /// Markings that others have been compared with, all in all, and steps, which copy them.
    comparisons: usize,
    /// The nodes and comparisons that count for no budget.
    granted: (usize, usize),
}

/// How many expansions, or comparisons with ancestors, lie between two looks at the limits. An expansion compares each
/// marking with all its ancestors where counters may grow, and then takes a thousand times as long as elsewhere.
const BETWEEN_LOOKS: usize = 1024;

/// A comparison takes so much less than an expansion.
const COMPARED_PER_EXPANSION: usize = 8;

/// With a budget of nodes, so many comparisons may be made for each.
const COMPARED_PER_NODE: usize = 256;

/// A marking with so many entries is copied in the time of a comparison.
const COPIED_PER_COMPARISON: usize = 32;

impl Exploration {
    /// An empty set.
    pub fn new(mode: Mode) -> Self {
        Self {
            mode,
            nodes: Vec::new(),
            arena: Vec::new(),
            exact: HashTable::new(),
            maximal: FxHashMap::default(),
            frontier: vec![Vec::new()],
            lowest: 0,
            settled: 0,
            compared: 0,
            comparisons: 0,
            granted: (0, 0),
        }
    }

    /// The number of nodes, covered ones included.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The control of a node.
    pub fn control(&self, node: u32) -> u32 {
        self.nodes[node as usize].control
    }

    /// The tokens of a node.
    pub fn entries(&self, node: u32) -> &[Entry] {
        let node = &self.nodes[node as usize];
        &self.arena[node.offset as usize..(node.offset + node.length) as usize]
    }

    /// The number of steps from the beginning.
    pub fn depth(&self, node: u32) -> u32 {
        self.nodes[node as usize].depth
    }

    /// The node a node was found from; none for a root.
    pub fn parent(&self, node: u32) -> Option<u32> {
        let parent = self.nodes[node as usize].parent;
        (parent != node).then_some(parent)
    }

    /// The nodes from a root to a node, both included.
    pub fn path(&self, node: u32) -> Vec<u32> {
        let mut path = vec![node];
        while let Some(parent) = self.parent(path[path.len() - 1]) {
            path.push(parent);
        }
        path.reverse();
        path
    }

    /// The maximal nodes (all nodes, in exact mode), in order of discovery.
    pub fn maximal(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.nodes.len())
            .filter(|index| !self.nodes[*index].covered)
            .map(|index| u32::try_from(index).expect("node numbers fit 32 bits"))
    }

    /// Adds a marking to start from, found after `depth` steps; none when it is covered already.
    pub fn add_root(&mut self, control: u32, entries: &[Entry], depth: u32) -> Option<u32> {
        let node = self.insert(control, entries, None, depth)?;
        self.enqueue(node);
        Some(node)
    }

    /// Whether some node covers the marking.
    pub fn covers(&self, control: u32, entries: &[Entry]) -> bool {
        match self.mode {
            Mode::Exact => self.find_exact(control, entries).is_some(),
            Mode::Omega => self
                .maximal
                .get(&control)
                .is_some_and(|nodes| nodes.iter().any(|node| is_covered(entries, self.entries(*node)))),
        }
    }

    /// Keeps what has been found so far for good.
    pub fn settle(&mut self) {
        self.settled = u32::try_from(self.nodes.len()).expect("node numbers fit 32 bits");
    }

    /// Counts budgets from here on: what there is already was granted before.
    pub fn grant_anew(&mut self) {
        self.granted = (self.nodes.len(), self.comparisons);
    }

    /// Forgets everything found since the last [`settle`](Self::settle), the frontier included.
    pub fn forget_unsettled(&mut self) {
        let settled = self.settled as usize;
        match self.mode {
            Mode::Exact => {
                for index in settled..self.nodes.len() {
                    let number = u32::try_from(index).expect("node numbers fit 32 bits");
                    let hash = Self::hash(self.nodes[index].control, self.entries(number));
                    if let Ok(entry) = self.exact.find_entry(hash, |candidate| *candidate == number) {
                        entry.remove();
                    }
                }
            }
            Mode::Omega => {
                for index in settled..self.nodes.len() {
                    if let Some(nodes) = self.maximal.get_mut(&self.nodes[index].control) {
                        nodes.retain(|node| (*node as usize) < settled);
                    }
                }
            }
        }
        if let Some(first) = self.nodes.get(settled) {
            self.arena.truncate(first.offset as usize);
        }
        self.nodes.truncate(settled);
        self.frontier = vec![Vec::new()];
        self.lowest = 0;
    }

    /// Explores until nothing is left, or until `visit` stops at a node, which is returned. `visit` sees every new node
    /// (not the roots) once.
    pub fn run<N: LazyNet>(
        &mut self,
        net: &mut N,
        budget: &Budget,
        mut visit: impl FnMut(&N, u32, &[Entry]) -> Visit,
    ) -> Result<Option<u32>, Halt<N::Error>> {
        let mut steps = Vec::new();
        let mut scratch = Vec::new();
        let mut expanded = BETWEEN_LOOKS;
        let mut counted = self.nodes.len();
        while let Some(node) = self.next() {
            if expanded + self.compared / COMPARED_PER_EXPANSION >= BETWEEN_LOOKS {
                (expanded, self.compared) = (0, 0);
                if let Some(counter) = &budget.counter {
                    counter.fetch_add(self.nodes.len() - counted, Ordering::Relaxed);
                    counted = self.nodes.len();
                }
                budget.limits.check().map_err(Halt::Stopped)?;
            }
            let (nodes, comparisons) = self.granted;
            let is_over = |most| {
                self.nodes.len().saturating_sub(nodes) > most
                    || (self.comparisons - comparisons) / COMPARED_PER_NODE > most
            };
            if budget.nodes.is_some_and(is_over) {
                return Err(Halt::Budget);
            }
            expanded += 1;
            if self.nodes[node as usize].covered {
                continue;
            }
            steps.clear();
            net.steps(self.control(node), self.entries(node), &mut steps).map_err(Halt::Fault)?;
            for step in &steps {
                scratch.clear();
                scratch.extend_from_slice(self.entries(node));
                self.comparisons += 1 + scratch.len() / COPIED_PER_COMPARISON;
                self.fire(net, node, step, &mut scratch).map_err(Halt::Fault)?;
                let depth = self.depth(node) + 1;
                if let Some(found) = self.insert(step.control, &scratch, Some(node), depth) {
                    match visit(net, step.control, self.entries(found)) {
                        Visit::Expand => self.enqueue(found),
                        Visit::Leave => {}
                        Visit::Stop => return Ok(Some(found)),
                    }
                }
            }
        }
        Ok(None)
    }

    /// The step between a node and its child in an exact exploration.
    pub fn step_to<N: LazyNet>(&self, net: &mut N, child: u32) -> Result<Option<Step>, N::Error> {
        let Some(parent) = self.parent(child) else { return Ok(None) };
        let mut steps = Vec::new();
        net.steps(self.control(parent), self.entries(parent), &mut steps)?;
        let mut scratch = Vec::new();
        for step in steps {
            scratch.clear();
            scratch.extend_from_slice(self.entries(parent));
            move_token(&mut scratch, &step, false);
            if step.control == self.control(child) && scratch == self.entries(child) {
                return Ok(Some(step));
            }
        }
        Ok(None)
    }

    /// The marking after a step, accelerated in omega mode.
    fn fire<N: LazyNet>(
        &mut self,
        net: &mut N,
        node: u32,
        step: &Step,
        entries: &mut Vec<Entry>,
    ) -> Result<(), N::Error> {
        if self.mode == Mode::Exact {
            move_token(entries, step, false);
            return Ok(());
        }
        let from_omega =
            step.take.is_some_and(|place| entries.iter().any(|entry| entry.place == place && entry.tokens.is_omega()));
        let copycat = from_omega && step.put.is_some() && net.repeats(step)?;
        move_token(entries, step, copycat);
        let mut grew = true;
        while grew && entries.iter().any(|entry| !entry.tokens.is_omega() && net.is_unbounded(entry.place)) {
            grew = false;
            let mut ancestor = Some(node);
            while let Some(number) = ancestor {
                self.compared += 1;
                self.comparisons += 1;
                if self.control(number) == step.control && is_covered(self.entries(number), entries) {
                    grew |= accelerate(self.entries(number), entries);
                }
                ancestor = self.parent(number);
            }
        }
        Ok(())
    }

    /// Adds a node unless it is covered; in omega mode marks the nodes that it covers.
    fn insert(&mut self, control: u32, entries: &[Entry], parent: Option<u32>, depth: u32) -> Option<u32> {
        let number = u32::try_from(self.nodes.len()).expect("node numbers fit 32 bits");
        match self.mode {
            Mode::Exact => {
                if self.find_exact(control, entries).is_some() {
                    return None;
                }
            }
            Mode::Omega => {
                self.comparisons += self.maximal.get(&control).map_or(0, Vec::len);
                if self.covers(control, entries) {
                    return None;
                }
                let (settled, nodes, arena) = (self.settled, &mut self.nodes, &self.arena);
                self.maximal.entry(control).or_default().retain(|old| {
                    if *old < settled {
                        return true;
                    }
                    let node = &mut nodes[*old as usize];
                    let tokens = &arena[node.offset as usize..(node.offset + node.length) as usize];
                    node.covered = is_covered(tokens, entries);
                    !node.covered
                });
                self.maximal.entry(control).or_default().push(number);
            }
        }
        let offset = u32::try_from(self.arena.len()).expect("fewer than 2^32 tokens entries fit in memory");
        self.arena.extend_from_slice(entries);
        let length = u32::try_from(entries.len()).expect("markings are short");
        self.nodes.push(Node { control, offset, length, parent: parent.unwrap_or(number), depth, covered: false });
        if self.mode == Mode::Exact {
            let (nodes, arena) = (&self.nodes, &self.arena);
            self.exact.insert_unique(Self::hash(control, entries), number, |number| {
                let node = &nodes[*number as usize];
                Self::hash(node.control, &arena[node.offset as usize..(node.offset + node.length) as usize])
            });
        }
        Some(number)
    }

    fn find_exact(&self, control: u32, entries: &[Entry]) -> Option<u32> {
        self.exact
            .find(Self::hash(control, entries), |number| {
                self.control(*number) == control && self.entries(*number) == entries
            })
            .copied()
    }

    fn hash(control: u32, entries: &[Entry]) -> u64 {
        FxBuildHasher.hash_one((control, entries))
    }

    fn enqueue(&mut self, node: u32) {
        let bucket = match self.mode {
            Mode::Exact => self.depth(node) as usize,
            Mode::Omega => 0,
        };
        if self.frontier.len() <= bucket {
            self.frontier.resize_with(bucket + 1, Vec::new);
        }
        self.lowest = self.lowest.min(bucket);
        self.frontier[bucket].push(node);
    }

    fn next(&mut self) -> Option<u32> {
        while self.lowest < self.frontier.len() {
            if let Some(node) = self.frontier[self.lowest].pop() {
                return Some(node);
            }
            self.lowest += 1;
        }
        None
    }
}

fn move_token(entries: &mut Vec<Entry>, step: &Step, omega: bool) {
    if let Some(place) = step.take {
        take(entries, place);
    }
    if let Some(place) = step.put {
        put(entries, place, omega);
    }
}

/// Sets ω wherever `entries` has more than the ancestor it covers; whether anything changed.
fn accelerate(ancestor: &[Entry], entries: &mut [Entry]) -> bool {
    let mut changed = false;
    for entry in entries.iter_mut().filter(|entry| !entry.tokens.is_omega()) {
        let before = ancestor.iter().find(|old| old.place == entry.place);
        if before.is_none_or(|old| old.tokens < entry.tokens) {
            entry.tokens = Tokens::OMEGA;
            changed = true;
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Goes on without end with a token on a place that never becomes ω, and is interrupted on the way.
    struct Endless {
        expansions: usize,
        interrupted_at: usize,
        interrupt: Arc<AtomicBool>,
    }

    impl LazyNet for Endless {
        type Error = ();

        fn steps(&mut self, control: u32, _: &[Entry], steps: &mut Vec<Step>) -> Result<(), ()> {
            self.expansions += 1;
            if self.expansions == self.interrupted_at {
                self.interrupt.store(true, Ordering::Relaxed);
            }
            steps.push(Step { control: control + 1, take: None, put: None, label: 0 });
            Ok(())
        }

        fn is_unbounded(&self, _: u32) -> bool {
            true
        }

        fn repeats(&mut self, _: &Step) -> Result<bool, ()> {
            Ok(false)
        }
    }

    #[test]
    fn limits_are_looked_at_as_often_as_markings_are_compared() {
        let interrupt = Arc::new(AtomicBool::new(false));
        let budget = Budget { limits: Limits::none().with_interrupt(interrupt.clone()), ..Budget::default() };
        let mut net = Endless { expansions: 0, interrupted_at: 5_000, interrupt };
        let mut explored = Exploration::new(Mode::Omega);
        explored.add_root(0, &[Entry { place: 0, tokens: Tokens::finite(1) }], 0);
        let halt = explored.run(&mut net, &budget, |_, _, _| Visit::Expand);
        assert_eq!(halt, Err(Halt::Stopped(StopReason::Interrupted)));
        // Each of the last expansions compares with 5,000 ancestors.
        assert!(net.expansions < 5_000 + 4, "{} expansions", net.expansions);
    }
}
