//! Forward search with ω: the coverability set, per control state.
//!
//! [`control`] splits a marking into a control state (a value per unit) and counters; [`layers`] finds, for a set of
//! counters that are ω, the components in which control walks freely; [`search`] builds the coverability set over
//! components; [`concrete`] makes a firing sequence of a path with accelerations. Without units there is one control
//! state, and the search is Karp and Miller's [KM69].

mod concrete;
mod control;
mod layers;
mod search;

use super::number::{Number, Stop};
use super::run::finish;
use super::saturation::settle;
use super::slice::Slice;
use super::system::System;
use super::{Context, Outcome, Strategy};
use crate::net::{Count, Problem};

/// The strategy `karp-miller`: one control state.
pub(super) struct KarpMiller;

impl Strategy for KarpMiller {
    fn name(&self) -> &'static str {
        "karp-miller"
    }

    fn solve(&self, problem: &Problem, context: &Context) -> Outcome {
        solve(problem, context, false)
    }
}

/// The strategy `shared-state`: the units are the control.
pub(super) struct SharedState;

impl Strategy for SharedState {
    fn name(&self) -> &'static str {
        "shared-state"
    }

    fn solve(&self, problem: &Problem, context: &Context) -> Outcome {
        solve(problem, context, true)
    }
}

fn solve(problem: &Problem, context: &Context, with_units: bool) -> Outcome {
    let slice = Slice::new(problem);
    if let Some(outcome) = settle(problem, &slice) {
        return outcome;
    }
    let result = match cover::<u32>(problem, &slice, context, with_units) {
        Err(Stop::Overflow) => cover::<Count>(problem, &slice, context, with_units),
        result => result,
    };
    result.unwrap_or_else(Outcome::from)
}

/// The search with one type of numbers.
fn cover<N: Number>(
    problem: &Problem,
    slice: &Slice,
    context: &Context,
    with_units: bool,
) -> Result<Outcome, Stop> {
    let system = System::<N>::new(problem, slice)?;
    let units: &[Vec<u32>] = if with_units { &system.units } else { &[] };
    let mut search = search::Search::new(&system, units)?;
    let Some((node, target, state)) = search.run(&system.initial, context)? else {
        return Ok(Outcome::Uncoverable(slice.downward(search.markings())));
    };
    let firings = concrete::firings(&mut search, node, target, state)?;
    let firings =
        firings.into_iter().map(|(number, times)| (system.transitions[number as usize], times)).collect();
    Ok(Outcome::Coverable(finish(problem, slice, firings, slice.targets[target])))
}
