//! Loads that the user takes for hints, by places in the sources.

use crate::image::Memory;
use crate::lift::{Lifted, LiftedRole};
use crate::origins::{Origins, is_meant, short};
use crate::roles::{RolesFile, span};
use palisade_model::program::Action;
use palisade_model::text::{Diagnostic, Span};
use palisade_syntax::did_you_mean_or_list;
use std::collections::BTreeSet;

/// What the file says, and what the snapshot says: places, with where they are written.
pub(crate) fn written(file: &RolesFile, memory: &Memory) -> Vec<(String, Span)> {
    let of_file = file.hint.iter().map(|place| (place.get_ref().clone(), span(place)));
    of_file.chain(memory.snapshot.hints.iter().map(|place| (place.clone(), Span::default()))).collect()
}

/// For each role, the numbers of the places that are meant.
pub(crate) fn places(
    written: &[(String, Span)],
    lifted: &Lifted,
    origins: &Origins,
) -> Result<Vec<BTreeSet<usize>>, Diagnostic> {
    let mut hints = vec![BTreeSet::new(); lifted.roles.len()];
    for (meant, span) in written {
        let (mut lines, mut is_met) = (BTreeSet::new(), false);
        for (number, role) in lifted.roles.iter().enumerate() {
            let of_role = origins.of_role(number);
            for load in role.thread.instructions.iter().filter(|own| matches!(own.action, Action::Load { .. })) {
                let place = &of_role[load.span.start].place;
                lines.insert(short(place));
                if is_meant(place, meant) {
                    hints[number].insert(load.span.start);
                    is_met = true;
                }
            }
        }
        if !is_met {
            let help = did_you_mean_or_list(meant, "load", lines.iter().map(String::as_str));
            return Err(Diagnostic::error(format!("no role has a load at `{meant}`"), *span).with_help_if(help));
        }
    }
    Ok(hints)
}

/// Refuses hints beside which no store and load are left: without attacks nothing would be
/// explored, and so nothing would show that the cells of hints take no other values.
pub(crate) fn leave_something(lifted: &Lifted, written: Span) -> Result<(), Diagnostic> {
    let has =
        |role: &LiftedRole, wanted: fn(&Action) -> bool| role.thread.instructions.iter().any(|own| wanted(&own.action));
    let is_asked = |role: &LiftedRole| {
        has(role, |action| matches!(action, Action::Store { .. }))
            && has(role, |action| matches!(action, Action::Load { .. }))
    };
    if lifted.roles.iter().any(is_asked) {
        return Ok(());
    }
    Err(Diagnostic::error("beside the hints no role stores and loads, so that nothing is left to ask", written))
}
