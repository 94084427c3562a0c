//! Stores that need not be delayed, and addresses at which silent stores can be left out.

use super::Buffering;
use super::values::{Bounds, accessed, runs};
use crate::CheckFailure;
use crate::failure::reject;
use palisade_model::program::{Action, Copies, Program, Thread, Value};
use std::collections::BTreeSet;

/// For each thread and instruction, whether it is a store whose delay nobody can see: on no path
/// from it an instruction that could overtake it comes before one that drains the buffer. Under TSO
/// that is a load, under PSO any access.
///
/// Such a store reaches memory at once when the buffer is empty (THEORY.md, "Closed sets with store
/// buffers").
pub(crate) fn dead_delays(program: &Program, buffering: Buffering) -> Vec<Vec<bool>> {
    program.threads.iter().map(|thread| dead_delays_of(thread, buffering)).collect()
}

fn dead_delays_of(thread: &Thread, buffering: Buffering) -> Vec<bool> {
    let overtakes = |action: &Action| match action {
        Action::Load { .. } => true,
        Action::Store { .. } => buffering == Buffering::PerAddress,
        _ => false,
    };
    // Labels from which such an instruction can be reached before the buffer is drained.
    let mut open = vec![false; thread.labels.len()];
    let mut is_stable = false;
    while !is_stable {
        is_stable = true;
        for instruction in thread.instructions.iter().rev() {
            let leads_there = overtakes(&instruction.action)
                || !instruction.action.drains_buffer() && open[instruction.target.index()];
            if leads_there && !open[instruction.source.index()] {
                open[instruction.source.index()] = true;
                is_stable = false;
            }
        }
    }
    let is_dead = |action: &Action, target: usize| matches!(action, Action::Store { .. }) && !open[target];
    thread.instructions.iter().map(|own| is_dead(&own.action, own.target.index())).collect()
}

/// The addresses at which silent stores are left out. Checks that each is written by one thread of
/// one copy at most.
pub(super) fn silent_addresses(
    program: &Program,
    buffering: Buffering,
    bounds: Option<&Bounds>,
    listed: &[Value],
) -> Result<BTreeSet<Value>, CheckFailure> {
    if !listed.is_sorted_by(|one, other| one < other) {
        reject!(Form, "the silent addresses are not in ascending order");
    }
    if matches!(buffering, Buffering::Nothing | Buffering::Noted) && !listed.is_empty() {
        reject!(Form, "silent addresses, and nothing is buffered");
    }
    for address in listed {
        let mut writer = None;
        for (id, thread) in program.thread_ids().filter(|(_, thread)| runs(thread)) {
            let writes = thread.instruction_ids().any(|(instruction, own)| {
                matches!(own.action, Action::Store { .. } | Action::Cas { .. } | Action::Rmw { .. })
                    && accessed(program, bounds, id, instruction)
                        .is_some_and(|range| range.contains(i128::from(*address)))
            });
            if writes && (writer.replace(id).is_some() || thread.copies != Copies::Exactly(1)) {
                let name = program.address_name(*address);
                reject!(Safe, "`{name}` is listed as silent, and more than one thread copy may write it");
            }
        }
    }
    Ok(listed.iter().copied().collect())
}
