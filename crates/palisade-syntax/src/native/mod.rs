//! Palisade's own language: the grammar of [ESOP13, Fig. 1] with domains, addresses, copies and locked instructions.
//!
//! A text becomes tokens ([`lexer`]), tokens a tree of names ([`grammar`] to [`ast`]), and the tree a program
//! ([`resolve`]). LANGUAGE.md describes the language for its users.

mod ast;
mod failure;
mod grammar;
mod lexer;
mod line;
mod numbers;
mod precedence;
mod printer;
mod resolve;
mod scope;
mod tasks;
mod token;

pub(super) use line::{Jump, line_parts};
pub(super) use printer::print;
pub use printer::{expression_text, joint_state_text};

use super::{Diagnostic, MAX_ERRORS, Parsed};
use palisade_model::program::{BinaryOperator, SourceText, Span};
use std::sync::Arc;

/// Reads a native text.
pub(super) fn parse(source: &Arc<SourceText>) -> Result<Parsed, Vec<Diagnostic>> {
    let tokens = lexer::tokens(&source.text)?;
    if tokens.is_empty() {
        let message = "there is no program in this text";
        return Err(vec![Diagnostic::error(message, Span::default()).with_expected(["`program`"])]);
    }
    let raw = grammar::parse(&tokens, source.text.len()).map_err(|failures| {
        failures.iter().take(MAX_ERRORS).map(|failure| failure.diagnostic(&tokens)).collect::<Vec<_>>()
    })?;
    resolve::resolve(&raw, source)
}

/// Whether an operator compares.
fn is_comparison(operator: BinaryOperator) -> bool {
    use BinaryOperator as Op;
    matches!(operator, Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual | Op::Equal | Op::NotEqual)
}

/// Whether an operator works bit by bit.
fn is_bitwise(operator: BinaryOperator) -> bool {
    matches!(operator, BinaryOperator::BitAnd | BinaryOperator::BitXor | BinaryOperator::BitOr)
}

/// How strongly a binary operator binds, as in C: the weakest is 1.
fn strength(operator: BinaryOperator) -> u8 {
    use BinaryOperator as Op;
    match operator {
        Op::Multiply | Op::Divide | Op::Remainder => 10,
        Op::Add | Op::Subtract => 9,
        Op::ShiftLeft | Op::ShiftRight => 8,
        Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual => 7,
        Op::Equal | Op::NotEqual => 6,
        Op::BitAnd => 5,
        Op::BitXor => 4,
        Op::BitOr => 3,
        Op::And => 2,
        Op::Or => 1,
    }
}
