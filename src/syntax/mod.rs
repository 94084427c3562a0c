//! Text to program and back: readers, printers, diagnostics.
//!
//! [`read`] takes a text in one of three formats to a [`Program`] with warnings, or to the errors in it. Depends on
//! `program` only.

mod diagnostic;

pub use diagnostic::{Diagnostic, Severity, error_document};

use crate::program::{Program, SourceText};
use std::path::Path;
use std::sync::Arc;

/// A format of program texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, clap::ValueEnum)]
pub enum Format {
    /// Palisade's own language, `.pal`.
    Native,
    /// Trencher's automata, `.txt`.
    Trencher,
    /// x86 litmus tests, `.litmus`.
    Litmus,
}

impl Format {
    /// The format a file name asks for by its extension.
    pub fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "pal" => Some(Self::Native),
            "txt" => Some(Self::Trencher),
            "litmus" => Some(Self::Litmus),
            _ => None,
        }
    }

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Trencher => "trencher",
            Self::Litmus => "litmus",
        }
    }
}

/// A program that was read, with what is odd about its text.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The program.
    pub program: Program,
    /// Warnings, in order of their places.
    pub warnings: Vec<Diagnostic>,
}

/// Reads a program text.
pub fn read(source: Arc<SourceText>, format: Format) -> Result<Parsed, Vec<Diagnostic>> {
    let unread = Diagnostic::error(format!("{} texts cannot be read yet", format.name()), Default::default());
    drop(source);
    Err(vec![unread])
}
