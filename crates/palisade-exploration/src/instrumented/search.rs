//! One search for feasible attacks in one system: under SC once, delaying once per store, helpers
//! once per thread.

use super::attacks::Attack;
use super::fault::Fault;
use super::reached::Reached;
use super::successes::Successes;
use super::system::{Place, Root};
use super::tso::{Loads, System};
use crate::lazy::{Entry, Exploration, LazyNet, Mode, NetError, Step, Visit, check_periodically};
use palisade_model::limits::{Budget, Halt, StopReason};
use palisade_model::program::{InstructionId, ThreadId};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::hash_map;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// What a search found about one attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// It is feasible.
    Feasible,
    /// It is not.
    Infeasible,
    /// A feasible one was found before it.
    NotAsked,
}

/// The answer for one attack, with what it cost beyond what it shares with others.
#[derive(Clone, Debug)]
pub struct AttackAnswer {
    /// The attack.
    pub attack: Attack,
    /// The answer.
    pub found: Found,
    /// New configurations after ld_A.
    pub markings: usize,
    /// The places and transitions of the net, as far as it was built when the attack was decided.
    pub size: (usize, usize),
    /// Time spent on it alone.
    pub seconds: f64,
}

/// Where a computation of the form of Fig. 4 passes from phase to phase, as nodes of the three
/// explorations.
#[derive(Clone, Debug)]
pub struct Route {
    /// The attack it shows feasible.
    pub attack: Attack,
    /// The last node under SC.
    pub sc: u32,
    /// The first node after isu_stA.
    pub delay_start: u32,
    /// The last node before ld_A.
    pub delayed: u32,
    /// The helpers' steps from ld_A until the happens-before cycle is closed, each with the control
    /// before it.
    pub helped: Vec<(u32, Step)>,
}

/// What was explored for the attacks of one thread.
#[derive(Clone, Debug)]
pub struct ThreadSearch<'p> {
    /// The system, with the tables its explorations refer to.
    pub system: System<'p>,
    /// For each store with an attack to decide, the configurations while it is delayed.
    pub delayed: Vec<(InstructionId, Exploration)>,
    /// The configurations after the loads of infeasible attacks (and the last feasible one's, if
    /// the search ended with it).
    pub helped: Exploration,
    /// The answers, in the order of the attacks.
    pub answers: Vec<AttackAnswer>,
    /// The lowest feasible attack's route, in an exact search.
    pub route: Option<Route>,
}

/// A finished search.
#[derive(Clone, Debug)]
pub struct Search<'p> {
    /// The configurations under SC.
    pub sc: Exploration,
    /// The labels they reach.
    pub reached: Reached,
    /// One entry per thread that has attacks to decide, in order; one without answers where there
    /// are no attacks.
    pub threads: Vec<ThreadSearch<'p>>,
}

impl Search<'_> {
    /// All answers, in the order of the attacks.
    pub fn answers(&self) -> impl Iterator<Item = &AttackAnswer> {
        self.threads.iter().flat_map(|thread| &thread.answers)
    }

    /// All configurations found.
    pub fn markings(&self) -> usize {
        self.sc.len()
            + self
                .threads
                .iter()
                .map(|thread| thread.helped.len() + thread.delayed.iter().map(|(_, set)| set.len()).sum::<usize>())
                .sum::<usize>()
    }
}

/// Decides the attacks (sorted, none of them pruned) in the system; with `all`, every one, else up
/// to the lowest feasible one.
pub fn search<'p>(
    mut system: System<'p>,
    attacks: &[Attack],
    all: bool,
    budget: &Budget,
) -> Result<Search<'p>, Halt<Fault>> {
    budget.limits.check()?;
    let mode = mode_of(&system);
    let sc = explore_sc(&mut system, budget)?;
    let reached = system.reached().clone();
    let groups: Vec<&[Attack]> = attacks.chunk_by(|a, b| a.thread == b.thread).collect();
    let flags: Vec<Arc<AtomicBool>> = groups.iter().map(|_| Arc::new(AtomicBool::new(false))).collect();
    let searched: Vec<Result<ThreadSearch<'p>, Halt<Fault>>> = groups
        .par_iter()
        .enumerate()
        .map(|(index, group)| {
            let limits = budget.limits.clone().with_interrupt(flags[index].clone());
            let budget = Budget { limits, ..budget.clone() };
            let searched = ThreadSearch::new(system.clone(), mode).decide(&sc, group, all, &budget);
            let ends = match &searched {
                Ok(thread) => !all && thread.route_or_feasible(),
                Err(_) => true,
            };
            if ends {
                flags[index + 1..].iter().for_each(|flag| flag.store(true, Ordering::Relaxed));
            }
            searched
        })
        .collect();
    let mut threads = Vec::new();
    for thread in searched {
        let thread = thread?;
        let ends = !all && thread.route_or_feasible();
        threads.push(thread);
        if ends {
            break;
        }
    }
    if groups.is_empty() {
        threads.push(ThreadSearch::new(system, mode));
    }
    Ok(Search { sc, reached, threads })
}

