//! The search itself: takes nodes from the frontier until nothing is left or something is found.

use super::acceleration::{Fired, accelerated, move_token};
use super::covering::{Covering, Mode};
use super::frontier::Frontier;
use super::store::Store;
use super::trail::Trail;
use super::{Entry, LazyNet, NetError, Step};
use palisade_model::limits::{Budget, Halt, Limits, StopReason};
use std::sync::atomic::Ordering;

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

/// A set of markings under construction, closed under steps when its frontier is empty.
#[derive(Clone, Debug)]
pub struct Exploration {
    mode: Mode,
    store: Store,
    covering: Covering,
    frontier: Frontier,
    /// Nodes below this number belong to finished searches and are never uncovered again.
    settled: u32,
    /// Ancestors that markings have been compared with since the limits were looked at.
    compared: usize,
    /// Markings that others have been compared with, all in all, and steps, which copy them.
    comparisons: usize,
    /// The nodes and comparisons that count for no budget.
    granted: (usize, usize),
    /// Whether a visitor has left nodes unexplored: then the set need not be closed.
    has_left: bool,
}

/// Checks the limits at some of the indices, for loops over nodes that are there already.
pub(crate) fn check_periodically(limits: &Limits, index: usize) -> Result<(), StopReason> {
    if index.is_multiple_of(4 * BETWEEN_LOOKS) { limits.check() } else { Ok(()) }
}

/// How many expansions, or comparisons with ancestors, lie between two looks at the limits. An
/// expansion compares each marking with all its ancestors where counters may grow, and then takes a
/// thousand times as long as elsewhere.
pub(super) const BETWEEN_LOOKS: usize = 1024;

/// An expansion copies so many tokens in the time that it takes otherwise: in programs of thousands
/// of threads each has thousands of steps, and each step copies thousands of tokens.
const COPIED_PER_EXPANSION: usize = 256;

/// A comparison takes so much less than an expansion.
const COMPARED_PER_EXPANSION: usize = 8;

/// The work of a budget is counted in nodes; so many comparisons count as one.
const COMPARED_PER_NODE: usize = 256;

/// Within the steps of one marking, so many comparisons lie between two looks at the limits.
const COMPARISONS_BETWEEN_LOOKS: usize = 1 << 20;

/// And so many entries of markings are kept: eight megabytes.
const KEPT_BETWEEN_LOOKS: usize = 1 << 20;

/// A marking with so many entries is copied in the time of a comparison.
const COPIED_PER_COMPARISON: usize = 32;

impl Exploration {
    /// An empty set.
    pub fn new(mode: Mode) -> Self {
        Self {
            mode,
            store: Store::default(),
            covering: Covering::new(mode),
            frontier: Frontier::new(),
            settled: 0,
            compared: 0,
            comparisons: 0,
            granted: (0, 0),
            has_left: false,
        }
    }

