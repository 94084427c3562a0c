//! Reads items with bodies in braces: a cursor over tokens, expressions and the items themselves.
//!
//! Written by hand, so that each error can say what was probably meant. After an error in a
//! statement the next one is read.

use crate::Diagnostic;
use crate::native::again::again;
use crate::native::ast::{ExpressionKind, Head, Name, Number, RawCopies, RawExpression};
use crate::native::braced::{Block, BracedThread, Constant, Procedure};
use crate::native::lexer::Spanned;
use crate::native::token::{Keyword, Symbol, Token};
use crate::native::{precedence, strength};
use palisade_model::program::{BinaryOperator, Expression, UnaryOperator};
use palisade_model::text::{SourceText, Span};
use rustc_hash::{FxHashMap, FxHashSet};

/// An error that is among the diagnostics already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reported;

/// What is read, unless there is an error in it.
pub(super) type Read<T> = Result<T, Reported>;

/// Reads the tokens of one item.
pub(super) struct Parser<'a, 's> {
    /// The text.
    pub(super) source: &'s SourceText,
    /// The item's tokens.
    tokens: &'a [Spanned<'s>],
    /// The next token.
    pub(super) at: usize,
    /// The constants read before.
    constants: &'a FxHashMap<&'s str, i64>,
    /// The names of the text's procedures.
    pub(super) procedures: &'a FxHashSet<&'s str>,
    /// What is wrong.
    pub(super) errors: &'a mut Vec<Diagnostic>,
    /// From where on a parenthesis or brace was looked for, and where it was found.
    looked: (usize, usize),
}

/// Words that mean something in bodies in braces, and cannot be names there.
pub(crate) const WORDS: &[&str] = &[
    "let", "if", "else", "while", "loop", "break", "continue", "await", "choose", "or", "atomic", "return", "pause",
    "self", "true", "false", "const", "proc", "for", "do",
];

