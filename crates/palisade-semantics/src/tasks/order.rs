//! The order of the main thread's queue: first in, first out, or any.
//!
//! The main thread takes pending tasks in any order. An ordinary queue gives them in the order of
//! their posts; events may have been queued before all tasks, so that nothing orders them.

use super::state::{InvocationId, Status, TaskState, TaskStep, Worker};

/// Whether a task is posted to the main thread.
fn is_queued(state: &TaskState, id: InvocationId) -> bool {
    let own = &state.invocations()[id];
    own.worker == Worker::Main && own.path.len() > 1
}

/// Whether an ordinary queue gives this pending invocation now. Invocations are numbered in the
/// order of their posts.
pub(super) fn is_next(state: &TaskState, id: InvocationId) -> bool {
    let waits = |other: InvocationId| state.invocations()[other].status == Status::Pending && is_queued(state, other);
    !is_queued(state, id) || !(0..id).any(waits)
}

/// The tasks that wait for the main thread, in the order of their posts.
pub(super) fn waiting(state: &TaskState) -> impl Iterator<Item = InvocationId> + '_ {
    let is_pending = |id: &InvocationId| state.invocations()[*id].status == Status::Pending && is_queued(state, *id);
    (0..state.invocations().len()).filter(is_pending)
}

/// Whether a task begins on the main thread while one waits that was posted to it earlier, in a
/// computation from the initial state to `last`.
pub fn is_out_of_order(last: &TaskState, steps: &[TaskStep]) -> bool {
    let begun = |step: &TaskStep| if let TaskStep::Begin { invocation } = step { Some(*invocation) } else { None };
    let mut waiting: Vec<InvocationId> = (0..last.invocations().len()).filter(|id| is_queued(last, *id)).collect();
    steps.iter().filter_map(begun).filter(|id| is_queued(last, *id)).any(|taken| {
        let is_first = waiting.first() == Some(&taken);
        waiting.retain(|id| *id != taken);
        !is_first
    })
}

/// The most instructions that an invocation executes in a computation.
pub fn most_executed(steps: &[TaskStep]) -> u32 {
    let mut counts: Vec<u32> = Vec::new();
    for step in steps {
        if let TaskStep::Execute { invocation, .. } = step {
            counts.resize(counts.len().max(invocation + 1), 0);
            counts[*invocation] += 1;
        }
    }
    counts.into_iter().max().unwrap_or(0)
}
