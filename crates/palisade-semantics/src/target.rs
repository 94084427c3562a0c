//! Targets: what a program must not reach.

use palisade_model::program::{InstructionId, ThreadId};

/// What a program must not reach under a memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// A copy of the thread executes an `ensure` whose condition is 0, or a `fail`.
    Instruction {
        /// The thread.
        thread: ThreadId,
        /// The `ensure` or `fail`.
        instruction: InstructionId,
    },
    /// A final state that answers the question of a litmus test: all copies have come to their
    /// ends, all buffers are empty, the question's filter keeps the state, and its proposition
    /// holds (`exists`, `~exists`) or does not hold (`forall`). Only for fixed numbers of copies.
    FinalStates,
}
