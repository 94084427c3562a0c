//! Robustness against PSO by enumeration: all computations, and those in which one store is
//! delayed.
//!
//! An instance is robust against PSO when no PSO computation has a cyclic trace. \[NETYS17\] claims
//! *singularity* for programs without fences that order stores alone (`sfence` here): where there
//! is a cyclic trace, there is one of a computation that delays a single store, so that every other
//! store reaches memory in the step after its issue. [`robust`] and [`singular_violation`] decide
//! the two sides of this claim by brute force, so that it can be tested.

use super::exploration::{Bounds, ExplorationError, Successors, explore, search_key};
use super::happens_before::is_cyclic;
use super::instance::Instance;
use super::machine::{Machine, Model, State};
use super::step::{Effect, Event, Step, StepKind};
use super::trace::TraceBuilder;
use hashbrown::HashSet;
use palisade_model::limits::StopReason;
use palisade_model::program::Program;
use std::ops::ControlFlow;

/// Whether no PSO computation has a cyclic trace. Threads must not have loops unless `bounds`
/// limits their steps.
pub fn robust(program: &Program, instance: &Instance, bounds: &Bounds) -> Result<bool, ExplorationError> {
    let machine = Machine::new(program, instance, Model::Pso);
    let mut is_robust = true;
    // Cycles stay when a computation goes on, so that those that cannot go on suffice.
    explore(&machine, Successors::Reduced, bounds, &mut |visit| {
        if visit.terminal && is_cyclic(&visit.trace(&machine)) {
            is_robust = false;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    Ok(is_robust)
}

/// A point of the search for singular computations.
#[derive(Clone)]
struct Point {
    state: State,
    builder: TraceBuilder,
    steps: Vec<Step>,
    /// Whether a store has been delayed.
    is_spent: bool,
}

/// A PSO computation of an instance without loops that delays one store and has a cyclic trace;
/// nothing where there is none. The error is that of a step without a value, or `Stopped` after so
/// many points.
pub fn singular_violation(
    program: &Program,
    instance: &Instance,
    points: usize,
) -> Result<Option<Vec<Step>>, ExplorationError> {
    let machine = Machine::new(program, instance, Model::Pso);
    let copies = machine.copies().len();
    let start = Point {
        state: machine.initial_state(),
        builder: TraceBuilder::new(copies),
        steps: Vec::new(),
        is_spent: false,
    };
    let key = |point: &Point| {
        let mut key = search_key(&point.state, &point.builder, &[], &Bounds::default()).into_vec();
        key.push(u8::from(point.is_spent));
        key
    };
    let mut seen: HashSet<Vec<u8>> = HashSet::from([key(&start)]);
    let mut open = vec![start];
    while let Some(point) = open.pop() {
        if is_cyclic(point.builder.unfinished()) {
            return Ok(Some(point.steps));
        }
        for position in 0..copies {
            let mut events = Vec::new();
            machine.events(&point.state, position, &mut events)?;
            for event in events {
                for next in successors(&machine, &point, &event) {
                    if seen.insert(key(&next)) {
                        open.push(next);
                    }
                }
            }
        }
        if seen.len() > points {
            return Err(StopReason::TooLarge.into());
        }
    }
    Ok(None)
}

/// Where an event leads: an issue to the state after the store has reached memory, where it may,
/// and to the one in which it is delayed.
fn successors(machine: &Machine<'_>, point: &Point, event: &Event) -> Vec<Point> {
    let mut after = point.clone();
    take(machine, &mut after, event);
    let Effect::Issue { address, .. } = event.effect else { return vec![after] };
    let mut next = Vec::new();
    // It reaches memory at once unless the delayed store to the same address stands in the way, or
    // the lock of another copy does.
    let own = machine.position(event.step.copy).expect("an event belongs to a copy of the instance");
    let is_alone = point.state.threads()[own].buffer.iter().all(|store| store.0 != address);
    let flush = Step { copy: event.step.copy, kind: StepKind::FlushAddress(address) };
    if is_alone && let Ok(flush) = machine.event(&after.state, flush) {
        let mut flushed = after.clone();
        take(machine, &mut flushed, &flush);
        next.push(flushed);
    }
    if !point.is_spent {
        after.is_spent = true;
        next.push(after);
    }
    next
}

fn take(machine: &Machine<'_>, point: &mut Point, event: &Event) {
    machine.take(&mut point.state, event);
    point.builder.record(machine, event);
    point.steps.push(event.step);
}
