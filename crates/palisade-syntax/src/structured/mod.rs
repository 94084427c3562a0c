//! Threads with bodies in braces: the native language in C's dress.
//!
//! [`split`] takes them out of the tokens of a text, [`parser`] reads them into the tree of [`ast`], and [`lower`] makes
//! each a control-flow automaton of the language. A label of the automaton is called after the line on which its statement
//! stands, `L12`, unless the text names it. [`edit`] puts fences into such texts. This room uses the tokens and expressions of
//! `native`, which calls it.

pub(crate) mod ast;
mod edit;
mod habits;
mod lower;
mod parser;
mod split;
mod statements;

pub(crate) use edit::inserted;
pub(crate) use lower::{Context, Layout, lower};
pub(crate) use split::split;

use crate::Diagnostic;
use palisade_model::text::{SourceText, Span};

/// The error for a name that is declared again.
pub(crate) fn again(message: String, span: Span, first: Span, source: &SourceText) -> Diagnostic {
    let line = source.position(first.start).line;
    Diagnostic::error(message, span)
        .with_label("declared again here")
        .with_note(format!("the first declaration is on line {line}: `{}`", source.slice(first)))
}
