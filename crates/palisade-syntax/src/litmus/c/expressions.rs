//! Expressions of C. Reads of memory stand in them and become loads from left to right.

use super::arithmetic::combined;
use super::body::{Place, Read, Reader};
use super::calls::{Called, load};
use super::lexer::Token;
use super::types::{INT, POINTER, Pointee, Typed, is_type_word};
use crate::Diagnostic;
use crate::litmus::initial::CellType;
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
                let local = self.variable(text);
                self.at += 1;
                let cell = local.map_or(INT, |local| local.cell);
                let value = Typed::held(RawExpression::new(ExpressionKind::Name(text), span), cell);
                Ok(Typed { points: local.and_then(|local| local.points), ..value })
            }
            Some(Token::Name(text)) if self.address(text).is_some() && self.token(1) != Some(Token::Symbol("[")) => {
                let object = self.address(text).expect("just found").object;
                self.at += 1;
                self.pointers.taken.push(text.to_owned());
                let place = RawExpression::new(ExpressionKind::Name(text), span);
                Ok(Typed::address(RawExpression::new(ExpressionKind::AddressOf(Box::new(place)), span), object))
            }
            Some(Token::Symbol("&")) => {
                self.at += 1;
                let place = self.nested(Self::lvalue)?;
                let span = span.to(self.before());
                Ok(match place.raw.kind {
                    ExpressionKind::Memory(address) => Typed::address(*address, place.object),
                    _ => {
                        place.raw.names(&mut |name| self.pointers.taken.push(name.text.to_owned()));
                        let raw = RawExpression::new(ExpressionKind::AddressOf(Box::new(place.raw)), span);
                        Typed::address(raw, place.object)
                    }
                })
            }
            Some(Token::Name(_) | Token::Symbol("*")) => {
                let place = self.lvalue()?;
                self.accesses += 1;
                let ordering = if place.is_atomic() { Ordering::SeqCst } else { Ordering::Plain };
                let span = place.raw.span;
                Ok(load(place, ordering, span))
            }
            _ => Err(self.unexpected("a value")),
        }
    }

    /// `(type) value`, `(type *) value`.
    fn cast(&mut self) -> Read<Typed<'s>> {
        self.at += 1;
        let (base, is_atomic) = self.written_type()?;
        let stars = self.stars();
        self.expect(")")?;
        let value = self.nested(Self::unary)?;
        match stars.checked_sub(1) {
            None => self.fitted(value, base, None),
            Some(stars) => self.fitted(value, POINTER, Some(Pointee { base, is_atomic, stars })),
        }
    }

    /// A value as one of a type that points to something or not. An address fits in 64 bits alone,
    /// and a number of fewer bits is none, unless it is 0.
    pub(super) fn fitted(&mut self, value: Typed<'s>, cell: CellType, points: Option<Pointee>) -> Read<Typed<'s>> {
        let span = value.raw.extent;
        if value.points.is_some() && cell.bits < POINTER.bits {
            return Err(Diagnostic::error("this is an address, and no number of so few bits", span)
                .with_help("`*x` is what is stored at `x`; an address goes to `int *r1`, `int **x` or `intptr_t r1`"));
        }
        if let Some(wanted) = points {
            match value.points {
                Some(found) if !found.is_like(wanted) => {
                    let message = "this is the address of an object of another size";
                    return Err(Diagnostic::error(message, span));
                }
                Some(_) => {}
                None if value.constant == Some(0) => {}
                // Which location's address it is, nobody knows.
                None if value.cell.bits == POINTER.bits => self.pointers.guessed.push((wanted.cell(), span)),
                None => {
                    let help = "an address comes from a parameter, `x` or `&x[1]`, or from a variable or location that holds one";
                    return Err(Diagnostic::error("this number is no address", span).with_help(help));
                }
            }
        }
        Ok(Typed { points, ..value.converted(cell) })
    }

    /// How many stars come next.
    pub(super) fn stars(&mut self) -> u8 {
        let mut stars = 0_u8;
        while self.take("*") {
            stars = stars.saturating_add(1);
        }
        stars
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
        self.pointed(start)
    }

    /// What an address points to: that of a parameter, one in a variable or a location, or `&` and
    /// a place.
    pub(super) fn pointed(&mut self, start: Span) -> Read<Place<'s>> {
        if self.take("&") {
            let mut place = self.nested(Self::lvalue)?;
            place.raw.span = start.to(self.before());
            place.raw.extent = place.raw.span;
            return Ok(place);
        }
        if let Some(Token::Name(text)) = self.peek()
            && self.variable(text).is_none_or(|local| local.points.is_none())
        {
            let name = self.name("a parameter that is an address")?;
            return self.place(name, 0, start.to(name.span));
        }
        if !matches!(self.peek(), Some(Token::Name(_) | Token::Symbol("(" | "*"))) {
            return Err(self.unexpected("a parameter that is an address"));
        }
        let taken = self.pointers.taken.len();
        let value = self.nested(Self::unary)?;
        let span = start.to(self.before());
        let Some(object) = value.points else { return Err(no_addresses(span)) };
        let mut raw = match value.raw.kind {
            // The location itself is accessed: its address is no value.
            ExpressionKind::AddressOf(place) => {
                self.pointers.taken.truncate(taken);
                *place
            }
            _ => RawExpression::new(ExpressionKind::Memory(Box::new(value.raw)), span),
        };
        (raw.span, raw.extent) = (span, span);
        Ok(Place { raw, object })
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
        Ok(Place { raw, object: parameter.object })
    }
}

fn no_addresses(span: Span) -> Diagnostic {
    Diagnostic::error("this is no address", span).with_help(
        "access locations by the parameters that are their addresses, or by variables of a type such as `int *`",
    )
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
