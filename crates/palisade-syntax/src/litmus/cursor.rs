//! A cursor over the tokens of one section of a litmus test.

use super::lexer::{Token, tokens};
use crate::Diagnostic;
use palisade_model::text::Span;

/// Reads tokens one after the other.
pub(super) struct Cursor<'a> {
    tokens: Vec<(Token<'a>, Span)>,
    next: usize,
    /// Where the section ends, for messages about its end.
    end: Span,
}

impl<'a> Cursor<'a> {
    /// A cursor over a stretch of a text without comments.
    pub(super) fn new(text: &'a str, within: Span) -> Result<Self, Diagnostic> {
        let end = Span { start: within.end, end: within.end };
        Ok(Self { tokens: tokens(text, within)?, next: 0, end })
    }

    /// The next token, left where it is.
    pub(super) fn peek(&self) -> Option<Token<'a>> {
        self.peek_at(0)
    }

    /// The token `ahead` places after the next.
    pub(super) fn peek_at(&self, ahead: usize) -> Option<Token<'a>> {
        self.tokens.get(self.next + ahead).map(|(token, _)| *token)
    }

    /// The place of the next token, or of the end.
    pub(super) fn span(&self) -> Span {
        self.tokens.get(self.next).map_or(self.end, |(_, span)| *span)
    }

    /// The place of the token just taken.
    pub(super) fn previous_span(&self) -> Span {
        self.next.checked_sub(1).map_or(self.end, |index| self.tokens[index].1)
    }

    /// Takes the next token.
    pub(super) fn take(&mut self) -> Option<Token<'a>> {
        let token = self.peek()?;
        self.next += 1;
        Some(token)
    }

    /// Whether the next token is this symbol.
    pub(super) fn at(&self, symbol: &str) -> bool {
        matches!(self.peek(), Some(Token::Symbol(found)) if found == symbol)
    }

    /// Whether the next token is this word, in any case.
    pub(super) fn at_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token::Name(found)) if found.eq_ignore_ascii_case(word))
    }

    /// Takes the next token if it is this symbol.
    pub(super) fn eat(&mut self, symbol: &str) -> bool {
        let found = self.at(symbol);
        self.next += usize::from(found);
        found
    }

    /// Takes the next token if it is this word.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        self.next += usize::from(found);
        found
    }

    /// Takes this symbol, which must come next.
    pub(super) fn expect(&mut self, symbol: &str) -> Result<(), Diagnostic> {
        if self.eat(symbol) { Ok(()) } else { Err(self.unexpected(&[&format!("`{symbol}`")])) }
    }

    /// Takes a name, which must come next.
    pub(super) fn name(&mut self, what: &str) -> Result<(&'a str, Span), Diagnostic> {
        let span = self.span();
        match self.peek() {
            Some(Token::Name(name)) => {
                self.next += 1;
                Ok((name, span))
            }
            _ => Err(self.unexpected(&[what])),
        }
    }

    /// Takes a number with an optional minus sign, which must come next.
    pub(super) fn number(&mut self) -> Result<i128, Diagnostic> {
        let negative = self.eat("-");
        match self.peek() {
            Some(Token::Number(number)) => {
                self.next += 1;
                Ok(if negative { -number } else { number })
            }
            _ => Err(self.unexpected(&["a number"])),
        }
    }

    /// Whether a number, with or without a minus sign, comes next.
    pub(super) fn at_number(&self) -> bool {
        match self.peek() {
            Some(Token::Number(_)) => true,
            Some(Token::Symbol("-")) => matches!(self.peek_at(1), Some(Token::Number(_))),
            _ => false,
        }
    }

    /// Takes a thread's name before a colon, `0` or `P0`, if one comes next.
    pub(super) fn eat_thread_prefix(&mut self) -> Option<u32> {
        let number = match self.peek()? {
            Token::Number(number) => u32::try_from(number).ok()?,
            Token::Name(name) => thread_number(name)?,
            Token::Symbol(_) => return None,
        };
        if self.peek_at(1) != Some(Token::Symbol(":")) {
            return None;
        }
        self.next += 2;
        Some(number)
    }

    /// Goes on to the next of these symbols, or to the end, without taking it.
    pub(super) fn skip_to(&mut self, symbols: &[&str]) {
        while let Some(token) = self.peek() {
            if matches!(token, Token::Symbol(found) if symbols.contains(&found)) {
                return;
            }
            self.next += 1;
        }
    }

    /// Whether no token is left.
    pub(super) fn is_done(&self) -> bool {
        self.next == self.tokens.len()
    }

    /// The error that the next token is none of what was expected.
    pub(super) fn unexpected(&self, expected: &[&str]) -> Diagnostic {
        let found = self.peek().map_or_else(|| "the end of this section".to_owned(), Token::describe);
        Diagnostic::error(format!("unexpected {found}"), self.span()).with_expected(expected.iter().copied())
    }
}

/// The number in a thread's name `P0`.
pub(super) fn thread_number(name: &str) -> Option<u32> {
    let digits = name.strip_prefix('P')?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}
