//! Palisade's own language: the grammar of [ESOP13, Fig. 1] with domains, addresses, copies and
//! locked instructions.
//!
//! A text becomes tokens ([`lexer`]), tokens a tree of names ([`grammar`] to [`ast`]), and the tree
//! a program ([`resolve`]). Threads with bodies in braces are read by [`structured`]. LANGUAGE.md
//! describes the language for its users.

mod again;
pub(crate) mod ast;
pub(crate) mod braced;
mod expression_text;
mod failure;
mod finally;
mod grammar;
mod joint;
pub(crate) mod lexer;
mod line;
mod numbers;
mod operations;
pub(crate) mod orderings;
mod parking;
mod posts;
pub(crate) mod precedence;
mod printer;
mod resolve;
pub(crate) mod scope;
mod sleeping;
pub(crate) mod structured;
mod tasks;
pub(crate) mod templates;
pub(crate) mod token;
mod waiting;
mod waits;
mod width;

pub(super) use line::{Jump, line_parts};
pub(super) use printer::print;
pub use printer::{expression_text, final_claim_text, joint_state_text};
pub(crate) use width::width;

use super::{Diagnostic, MAX_ERRORS, Parsed, Severity};
use palisade_model::program::{BinaryOperator, SourceText, Span};
use std::sync::Arc;

/// Reads a native text.
pub(super) fn parse(source: &Arc<SourceText>) -> Result<Parsed, Vec<Diagnostic>> {
    parse_with_layouts(source).map(|(parsed, _)| parsed)
}

/// For each thread of a native text whether it has a body in braces, and where the parts of that
/// stand. Empty where none has, and where the text is wrong.
pub(super) fn layouts(source: &Arc<SourceText>) -> Vec<Option<structured::Layout>> {
    // Where no brace is, no thread has a body in braces.
    if !source.text.contains('{') {
        return Vec::new();
    }
    parse_with_layouts(source).map(|(_, layouts)| layouts).unwrap_or_default()
}

/// Reads a native text; for each thread with a body in braces also where its parts stand.
fn parse_with_layouts(source: &Arc<SourceText>) -> Result<(Parsed, Vec<Option<structured::Layout>>), Vec<Diagnostic>> {
    let lexer::Lexed { tokens, mut errors, is_whole } = lexer::tokens(&source.text);
    if !is_whole {
        return Err(errors);
    }
    if tokens.is_empty() {
        let message = "there is no program in this text";
        return Err(vec![Diagnostic::error(message, Span::default()).with_expected(["`program`"])]);
    }
    let (plain, structured) = structured::split(&tokens, source, &mut errors);
    let (mut errors, warnings): (Vec<_>, Vec<_>) =
        errors.into_iter().partition(|found| found.severity == Severity::Error);
    match grammar::parse(&plain) {
        Ok(raw) if errors.is_empty() => {
            let (mut parsed, layouts) = resolve::resolve(&raw, &structured, source)?;
            parsed.warnings.extend(warnings);
            parsed.warnings.sort_by_key(|warning| warning.span);
            return Ok((parsed, layouts));
        }
        Ok(_) => {}
        Err(failures) => {
            errors.extend(failures.iter().filter_map(|failure| failure.diagnostic(&plain, source)));
        }
    }
    errors.sort_by_key(|error| error.span);
    errors.truncate(MAX_ERRORS);
    Err(errors)
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

/// The operator of a symbol of C.
pub(crate) fn operator(symbol: &str) -> Option<BinaryOperator> {
    use BinaryOperator as Op;
    Some(match symbol {
        "*" => Op::Multiply,
        "/" => Op::Divide,
        "%" => Op::Remainder,
        "+" => Op::Add,
        "-" => Op::Subtract,
        "<<" => Op::ShiftLeft,
        ">>" => Op::ShiftRight,
        "<" => Op::Less,
        "<=" => Op::LessOrEqual,
        ">" => Op::Greater,
        ">=" => Op::GreaterOrEqual,
        "==" => Op::Equal,
        "!=" => Op::NotEqual,
        "&" => Op::BitAnd,
        "^" => Op::BitXor,
        "|" => Op::BitOr,
        "&&" => Op::And,
        "||" => Op::Or,
        _ => return None,
    })
}

/// How strongly a binary operator binds, as in C: the weakest is 1.
pub(crate) fn strength(operator: BinaryOperator) -> u8 {
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
