//! The parts of a line in the text, for edits that leave the rest of it as it is.

use super::lexer;
use super::token::{Keyword, Symbol, Token};
use palisade_model::text::Span;

/// Where the parts of a line stand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineParts {
    /// The label.
    pub(crate) label: Span,
    /// What is stored where, for a store.
    pub(crate) store: Option<StoreParts>,
    /// How the line goes on.
    pub(crate) jump: Jump,
}

/// Where the parts of a store stand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoreParts {
    /// `mem[…]`.
    pub(crate) memory: Span,
    /// The value.
    pub(crate) value: Span,
}

/// How a line goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Jump {
    /// With a `goto`.
    Goto,
    /// To the next line.
    NextLine {
        /// Where a `goto` can stand: behind the first semicolon, or behind the instruction.
        at: usize,
        /// How many semicolons the line has: one before a `goto`, one behind it.
        semicolons: usize,
    },
}

/// The parts of a line that stands at `offset`; none when the text is no line.
pub(crate) fn line_parts(text: &str, offset: usize) -> Option<LineParts> {
    let tokens = lexer::tokens(text).tokens;
    let [(Token::Name(_), label), (Token::Symbol(Symbol::Colon), _), body @ ..] = tokens.as_slice() else {
        return None;
    };
    let place = |start: usize, end: usize| Span { start: offset + start, end: offset + end };
    let position = |stretch: &[lexer::Spanned<'_>], wanted| stretch.iter().position(|(token, _)| *token == wanted);
    let goto = position(body, Token::Keyword(Keyword::Goto));
    let semicolon = position(body, Token::Symbol(Symbol::Semicolon));
    let instruction = &body[..goto.into_iter().chain(semicolon).min().unwrap_or(body.len())];
    let arrow = position(instruction, Token::Symbol(Symbol::Arrow));
    let store = match (instruction, arrow) {
        ([(Token::Keyword(Keyword::Mem), memory), ..], Some(arrow)) if arrow > 0 && arrow + 1 < instruction.len() => {
            let (before, after, last) = (&instruction[arrow - 1].1, &instruction[arrow + 1].1, instruction.last()?);
            Some(StoreParts { memory: place(memory.start, before.end), value: place(after.start, last.1.end) })
        }
        _ => None,
    };
    let jump = if goto.is_some() {
        Jump::Goto
    } else {
        let (_, last) = semicolon.map_or_else(|| body.last(), |first| body.get(first))?;
        Jump::NextLine { at: offset + last.end, semicolons: semicolon.map_or(0, |first| body.len() - first) }
    };
    Some(LineParts { label: place(label.start, label.end), store, jump })
}