/// How the configurations of a system are explored.
pub fn mode_of(system: &System<'_>) -> Mode {
    if system.is_unbounded_net() { Mode::Omega } else { Mode::Exact }
}

/// The configurations under SC.
pub fn explore_sc(system: &mut System<'_>, budget: &Budget) -> Result<Exploration, Halt<Fault>> {
    explore_sc_until(system, budget, |_| false)
}

/// The configurations under SC, or some of them, once what was to be found is found.
pub fn explore_sc_until<'p>(
    system: &mut System<'p>,
    budget: &Budget,
    is_found: impl Fn(&System<'p>) -> bool,
) -> Result<Exploration, Halt<Fault>> {
    let mut sc = Exploration::new(mode_of(system));
    system.limit(&budget.limits);
    // Where there are too many initial configurations, nets count them.
    for root in system.roots().map_err(NetError::halt)?.ok_or(StopReason::Budget)? {
        sc.add_root(root.control, &root.entries, 0);
    }
    sc.run(system, budget, |system, _, _| if is_found(system) { Visit::Stop } else { Visit::Expand })?;
    Ok(sc)
}

/// A start of the last phase.
#[derive(Clone, Debug)]
pub struct LoadStart {
    /// The delaying node it comes from.
    pub(crate) delayed: u32,
    /// The number of steps up to and including ld_A.
    pub(crate) depth: u32,
    /// Its control.
    pub(crate) control: u32,
    /// Its tokens.
    pub(crate) entries: Vec<Entry>,
}

/// The starts of the last phase for each load.
pub type LoadStarts = FxHashMap<InstructionId, Vec<LoadStart>>;

/// A node of a delaying phase.
pub(super) struct DelayedNode {
    /// What starts of the last phase call it.
    pub(super) number: u32,
    /// Its number in the exploration.
    pub(super) node: u32,
    /// The number of steps from the beginning.
    pub(super) depth: u32,
}

impl DelayedNode {
    /// All that is needed of an exploration.
    pub(super) fn all(explored: &Exploration) -> Vec<Self> {
        explored.maximal().map(|node| Self { number: node, node, depth: explored.depth(node) }).collect()
    }
}

/// Tells of each start of delaying, with the SC node it comes from.
pub(super) fn each_start(
    system: &mut System<'_>,
    sc: &Exploration,
    (thread, store): (ThreadId, InstructionId),
    budget: &Budget,
    mut tell: impl FnMut(u32, Root),
) -> Result<(), Halt<Fault>> {
    // By place, whether a token there can start: most configurations have none, and are many.
    let mut startable: Vec<Option<bool>> = Vec::new();
    for (index, node) in sc.maximal().enumerate() {
        check_periodically(&budget.limits, index)?;
        let may_start = sc.entries(node).iter().any(|entry| {
            if entry.place == Place::SPARE.number() {
                return true;
            }
            let index = entry.place as usize;
            if startable.len() <= index {
                startable.resize(index + 1, None);
            }
            *startable[index].get_or_insert_with(|| system.may_delay(entry.place, thread, store))
        });
        if may_start {
            let starts = system.delay_starts(sc.control(node), sc.entries(node), thread, store);
            starts.map_err(Halt::Fault)?.into_iter().for_each(|start| tell(node, start));
        }
    }
    Ok(())
}

/// For each load, the configurations after it, those reached soonest first.
pub(super) fn load_starts(
    system: &mut System<'_>,
    explored: &Exploration,
    mut nodes: Vec<DelayedNode>,
    budget: &Budget,
) -> Result<LoadStarts, Halt<Fault>> {
    let mut starts = LoadStarts::default();
    nodes.sort_by_key(|node| node.depth);
    // By control, as many nodes have one.
    let mut loads: FxHashMap<u32, Loads> = FxHashMap::default();
    for (index, DelayedNode { number, node, depth }) in nodes.into_iter().enumerate() {
        check_periodically(&budget.limits, index)?;
        let before = explored.control(node);
        let loads = match loads.entry(before) {
            hash_map::Entry::Occupied(known) => known.into_mut(),
            hash_map::Entry::Vacant(new) => new.insert(system.attack_loads(before).map_err(Halt::Fault)?),
        };
        for (load, control) in loads {
            starts.entry(*load).or_default().push(LoadStart {
                delayed: number,
                depth: depth + 1,
                control: *control,
                entries: explored.entries(node).to_vec(),
            });
        }
    }
    Ok(starts)
}

