//! Delays that the user accepts, by places in the sources: of stores of one line past loads of
//! another.

use crate::image::Memory;
use crate::origins::{is_meant, short};
use crate::roles::{RolesFile, span};
use palisade_model::program::{AcceptedDelay, Action, Instruction, Program};
use palisade_model::text::{Diagnostic, Span};
use palisade_syntax::did_you_mean_or_list;
use std::collections::BTreeSet;

/// A delay as written: the place of the store and that of the load, with where they are written.
pub(crate) type Written = [(String, Span); 2];

/// What the file says, and what the snapshot says.
pub(crate) fn written(file: &RolesFile, memory: &Memory) -> Vec<Written> {
    let of_file = file.accept.iter().map(|delay| {
        [&delay.get_ref().store, &delay.get_ref().load].map(|place| (place.get_ref().clone(), span(place)))
    });
    let harness = memory.snapshot.accept.iter();
    let of_harness = harness.map(|delay| delay.clone().map(|place| (place, Span::default())));
    of_file.chain(of_harness).collect()
}

/// Accepts the delays in a program.
pub(crate) fn accept(program: &mut Program, written: &[Written]) -> Result<(), Diagnostic> {
    let is_store = |action: &Action| matches!(action, Action::Store { .. });
    let is_load = |action: &Action| matches!(action, Action::Load { .. });
    let mut accepted = Vec::new();
    for [store, load] in written {
        let stores = places(program, store, "store", is_store)?;
        let loads = places(program, load, "load", is_load)?;
        for store in &stores {
            let delays = loads.iter().map(|load| AcceptedDelay { store: store.clone(), load: load.clone() });
            accepted.extend(delays);
        }
    }
    accepted.sort_by(|one, other| (&one.store, &one.load).cmp(&(&other.store, &other.load)));
    accepted.dedup();
    program.accepted = accepted;
    let Some([store, _]) = written.first() else { return Ok(()) };
    let is_asked = |own: &Instruction, other: &Instruction| {
        is_store(&own.action) && is_load(&other.action) && !program.accepts(own, other)
    };
    let mut threads = program.threads.iter().map(|thread| &thread.instructions);
    if threads.any(|all| all.iter().any(|own| all.iter().any(|other| is_asked(own, other)))) {
        return Ok(());
    }
    Err(Diagnostic::error("every delay of the code is accepted, so that nothing is left to ask", store.1))
}

/// The places of the listing that a person means, of accesses of a kind.
fn places(
    program: &Program,
    (meant, span): &(String, Span),
    kind: &str,
    is_of_kind: impl Fn(&Action) -> bool,
) -> Result<BTreeSet<String>, Diagnostic> {
    let all = program.threads.iter().flat_map(|thread| &thread.instructions);
    let accesses = all.filter(|instruction| is_of_kind(&instruction.action));
    let places: BTreeSet<&str> =
        accesses.filter_map(|instruction| Some(program.source.origin(instruction.span)?.place.as_str())).collect();
    let found = places.iter().filter(|place| is_meant(place, meant));
    let found: BTreeSet<String> = found.map(|place| (*place).to_owned()).collect();
    if found.is_empty() {
        let lines: BTreeSet<String> = places.iter().map(|place| short(place)).collect();
        let help = did_you_mean_or_list(meant, kind, lines.iter().map(String::as_str));
        return Err(Diagnostic::error(format!("no role has a {kind} at `{meant}`"), *span).with_help_if(help));
    }
    Ok(found)
}
