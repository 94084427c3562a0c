//! The tokens and comments of a text, with the line breaks before each.

use crate::native::lexer;
use crate::native::token::{Symbol, Token};

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind<'s> {
    Token(Token<'s>),
    /// A comment up to the end of its line.
    LineComment,
    /// A comment between `/*` and `*/`.
    BlockComment,
}

/// A token or a comment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item<'s> {
    pub(super) kind: Kind<'s>,
    /// As it stands in the text, without blanks at its end.
    pub(super) text: &'s str,
    /// How many lines it begins behind what is before it.
    pub(super) newlines: usize,
    /// Whether it makes one operator with the token before it, as in `++` and `+=`.
    pub(super) is_joined: bool,
}

impl Item<'_> {
    /// Whether it is the second half of `++` or `--`.
    pub(super) fn ends_step(&self) -> bool {
        self.is_joined && matches!(self.kind, Kind::Token(Token::Symbol(Symbol::Plus | Symbol::Minus)))
    }
}

/// The tokens and comments of a text, in order.
pub(super) fn items(text: &str) -> Vec<Item<'_>> {
    let tokens = lexer::tokens(text).tokens;
    let mut items = Vec::with_capacity(tokens.len() + tokens.len() / 4);
    let (mut at, mut before) = (0, None);
    for (token, span) in &tokens {
        let newlines = comments(&text[at..span.start], &mut items);
        let is_joined = at == span.start && joins(before, *token, &text[span.start..span.end]);
        items.push(Item { kind: Kind::Token(*token), text: &text[span.start..span.end], newlines, is_joined });
        (at, before) = (span.end, Some(*token));
    }
    comments(&text[at..], &mut items);
    items
}

/// Whether two tokens without a blank between them are one operator of an assignment.
fn joins(before: Option<Token<'_>>, token: Token<'_>, text: &str) -> bool {
    let Some(Token::Symbol(before)) = before else { return false };
    match token {
        Token::Symbol(Symbol::Equal) => text == "=" && before.operator().is_some(),
        Token::Symbol(symbol @ (Symbol::Plus | Symbol::Minus)) => symbol == before,
        _ => false,
    }
}

/// Adds the comments between two tokens; how many lines are behind the last of them.
fn comments<'s>(mut gap: &'s str, items: &mut Vec<Item<'s>>) -> usize {
    let mut newlines = 0;
    loop {
        let blanks = gap.len() - gap.trim_start().len();
        newlines += gap[..blanks].matches('\n').count();
        gap = &gap[blanks..];
        if gap.is_empty() {
            return newlines;
        }
        let (kind, length) = match gap.strip_prefix("/*") {
            Some(inside) => (Kind::BlockComment, inside.find("*/").map_or(gap.len(), |end| end + 4)),
            None => (Kind::LineComment, gap.find('\n').unwrap_or(gap.len())),
        };
        items.push(Item { kind, text: gap[..length].trim_end(), newlines, is_joined: false });
        gap = &gap[length..];
        newlines = 0;
    }
}
