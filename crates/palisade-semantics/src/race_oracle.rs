//! The brute-force oracle for triangular races: all interleavings of a small instance.
//!
//! It visits every state under SC together with the addresses that each copy has stored since it
//! last drained its buffer. From each it takes every load of a copy that has stored to another
//! address, and then lets each other copy go on alone: until it has stored, if only inside a
//! section that it opens first.

use super::exploration::ExplorationError;
use super::instance::Instance;
use super::machine::{Machine, Model, State};
use super::step::{Effect, Event};
use hashbrown::HashSet;
use palisade_model::program::{Program, Value};
use std::collections::BTreeSet;

/// A state, with the addresses that each copy has stored since it last drained its buffer.
type Node = (State, Vec<BTreeSet<Value>>);

/// Whether an instance has a triangular race; nothing when it has more states than these.
pub fn has_race(program: &Program, instance: &Instance, states: usize) -> Result<Option<bool>, ExplorationError> {
    let machine = Machine::new(program, instance, Model::Sc);
    let copies = machine.copies().len();
    let start: Node = (machine.initial_state(), vec![BTreeSet::new(); copies]);
    let mut seen: HashSet<Node> = HashSet::from([start.clone()]);
    let mut open = vec![start];
    while let Some((state, stored)) = open.pop() {
        for position in 0..copies {
            for event in events(&machine, &state, position)? {
                let after = machine.successor(&state, &event);
                if let Effect::Load { address, .. } = event.effect
                    && stored[position].iter().any(|other| *other != address)
                {
                    for other in (0..copies).filter(|other| *other != position) {
                        if stores_next(&machine, &after, other, address)? {
                            return Ok(Some(true));
                        }
                    }
                }
                let mut stored = stored.clone();
                match event.effect {
                    Effect::Store { address, .. } => {
                        stored[position].insert(address);
                    }
                    Effect::Fence | Effect::Rmw { .. } | Effect::Lock | Effect::Unlock => stored[position].clear(),
                    _ => {}
                }
                let node = (after, stored);
                if seen.insert(node.clone()) {
                    open.push(node);
                }
            }
        }
        if seen.len() > states {
            return Ok(None);
        }
    }
    Ok(Some(false))
}

fn events(machine: &Machine<'_>, state: &State, position: usize) -> Result<Vec<Event>, ExplorationError> {
    let mut events = Vec::new();
    machine.events(state, position, &mut events)?;
    Ok(events)
}

/// Whether a copy can store to an address with its next step, or within a section that it opens
/// next. Local instructions come before that: nobody else sees them.
fn stores_next(
    machine: &Machine<'_>,
    state: &State,
    position: usize,
    address: Value,
) -> Result<bool, ExplorationError> {
    let mut seen: HashSet<State> = HashSet::from([state.clone()]);
    let mut open = vec![state.clone()];
    while let Some(state) = open.pop() {
        for event in events(machine, &state, position)? {
            match event.effect {
                Effect::Store { address: to, .. } | Effect::Rmw { address: to, new: Some(_), .. } if to == address => {
                    return Ok(true);
                }
                _ => {}
            }
            let after = machine.successor(&state, &event);
            let is_local =
                matches!(event.effect, Effect::Local { .. } | Effect::StoreFence | Effect::Violation | Effect::Failure);
            if (is_local || after.holder() == Some(position)) && seen.insert(after.clone()) {
                open.push(after);
            }
        }
    }
    Ok(false)
}
