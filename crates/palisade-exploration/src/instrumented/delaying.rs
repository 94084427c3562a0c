//! Delaying phases past obstacles, of one store.
//!
//! Where markings are enumerated, a phase that was explored without obstacles has all
//! configurations of those with them: what obstacles leave of it is followed in its graph. With ω
//! it would not do to drop nodes: a configuration is left out when a larger one covers it, and the
//! larger one may have been reached past obstacles only.

use super::fault::Fault;
use super::obstacles::{Obstacles, Obstructed, attacker_label, attackers_move};
use super::search::{DelayedNode, LoadStarts, each_start, load_starts, mode_of};
use super::system::Root;
use super::tso::System;
use crate::lazy::{Exploration, Graph, Mode, ReachedNode, Step};
use palisade_model::limits::{Budget, Halt};
use palisade_model::program::{InstructionId, LabelId, ThreadId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A configuration in which delaying starts.
#[derive(Clone, Debug)]
struct DelayStart {
    /// The node under SC before it.
    sc: u32,
    /// The configuration.
    root: Root,
    /// The number of steps up to it.
    depth: u32,
}

/// Where delaying of a store starts, and the phase without obstacles once it was explored.
#[derive(Debug)]
pub struct DelayingPhases {
    store: InstructionId,
    starts: Vec<DelayStart>,
    whole: Option<Whole>,
}

/// A phase without obstacles, with the steps that were followed in it.
#[derive(Debug)]
struct Whole {
    none: Obstacles,
    explored: Arc<Exploration>,
    origins: Arc<FxHashMap<u32, u32>>,
    /// The nodes of the starts, in order.
    roots: Vec<u32>,
    /// The steps that were followed, with what obstacles look at in the attacker's own; nothing
    /// before there were obstacles.
    graph: Option<Graph<Option<(InstructionId, LabelId)>>>,
}

/// A delaying phase past obstacles.
#[derive(Debug)]
pub struct DelayingPhase {
    explored: Arc<Exploration>,
    /// The nodes of it that are reached, where it was explored without the obstacles.
    within: Option<Vec<ReachedNode>>,
    /// The node under SC before each root.
    origins: Arc<FxHashMap<u32, u32>>,
    /// For each load, where the last phase starts.
    pub starts: LoadStarts,
}

impl DelayingPhases {
    /// The phases of a thread's store, which start after interleavings.
    pub fn new(
        system: &mut System<'_>,
        sc: &Exploration,
        (thread, store): (ThreadId, InstructionId),
        budget: &Budget,
    ) -> Result<Self, Halt<Fault>> {
        let mut starts = Vec::new();
        each_start(system, sc, (thread, store), budget, |node, root| {
            starts.push(DelayStart { sc: node, root, depth: sc.depth(node) + 1 });
        })?;
        Ok(Self { store, starts, whole: None })
    }

    /// The store.
    pub fn store(&self) -> InstructionId {
        self.store
    }

    /// Explores the phase past obstacles.
    pub fn explore(
        &mut self,
        system: &mut System<'_>,
        obstacles: &Obstacles,
        budget: &Budget,
    ) -> Result<DelayingPhase, Halt<Fault>> {
        match &mut self.whole {
            Some(whole) => whole.past(system, self.store, obstacles, budget),
            None => self.explore_anew(system, obstacles, budget),
        }
    }

    fn explore_anew(
        &mut self,
        system: &mut System<'_>,
        obstacles: &Obstacles,
        budget: &Budget,
    ) -> Result<DelayingPhase, Halt<Fault>> {
        let mut explored = Exploration::new(mode_of(system));
        let mut origins = FxHashMap::default();
        let mut roots = Vec::new();
        if !obstacles.instructions.contains(self.store.index()) {
            for DelayStart { sc, root, depth } in &self.starts {
                if may_start(system, obstacles, root.control)
                    && let Some(node) = explored.add_root(root.control, &root.entries, *depth)
                {
                    roots.push(node);
                    origins.insert(node, *sc);
                }
            }
        }
        Obstructed { system, obstacles }.explore(&mut explored, budget)?;
        let (explored, origins) = (Arc::new(explored), Arc::new(origins));
        if explored.mode() == Mode::Exact && obstacles.are_none() {
            let (explored, origins, none) = (explored.clone(), origins.clone(), obstacles.clone());
            self.whole = Some(Whole { none, explored, origins, roots, graph: None });
        }
        DelayingPhase::new(system, explored, None, origins, budget)
    }
}

impl Whole {
    fn past(
        &mut self,
        system: &mut System<'_>,
        store: InstructionId,
        obstacles: &Obstacles,
        budget: &Budget,
    ) -> Result<DelayingPhase, Halt<Fault>> {
        let Self { none, explored, origins, roots, graph } = self;
        let mut free: Vec<u32> = roots.clone();
        let is_free = !obstacles.instructions.contains(store.index());
        free.retain(|root| is_free && may_start(system, obstacles, explored.control(*root)));
        let label = |net: &Obstructed<'_, '_>, step: &Step| match step.take {
            None => attackers_move(net.system, step),
            Some(_) => None,
        };
        let is_allowed =
            |own: Option<(InstructionId, LabelId)>| own.is_none_or(|(id, target)| !obstacles.stop(id, target));
        let mut net = Obstructed { system, obstacles: none };
        let graph = graph.get_or_insert_with(|| Graph::new(explored));
        let within = graph.reached(explored, &mut net, free, label, is_allowed, budget)?;
        DelayingPhase::new(system, explored.clone(), Some(within), origins.clone(), budget)
    }
}

/// Whether obstacles let delaying start with a control.
fn may_start(system: &System<'_>, obstacles: &Obstacles, control: u32) -> bool {
    attacker_label(system, control).is_some_and(|label| !obstacles.labels.contains(label.index()))
}

impl DelayingPhase {
    fn new(
        system: &mut System<'_>,
        explored: Arc<Exploration>,
        within: Option<Vec<ReachedNode>>,
        origins: Arc<FxHashMap<u32, u32>>,
        budget: &Budget,
    ) -> Result<Self, Halt<Fault>> {
        let starts = match &within {
            None => load_starts(system, &explored, DelayedNode::all(&explored), budget)?,
            Some(within) => {
                let nodes = (0u32..).zip(within);
                let nodes = nodes.map(|(number, own)| DelayedNode { number, node: own.node, depth: own.depth });
                load_starts(system, &explored, nodes.collect(), budget)?
            }
        };
        Ok(Self { explored, within, origins, starts })
    }

    /// What was explored.
    pub fn explored(&self) -> &Exploration {
        &self.explored
    }

    /// The number of configurations.
    pub fn len(&self) -> usize {
        self.within.as_ref().map_or_else(|| self.explored.len(), Vec::len)
    }

    /// Whether there is no configuration.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The node under SC before a root.
    pub fn origin(&self, root: u32) -> u32 {
        self.origins[&root]
    }

    /// The nodes of what was explored from a root to the one that a start of the last phase names,
    /// both included.
    pub fn path(&self, delayed: u32) -> Vec<u32> {
        let Some(within) = &self.within else { return self.explored.path(delayed) };
        let mut position = delayed;
        let mut path = Vec::new();
        loop {
            let ReachedNode { node, parent, .. } = within[position as usize];
            path.push(node);
            if parent == position {
                path.reverse();
                return path;
            }
            position = parent;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::search::LoadStart;
    use super::super::system::Growth;
    use super::super::{attacks, explore_sc};
    use super::*;
    use crate::lazy::Entry;
    use palisade_model::program::Thread;
    use palisade_semantics::random::{self, Randomness, Shape};
    use std::collections::BTreeMap;

    fn random_obstacles(thread: &Thread, randomness: &mut Randomness) -> Obstacles {
        let mut obstacles = Obstacles::none(thread);
        (0..thread.labels.len()).for_each(|label| obstacles.labels.set(label, randomness.percent(20)));
        (0..thread.instructions.len()).for_each(|id| obstacles.instructions.set(id, randomness.percent(10)));
        obstacles
    }

    /// A start of the last phase: the node under SC before the phase, the configurations on the
    /// way, its own, and its depth.
    type Told = (u32, Vec<(u32, Vec<Entry>)>, (u32, Vec<Entry>), u32);

    /// The starts of the last phase by load, in order.
    fn told(phase: &DelayingPhase) -> BTreeMap<InstructionId, Vec<Told>> {
        let explored = phase.explored();
        let start = |start: &LoadStart| {
            let path = phase.path(start.delayed);
            let configurations = path.iter().map(|node| (explored.control(*node), explored.entries(*node).to_vec()));
            (phase.origin(path[0]), configurations.collect(), (start.control, start.entries.clone()), start.depth)
        };
        phase.starts.iter().map(|(load, starts)| (*load, starts.iter().map(start).collect())).collect()
    }

    /// What is followed in the graph of the whole phase is what an exploration past the obstacles
    /// finds, in the same order.
    #[test]
    fn parts_of_the_whole_phase_are_explorations_past_obstacles() {
        let shape = Shape { loops: 30, domains: 100, ..Shape::default() };
        let budget = Budget::default();
        let (mut compared, mut smaller) = (0, 0);
        for seed in 0..150 {
            let program = random::program(seed, &shape);
            let mut randomness = Randomness::new(seed);
            let mut system = System::new(&program, Growth::Fault(64));
            let Ok(sc) = explore_sc(&mut system, &budget) else { continue };
            let mut stores: Vec<_> = attacks(&program).iter().map(|attack| (attack.thread, attack.store)).collect();
            stores.dedup();
            for (id, store) in stores {
                let thread = program.thread(id);
                let phases = |system: &mut System<'_>| DelayingPhases::new(system, &sc, (id, store), &budget);
                let mut known = phases(&mut system).expect("starts have values");
                let Ok(whole) = known.explore(&mut system, &Obstacles::none(thread), &budget) else { continue };
                for _ in 0..4 {
                    let obstacles = random_obstacles(thread, &mut randomness);
                    let part = known.explore(&mut system, &obstacles, &budget).expect("part of what was explored");
                    let mut fresh = phases(&mut system).expect("starts have values");
                    let anew = fresh.explore(&mut system, &obstacles, &budget).expect("part of what was explored");
                    assert!(part.within.is_some() && anew.within.is_none());
                    assert_eq!(part.len(), anew.len(), "seed {seed}");
                    assert_eq!(told(&part), told(&anew), "seed {seed}");
                    compared += 1;
                    smaller += usize::from(!part.is_empty() && part.len() < whole.len());
                }
            }
        }
        assert!(compared > 500 && smaller > 100, "{compared} compared, {smaller} smaller than the whole");
    }
}
