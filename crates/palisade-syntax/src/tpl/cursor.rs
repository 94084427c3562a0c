//! A cursor over the tokens of TPL, and its expressions.

use super::lexer::Token;
use crate::native::ast::{ExpressionKind, Name, RawExpression};
use crate::native::{self, strength};
use crate::{Diagnostic, MAX_EXPRESSION_DEPTH};
use palisade_model::program::{BinaryOperator, UnaryOperator};
use palisade_model::text::Span;
use rustc_hash::FxHashSet;

/// What is read, unless there is an error in it.
pub(super) type Read<T> = Result<T, Diagnostic>;

/// Reads one token after the other.
pub(super) struct Cursor<'t, 's> {
    tokens: &'t [(Token<'s>, Span)],
    /// The next token.
    pub(super) at: usize,
    /// The length of the text.
    length: usize,
    /// How deeply what is read lies in blocks and parentheses.
    depth: usize,
    /// The statements in place of blocks that were read, without braces around them.
    pub(super) bare: Vec<Span>,
    /// The locations declared so far, and the locals of the function that is read.
    pub(super) locations: FxHashSet<&'s str>,
    pub(super) locals: FxHashSet<&'s str>,
}

impl<'t, 's> Cursor<'t, 's> {
    pub(super) fn new(tokens: &'t [(Token<'s>, Span)], length: usize) -> Self {
        Self {
            tokens,
            at: 0,
            length,
            depth: 0,
            bare: Vec::new(),
            locations: FxHashSet::default(),
            locals: FxHashSet::default(),
        }
    }

    /// The next token.
    pub(super) fn peek(&self) -> Option<Token<'s>> {
        self.token(0)
    }

    /// The token so many places ahead.
    pub(super) fn token(&self, ahead: usize) -> Option<Token<'s>> {
        self.tokens.get(self.at + ahead).map(|(token, _)| *token)
    }

    /// Where the next token stands.
    pub(super) fn here(&self) -> Span {
        self.tokens.get(self.at).map_or(Span { start: self.length, end: self.length }, |(_, span)| *span)
    }

    /// From a place to the token before; the place alone where no token was taken since.
    pub(super) fn since(&self, start: Span) -> Span {
        let last = self.at.checked_sub(1).map(|at| self.tokens[at].1);
        last.filter(|last| last.start >= start.start).map_or(start, |last| start.to(last))
    }

    /// Takes a symbol if it comes next.
    pub(super) fn take(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Symbol(next)) if next == symbol);
        self.at += usize::from(found);
        found
    }

    /// Takes a word if it comes next.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(Token::Name(word));
        self.at += usize::from(found);
        found
    }

    /// Takes a symbol, which must come next.
    pub(super) fn expect(&mut self, symbol: &str) -> Read<()> {
        if self.take(symbol) { Ok(()) } else { Err(self.unexpected(&format!("`{symbol}`"))) }
    }

    /// Takes a name, which must come next.
    pub(super) fn name(&mut self, what: &str) -> Read<Name<'s>> {
        let Some(Token::Name(text)) = self.peek() else { return Err(self.unexpected(what)) };
        let span = self.here();
        self.at += 1;
        Ok(Name { text, span })
    }

    /// Takes a number with its sign, which must come next.
    pub(super) fn number(&mut self) -> Read<i64> {
        let start = self.here();
        let negative = self.take("-");
        let Some(Token::Number(number)) = self.peek() else { return Err(self.unexpected("a number")) };
        self.at += 1;
        let value = if negative { -i128::from(number) } else { i128::from(number) };
        i64::try_from(value).map_err(|_| Diagnostic::error("the number does not fit 64 bits", self.since(start)))
    }

    /// The error that something else was expected.
    pub(super) fn unexpected(&self, expected: &str) -> Diagnostic {
        let found = match self.peek() {
            None => "the end of the text".to_owned(),
            Some(Token::Name(name)) => format!("`{name}`"),
            Some(Token::Number(number)) => format!("`{number}`"),
            Some(Token::Symbol(symbol)) => format!("`{symbol}`"),
        };
        Diagnostic::error(format!("unexpected {found}"), self.here()).with_expected([expected])
    }

    /// Reads something inside of something.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth == MAX_EXPRESSION_DEPTH / 2 {
            return Err(Diagnostic::error("this is nested too deeply", self.here()));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// An expression over locals.
    pub(super) fn expression(&mut self) -> Read<RawExpression<'s>> {
        self.nested(|cursor| cursor.binary(0))
    }

    /// Refuses a location where a local belongs: accesses are calls, which have an ordering.
    pub(super) fn refuse_location(&self, name: Name<'s>, call: &str, does: &str) -> Read<()> {
        if !self.locations.contains(name.text) || self.locals.contains(name.text) {
            return Ok(());
        }
        let help = format!("`{}.{call}` {does} it", name.text);
        Err(Diagnostic::error(format!("`{}` is a location, not a local", name.text), name.span).with_help(help))
    }

    /// Operators that bind more strongly than `above`.
    fn binary(&mut self, above: u8) -> Read<RawExpression<'s>> {
        let mut left = self.unary()?;
        while let Some(Token::Symbol(symbol)) = self.peek() {
            let Some(operator) = operator(symbol).filter(|operator| strength(*operator) > above) else { break };
            self.at += 1;
            let right = self.nested(|cursor| cursor.binary(strength(operator)))?;
            left = RawExpression::binary(operator, left, right);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Read<RawExpression<'s>> {
        let start = self.here();
        for (symbol, operator) in [("-", UnaryOperator::Negate), ("!", UnaryOperator::Not)] {
            if self.take(symbol) {
                return Ok(self.nested(Self::unary)?.prefixed(operator, start));
            }
        }
        let kind = match self.peek() {
            Some(Token::Number(value)) => ExpressionKind::Literal(value),
            Some(Token::Name("true")) => ExpressionKind::Literal(1),
            Some(Token::Name("false")) => ExpressionKind::Literal(0),
            Some(Token::Name(name)) => {
                self.refuse_location(Name { text: name, span: start }, "load()", "reads")?;
                ExpressionKind::Name(name)
            }
            Some(Token::Symbol("(")) => {
                self.at += 1;
                let inside = self.expression()?;
                self.expect(")")?;
                return Ok(inside.parenthesised(self.since(start)));
            }
            _ => return Err(self.unexpected("an expression")),
        };
        self.at += 1;
        Ok(RawExpression::new(kind, start))
    }
}

/// The operator of a symbol, as in C; Rocker writes one of them either way.
fn operator(symbol: &str) -> Option<BinaryOperator> {
    native::operator(if symbol == "=>" { ">=" } else { symbol })
}
