//! The column of a thread copy.

use crate::Diagnostic;
use palisade_model::program::{Action, RegisterId, Thread};

/// The registers of a column: which machine register each register of the thread is.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) registers: Vec<&'static str>,
    /// Whether the thread has more registers than the machine.
    is_full: bool,
}

/// What is never given to a register of the program: `rax` compares and exchanges, the others
/// compute.
pub(super) const ACCUMULATOR: &str = "rax";
pub(super) const SCRATCH: [&str; 2] = ["r14", "r15"];

const GIVEN: [&str; 12] = ["rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "rbp"];

impl Column {
    pub(super) fn new(thread: &Thread) -> Self {
        let uses_accumulator =
            thread.instructions.iter().any(|instruction| matches!(instruction.action, Action::Cas { .. }));
        let free = (!uses_accumulator).then_some(ACCUMULATOR);
        let registers: Vec<&str> = free.into_iter().chain(GIVEN).take(thread.registers.len()).collect();
        Self { is_full: registers.len() < thread.registers.len(), registers }
    }

    pub(super) fn objection(&self, thread: &Thread) -> Option<Diagnostic> {
        let message = format!("thread `{}` has more registers than the machine", thread.name);
        self.is_full.then(|| Diagnostic::error(message, thread.span))
    }

    pub(super) fn register(&self, register: RegisterId) -> &'static str {
        self.registers[register.index()]
    }
}
