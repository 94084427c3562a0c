//! Why a text is no net.

use crate::text::{Diagnostic, Position, SourceText};
use std::fmt;
use std::sync::Arc;

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
