//! Who waits: calls that sleep and wake sleepers, loops that only read, and who may wait for ever.

use crate::image::Memory;
use crate::lift::{Effect, Futex, Lifted, LiftedRole, Trial, conditions};
use crate::origins::{Origins, is_meant, short};
use crate::roles::{RolesFile, span};
use palisade_model::program::{Action, Expression, Instruction, Patience, Program, Queue};
use palisade_model::text::{Diagnostic, Span};
use palisade_syntax::did_you_mean_or_list;
use std::collections::BTreeSet;

/// Lets calls sleep and wake sleepers.
pub(crate) fn sleep(lifted: &mut Lifted) {
    for role in &mut lifted.roles {
        for own in &mut role.thread.instructions {
            let (Some(futex), Some(address)) = (role.futexes.get(&own.span.start), own.action.address().cloned())
            else {
                continue;
            };
            match (futex, &own.action) {
                (Futex::Wait { is_timed }, Action::Cas { .. }) => {
                    own.set_queue(Queue::Sleep { address });
                    own.set_patience(patience(*is_timed));
                }
                (Futex::Wake { all }, Action::Rmw { .. }) => own.set_queue(Queue::Wake { address, all: *all }),
                _ => {}
            }
        }
        for own in &mut role.thread.instructions {
            let Some(effect) = role.effects.get(&own.span.start) else { continue };
            match (effect, &own.action) {
                (Effect::Until(until, trial), Action::Cas { .. } | Action::Rmw { .. }) => {
                    own.set_waiting(until.clone());
                    own.set_patience(patience(*trial == Trial::WaitsForSomeTime));
                }
                (Effect::Sleep { address, is_timed }, Action::Rmw { .. }) => {
                    own.set_queue(Queue::Sleep { address: Expression::Constant(*address) });
                    own.set_patience(patience(*is_timed));
                }
                (Effect::Wake { all }, Action::Rmw { address, .. }) => {
                    own.set_queue(Queue::Wake { address: address.clone(), all: *all });
                }
                _ => {}
            }
        }
    }
}

fn patience(is_timed: bool) -> Patience {
    if is_timed { Patience::Timed } else { Patience::Finite }
}

/// Lets loops that only read wait, as `await` does.
pub(crate) fn fuse(lifted: &mut Lifted) {
    for role in &mut lifted.roles {
        for (id, until) in conditions(&role.thread) {
            role.thread.instructions[id.index()].set_waiting(until);
        }
    }
}

/// The places that ask how many were woken.
pub(crate) fn guesses(lifted: &Lifted, origins: &Origins) -> BTreeSet<String> {
    let of_role = |(number, role): (usize, &LiftedRole)| -> Vec<String> {
        let is_guess =
            |own: &&Instruction| role.guesses.contains(&own.span.start) && matches!(own.action, Action::Assign { .. });
        let guesses = role.thread.instructions.iter().filter(is_guess);
        guesses.map(|own| short(&origins.of_role(number)[own.span.start].place)).collect()
    };
    lifted.roles.iter().enumerate().flat_map(of_role).collect()
}

/// The places at which anybody may wait for ever, with where they are written: in the file, or in
/// the snapshot.
pub(crate) fn idle(file: &RolesFile, memory: &Memory) -> Vec<(String, Span)> {
    let of_file = file.idle.iter().map(|place| (place.get_ref().clone(), span(place)));
    of_file.chain(memory.snapshot.idle.iter().map(|place| (place.clone(), Span::default()))).collect()
}

/// Lets anybody wait for ever at some places.
pub(crate) fn let_wait(program: &mut Program, places: &[(String, Span)]) -> Result<(), Diagnostic> {
    let Program { threads, source, .. } = program;
    for (meant, span) in places {
        let (mut lines, mut is_met) = (BTreeSet::new(), false);
        for own in threads.iter_mut().flat_map(|thread| &mut thread.instructions) {
            let Some(origin) = source.origin(own.span).filter(|_| own.action.address().is_some()) else { continue };
            lines.insert(short(&origin.place));
            if is_meant(&origin.place, meant) {
                own.set_patience(Patience::Idle);
                is_met = true;
            }
        }
        if !is_met {
            let help = did_you_mean_or_list(meant, "access", lines.iter().map(String::as_str));
            return Err(Diagnostic::error(format!("no role accesses memory at `{meant}`"), *span).with_help_if(help));
        }
    }
    Ok(())
}
