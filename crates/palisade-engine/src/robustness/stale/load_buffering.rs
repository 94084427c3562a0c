//! Whether hardware may let a write come before an earlier read of its thread: then C11 without
//! thin air says less than C11's programs do there.
//!
//! RC11 rules out cycles of program order and reads-from; compilers and ARM, RISC-V and POWER do
//! not. An execution of such a machine, by the usual mappings, is one of IMM \[IMM19\], and the
//! axioms of IMM contain all others of RC11 (`C11Toimm_s.v` in its development). A cycle enters a
//! thread by a read and leaves it by a later write. IMM keeps these in order if the read acquires,
//! if the write releases, if a fence stands between them, or a write that releases the address of
//! the later one (`bob`); so there are no cycles where each such pair is ordered so. A pair to one
//! address is in order on ARMv8 and RISC-V, but not in IMM. Dependencies are not counted: a
//! compiler may remove them. A cycle enters by a read of what another thread writes, and leaves by
//! a write of what another one reads: what one copy alone has does not matter.

use palisade_model::program::{
    Action, BinaryOperator, ByLabel, Copies, Expression, Instruction, InstructionId, LabelId, Operation, Ordering,
    Program, Thread, ThreadId, UnaryOperator, Value,
};
use palisade_semantics::graphs::{Axioms, EventKind, access};
use std::collections::BTreeSet;

/// A read and a later write of its thread that hardware may reorder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadBuffering {
    /// The thread.
    pub thread: ThreadId,
    /// The read.
    pub read: InstructionId,
    /// The write.
    pub write: InstructionId,
    /// Whether both are to one address: only POWER may reorder them.
    pub is_one_address: bool,
}

/// A pair that hardware may reorder, by control flow: one to two addresses, if there is one.
/// Nothing where there is none.
pub fn load_buffering(program: &Program) -> Option<LoadBuffering> {
    [false, true].into_iter().find_map(|is_one_address| {
        let mut threads = program.thread_ids().filter(|(_, thread)| !thread.is_left_out());
        threads.find_map(|(id, thread)| {
            let by_label = thread.instructions_by_label();
            let is_read_elsewhere = |write| others(program, id, address(thread, write), EventKind::reads);
            thread.instruction_ids().find_map(|(read, _)| {
                if !others(program, id, address(thread, read), EventKind::writes) {
                    return None;
                }
                let write = write_behind(thread, &by_label, read, |write, is_same| {
                    is_same == is_one_address && is_read_elsewhere(write)
                })?;
                Some(LoadBuffering { thread: id, read, write, is_one_address })
            })
        })
    })
}

/// Whether a copy other than one of this thread may access an address, or one that is not known, in
/// some way.
fn others(program: &Program, thread: ThreadId, at: Option<Value>, how: impl Fn(EventKind) -> bool) -> bool {
    program.thread_ids().filter(|(_, other)| !other.is_left_out()).any(|(id, other)| {
        let is_other = id != thread || other.copies != Copies::Exactly(1);
        is_other
            && other.instruction_ids().any(|(own, instruction)| {
                let is_there = at.is_none() || address(other, own).is_none_or(|own| Some(own) == at);
                instruction.action.address().is_some() && is_there && may_be(other, own, |kind, _| how(kind))
            })
    })
}

/// Whether an instruction may be an event of which something holds.
fn may_be(thread: &Thread, id: InstructionId, holds: impl Fn(EventKind, Ordering) -> bool) -> bool {
    let instruction = thread.instruction(id);
    [true, false]
        .into_iter()
        .filter(|stores| *stores || !waits_to_store(instruction))
        .any(|stores| access(Axioms::C11, instruction, stores).is_some_and(|(kind, ordering)| holds(kind, ordering)))
}

/// Whether a compare-exchange waits for the value that it expects: a try that fails is no event.
fn waits_to_store(instruction: &Instruction) -> bool {
    match (&instruction.action, instruction.until()) {
        (Action::Cas { expected, .. }, Some(until)) => {
            let is_none = Expression::unary(UnaryOperator::Not, Expression::Old);
            *until == Expression::binary(BinaryOperator::Equal, Expression::Old, expected.clone())
                || (*until == is_none && *expected == Expression::Constant(0))
        }
        _ => false,
    }
}

/// A write behind a read that nothing orders, of which `counts` says that it matters, by whether it
/// is to the address of the read.
fn write_behind(
    thread: &Thread,
    by_label: &ByLabel,
    read: InstructionId,
    counts: impl Fn(InstructionId, bool) -> bool,
) -> Option<InstructionId> {
    if !may_be(thread, read, |kind, ordering| kind.reads() && !ordering.acquires()) {
        return None;
    }
    let is_fence = |id| may_be(thread, id, |kind, _| kind == EventKind::Fence);
    let from = address(thread, read);
    // Labels with the addresses that were released on the way; a way on which fewer were is worth
    // all others.
    let mut seen: Vec<(LabelId, BTreeSet<Value>)> = Vec::new();
    let mut open = vec![(thread.instruction(read).target, BTreeSet::new())];
    while let Some((label, released)) = open.pop() {
        if seen.iter().any(|(other, fewer)| *other == label && fewer.is_subset(&released)) {
            continue;
        }
        seen.push((label, released.clone()));
        for id in by_label[label.index()].iter().copied().filter(|id| !is_fence(*id)) {
            let writes = may_be(thread, id, |kind, ordering| kind.writes() && !ordering.releases());
            let to = address(thread, id);
            let is_ordered = to.is_some_and(|to| released.contains(&to));
            if writes && !is_ordered && counts(id, from.is_some() && from == to) {
                return Some(id);
            }
            let mut released = released.clone();
            if let (Some(Operation::Store { ordering, .. }), Some(to)) = (thread.instruction(id).operation(), to)
                && ordering.releases()
            {
                released.insert(to);
            }
            open.push((thread.instruction(id).target, released));
        }
    }
    None
}

/// The address of an access, where a constant names it.
fn address(thread: &Thread, id: InstructionId) -> Option<Value> {
    let address = thread.instruction(id).action.address()?;
    if address.is_constant() { address.evaluate_address(&[]).ok() } else { None }
}
