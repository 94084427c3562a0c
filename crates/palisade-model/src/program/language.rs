//! The languages that programs are written in, as far as one who changes programs has to know them.

use super::{Measure, Program};
use crate::text::{Diagnostic, SourceText};
use std::sync::Arc;

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

    /// Takes measures in a program's text, comments and layout left as they are, and reads it again
    /// under the name `path`. The program must be the one read from its text; the new one has its
    /// copies and its domain.
    fn edited(&self, program: &Program, measures: &[Measure], path: &str) -> Result<Program, NoText>;
}