impl<'a, 's> Parser<'a, 's> {
    /// A reader of an item.
    pub(super) fn new(
        tokens: &'a [Spanned<'s>],
        source: &'s SourceText,
        constants: &'a FxHashMap<&'s str, i64>,
        procedures: &'a FxHashSet<&'s str>,
        errors: &'a mut Vec<Diagnostic>,
    ) -> Self {
        Self { source, tokens, at: 0, constants, procedures, errors, looked: (0, 0) }
    }

    /// `const name = value;`.
    pub(super) fn constant(&mut self) -> Read<Constant<'s>> {
        self.at += 1;
        let name = self.name("the constant's name")?;
        self.expect(Symbol::Equal)?;
        let value = self.constant_value()?;
        self.expect(Symbol::Semicolon)?;
        Ok(Constant { name, value })
    }

    /// `thread name [copies] { … }`, `event name [copies] when condition { … }`,
    /// `task name(parameters) { … }`. Each takes what only one of them can have, so that the reader
    /// can say which.
    pub(super) fn thread(&mut self, head: Head) -> Read<BracedThread<'s>> {
        self.at += 1;
        let name = self.name(&format!("the {}'s name", head.word()))?;
        let start = self.here();
        let parameters = match self.peek() {
            Some(Token::Symbol(Symbol::OpenParen)) => Some((self.parameters()?, start.to(self.before()))),
            _ => None,
        };
        let start = self.here();
        let mut copies = None;
        if self.take(Symbol::OpenBracket) {
            let number = if self.take(Symbol::Star) {
                RawCopies::Any
            } else {
                let start = self.here();
                let value = self.constant_value()?;
                RawCopies::Number(Number { value: i128::from(value), span: start.to(self.before()) })
            };
            self.expect(Symbol::CloseBracket)?;
            copies = Some((number, start.to(self.before())));
        }
        let start = self.here();
        let mut guard = None;
        if self.take_word("when") {
            let condition = self.expression()?;
            guard = Some((condition, start.to(self.before())));
        }
        let body = self.block(&format!("the body of {}", head.with_article()))?;
        Ok(BracedThread { head, name, parameters, copies, guard, body })
    }

    /// `proc name(parameters) { … }`.
    pub(super) fn procedure(&mut self) -> Read<Procedure<'s>> {
        self.at += 1;
        let name = self.callee().ok_or_else(|| self.unexpected("the procedure's name"))?;
        let parameters = self.parameters()?;
        let body = self.block("the body of a procedure")?;
        Ok(Procedure { name, parameters, body })
    }

    /// `finally { ensure condition; … }`: where the word stands, and what is stated.
    pub(super) fn finally(&mut self) -> Read<(Span, Block<'s>)> {
        let word = self.here();
        self.at += 1;
        Ok((word, self.block("what holds in the end")?))
    }

    /// `(name, …)`.
    fn parameters(&mut self) -> Read<Vec<Name<'s>>> {
        self.expect(Symbol::OpenParen)?;
        let mut parameters: Vec<Name<'s>> = Vec::new();
        while !self.take(Symbol::CloseParen) {
            // `l` and, as in C, `&l`.
            self.take(Symbol::BitAnd);
            let parameter = self.name("a parameter")?;
            if let Some(first) = parameters.iter().find(|first| first.text == parameter.text) {
                let message = format!("the parameter `{}` is declared twice", parameter.text);
                self.errors.push(again(message, parameter.span, first.span, self.source));
            }
            parameters.push(parameter);
            if !self.take(Symbol::Comma) && self.peek() != Some(Token::Symbol(Symbol::CloseParen)) {
                return Err(self.unexpected("`,` or `)`"));
            }
        }
        Ok(parameters)
    }

    /// `{ … }`.
    pub(super) fn block(&mut self, what: &str) -> Read<Block<'s>> {
        let open = self.here();
        if !self.take(Symbol::OpenBrace) {
            return Err(self.no_brace(what));
        }
        let mut statements = Vec::new();
        loop {
            match self.peek() {
                None => {
                    let open = self.unclosed().unwrap_or(open);
                    let error = Diagnostic::error("this brace is never closed", open).with_expected(["`}`"]);
                    return Err(self.report(error));
                }
                Some(Token::Symbol(Symbol::CloseBrace)) => {
                    self.at += 1;
                    return Ok(Block { statements, span: open.to(self.before()) });
                }
                Some(_) => match self.statement() {
                    Ok(statement) => statements.push(statement),
                    Err(Reported) => self.skip_statement(),
                },
            }
        }
    }

    /// The first brace that only a brace further to the left closes, at the beginning of a line.
    fn unclosed(&self) -> Option<Span> {
        let line = |span: Span| {
            let before = &self.source.text[..span.start];
            &before[before.rfind('\n').map_or(0, |end| end + 1)..]
        };
        let indentation = |span: Span| line(span).len() - line(span).trim_start().len();
        let mut open = Vec::new();
        for (token, span) in self.tokens {
            match token {
                Token::Symbol(Symbol::OpenBrace) => open.push(*span),
                Token::Symbol(Symbol::CloseBrace) => {
                    let own = open.pop()?;
                    let is_first = line(*span).trim_start().is_empty();
                    if is_first && indentation(*span) < indentation(own) {
                        return Some(own);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Skips to the end of the statement: past its semicolon or its block, or to the brace that
    /// closes the block around it.
    fn skip_statement(&mut self) {
        let (mut open, mut parentheses) = (0_usize, 0_usize);
        while let Some(token) = self.peek() {
            match token {
                Token::Symbol(Symbol::OpenParen) => parentheses += 1,
                Token::Symbol(Symbol::CloseParen) => parentheses = parentheses.saturating_sub(1),
                // `for (i = 0; …) { … }`: the statement goes on.
                Token::Symbol(Symbol::Semicolon) if parentheses > 0 && self.at_parenthesised_head() => {}
                Token::Symbol(Symbol::CloseBrace) if open == 0 => return,
                Token::Symbol(Symbol::CloseBrace) if open == 1 => {
                    self.at += 1;
                    // What was wrong may have stood before an `else`.
                    if self.peek() != Some(Token::Name("else")) {
                        return;
                    }
                    open = 0;
                    continue;
                }
                Token::Symbol(Symbol::CloseBrace) => open -= 1,
                Token::Symbol(Symbol::OpenBrace) => open += 1,
                Token::Symbol(Symbol::Semicolon) if open == 0 => {
                    self.at += 1;
                    return;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Whether a parenthesis is closed further on, before a brace or the end.
    fn at_parenthesised_head(&mut self) -> bool {
        let ends = |(token, _): &Spanned<'_>| {
            matches!(token, Token::Symbol(Symbol::CloseParen | Symbol::OpenBrace | Symbol::CloseBrace))
        };
        // What was found for a place holds for all places up to it.
        let (from, found) = self.looked;
        if !(from..=found).contains(&self.at) || found == 0 {
            let rest = self.tokens.get(self.at..).unwrap_or_default();
            self.looked = (self.at, self.at + rest.iter().position(ends).unwrap_or(rest.len()));
        }
        self.token_at(self.looked.1) == Some(Token::Symbol(Symbol::CloseParen))
    }

    /// The next token.
    pub(super) fn peek(&self) -> Option<Token<'s>> {
        self.token(0)
    }

    /// A token further on.
    pub(super) fn token(&self, ahead: usize) -> Option<Token<'s>> {
        self.tokens.get(self.at + ahead).map(|(token, _)| *token)
    }

    /// A token by its number.
    pub(super) fn token_at(&self, index: usize) -> Option<Token<'s>> {
        self.tokens.get(index).map(|(token, _)| *token)
    }

    /// Where a token stands; behind the last one where there is none.
    pub(super) fn span(&self, index: usize) -> Span {
        match self.tokens.get(index) {
            Some((_, span)) => Span { start: span.start, end: span.end },
            None => {
                let end = self.tokens.last().map_or(0, |(_, span)| span.end);
                Span { start: end, end }
            }
        }
    }

    /// Where the next token stands.
    pub(super) fn here(&self) -> Span {
        self.span(self.at)
    }

    /// Where the token before it stands.
    pub(super) fn before(&self) -> Span {
        self.span(self.at.saturating_sub(1))
    }

    /// Takes a symbol if it is next.
    pub(super) fn take(&mut self, symbol: Symbol) -> bool {
        let is_next = self.peek() == Some(Token::Symbol(symbol));
        self.at += usize::from(is_next);
        is_next
    }

    /// Takes a symbol that must be next.
    pub(super) fn expect(&mut self, symbol: Symbol) -> Read<()> {
        if self.take(symbol) { Ok(()) } else { Err(self.unexpected(&format!("`{}`", symbol.spelling()))) }
    }

    /// Takes a word that is no name.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let is_next = self.peek() == Some(Token::Name(word));
        self.at += usize::from(is_next);
        is_next
    }

    /// Takes a name that must be next.
    pub(super) fn name(&mut self, what: &str) -> Read<Name<'s>> {
        match self.peek() {
            Some(Token::Name(text)) if !WORDS.contains(&text) => {
                self.at += 1;
                Ok(Name { text, span: self.before() })
            }
            Some(Token::Name(word)) => Err(self.reserved(word)),
            Some(Token::Keyword(keyword)) => Err(self.reserved(keyword.spelling())),
            _ => Err(self.unexpected(what)),
        }
    }

    /// The error for a word that cannot be a name.
    fn reserved(&mut self, word: &str) -> Reported {
        let error = Diagnostic::error(format!("`{word}` has a meaning of its own and cannot be a name"), self.here());
        self.report(error.with_help(format!("`{word}_` can")))
    }

    /// Takes the name of a procedure or of a locked update, which is a keyword.
    fn callee(&mut self) -> Option<Name<'s>> {
        let text = match self.peek()? {
            Token::Name(text) if !WORDS.contains(&text) => text,
            Token::Keyword(keyword @ (Keyword::Cas | Keyword::Xchg | Keyword::FetchAdd | Keyword::Rmw)) => {
                keyword.spelling()
            }
            _ => return None,
        };
        self.at += 1;
        Some(Name { text, span: self.before() })
    }

    /// Reports an error.
    pub(super) fn report(&mut self, error: Diagnostic) -> Reported {
        self.errors.push(error);
        Reported
    }

    /// A number known when the text is read.
    fn constant_value(&mut self) -> Read<i64> {
        let raw = self.expression()?;
        let value = self.constant_expression(&raw)?;
        value.evaluate(&[], None).map_err(|error| self.report(Diagnostic::error(error.to_string(), raw.span)))
    }

    fn constant_expression(&mut self, raw: &RawExpression<'s>) -> Read<Expression> {
        let value = match &raw.kind {
            ExpressionKind::Literal(value) => Some(i128::from(*value)),
            ExpressionKind::Constant(value) => Some(*value),
            ExpressionKind::Name(name) => self.constants.get(name).map(|value| i128::from(*value)),
            ExpressionKind::Unary(operator, operand) => {
                return Ok(Expression::unary(*operator, self.constant_expression(operand)?));
            }
            ExpressionKind::Binary(operator, left, right) => {
                let left = self.constant_expression(left)?;
                return Ok(Expression::binary(*operator, left, self.constant_expression(right)?));
            }
            _ => None,
        };
        match value.map(i64::try_from) {
            Some(Ok(value)) => Ok(Expression::Constant(value)),
            Some(Err(_)) => Err(self.report(Diagnostic::error("the number does not fit 64 bits", raw.span))),
            None => {
                let error = Diagnostic::error("only numbers and constants declared before may stand here", raw.span);
                Err(self.report(error))
            }
        }
    }

    /// An expression.
    pub(super) fn expression(&mut self) -> Read<RawExpression<'s>> {
        self.binary(1)
    }

    /// An expression whose operators bind at least as strongly as `least`.
    fn binary(&mut self, least: u8) -> Read<RawExpression<'s>> {
        let mut left = self.operand()?;
        self.no_operator_in_letters()?;
        while let Some(operator) = self.operator().filter(|operator| strength(*operator) >= least) {
            self.at += 1;
            let right = self.binary(strength(operator) + 1)?;
            left = RawExpression::binary(operator, left, right);
            self.errors.extend(precedence::warning(self.source, &left));
        }
        Ok(left)
    }

    /// Refuses `and` and `or` between operands.
    fn no_operator_in_letters(&mut self) -> Read<()> {
        let (word, operator) = match self.peek() {
            Some(Token::Name("and")) => ("and", "&&"),
            Some(Token::Name("or")) => ("or", "||"),
            _ => return Ok(()),
        };
        if !self.begins_operand(1) {
            return Ok(());
        }
        let error = Diagnostic::error(format!("there is no `{word}`"), self.here());
        Err(self.report(error.with_help(format!("write `{operator}`"))))
    }

    /// The binary operator that is next. `++`, `--` and `+=` are none.
    fn operator(&self) -> Option<BinaryOperator> {
        let Some(Token::Symbol(symbol)) = self.peek() else { return None };
        if self.compound().is_some() {
            return None;
        }
        symbol.operator()
    }

    /// An operand without binary operators outside of brackets.
    pub(super) fn operand(&mut self) -> Read<RawExpression<'s>> {
        let mut prefixes = Vec::new();
        while let Some(Token::Symbol(symbol)) = self.peek() {
            let operator = match symbol {
                Symbol::Minus => Prefix::Operator(UnaryOperator::Negate),
                Symbol::Not => Prefix::Operator(UnaryOperator::Not),
                Symbol::Tilde => Prefix::Operator(UnaryOperator::Complement),
                Symbol::Star if self.begins_operand(1) => Prefix::Content,
                Symbol::BitAnd => Prefix::Address,
                _ => break,
            };
            prefixes.push((operator, self.here()));
            self.at += 1;
        }
        let mut operand = self.atom()?;
        for (prefix, start) in prefixes.into_iter().rev() {
            let span = start.to(operand.extent);
            operand = match prefix {
                Prefix::Operator(operator) => operand.prefixed(operator, start),
                Prefix::Content => RawExpression::new(ExpressionKind::Memory(Box::new(operand)), span),
                Prefix::Address => RawExpression::new(ExpressionKind::AddressOf(Box::new(operand)), span),
            };
        }
        Ok(operand)
    }

    /// Whether a token begins an operand, so that `*` before it is the content of an address.
    fn begins_operand(&self, ahead: usize) -> bool {
        matches!(
            self.token(ahead),
            Some(
                Token::Name(_)
                    | Token::Integer(_)
                    | Token::Keyword(_)
                    | Token::Symbol(Symbol::OpenParen | Symbol::Star | Symbol::BitAnd | Symbol::Minus)
            )
        )
    }

    fn atom(&mut self) -> Read<RawExpression<'s>> {
        let start = self.here();
        match self.peek() {
            Some(Token::Integer(value)) => {
                self.at += 1;
                Ok(RawExpression::new(ExpressionKind::Literal(value), start))
            }
            Some(Token::Symbol(Symbol::Star)) => {
                self.at += 1;
                Ok(RawExpression::new(ExpressionKind::Any, start))
            }
            Some(Token::Symbol(Symbol::OpenParen)) => {
                self.at += 1;
                let inside = self.expression()?;
                self.expect(Symbol::CloseParen)?;
                Ok(inside.parenthesised(start.to(self.before())))
            }
            Some(Token::Keyword(Keyword::Mem)) => {
                self.at += 1;
                self.expect(Symbol::OpenBracket)?;
                let address = self.expression()?;
                self.expect(Symbol::CloseBracket)?;
                Ok(RawExpression::new(ExpressionKind::Memory(Box::new(address)), start.to(self.before())))
            }
            Some(Token::Name("true")) => {
                self.at += 1;
                Ok(RawExpression::new(ExpressionKind::Constant(1), start))
            }
            Some(Token::Name("false")) => {
                self.at += 1;
                Ok(RawExpression::new(ExpressionKind::Constant(0), start))
            }
            Some(Token::Name("self")) => {
                self.at += 1;
                Ok(RawExpression::new(ExpressionKind::Name("self"), start))
            }
            _ => self.named(),
        }
    }

    /// `(operands)`.
    pub(super) fn operands(&mut self) -> Read<Vec<RawExpression<'s>>> {
        self.expect(Symbol::OpenParen)?;
        let mut operands = Vec::new();
        while !self.take(Symbol::CloseParen) {
            operands.push(self.expression()?);
            if !self.take(Symbol::Comma) && self.peek() != Some(Token::Symbol(Symbol::CloseParen)) {
                return Err(self.unexpected("`,` or `)`"));
            }
        }
        Ok(operands)
    }

    /// `name`, `name[index]`, `name(operands)`.
    fn named(&mut self) -> Read<RawExpression<'s>> {
        let is_call = self.token(1) == Some(Token::Symbol(Symbol::OpenParen));
        if self.peek() == Some(Token::Name("not")) && matches!(self.token(1), Some(Token::Name(_) | Token::Integer(_)))
        {
            let error = Diagnostic::error("there is no `not`", self.here());
            return Err(self.report(error.with_help("write `!`")));
        }
        let name = match self.peek() {
            Some(Token::Keyword(_)) if is_call => self.callee(),
            Some(Token::Name(text)) if !WORDS.contains(&text) => self.callee(),
            _ => None,
        };
        let Some(name) = name else { return Err(self.unexpected("an expression")) };
        let kind = if self.peek() == Some(Token::Symbol(Symbol::OpenParen)) {
            ExpressionKind::Apply(name, self.operands()?)
        } else if self.take(Symbol::OpenBracket) {
            let index = self.expression()?;
            self.expect(Symbol::CloseBracket)?;
            ExpressionKind::Index(name, Box::new(index))
        } else {
            ExpressionKind::Name(name.text)
        };
        Ok(RawExpression::new(kind, name.span.to(self.before())))
    }
}

/// What may stand before an operand.
#[derive(Clone, Copy)]
enum Prefix {
    Operator(UnaryOperator),
    /// `*`: what is stored at an address.
    Content,
    /// `&`: the number of an address.
    Address,
}
