//! The languages that programs are written in, as far as one who changes programs has to know them.

use super::{InstructionId, LabelId, Program, ThreadId};
use crate::text::{Diagnostic, SourceText};
use std::sync::Arc;

/// A change to a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// A fence at a label.
    Fence {
        /// The thread.
        thread: ThreadId,
        /// The label.
        label: LabelId,
    },
    /// A store fence at a label.
    StoreFence {
        /// The thread.
        thread: ThreadId,
        /// The label.
        label: LabelId,
    },
    /// A store made a locked exchange whose result is discarded.
    Exchange {
        /// The thread.
        thread: ThreadId,
        /// The store.
        store: InstructionId,
    },
}

/// Why there is no changed text.
#[derive(Clone, Debug)]
pub enum NoText {
    /// The language or the place does not allow the change: why.
    Edit(String),
    /// The changed text is refused when it is read again.
    Refused {
        /// The changed text.
        source: Arc<SourceText>,
        /// What is wrong with it.
        errors: Vec<Diagnostic>,
    },
}

/// A language that programs are written in.
pub trait Language: std::fmt::Debug + Sync {
    /// Its name, as evidence has it.
    fn name(&self) -> &'static str;

    /// Makes changes in a program's text, comments and layout left as they are, and reads it again under the name `path`. The program
    /// must be the one read from its text; the new one has its copies and its domain.
    fn edited(&self, program: &Program, changes: &[Edit], path: &str) -> Result<Program, NoText>;
}
