//! One exploration of a program with store buffers: which targets it reaches, and whether it is
//! closed.

use super::buffer::Order;
use super::closed::closed_set;
use super::goal::Goal;
use super::range::Range;
use super::system::{BufferSystem, Shape};
use super::turned::counting;
use super::values::Values;
use crate::instrumented::Fault;
use crate::lazy::{Entry, Exploration, LazyNet, Mode, NetError, Visit};
use palisade_evidence::BufferInvariant;
use palisade_model::limits::{Budget, Halt, StopReason};
use palisade_model::ordered::CollectOrdered;
use palisade_model::program::{Copies, Program, ThreadId, Value};
use palisade_semantics::Target;
use std::collections::{BTreeMap, BTreeSet};

/// How a target is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaching {
    /// By the step to this node.
    Node(u32),
    /// By a thread, before it touches memory.
    AtFirst(ThreadId),
}

/// What an exploration found.
#[derive(Debug)]
pub struct Search<'p> {
    /// The net.
    pub system: BufferSystem<'p>,
    /// What was explored.
    pub explored: Exploration,
    /// What was sought. A target's number is its place here, whatever becomes of the goal
    /// afterwards.
    targets: Vec<Target>,
    /// How each target that was found is reached, by its number.
    pub reached: BTreeMap<u32, Reaching>,
    /// Whether everything was explored. If not, every target was found before.
    pub(super) is_exhausted: bool,
}

impl Search<'_> {
    /// Whether a target was found.
    pub fn reaches(&self, target: Target) -> bool {
        (0..).zip(&self.targets).any(|(number, own)| *own == target && self.reached.contains_key(&number))
    }

    /// What was explored, in the terms of the checker.
    pub fn closed_set(&self) -> BufferInvariant {
        closed_set(&self.system, &self.explored)
    }

    /// Whether the set that was explored is closed for unbounded buffers and all copies that are
    /// asked for.
    pub fn is_closed(&self) -> bool {
        self.is_exhausted
            && !self.system.overflowed()
            && !self.system.was_cut()
            && !self.system.strayed()
            && !self.system.turns_are_broken()
            && self.system.shape().spare.is_none()
    }
}

/// What is known of a program that makes for fewer steps.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// Addresses at which silent stores are left out.
    pub silent: &'a BTreeSet<Value>,
    /// Addresses that nothing must read.
    pub forbidden: &'a Range,
    /// Bounds of the addresses that are computed.
    pub bounds: Option<&'a Values<'a>>,
}

/// Explores a program until every target is found, or to the end.
pub fn search<'p>(
    program: &'p Program,
    goal: &Goal<'_>,
    known: Known<'_>,
    shape: Shape,
    budget: &Budget,
) -> Result<Search<'p>, Halt<Fault>> {
    let system = BufferSystem::new(program, goal, known.silent, shape).forbidding(known.forbidden.clone());
    let is_lagging = shape.order == Order::Snapshots;
    explore(if is_lagging { system.lagging(known.bounds) } else { system }, goal, budget)
}

/// Explores a program with fixed copies up to turns of its counters; nothing where it has none.
/// What is reached is reached by some configuration that turns into the one found.
pub fn search_up_to_turns<'p>(
    program: &'p Program,
    goal: &Goal<'_>,
    known: Known<'_>,
    shape: Shape,
    budget: &Budget,
) -> Option<Result<Search<'p>, Halt<Fault>>> {
    let counting = counting(program, goal, shape.order)?;
    let system = BufferSystem::new(program, goal, known.silent, shape).forbidding(known.forbidden.clone());
    Some(explore(system.turning(&counting, copies(program)), goal, budget))
}

fn explore<'p>(mut system: BufferSystem<'p>, goal: &Goal<'_>, budget: &Budget) -> Result<Search<'p>, Halt<Fault>> {
    let program = system.program();
    system.limit(&budget.limits);
    // There are too many initial configurations.
    let Some((control, roots)) = system.roots().map_err(NetError::halt)? else {
        return Err(Halt::Stopped(StopReason::Budget));
    };
    let mode = if system.is_unbounded_net() { Mode::Omega } else { Mode::Exact };
    let mut explored = Exploration::new(mode);
    let first = system.violated_at_first().iter().map(|(target, thread)| (*target, Reaching::AtFirst(*thread)));
    let mut reached: BTreeMap<u32, Reaching> = first.collect_map();
    let copies = copies(program);
    let final_states = goal.final_states();
    let answers = |system: &BufferSystem<'_>, control: u32, entries: &[Entry]| {
        final_states.filter(|_| system.answers(goal, copies, control, entries))
    };
    for entries in roots {
        if let Some(node) = explored.add_root(control, &entries, 0)
            && let Some(target) = answers(&system, control, &entries)
        {
            reached.entry(target).or_insert(Reaching::Node(node));
        }
    }
    // The targets found on the way, each with its first marking.
    let mut found: BTreeMap<u32, (u32, Vec<Entry>)> = BTreeMap::new();
    let is_missing = |found: &BTreeMap<_, _>| {
        (0..).take(goal.targets.len()).any(|target| !reached.contains_key(&target) && !found.contains_key(&target))
    };
    let mut is_exhausted = false;
    if is_missing(&found) {
        let stopped_at = explored.run(&mut system, budget, |system, control, entries| {
            let is_target = BufferSystem::target_of(control);
            if let Some(target) = is_target.or_else(|| answers(system, control, entries)) {
                found.entry(target).or_insert_with(|| (control, entries.to_vec()));
            }
            match is_target {
                _ if !is_missing(&found) => Visit::Stop,
                Some(_) => Visit::Leave,
                None => Visit::Expand,
            }
        })?;
        is_exhausted = stopped_at.is_none();
    }
    for (target, (control, entries)) in found {
        let is_first = |node: &u32| explored.control(*node) == control && explored.entries(*node) == entries;
        // A marking with ω that is found later may cover it; then no run is asked for.
        let node = explored.maximal().find(is_first).unwrap_or_default();
        reached.entry(target).or_insert(Reaching::Node(node));
    }
    Ok(Search { system, explored, targets: goal.targets.clone(), reached, is_exhausted })
}

/// How many copies there are, where their numbers are fixed.
fn copies(program: &Program) -> u64 {
    let count = |copies| match copies {
        Copies::Exactly(count) => count,
        Copies::Any => 0,
    };
    program.threads.iter().map(|thread| count(thread.copies)).sum()
}
