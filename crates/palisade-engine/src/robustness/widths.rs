//! The verdict on a program, after what its counters tell: a proof that does not know all of their
//! values, or a violation in which they have come around.

use super::abstractions::{abstracted, with_fewest_bits, with_low_bits};
use super::check::{self, Check, CheckOptions, Crowded, Observer, Silent, Verdict, broken_by_first_values};
use palisade_exploration::instrumented::Fault;
use palisade_model::program::Program;

/// Decides whether a program is robust.
///
/// # Errors
///
/// A [`Fault`] when a reachable step has no meaning, or when values grow without end and no
/// violation was found among the first of them.
pub fn check<'p>(program: &'p Program, options: &CheckOptions) -> Result<Check<'p>, Fault> {
    check_observed(program, options, &Silent)
}

/// Like [`check`], seen by an observer.
///
/// # Errors
///
/// As [`check`].
pub fn check_observed<'p>(
    program: &'p Program,
    options: &CheckOptions,
    observer: &dyn Observer,
) -> Result<Check<'p>, Fault> {
    let first = by_counters(program, options, observer).or_else(|| by_low_bits_at_once(program, options, observer));
    first.map_or_else(
        || otherwise_by_low_bits(program, options, observer, check::check_observed(program, options, observer)),
        Ok,
    )
}

/// Like [`check`], for callers that ask for the verdict with what shows it: unless counters tell, a
/// violation is not made shorter, and labels that are not reached are not sought.
///
/// # Errors
///
/// As [`check`].
pub(crate) fn check_verdict<'p>(program: &'p Program, options: &CheckOptions) -> Result<Check<'p>, Fault> {
    let first = by_counters(program, options, &Silent).or_else(|| by_low_bits_at_once(program, options, &Silent));
    first.map_or_else(|| otherwise_by_low_bits(program, options, &Silent, check::check_quickly(program, options)), Ok)
}

/// The check by low bits, before all bits are known, of machine code for any number of copies: it
/// has positions of 64 bits, and stale ones of all copies.
fn by_low_bits_at_once<'p>(program: &'p Program, options: &CheckOptions, observer: &dyn Observer) -> Option<Check<'p>> {
    let is_large = program.source.is_listing && program.is_parameterized();
    is_large.then(|| with_fewest_bits(program, options, observer)).flatten()
}

/// A check, or the one by the low bits of what grows, where the first one has no verdict.
fn otherwise_by_low_bits<'p>(
    program: &'p Program,
    options: &CheckOptions,
    observer: &dyn Observer,
    checked: Result<Check<'p>, Fault>,
) -> Result<Check<'p>, Fault> {
    let is_open = match &checked {
        Ok(check) => matches!(check.verdict, Verdict::Unknown(_)),
        Err(fault) => fault.is_growth(),
    };
    let low = is_open.then(|| with_low_bits(program, options, observer)).flatten();
    low.map_or(checked, Ok)
}

/// The check that counters decide.
fn by_counters<'p>(program: &'p Program, options: &CheckOptions, observer: &dyn Observer) -> Option<Check<'p>> {
    abstracted(program, options, observer)
        .or_else(|| among_first_values(program, options, observer))
        .or_else(|| around(program, options, observer))
}

/// The check of a program that the first values of its counters break.
fn among_first_values<'p>(program: &'p Program, options: &CheckOptions, observer: &dyn Observer) -> Option<Check<'p>> {
    let is_asked = options.counters && !options.nets && !options.one_query;
    if is_asked { broken_by_first_values(program, options, observer) } else { None }
}

/// The check of a program that so many copies break that a counter comes around.
fn around<'p>(program: &'p Program, options: &CheckOptions, observer: &dyn Observer) -> Option<Check<'p>> {
    if !options.counters || options.nets || options.one_query {
        return None;
    }
    let crowded = Crowded::find(program, options)?;
    let fewer = crowded.with_a_copy_less(program);
    let is_minimal = fewer.is_some_and(|fewer| abstracted(&fewer, options, &Silent).is_some());
    Some(crowded.concluded(program, options, observer, is_minimal))
}
