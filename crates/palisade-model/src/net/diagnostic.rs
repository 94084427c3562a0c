//! What is wrong with a net's text, and where.

use crate::program::{Position, SourceText, Span};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// One thing wrong (or doubtful) in a text. It is as small as a pointer: the result of taking any token may be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic(Box<Details>);

/// What a diagnostic says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Details {
    /// Where.
    pub span: Span,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// What would have been right there; empty when the message says it all.
    pub expected: Vec<String>,
}

impl Diagnostic {
    /// A diagnostic without alternatives.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self(Box::new(Details { span, message: message.into(), expected: Vec::new() }))
    }

    /// Adds what was expected.
    #[must_use]
    pub fn expecting(mut self, expected: &[&str]) -> Self {
        self.expected = expected.iter().map(ToString::to_string).collect();
        self
    }

    /// What it says.
    pub fn into_details(self) -> Details {
        *self.0
    }
}

impl Deref for Diagnostic {
    type Target = Details;

    fn deref(&self) -> &Details {
        &self.0
    }
}

impl DerefMut for Diagnostic {
    fn deref_mut(&mut self) -> &mut Details {
        &mut self.0
    }
}

/// A text that is no net, with everything found wrong in it.
#[derive(Clone, Debug)]
pub struct ReadError {
    /// The text as read, after decompression.
    pub source: Arc<SourceText>,
    /// What is wrong, in text order; at least one.
    pub diagnostics: Vec<Diagnostic>,
}

impl ReadError {
    /// The line and column of a diagnostic.
    pub fn position(&self, diagnostic: &Diagnostic) -> Position {
        self.source.position(diagnostic.span.start)
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.diagnostics.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            let position = self.position(diagnostic);
            write!(f, "{}:{}:{}: {}", self.source.name, position.line, position.column, diagnostic.message)?;
            if !diagnostic.expected.is_empty() {
                write!(f, " (expected {})", diagnostic.expected.join(" or "))?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for ReadError {}
