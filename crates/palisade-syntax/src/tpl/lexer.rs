//! Tokens of TPL.

use crate::{Diagnostic, MAX_ERRORS};
use palisade_model::text::Span;

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'s> {
    /// A name or a word of the language.
    Name(&'s str),
    /// A number without sign.
    Number(u64),
    /// Punctuation or an operator.
    Symbol(&'static str),
}

/// Punctuation and operators, longer ones before their prefixes.
const SYMBOLS: [&str; 28] = [
    "==", "!=", "<=", ">=", "=>", "&&", "||", "<<", ">>", "(", ")", "{", "}", ";", ":", ",", ".", "=", "<", ">", "+",
    "-", "*", "/", "%", "!", "&", "|",
];

/// The tokens of a text without its comments.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token<'_>, Span)>, Vec<Diagnostic>> {
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let (rest, start) = (&text[at..], at);
        let word = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let token = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        } else if first.is_ascii_digit() {
            at += word;
            rest[..word].parse().ok().map(Token::Number)
        } else if word > 0 {
            at += word;
            Some(Token::Name(&rest[..word]))
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            at += symbol.len();
            Some(Token::Symbol(symbol))
        } else {
            at += first.len_utf8();
            None
        };
        let span = Span { start, end: at };
        match token {
            Some(token) => found.push((token, span)),
            None if errors.len() < MAX_ERRORS => {
                let what = if first.is_ascii_digit() { "number" } else { "character" };
                errors.push(Diagnostic::error(format!("unexpected {what} `{}`", &text[start..at]), span));
            }
            None => break,
        }
    }
    if errors.is_empty() { Ok(found) } else { Err(errors) }
}
