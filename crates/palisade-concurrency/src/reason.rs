//! Why an interleaving has no serial permutation: a cycle of events, or a conflict that goes
//! backward in one event.

use palisade_evidence::ConcurrencyReason;
use palisade_model::program::Value;
use palisade_semantics::tasks::{InvocationId, TaskEffect, TaskMachine, TaskRefusal, TaskState, TaskStep};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// An access of an interleaving.
#[derive(Clone, Debug)]
struct Access {
    /// The step that makes it.
    step: usize,
    invocation: InvocationId,
    /// The occurrence of an event that it belongs to.
    event: u32,
    address: Value,
    writes: bool,
}

/// The reason why an interleaving has no serial permutation, if that is so. A cycle of events is
/// preferred, a shortest one.
///
/// # Errors
///
/// When the steps are no interleaving.
pub(super) fn reason(machine: &TaskMachine<'_>, steps: &[TaskStep]) -> Result<Option<ConcurrencyReason>, TaskRefusal> {
    let (accesses, last) = accesses(machine, steps)?;
    let conflicts = conflicts(&accesses);
    let mut edges: FxHashMap<(u32, u32), (usize, usize)> = FxHashMap::default();
    for (first, second) in &conflicts {
        if first.event != second.event {
            edges.entry((first.event, second.event)).or_insert((first.step, second.step));
        }
    }
    if let Some(cycle) = shortest_cycle(&edges) {
        let around = cycle.iter().zip(cycle.iter().cycle().skip(1));
        return Ok(Some(ConcurrencyReason::Serializability(around.map(|(from, to)| edges[&(*from, *to)]).collect())));
    }
    let path = |access: &Access| &last.invocations()[access.invocation].path;
    let backward = conflicts.iter().find(|(first, second)| first.event == second.event && path(first) > path(second));
    Ok(backward.map(|(first, second)| ConcurrencyReason::Determinism(first.step, second.step)))
}

/// The accesses of an interleaving, and its last state. Those of a section count when it is closed.
fn accesses(machine: &TaskMachine<'_>, steps: &[TaskStep]) -> Result<(Vec<Access>, TaskState), TaskRefusal> {
    let mut state = machine.initial_state();
    let mut found: Vec<Access> = Vec::new();
    let mut inside: Vec<Access> = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        let created = state.invocations().len();
        let effect = machine.apply(&mut state, *step)?;
        let invocation = match *step {
            TaskStep::Occur { .. } => created,
            TaskStep::Execute { invocation, .. } => invocation,
            _ => continue,
        };
        let (address, writes) = match effect {
            TaskEffect::Read { address, .. } | TaskEffect::Update { address, new: None, .. } => (address, false),
            TaskEffect::Write { address, .. } | TaskEffect::Update { address, new: Some(_), .. } => (address, true),
            TaskEffect::Unlock => {
                found.append(&mut inside);
                continue;
            }
            _ => continue,
        };
        let event = state.invocations()[invocation].path[0];
        let access = Access { step: number, invocation, event, address, writes };
        if state.holder() == Some(invocation) { inside.push(access) } else { found.push(access) }
    }
    found.sort_by_key(|access| access.step);
    Ok((found, state))
}

/// The pairs of conflicting accesses of different invocations, in their order.
fn conflicts(accesses: &[Access]) -> Vec<(&Access, &Access)> {
    let mut found = Vec::new();
    for (index, second) in accesses.iter().enumerate() {
        let conflicts = |first: &&Access| {
            first.address == second.address && (first.writes || second.writes) && first.invocation != second.invocation
        };
        found.extend(accesses[..index].iter().filter(conflicts).map(|first| (first, second)));
    }
    found
}

/// A shortest cycle of a graph on events.
fn shortest_cycle(edges: &FxHashMap<(u32, u32), (usize, usize)>) -> Option<Vec<u32>> {
    let mut all: Vec<(u32, u32)> = edges.keys().copied().collect();
    all.sort_unstable();
    let mut starts: Vec<u32> = all.iter().map(|(from, _)| *from).collect();
    starts.dedup();
    starts.into_iter().filter_map(|start| cycle_through(&all, start)).min_by_key(Vec::len)
}

/// A shortest cycle through an event: the events in order, this one first.
fn cycle_through(edges: &[(u32, u32)], start: u32) -> Option<Vec<u32>> {
    let mut before: FxHashMap<u32, u32> = FxHashMap::default();
    let mut open = VecDeque::from([start]);
    while let Some(event) = open.pop_front() {
        for (_, next) in edges.iter().filter(|(from, _)| *from == event) {
            if *next == start {
                let mut cycle = vec![event];
                let mut at = event;
                while at != start {
                    at = before[&at];
                    cycle.push(at);
                }
                cycle.reverse();
                return Some(cycle);
            }
            if !before.contains_key(next) {
                before.insert(*next, event);
                open.push_back(*next);
            }
        }
    }
    None
}