impl<'p> ThreadSearch<'p> {
    /// A search that has not begun.
    pub fn new(system: System<'p>, mode: Mode) -> Self {
        Self { system, delayed: Vec::new(), helped: Exploration::new(mode), answers: Vec::new(), route: None }
    }

    fn route_or_feasible(&self) -> bool {
        self.answers.iter().any(|answer| answer.found == Found::Feasible)
    }

    fn decide(mut self, sc: &Exploration, attacks: &[Attack], all: bool, budget: &Budget) -> Result<Self, Halt<Fault>> {
        let mode = mode_of(&self.system);
        let mut successful = Successes::default();
        for group in attacks.chunk_by(|a, b| a.store == b.store) {
            if !all && self.route_or_feasible() {
                self.answers.extend(group.iter().map(|attack| AttackAnswer {
                    attack: *attack,
                    found: Found::NotAsked,
                    markings: 0,
                    size: (0, 0),
                    seconds: 0.0,
                }));
                continue;
            }
            let (thread, store) = (group[0].thread, group[0].store);
            let mut delayed = Exploration::new(mode);
            let origins = self.start_delaying(sc, thread, store, &mut delayed, budget)?;
            delayed.run(&mut self.system, budget, |_, _, _| Visit::Expand)?;
            let mut starts = load_starts(&mut self.system, &delayed, DelayedNode::all(&delayed), budget)?;
            for attack in group {
                let begin = Instant::now();
                let mut answer =
                    AttackAnswer { attack: *attack, found: Found::NotAsked, markings: 0, size: (0, 0), seconds: 0.0 };
                if all || !self.route_or_feasible() {
                    let before = self.helped.len();
                    let starts = starts.remove(&attack.load).unwrap_or_default();
                    let success = self.help(starts, &successful, budget)?;
                    answer.markings = self.helped.len() - before;
                    answer.size = self.system.size();
                    answer.found = if success.is_some() { Found::Feasible } else { Found::Infeasible };
                    match success {
                        Some(Success { delayed: node, success }) => {
                            if self.route.is_none() && mode == Mode::Exact {
                                let delay_start = delayed.path(node)[0];
                                let sc = origins[&delay_start];
                                let helped = self.helped.steps_along(&mut self.system, success).map_err(Halt::Fault)?;
                                self.route = Some(Route { attack: *attack, sc, delay_start, delayed: node, helped });
                            }
                            if all {
                                successful.remember(&self.helped, &mut self.system, success).map_err(Halt::Fault)?;
                                self.helped.forget_unsettled();
                            }
                        }
                        None => self.helped.settle(),
                    }
                }
                answer.seconds = begin.elapsed().as_secs_f64();
                self.answers.push(answer);
            }
            self.delayed.push((store, delayed));
        }
        Ok(self)
    }

    /// Adds the starts of delaying from every configuration under SC; the SC node each root comes
    /// from.
    fn start_delaying(
        &mut self,
        sc: &Exploration,
        thread: ThreadId,
        store: InstructionId,
        delayed: &mut Exploration,
        budget: &Budget,
    ) -> Result<FxHashMap<u32, u32>, Halt<Fault>> {
        let mut origins = FxHashMap::default();
        each_start(&mut self.system, sc, (thread, store), budget, |node, start| {
            if let Some(root) = delayed.add_root(start.control, &start.entries, sc.depth(node) + 1) {
                origins.insert(root, node);
            }
        })?;
        Ok(origins)
    }

    /// Searches the last phase from the starts of one attack.
    pub fn help(
        &mut self,
        starts: Vec<LoadStart>,
        successful: &Successes,
        budget: &Budget,
    ) -> Result<Option<Success>, Halt<Fault>> {
        let reaches = |control: u32, entries: &[Entry]| successful.below(control, entries).is_some();
        let mut origins: FxHashMap<u32, u32> = FxHashMap::default();
        for LoadStart { delayed, depth, control, entries } in starts {
            let Some(root) = self.helped.add_root(control, &entries, depth) else { continue };
            origins.insert(root, delayed);
            if reaches(control, &entries) {
                return Ok(Some(Success { delayed, success: root }));
            }
        }
        let found = self.helped.run(&mut self.system, budget, |system, control, entries| {
            if system.is_success(control) || reaches(control, entries) { Visit::Stop } else { Visit::Expand }
        })?;
        Ok(found.map(|success| {
            let start = self.helped.path(success)[0];
            Success { delayed: origins[&start], success }
        }))
    }
}

/// Where a success was found.
pub struct Success {
    /// The delaying node before ld_A.
    pub delayed: u32,
    /// The node of the last phase.
    pub success: u32,
}
