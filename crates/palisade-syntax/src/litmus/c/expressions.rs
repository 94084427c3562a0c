//! Expressions of C. Reads of memory stand in them and become loads from left to right.

use super::arithmetic::combined;
use super::body::{Place, Read, Reader};
use super::calls::{Called, load};
use super::lexer::Token;
use super::types::{INT, Typed, is_type_word};
use crate::Diagnostic;
use crate::native::ast::{ExpressionKind, Name, RawExpression};
use crate::native::{operator, strength};
use palisade_model::program::{Ordering, UnaryOperator};
use palisade_model::text::Span;

impl<'s> Reader<'_, 's> {
    /// An expression.
    pub(super) fn expression(&mut self) -> Read<Typed<'s>> {
        let value = self.binary(0)?;
        if self.sees("?") {
            return Err(
                Diagnostic::error("`?` is not understood", self.here()).with_help("write it with `if` and `else`")
            );
        }
        Ok(value)
    }

    /// Operators that bind more strongly than `above`.
    fn binary(&mut self, above: u8) -> Read<Typed<'s>> {
        let mut left = self.unary()?;
        while let Some(Token::Symbol(symbol)) = self.peek() {
            let Some(operator) = operator(symbol).filter(|operator| strength(*operator) > above) else { break };
            self.at += 1;
            let right = self.nested(|reader| reader.binary(strength(operator)))?;
            left = combined(operator, left, right)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Read<Typed<'s>> {
        let start = self.here();
        let Some(Token::Symbol(symbol)) = self.peek() else { return self.primary() };
        let operator = match symbol {
            "-" => UnaryOperator::Negate,
            "~" => UnaryOperator::Complement,
            "!" => UnaryOperator::Not,
            "+" => {
                self.at += 1;
                let value = self.nested(Self::unary)?;
                let cell = value.cell.promoted();
                return Ok(value.converted(cell));
            }
            _ => return self.primary(),
        };
        self.at += 1;
        Ok(self.nested(Self::unary)?.prefixed(operator, start))
    }

    fn primary(&mut self) -> Read<Typed<'s>> {
        let span = self.here();
        match self.peek() {
            Some(Token::Number(number)) => {
                self.at += 1;
                Ok(Typed::number(number, span))
            }
            Some(Token::Symbol("(")) => {
                if let Some(Token::Name(word)) = self.token(1)
                    && is_type_word(word)
                {
                    return self.cast();
                }
                self.at += 1;
                let mut value = self.nested(Self::expression)?;
                self.expect(")")?;
                value.raw = value.raw.parenthesised(span.to(self.before()));
                Ok(value)
            }
            Some(Token::Name("true" | "false")) => {
                let value = i128::from(self.peek() == Some(Token::Name("true")));
                self.at += 1;
                Ok(Typed::known(value, INT, span))
            }
            Some(Token::Name(_)) if self.token(1) == Some(Token::Symbol("(")) => {
                let called = self.call()?;
                value_of(called, span.to(self.before()))
            }
            Some(Token::Name(text)) if self.variable(text).is_some() => {
                let cell = self.variable(text).map_or(INT, |local| local.cell);
                self.at += 1;
                Ok(Typed::held(RawExpression::new(ExpressionKind::Name(text), span), cell))
            }
            Some(Token::Name(text)) if self.address(text).is_some() && self.token(1) != Some(Token::Symbol("[")) => {
                Err(Diagnostic::error(format!("`{text}` is an address, and no value here"), span)
                    .with_help(format!("`*{text}` is what is stored there")))
            }
            Some(Token::Symbol("&")) => Err(Diagnostic::error("addresses are no values here", span)
                .with_help("name the place where it is accessed")),
            Some(Token::Name(_) | Token::Symbol("*")) => {
                let place = self.lvalue()?;
                self.accesses += 1;
                let ordering = if place.is_atomic { Ordering::SeqCst } else { Ordering::Plain };
                let span = place.raw.span;
                Ok(load(place, ordering, span))
            }
            _ => Err(self.unexpected("a value")),
        }
    }

    /// `(type) value`.
    fn cast(&mut self) -> Read<Typed<'s>> {
        let start = self.here();
        self.at += 1;
        let cell = self.written_type()?;
        if self.sees("*") {
            return Err(no_addresses(start.to(self.here())));
        }
        self.expect(")")?;
        Ok(self.nested(Self::unary)?.converted(cell))
    }

    /// A place: `*x`, `x[1]`, `(*x)`.
    pub(super) fn lvalue(&mut self) -> Read<Place<'s>> {
        let start = self.here();
        if self.take("(") {
            let mut place = self.nested(Self::lvalue)?;
            self.expect(")")?;
            place.raw.span = start.to(self.before());
            place.raw.extent = place.raw.span;
            return Ok(place);
        }
        if !self.take("*") {
            return self.element(start);
        }
        if self.sees("(") {
            let cast = matches!(self.token(1), Some(Token::Name(word)) if is_type_word(word));
            if cast {
                return Err(no_addresses(start.to(self.here())));
            }
            self.at += 1;
            let place = self.nested(|reader| reader.pointed(start))?;
            self.expect(")")?;
            return Ok(place);
        }
        self.pointed(start)
    }

    /// What an address points to: that of a parameter, or `&` and a place.
    pub(super) fn pointed(&mut self, start: Span) -> Read<Place<'s>> {
        if self.take("&") {
            let mut place = self.nested(Self::lvalue)?;
            place.raw.span = start.to(self.before());
            place.raw.extent = place.raw.span;
            return Ok(place);
        }
        if let Some(Token::Symbol("(")) = self.peek()
            && matches!(self.token(1), Some(Token::Name(word)) if is_type_word(word))
        {
            return Err(no_addresses(self.here()));
        }
        let name = self.name("a parameter that is an address")?;
        self.place(name, 0, start.to(name.span))
    }

    /// `x[1]`, or an error about another name.
    fn element(&mut self, start: Span) -> Read<Place<'s>> {
        let name = self.name("a place in memory such as `*x`")?;
        if !self.take("[") {
            if self.address(name.text).is_some() {
                return Err(Diagnostic::error(format!("`{}` is an address", name.text), name.span)
                    .with_help(format!("`*{}` is what is stored there", name.text)));
            }
            return Err(self.unknown(name));
        }
        let index = self.nested(Self::expression)?;
        self.expect("]")?;
        let Some(number) = index.constant.and_then(|number| u32::try_from(number).ok()) else {
            return Err(Diagnostic::error("an element has a number that the text shows", index.raw.span)
                .with_help("choose between the elements with `if`"));
        };
        self.place(name, number, start.to(self.before()))
    }

    /// An element of the location that a parameter points to.
    fn place(&mut self, name: Name<'s>, element: u32, span: Span) -> Read<Place<'s>> {
        let Some(parameter) = self.address(name.text) else {
            if self.variable(name.text).is_some() {
                return Err(no_addresses(span));
            }
            return Err(self.unknown(name));
        };
        let length = self.locations.named(name.text).and_then(|location| location.length);
        if element >= length.unwrap_or(1) {
            let message = format!("`{}` has no element {element}", name.text);
            return Err(Diagnostic::error(message, span).with_help(format!(
                "declare the array in the initial state: `int {}[{}];`",
                name.text,
                element + 1
            )));
        }
        let kind = match length {
            Some(2..) => {
                let index = RawExpression::new(ExpressionKind::Constant(i128::from(element)), span);
                ExpressionKind::Index(Name { text: name.text, span }, Box::new(index))
            }
            _ => ExpressionKind::Name(name.text),
        };
        let raw = RawExpression::new(kind, span);
        Ok(Place { raw, cell: parameter.cell, is_atomic: parameter.is_atomic })
    }
}

fn no_addresses(span: Span) -> Diagnostic {
    Diagnostic::error("variables and casts are no addresses here", span)
        .with_help("access locations by the parameters that are their addresses")
}

/// What is called, as a value.
fn value_of(called: Called<'_>, span: Span) -> Read<Typed<'_>> {
    match called {
        Called::Load(value) => Ok(value),
        Called::Update { raw, cell, outcome } => outcome.value(Typed::held(raw, cell)),
        Called::Statement(_) => {
            Err(Diagnostic::error("this call has no value", span).with_help("write it as a statement of its own"))
        }
    }
}
