//! What the listing of a build in source order says of accesses, where it fits the instruction.

use palisade_model::program::{Action, Instruction, Ordering, Program, SourceAccess};

/// What the source does at an instruction; nothing where nothing is known, or where it does not fit
/// the instruction.
pub(super) fn said(program: &Program, instruction: &Instruction) -> Option<SourceAccess> {
    let access = program.listed(instruction)?.access?;
    let fits = match (access, &instruction.action) {
        (SourceAccess::Load(_), Action::Load { .. })
        | (SourceAccess::CompareExchange(..), Action::Cas { .. })
        | (SourceAccess::Fence(Ordering::SeqCst), Action::Fence) => true,
        (SourceAccess::Store(ordering), Action::Rmw { .. }) => ordering == Ordering::SeqCst,
        (SourceAccess::Store(ordering), Action::Store { .. }) => ordering != Ordering::SeqCst,
        // What x86 has no instruction for is a load and a loop around `cmpxchg`; on memory of the
        // thread's own it is a fence.
        (
            SourceAccess::ReadModifyWrite(_),
            Action::Load { .. } | Action::Cas { .. } | Action::Rmw { .. } | Action::Fence,
        ) => true,
        _ => false,
    };
    fits.then_some(access)
}

/// Whether an action is an access to shared memory, or drains the store buffer.
pub(super) fn is_access(action: &Action) -> bool {
    action.address().is_some() || matches!(action, Action::Fence | Action::StoreFence | Action::Lock | Action::Unlock)
}
