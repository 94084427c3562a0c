//! What is known of steps, which configurations have in common.

use super::configuration::Control;
use hashbrown::HashMap;
use palisade_evidence::{Level, LocalState};
use palisade_model::program::{Action, InstructionId, ThreadId, Value};
use std::cell::OnceCell;
use std::rc::Rc;

/// As much of what an instruction does as the path looks at.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Act {
    pub(super) access: Option<(Value, Level)>,
    pub(super) is_lock: bool,
    pub(super) is_fence: bool,
    pub(super) was_holding: bool,
}

impl Act {
    /// The act of a thread, holding the lock or not, that executes an instruction.
    pub(super) fn of(action: &Action, access: Option<(Value, Level)>, was_holding: bool) -> Self {
        Self { access, is_lock: *action == Action::Lock, is_fence: *action == Action::Fence, was_holding }
    }
}

/// What an instruction does when a thread in some state executes it on some memory.
pub(super) struct Done {
    pub(super) act: Act,
    /// The number of the memory after it.
    pub(super) memory: u32,
    /// The thread after it, before it settles.
    pub(super) after: LocalState,
    /// Where it settles, once that was asked.
    pub(super) settled: OnceCell<Rc<[u32]>>,
}

/// What is known of steps under the terms, for configurations have most of them in common.
#[derive(Default)]
pub(super) struct Known {
    /// By the memory, whether some thread holds the lock, the state and the instruction.
    pub(super) done: HashMap<(u32, bool, u32, InstructionId), Option<Rc<Done>>>,
    /// By the attacker's thread, its instruction and the control before: the controls after.
    pub(super) of_attackers: HashMap<(ThreadId, InstructionId, Control), Rc<[Control]>>,
    /// By the phase, the act, and whether its thread is on the path.
    pub(super) followed: HashMap<(u32, Act, bool), Option<(u32, bool)>>,
}
