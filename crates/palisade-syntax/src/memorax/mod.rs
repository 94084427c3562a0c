//! Memorax's language, `.rmm`: processes over shared variables, with control states that they must
//! never be in together.
//!
//! A text becomes words ([`lexer`]), in which macros are expanded ([`macros`]), words a tree of
//! names ([`grammar`], [`statements`] to [`ast`]), and the tree a program ([`memory`], [`lower`],
//! [`threads`]). Each process is a thread; a forbidden row is a joint control state of the program.
//! docs/src/formats.md says what is understood, and where its meaning departs from Memorax's.

mod ast;
mod body;
mod grammar;
mod labels;
mod lexer;
mod locked;
mod lower;
mod macros;
mod memory;
mod statements;
mod threads;
mod values;

use crate::{Diagnostic, MAX_ERRORS, Parsed};
use palisade_model::text::SourceText;
use std::sync::Arc;

/// Reads a text in Memorax's language.
pub(super) fn parse(source: &Arc<SourceText>) -> Result<Parsed, Vec<Diagnostic>> {
    let words = macros::expanded(&lexer::tokens(&source.text)?)?;
    let mut warnings = Vec::new();
    let test = grammar::parse(&words, source.text.len(), &mut warnings)?;
    let program = threads::program(&test, source).map_err(|mut errors| {
        errors.sort_by_key(|error| error.span);
        errors.dedup();
        errors.truncate(MAX_ERRORS);
        errors
    })?;
    Ok(Parsed { program, warnings, question: None })
}
