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

use super::engine::{Method, Prepared};
use super::number::{Number, Stop};
use super::run::finish;
use super::system::System;
use super::{Context, Outcome};

/// The strategy `karp-miller`: one control state.
pub(super) struct KarpMiller;

impl Method for KarpMiller {
    const NAME: &'static str = "karp-miller";

    fn run<N: Number>(prepared: &Prepared<'_>, system: &System<N>, context: &Context) -> Result<Outcome, Stop> {
        cover(prepared, system, &[], context)
    }
}

/// The strategy `shared-state`: the units are the control.
pub(super) struct SharedState;

impl Method for SharedState {
    const NAME: &'static str = "shared-state";

    fn run<N: Number>(prepared: &Prepared<'_>, system: &System<N>, context: &Context) -> Result<Outcome, Stop> {
        cover(prepared, system, &system.units, context)
    }
}

/// Builds the coverability set with these units as control.
fn cover<N: Number>(
    prepared: &Prepared<'_>,
    system: &System<N>,
    units: &[Vec<u32>],
    context: &Context,
) -> Result<Outcome, Stop> {
    let Prepared { problem, slice, .. } = prepared;
    let mut search = search::Search::new(system, units);
    let Some((node, target, state)) = search.run(&system.initial, context)? else {
        return Ok(Outcome::Uncoverable(slice.downward(search.markings())));
    };
    let firings = concrete::firings(&mut search, node, target, state)?;
    let firings = firings.into_iter().map(|(number, times)| (system.transitions[number as usize], times)).collect();
    Ok(Outcome::Coverable(finish(problem, slice, firings, slice.targets[target])))
}
