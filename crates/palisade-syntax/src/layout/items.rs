//! The tokens and comments of a text, with the line breaks before each.

use crate::native::lexer;
use crate::native::token::Token;

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
}

/// The tokens and comments of a text, in order.
pub(super) fn items(text: &str) -> Vec<Item<'_>> {
    let tokens = lexer::tokens(text).tokens;
    let mut items = Vec::with_capacity(tokens.len() + tokens.len() / 4);
    let mut at = 0;
    for (token, span) in &tokens {
        let newlines = comments(&text[at..span.start], &mut items);
        items.push(Item { kind: Kind::Token(*token), text: &text[span.start..span.end], newlines });
        at = span.end;
    }
    comments(&text[at..], &mut items);
    items
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
        items.push(Item { kind, text: gap[..length].trim_end(), newlines });
        gap = &gap[length..];
        newlines = 0;
    }
}
