//! Names that are declared again.

use crate::Diagnostic;
use palisade_model::text::{SourceText, Span};

/// The error for a name that is declared again.
pub(crate) fn again(message: String, span: Span, first: Span, source: &SourceText) -> Diagnostic {
    let line = source.position(first.start).line;
    Diagnostic::error(message, span)
        .with_label("declared again here")
        .with_note(format!("the first declaration is on line {line}: `{}`", source.slice(first)))
}
