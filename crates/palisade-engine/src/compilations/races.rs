//! Races of data without atomics: two copies at accesses to one address at once, of which one
//! stores and one is plain.
//!
//! They are sought among the interleavings that a certificate of robustness has. What is robust has
//! no other states of threads under TSO.

use super::{Objection, place};
use palisade_evidence::{LocalIndex, LocalState, RobustCertificate, ScConfiguration, Tokens};
use palisade_model::program::{Action, Instruction, InstructionId, Program, ThreadId, Value};
use std::collections::BTreeSet;

/// Accesses that no atomic makes.
pub(super) type Plain = BTreeSet<(ThreadId, InstructionId)>;

/// What a copy in a local state accesses next.
struct Access {
    thread: ThreadId,
    instruction: InstructionId,
    address: Value,
    /// Whether it may store.
    stores: bool,
    is_plain: bool,
}

impl Access {
    fn races_with(&self, other: &Self) -> bool {
        self.address == other.address && (self.stores || other.stores) && (self.is_plain || other.is_plain)
    }

    fn place(&self, program: &Program) -> String {
        place(program, program.thread(self.thread).instruction(self.instruction))
    }
}

/// Objects where the interleavings of a certificate have a race, or do not tell.
pub(super) fn without_races(
    program: &Program,
    plain: &Plain,
    certificate: &RobustCertificate,
) -> Result<(), Objection> {
    let Some((thread, first)) = plain.first() else { return Ok(()) };
    let of = |thread: ThreadId, id| program.thread(thread).instruction(id);
    let objection = |place: String, reason: String| Err(Objection { place, reason, is_limit: false });
    if certificate.sc.is_empty() {
        let reason = "the proof has no interleavings, which would show that this access without atomics does not race";
        return objection(place(program, of(*thread, *first)), reason.to_owned());
    }
    // The interleavings of a program without its tickets need not stop at what accesses them.
    let is_of_ticket = |address| certificate.tickets.iter().any(|(next, served)| [*next, *served].contains(&address));
    for (thread, id) in plain {
        let own = of(*thread, *id);
        let address = own.action.address().filter(|address| address.is_constant());
        if address.is_some_and(|address| address.evaluate_address(&[]).is_ok_and(is_of_ticket)) {
            return objection(place(program, own), "this access to tickets has no atomics".to_owned());
        }
    }
    match race(program, plain, certificate) {
        None => Ok(()),
        Some((first, second)) if first == second => {
            objection(first, "this access without atomics may happen in two threads at once".to_owned())
        }
        Some((first, second)) => {
            objection(first, format!("this access without atomics may happen at once with the one at {second}"))
        }
    }
}

/// The places of a race, the plain access first; nothing where there is none.
fn race(program: &Program, plain: &Plain, certificate: &RobustCertificate) -> Option<(String, String)> {
    let accesses: Vec<Vec<Access>> = certificate.locals.iter().map(|local| accesses(program, plain, local)).collect();
    let (first, second) = certificate.sc.iter().find_map(|configuration| racing(configuration, &accesses))?;
    let (first, second) = if first.is_plain { (first, second) } else { (second, first) };
    Some((first.place(program), second.place(program)))
}

fn accesses(program: &Program, plain: &Plain, local: &LocalState) -> Vec<Access> {
    let thread = program.thread(local.thread);
    let here = thread.instruction_ids().filter(|(_, own)| own.source == local.label);
    let access = |(instruction, own): (InstructionId, &Instruction)| {
        Some(Access {
            thread: local.thread,
            instruction,
            // Where there is none, no interleaving takes the step.
            address: own.action.address()?.evaluate_address(&local.registers).ok()?,
            stores: !matches!(own.action, Action::Load { .. }),
            is_plain: plain.contains(&(local.thread, instruction)),
        })
    };
    here.filter_map(access).collect()
}

/// Accesses of two copies of a configuration that race.
fn racing<'a>(configuration: &ScConfiguration, accesses: &'a [Vec<Access>]) -> Option<(&'a Access, &'a Access)> {
    let of = |local: LocalIndex| accesses[local as usize].iter();
    let tokens = &configuration.tokens;
    let is_alone = |(_, count): &(LocalIndex, Tokens)| *count == Tokens::Finite(1);
    for (position, one) in tokens.iter().enumerate() {
        // Copies in one local state race where there are two.
        let others = &tokens[position + usize::from(is_alone(one))..];
        for first in of(one.0) {
            let second = others.iter().flat_map(|other| of(other.0)).find(|second| first.races_with(second));
            if let Some(second) = second {
                return Some((first, second));
            }
        }
    }
    None
}
