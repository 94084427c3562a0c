//! What questions are about: a program as it was read.

use crate::evidence::ProgramSubject;
use crate::program::{Program, ThreadId};
use crate::semantics::Question;
use crate::syntax::Format;

/// A program, with what its text asks and how it was read.
#[derive(Clone, Copy, Debug)]
pub struct About<'p> {
    /// The program.
    pub program: &'p Program,
    /// What a litmus test asks of its final states.
    pub condition: Option<&'p Question>,
    /// The format that it was read from.
    pub format: Format,
    /// The threads whose copies an option changed.
    pub changed: &'p [ThreadId],
}

impl<'p> About<'p> {
    /// A program that no option has changed and that asks nothing by itself.
    pub fn new(program: &'p Program) -> Self {
        Self { program, condition: None, format: Format::Native, changed: &[] }
    }

    /// The same with what a litmus test asks.
    #[must_use]
    pub fn with_condition(self, condition: Option<&'p Question>) -> Self {
        Self { condition, ..self }
    }

    /// What evidence is about.
    pub(super) fn subject(&self) -> ProgramSubject {
        self.subject_of(self.program)
    }

    /// What evidence is about that is about another form of the program.
    pub(super) fn subject_of(&self, program: &Program) -> ProgramSubject {
        ProgramSubject::of(program, self.format.name(), self.changed)
    }
}
