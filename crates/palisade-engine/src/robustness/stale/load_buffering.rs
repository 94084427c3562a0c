//! Whether hardware may let a write come before an earlier read of its thread: then C11 without thin air says less than C11's programs do there.
//!
//! RC11 rules out cycles of program order and reads-from; compilers and ARM, RISC-V and POWER do not. An execution of such a machine, by the usual mappings, is one
//! of IMM \[IMM19\], and the axioms of IMM contain all others of RC11 (`C11Toimm_s.v` in its development). A cycle enters a thread by a read and leaves it by a later
//! write. IMM keeps these in order if the read acquires, if the write releases, or if a fence stands between them (`bob`); so there are no cycles where each
//! such pair is ordered so. A pair to one address is in order on ARMv8 and RISC-V, but not in IMM. Dependencies are not counted: a compiler may remove them.

use palisade_model::program::{ByLabel, InstructionId, Ordering, Program, Thread, ThreadId, Value};
use palisade_semantics::graphs::{Axioms, EventKind, access};

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

/// A pair that hardware may reorder, by control flow: one to two addresses, if there is one. Nothing where there is none.
pub fn load_buffering(program: &Program) -> Option<LoadBuffering> {
    [false, true].into_iter().find_map(|is_one_address| {
        let mut threads = program.thread_ids().filter(|(_, thread)| !thread.is_left_out());
        threads.find_map(|(id, thread)| {
            let by_label = thread.instructions_by_label();
            thread.instruction_ids().find_map(|(read, _)| {
                let write = write_behind(thread, &by_label, read, is_one_address)?;
                Some(LoadBuffering { thread: id, read, write, is_one_address })
            })
        })
    })
}

/// Whether an instruction may be an event of which something holds.
fn may_be(thread: &Thread, id: InstructionId, holds: impl Fn(EventKind, Ordering) -> bool) -> bool {
    [true, false].into_iter().any(|stores| {
        access(Axioms::C11, thread.instruction(id), stores).is_some_and(|(kind, ordering)| holds(kind, ordering))
    })
}

/// A write behind a read that nothing orders, to the address of the read or to another one.
fn write_behind(
    thread: &Thread,
    by_label: &ByLabel,
    read: InstructionId,
    is_one_address: bool,
) -> Option<InstructionId> {
    if !may_be(thread, read, |kind, ordering| kind.reads() && !ordering.acquires()) {
        return None;
    }
    let is_fence = |id| may_be(thread, id, |kind, _| kind == EventKind::Fence);
    let from = address(thread, read);
    let mut seen = vec![false; thread.labels.len()];
    let mut open = vec![thread.instruction(read).target];
    while let Some(label) = open.pop() {
        if std::mem::replace(&mut seen[label.index()], true) {
            continue;
        }
        for id in by_label[label.index()].iter().copied().filter(|id| !is_fence(*id)) {
            let writes = may_be(thread, id, |kind, ordering| kind.writes() && !ordering.releases());
            let is_same = from.is_some() && from == address(thread, id);
            if writes && is_same == is_one_address {
                return Some(id);
            }
            open.push(thread.instruction(id).target);
        }
    }
    None
}

/// The address of an access, where a constant names it.
fn address(thread: &Thread, id: InstructionId) -> Option<Value> {
    let address = thread.instruction(id).action.address()?;
    if address.is_constant() { address.evaluate_address(&[]).ok() } else { None }
}
