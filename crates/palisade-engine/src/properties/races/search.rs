//! One exploration under SC: until a race is found, or to the end.

use super::replay::{Race, replay};
use crate::properties::run::Tracing;
use palisade_evidence::BufferInvariant;
use palisade_exploration::buffered::{BufferSystem, Goal, Racing, Shape, closed_set};
use palisade_exploration::instrumented::Fault;
use palisade_exploration::lazy::{Exploration, LazyNet, Mode, NetError};
use palisade_model::limits::{Budget, Halt, StopReason};
use palisade_model::program::Program;
use std::collections::BTreeSet;

/// What an exploration has found.
pub(super) enum Found {
    /// A race.
    Race(Box<Race>),
    /// A race with any number of copies, which some instance has as well.
    SomeRace,
    /// There is none: a closed set.
    Closed(Box<BufferInvariant>),
    /// There is none among so many spare copies, or with the values admitted.
    Nothing,
}

/// Explores a program; what was found, and how many configurations there were.
pub(super) fn search(program: &Program, shape: Shape, budget: &Budget) -> (Result<Found, Halt<Fault>>, usize) {
    let goal = Goal::new(Vec::new(), None);
    let mut system = BufferSystem::new(program, &goal, &BTreeSet::new(), shape);
    let mode = if system.is_unbounded_net() { Mode::Omega } else { Mode::Exact };
    let mut explored = Exploration::new(mode);
    let found = explore(program, &mut system, &mut explored, budget);
    (found, explored.len())
}

fn explore(
    program: &Program,
    system: &mut BufferSystem<'_>,
    explored: &mut Exploration,
    budget: &Budget,
) -> Result<Found, Halt<Fault>> {
    system.limit(&budget.limits);
    // There are too many initial configurations.
    let Some((control, roots)) = system.roots().map_err(NetError::halt)? else {
        return Err(Halt::Stopped(StopReason::TooLarge));
    };
    for entries in roots {
        explored.add_root(control, &entries, 0);
    }
    // Nobody has stored in an initial configuration, so that it has no race.
    let mut racing = Racing::default();
    let Some(node) = racing.explore(system, explored, budget)? else {
        let is_whole = system.shape().spare.is_none() && !system.was_cut();
        return Ok(if is_whole { Found::Closed(Box::new(closed_set(system, explored))) } else { Found::Nothing });
    };
    if explored.mode() == Mode::Omega {
        return Ok(Found::SomeRace);
    }
    let pair = racing.pair(system, explored.control(node), explored.entries(node)).expect("the visitor found a race");
    let mut tracing = Tracing::of(system, explored, node).map_err(Halt::Fault)?;
    let reader = tracing.copy_in(system, pair.reader, None).map_err(Halt::Fault)?;
    let writer = tracing.copy_in(system, pair.writer, Some(reader)).map_err(Halt::Fault)?;
    let race = replay(program, &tracing.run, (reader, pair.load), (writer, pair.store));
    Ok(Found::Race(Box::new(race)))
}
