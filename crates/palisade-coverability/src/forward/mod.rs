//! Forward search with ω: the coverability set, per control state.
//!
//! [`control`] splits a marking into a control state (a value per unit) and counters; [`layers`]
//! finds, for a set of counters that are ω, the components in which control walks freely;
//! [`search`] builds the coverability set over components; [`concrete`] makes a firing sequence of
//! a path with accelerations. Without units there is one control state, and the search is Karp and
//! Miller's [KM69].

mod concrete;
mod control;
mod layers;
mod search;

use super::backward::{Reached, prove};
use super::compact::CompactNet;
use super::engine::{Method, Prepared};
use super::number::{Number, Stop};
use super::run::finish;
use super::{Context, Outcome};
use palisade_evidence::NetCertificate;

/// The strategy `karp-miller`: one control state.
pub(super) struct KarpMiller;

impl Method for KarpMiller {
    const NAME: &'static str = "karp-miller";

    fn run<N: Number>(prepared: &Prepared<'_>, compact: &CompactNet<N>, context: &Context) -> Result<Outcome, Stop> {
        cover(prepared, compact, &[], context)
    }
}

/// The strategy `shared-state`: the units are the control.
pub(super) struct SharedState;

impl Method for SharedState {
    const NAME: &'static str = "shared-state";

    fn run<N: Number>(prepared: &Prepared<'_>, compact: &CompactNet<N>, context: &Context) -> Result<Outcome, Stop> {
        cover(prepared, compact, prepared.units(), context)
    }
}

/// Builds the coverability set with these units as control.
fn cover<N: Number>(
    prepared: &Prepared<'_>,
    compact: &CompactNet<N>,
    units: &[Vec<u32>],
    context: &Context,
) -> Result<Outcome, Stop> {
    let Prepared { problem, slice, .. } = prepared;
    let mut search = search::ForwardSearch::new(compact, units);
    let Some(found) = search.run(&compact.initial, context)? else {
        return Ok(Outcome::Uncoverable(proof(prepared, compact, &search, context)));
    };
    let (_, target, _) = found;
    let firings = concrete::firings(&mut search, &compact.transitions, found, context)?;
    Ok(Outcome::Coverable(finish(problem, slice, firings, slice.targets[target])))
}

/// With so many ω-markings, try a proof by what cannot be covered: fewer are quickly written and
/// checked.
const LARGE: usize = 1_000;

/// The most bits for a table of the coverability set: 256 MiB.
const LARGEST_TABLE: usize = 1 << 31;

/// The coverability set as a proof; a large one by the complement of its down-set.
fn proof<N: Number>(
    prepared: &Prepared<'_>,
    compact: &CompactNet<N>,
    search: &search::ForwardSearch<N>,
    context: &Context,
) -> NetCertificate {
    let columns = search.size();
    if columns >= LARGE && columns.saturating_mul(compact.places()) <= LARGEST_TABLE {
        let condensed =
            table(compact, search, columns).and_then(|mut reached| prove(prepared, compact, &mut reached, context));
        if let Ok(certificate) = condensed {
            return certificate;
        }
    }
    prepared.slice.downward(search.markings())
}

/// The coverability set as a table.
fn table<N: Number>(
    compact: &CompactNet<N>,
    search: &search::ForwardSearch<N>,
    columns: usize,
) -> Result<Reached<N>, Stop> {
    let mut reached = Reached::new(compact.places(), columns);
    for (column, marking) in (0u32..).zip(search.markings()) {
        for (place, count) in &marking {
            reached.enter(column, *place, count)?;
        }
    }
    Ok(reached)
}