    /// Whether markings are enumerated or covered.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The number of nodes, covered ones included.
    pub fn len(&self) -> usize {
        self.store.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The control of a node.
    pub fn control(&self, node: u32) -> u32 {
        self.store.control(node)
    }

    /// The tokens of a node.
    pub fn entries(&self, node: u32) -> &[Entry] {
        self.store.entries(node)
    }

    /// The number of steps from the beginning.
    pub fn depth(&self, node: u32) -> u32 {
        self.store.depth(node)
    }

    /// The node a node was found from; none for a root.
    pub fn parent(&self, node: u32) -> Option<u32> {
        self.store.parent(node)
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
        self.store.maximal()
    }

    /// Adds a marking to start from, found after `depth` steps; none when it is covered already.
    pub fn add_root(&mut self, control: u32, entries: &[Entry], depth: u32) -> Option<u32> {
        let node = self.insert(control, entries, None, depth)?;
        self.enqueue(node);
        Some(node)
    }

    /// The node with a marking; none in omega mode, where it need not have one.
    pub(super) fn find(&self, control: u32, entries: &[Entry]) -> Option<u32> {
        self.covering.find(&self.store, self.covering.hash(control, entries), control, entries)
    }

    /// Whether some node covers the marking.
    pub fn covers(&self, control: u32, entries: &[Entry]) -> bool {
        self.covering.covers(&self.store, self.covering.hash(control, entries), control, entries)
    }

    /// Keeps what has been found so far for good.
    pub fn settle(&mut self) {
        self.settled = self.store.next_number();
    }

    /// Counts from here on for the budget: what there is already was paid from budgets before.
    pub fn renew_budget(&mut self) {
        self.granted = (self.len(), self.comparisons);
    }

    /// Forgets everything found since the last [`settle`](Self::settle), the frontier included.
    pub fn forget_unsettled(&mut self) {
        self.covering.forget_from(&self.store, self.settled);
        self.store.truncate(self.settled);
        self.frontier = Frontier::new();
    }

    /// Explores until nothing is left, or until `visit` stops at a node, which is returned. `visit`
    /// sees every new node (not the roots) once.
    pub fn run<N: LazyNet>(
        &mut self,
        net: &mut N,
        budget: &Budget,
        mut visit: impl FnMut(&N, u32, &[Entry]) -> Visit,
    ) -> Result<Option<u32>, Halt<N::Error>> {
        net.limit(&budget.limits);
        let mut steps = Vec::new();
        let mut scratch = Vec::new();
        let mut expanded = BETWEEN_LOOKS;
        let mut counted = self.len();
        let mut trail = Trail::default();
        while let Some(node) = self.frontier.pop() {
            if expanded + self.compared / COMPARED_PER_EXPANSION >= BETWEEN_LOOKS {
                (expanded, self.compared) = (0, 0);
                if let Some(counter) = &budget.counter {
                    counter.fetch_add(self.len() - counted, Ordering::Relaxed);
                    counted = self.len();
                }
                budget.limits.check()?;
            }
            if budget.work.is_some_and(|most| self.used() > most) {
                return Err(StopReason::Budget.into());
            }
            expanded += 1;
            if self.store.is_covered(node) {
                continue;
            }
            if self.mode == Mode::Omega {
                trail.lead_to(&self.store, node);
            }
            steps.clear();
            net.steps(self.control(node), self.entries(node), &mut steps).map_err(NetError::halt)?;
            expanded += steps.len().saturating_mul(self.entries(node).len()) / COPIED_PER_EXPANSION;
            let (mut looked, mut kept) = (self.comparisons, self.store.entry_count());
            for step in &steps {
                // One marking can have very many steps, each of which is compared with very many
                // markings, and leads to a large one.
                if self.comparisons - looked >= COMPARISONS_BETWEEN_LOOKS
                    || self.store.entry_count() - kept >= KEPT_BETWEEN_LOOKS
                {
                    (looked, kept) = (self.comparisons, self.store.entry_count());
                    budget.limits.check()?;
                }
                scratch.clear();
                scratch.extend_from_slice(self.entries(node));
                self.comparisons += 1 + scratch.len() / COPIED_PER_COMPARISON;
                let Fired { control, symmetry, .. } =
                    self.fire(net, (node, &trail), step, &mut scratch).map_err(NetError::halt)?;
                let depth = self.depth(node) + 1;
                if let Some(found) = self.insert(control, &scratch, Some(node), depth) {
                    self.store.set_symmetry(found, symmetry);
                    match visit(net, control, self.entries(found)) {
                        Visit::Expand => self.enqueue(found),
                        Visit::Leave => self.has_left = true,
                        Visit::Stop => return Ok(Some(found)),
                    }
                }
            }
        }
        debug_assert!(self.has_left || self.is_closed(net), "what is explored to the end is closed under steps");
        debug_assert!(self.covering.is_antichain(&self.store, self.settled), "no node kept covers another");
        Ok(None)
    }

    /// Explores until a control is as wanted; the first node that has such a one.
    pub(crate) fn run_until<N: LazyNet>(
        &mut self,
        net: &mut N,
        budget: &Budget,
        is_wanted: impl Fn(&N, u32) -> bool,
    ) -> Result<Option<u32>, Halt<N::Error>> {
        self.run(net, budget, |net, control, _| if is_wanted(net, control) { Visit::Stop } else { Visit::Expand })
    }

    /// Whether every step from some nodes, spread over all of them, leads to a marking that is
    /// covered. A fault that was noted by the last step is met here first.
    fn is_closed<N: LazyNet>(&self, net: &mut N) -> bool {
        const NODES: usize = 8;
        let (mut steps, mut scratch) = (Vec::new(), Vec::new());
        self.maximal().step_by(self.len() / NODES + 1).all(|node| {
            steps.clear();
            net.steps(self.control(node), self.entries(node), &mut steps).map_or(true, |()| {
                steps.iter().all(|step| {
                    let control = self.after(net, node, step, &mut scratch);
                    self.covers(control, &scratch)
                })
            })
        })
    }

    /// The control after a step from a node that is not accelerated, and the tokens, in place of
    /// what `entries` holds.
    pub(super) fn after<N: LazyNet>(&self, net: &mut N, node: u32, step: &Step, entries: &mut Vec<Entry>) -> u32 {
        entries.clear();
        entries.extend_from_slice(self.entries(node));
        move_token(net, entries, step, false);
        net.normalise(step.control, entries).0
    }

    /// The first step between a node and its child in an exact exploration.
    pub fn step_to<N: LazyNet>(&self, net: &mut N, child: u32) -> Result<Option<Step>, N::Error> {
        Ok(self.steps_to(net, child)?.first().copied())
    }

    /// All steps between a node and its child in an exact exploration.
    pub fn steps_to<N: LazyNet>(&self, net: &mut N, child: u32) -> Result<Vec<Step>, N::Error> {
        self.parent(child).map_or(Ok(Vec::new()), |parent| self.steps_between(net, parent, child))
    }

    /// All steps from one node to another in an exact exploration.
    pub fn steps_between<N: LazyNet>(&self, net: &mut N, parent: u32, child: u32) -> Result<Vec<Step>, N::Error> {
        let mut steps = Vec::new();
        net.steps(self.control(parent), self.entries(parent), &mut steps)?;
        let mut scratch = Vec::new();
        steps.retain(|step| {
            let control = self.after(net, parent, step, &mut scratch);
            control == self.control(child) && scratch == self.entries(child)
        });
        Ok(steps)
    }

    /// The steps along the path to a node of an exact exploration, each with the control before it.
    pub fn steps_along<N: LazyNet>(&self, net: &mut N, node: u32) -> Result<Vec<(u32, Step)>, N::Error> {
        let mut steps = Vec::new();
        for pair in self.path(node).windows(2) {
            let step = self.step_to(net, pair[1])?.expect("a node is found by a step from its parent");
            steps.push((self.control(pair[0]), step));
        }
        Ok(steps)
    }

    /// What counts for a budget: the nodes found, or the comparisons made where these are many more
    /// than so many nodes need.
    fn used(&self) -> u64 {
        let (nodes, comparisons) = self.granted;
        let compared = (self.comparisons - comparisons) / COMPARED_PER_NODE;
        self.len().saturating_sub(nodes).max(compared) as u64
    }

    /// The marking after a step from a node, at the end of a trail in omega mode, in which it is
    /// accelerated.
    fn fire<N: LazyNet>(
        &mut self,
        net: &mut N,
        (node, trail): (u32, &Trail),
        step: &Step,
        entries: &mut Vec<Entry>,
    ) -> Result<Fired, N::Error> {
        Ok(match self.mode {
            Mode::Exact => {
                move_token(net, entries, step, false);
                let (control, _) = net.normalise(step.control, entries);
                Fired { control, symmetry: 0, compared: 0 }
            }
            Mode::Omega => {
                let before = self.store.symmetry(node);
                let fired = accelerated(net, &self.store, trail, step, before, entries)?;
                self.compared += fired.compared;
                self.comparisons += fired.compared;
                let is_bounded = |entry: &Entry| !net.is_unbounded(entry.place);
                debug_assert!(
                    !entries.iter().any(|entry| entry.tokens.is_omega() && is_bounded(entry)),
                    "bounded places hold no ω"
                );
                fired
            }
        })
    }

    /// Adds a node unless it is covered; in omega mode marks the nodes that it covers.
    fn insert(&mut self, control: u32, entries: &[Entry], parent: Option<u32>, depth: u32) -> Option<u32> {
        self.comparisons += self.covering.candidates(control);
        let hash = self.covering.hash(control, entries);
        if self.covering.covers(&self.store, hash, control, entries) {
            return None;
        }
        let node = self.store.push(control, entries, parent, depth);
        self.covering.enter(&mut self.store, hash, node, self.settled);
        Some(node)
    }

    fn enqueue(&mut self, node: u32) {
        let bucket = match self.mode {
            Mode::Exact => self.depth(node) as usize,
            Mode::Omega => 0,
        };
        self.frontier.push(node, bucket);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Tokens;
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Goes on without end with a token on a place that never becomes ω, and is interrupted on the
    /// way.
    struct Endless {
        expansions: usize,
        interrupted_at: usize,
        interrupt: Arc<AtomicBool>,
    }

    impl NetError for () {}

    impl LazyNet for Endless {
        type Error = ();

        fn steps(&mut self, control: u32, entries: &[Entry], steps: &mut Vec<Step>) -> Result<(), ()> {
            self.expansions += 1;
            if self.expansions == self.interrupted_at {
                self.interrupt.store(true, Ordering::Relaxed);
            }
            let Some(place) = entries.first().map(|entry| entry.place) else { return Ok(()) };
            steps.push(Step { control, take: Some(place), put: Some(place + 1), label: 0 });
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
        let budget = Budget::within(&Limits::none().with_interrupt(interrupt.clone()));
        let mut net = Endless { expansions: 0, interrupted_at: 5_000, interrupt };
        let mut explored = Exploration::new(Mode::Omega);
        explored.add_root(0, &[Entry { place: 0, tokens: Tokens::finite(1) }], 0);
        let halt = explored.run(&mut net, &budget, |_, _, _| Visit::Expand);
        assert_eq!(halt, Err(Halt::Stopped(StopReason::Interrupted)));
        // Each of the last expansions compares with 5,000 ancestors.
        assert!(net.expansions < 5_000 + 4, "{} expansions", net.expansions);
    }
}
