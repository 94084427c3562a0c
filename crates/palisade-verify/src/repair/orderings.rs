//! Programs whose accesses and fences have other orderings, by code of the checker's own.
//!
//! A measure says that an access has at least some ordering. Where the ordering of the text itself
//! is on offer, the access has those that are taken and no other guarantee; where it is not, they
//! come on top of what the text says.

use palisade_model::program::{Action, InstructionId, Measure, Operation, Ordering, Program, ThreadId};
use std::collections::BTreeMap;

/// The guarantees that an ordering gives: it acquires, it releases, it is sequentially consistent.
type Guarantees = [bool; 3];

fn guarantees(ordering: Ordering) -> Guarantees {
    match ordering {
        Ordering::Plain | Ordering::Relaxed => [false; 3],
        Ordering::Acquire => [true, false, false],
        Ordering::Release => [false, true, false],
        Ordering::AcqRel => [true, true, false],
        Ordering::SeqCst => [true; 3],
    }
}

fn ordering_with(guarantees: Guarantees) -> Ordering {
    match guarantees {
        [_, _, true] => Ordering::SeqCst,
        [true, true, false] => Ordering::AcqRel,
        [true, false, false] => Ordering::Acquire,
        [false, true, false] => Ordering::Release,
        [false, false, false] => Ordering::Relaxed,
    }
}

/// Whether a measure may give an operation an ordering: plain data has none, and what is relaxed
/// has no guarantee that could be asked for.
pub(super) fn may_have(operation: &Operation, failing: bool, ordering: Ordering) -> bool {
    let is_plain = |own: &Ordering| *own == Ordering::Plain;
    let [acquires, releases, _] = guarantees(ordering);
    match operation {
        Operation::Load { ordering: own, .. } => !failing && !is_plain(own) && may_be_loading(ordering),
        Operation::Store { ordering: own, .. } => {
            !failing && !is_plain(own) && matches!(ordering, Ordering::Release | Ordering::SeqCst)
        }
        Operation::Update { expected: Some(_), .. } if failing => may_be_loading(ordering),
        Operation::Update { .. } | Operation::Fence { .. } => !failing && (acquires || releases),
    }
}

fn may_be_loading(ordering: Ordering) -> bool {
    matches!(ordering, Ordering::Acquire | Ordering::SeqCst)
}

/// The ordering of an operation; of an update that does not store, if `failing`.
fn own(operation: &Operation, failing: bool) -> Ordering {
    match operation {
        Operation::Load { ordering, .. } | Operation::Store { ordering, .. } | Operation::Fence { ordering } => {
            *ordering
        }
        Operation::Update { success, failure, .. } => *(if failing { failure } else { success }),
    }
}

/// What measures say of accesses and fences.
#[derive(Default)]
pub(super) struct Orderings {
    /// By access: whether its own ordering is on offer, and the guarantees that are taken.
    of: BTreeMap<(ThreadId, InstructionId, bool), (bool, Guarantees)>,
}

impl Orderings {
    /// Notes a measure on offer, which is taken or not.
    pub(super) fn note(&mut self, program: &Program, measure: Measure, is_taken: bool) {
        let Measure::Ordered { thread, access, failing, ordering } = measure else { return };
        let operation = program.thread(thread).instruction(access).operation();
        let is_own = operation.is_some_and(|operation| own(&operation, failing) == ordering);
        let (is_open, taken) = self.of.entry((thread, access, failing)).or_default();
        *is_open |= is_own;
        if is_taken {
            taken.iter_mut().zip(guarantees(ordering)).for_each(|(taken, given)| *taken |= given);
        }
    }

    /// Gives the accesses and fences of a program what the measures say.
    pub(super) fn give(self, program: &mut Program) {
        for ((thread, access, failing), (is_open, mut given)) in self.of {
            let instruction = &mut program.threads[thread.index()].instructions[access.index()];
            let Some(mut operation) = instruction.operation() else { continue };
            if !is_open {
                given.iter_mut().zip(guarantees(own(&operation, failing))).for_each(|(given, own)| *given |= own);
            }
            let new = ordering_with(given);
            match &mut operation {
                Operation::Fence { .. } if new == Ordering::Relaxed => {
                    instruction.action = Action::Nop;
                    instruction.stated = None;
                    continue;
                }
                Operation::Load { ordering, .. }
                | Operation::Store { ordering, .. }
                | Operation::Fence { ordering } => {
                    *ordering = new;
                }
                Operation::Update { failure, .. } if failing => *failure = new,
                Operation::Update { success, .. } => *success = new,
            }
            instruction.set_operation(operation);
        }
    }
}
