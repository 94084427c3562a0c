//! The grammar of statements, conditions and expressions.

use super::ast::{Condition, Expression, Name, Place, PlaceKind, Statement, WriteKind};
use super::grammar::{Parsed, Reader, WithEnd, whole};
use super::lexer::Kind;
use crate::Diagnostic;
use palisade_model::program::BinaryOperator;

impl<'s> Reader<'_, 's> {
    /// A statement without its label.
    pub(super) fn statement(&mut self) -> Parsed<WithEnd<'s>> {
        let Some(word) = self.peek() else { return Err(self.unexpected("a statement")) };
        if let Kind::Register(text) = word.kind {
            let register = Name { text, span: word.span };
            self.advance();
            self.word(":=")?;
            let value = self.expression()?;
            return Ok(self.done(Statement::Assign { register, value }));
        }
        if word.is("{") {
            let end = self.position() + 1;
            self.advance();
            let body = self.sequence()?;
            self.closing("`;` or `}`")?;
            return Ok((Statement::Block(body), end));
        }
        let Kind::Keyword(keyword) = word.kind else { return Err(self.unexpected("a statement")) };
        self.advance();
        match keyword {
            "nop" => Ok(self.done(Statement::Nop)),
            "fence" => Ok(self.done(Statement::Fence)),
            "ssfence" => Ok(self.done(Statement::StoreFence)),
            "llfence" => {
                self.remark("`llfence` does nothing here: loads are in order under SC, TSO and PSO", word.span);
                Ok(self.done(Statement::Nop))
            }
            "read" => self.read(),
            "syncrd" => {
                self.remark("`syncrd` is read as `read`", word.span);
                self.read()
            }
            "write" => self.write(WriteKind::Plain),
            "syncwr" => {
                self.remark("`syncwr` is read as `write`", word.span);
                self.write(WriteKind::Plain)
            }
            "locked" if self.peek().is_some_and(|next| next.is("{")) => {
                let end = self.position();
                Ok((Statement::Locked(self.alternatives()?), end))
            }
            "locked" | "slocked" => {
                if !self.take("write") {
                    return Err(self.unexpected(if keyword == "locked" { "`write` or `{`" } else { "`write`" }));
                }
                self.write(if keyword == "locked" { WriteKind::Locked } else { WriteKind::StoreLocked })
            }
            "cas" => self.cas(),
            "assume" => {
                self.word(":")?;
                let condition = self.condition()?;
                Ok(self.done(Statement::Assume(condition)))
            }
            "goto" => {
                let Some((Kind::Name(text), span)) = self.peek().map(|word| (word.kind, word.span)) else {
                    return Err(self.unexpected("a label"));
                };
                self.advance();
                Ok(self.done(Statement::Goto(Name { text, span })))
            }
            "if" => {
                let condition = self.condition()?;
                let end = self.position();
                self.word("then")?;
                let then = Box::new(self.labelled()?);
                let otherwise = if self.take("else") { Some(Box::new(self.labelled()?)) } else { None };
                Ok((Statement::If { condition, then, otherwise }, end))
            }
            "while" => {
                let condition = self.condition()?;
                let end = self.position();
                self.word("do")?;
                Ok((Statement::While { condition, body: Box::new(self.labelled()?) }, end))
            }
            "either" => {
                let end = self.position();
                Ok((Statement::Either(self.alternatives()?), end))
            }
            _ => {
                self.retreat();
                Err(self.unexpected("a statement"))
            }
        }
    }

    /// A statement that ends here.
    fn done(&self, statement: Statement<'s>) -> WithEnd<'s> {
        (statement, self.position())
    }

    /// What follows `read`.
    fn read(&mut self) -> Parsed<WithEnd<'s>> {
        self.word(":")?;
        if let Some((Kind::Register(text), span)) = self.peek().map(|word| (word.kind, word.span)) {
            self.advance();
            self.word(":=")?;
            let place = self.place()?;
            return Ok(self.done(Statement::Read { register: Name { text, span }, place }));
        }
        let place = self.place()?;
        self.word("=")?;
        let value = self.expression()?;
        Ok(self.done(Statement::Await { place, value }))
    }

    /// What follows `write`.
    fn write(&mut self, kind: WriteKind) -> Parsed<WithEnd<'s>> {
        self.word(":")?;
        let place = self.place()?;
        self.word(":=")?;
        let value = self.expression()?;
        Ok(self.done(Statement::Write { place, value, kind }))
    }

    /// What follows `cas`.
    fn cas(&mut self) -> Parsed<WithEnd<'s>> {
        self.word("(")?;
        let place = self.place()?;
        self.word(",")?;
        let expected = self.expression()?;
        self.word(",")?;
        let new = self.expression()?;
        self.word(")")?;
        Ok(self.done(Statement::Cas { place, expected, new }))
    }

    fn place(&mut self) -> Parsed<Place<'s>> {
        let start = self.span();
        let kind = if self.take("[") {
            let pointer = self.expression()?;
            self.word("]")?;
            PlaceKind::Pointer(pointer)
        } else {
            let Some(Kind::Name(text)) = self.peek().map(|word| word.kind) else {
                return Err(self.unexpected("a variable"));
            };
            self.advance();
            if self.take("[") {
                let kind = if self.take("my") {
                    PlaceKind::Own(text)
                } else if let Some(Kind::Number(number)) = self.peek().map(|word| word.kind) {
                    self.advance();
                    PlaceKind::Other(text, number.unsigned_abs())
                } else {
                    return Err(self.unexpected("`my` or the number of another process"));
                };
                self.word("]")?;
                kind
            } else {
                PlaceKind::Global(text)
            }
        };
        Ok(Place { kind, span: whole(start, self.last()) })
    }

    /// A condition: alternatives of conjunctions.
    pub(super) fn condition(&mut self) -> Parsed<Condition<'s>> {
        self.nested(|reader| {
            let mut all = reader.conjunction()?;
            while reader.take("||") {
                let right = reader.conjunction()?;
                all = Condition::Or(Box::new(all), Box::new(right));
                reader.one_more_operator()?;
            }
            Ok(all)
        })
    }

    fn conjunction(&mut self) -> Parsed<Condition<'s>> {
        let mut all = self.negatable()?;
        while self.take("&&") {
            let right = self.negatable()?;
            all = Condition::And(Box::new(all), Box::new(right));
            self.one_more_operator()?;
        }
        Ok(all)
    }

    fn negatable(&mut self) -> Parsed<Condition<'s>> {
        if !self.take("not") {
            return self.atom();
        }
        self.one_more_operator()?;
        Ok(Condition::Not(Box::new(self.atom()?)))
    }

    fn atom(&mut self) -> Parsed<Condition<'s>> {
        use BinaryOperator as Op;
        if self.take("true") {
            return Ok(Condition::Constant(true));
        }
        if self.take("false") {
            return Ok(Condition::Constant(false));
        }
        if self.take("[") {
            let condition = self.condition()?;
            self.word("]")?;
            return Ok(condition);
        }
        if let Some((Kind::Name(name), span)) = self.peek().map(|word| (word.kind, word.span)) {
            let error = Diagnostic::error(format!("conditions see registers only, not `{name}`"), span);
            return Err(self.record(error.with_help("read it first: `read: $r := …`")));
        }
        let left = self.expression()?;
        let comparisons = [
            ("=", Op::Equal),
            ("!=", Op::NotEqual),
            ("<=", Op::LessOrEqual),
            (">=", Op::GreaterOrEqual),
            ("<", Op::Less),
            (">", Op::Greater),
        ];
        let Some((_, operator)) = comparisons.into_iter().find(|(text, _)| self.take(text)) else {
            return Err(self.unexpected("a comparison with `=`, `!=`, `<`, `<=`, `>` or `>=`"));
        };
        Ok(Condition::Compare(operator, left, self.expression()?))
    }

    /// Units added and subtracted from left to right.
    pub(super) fn expression(&mut self) -> Parsed<Expression<'s>> {
        self.nested(|reader| {
            let mut all = reader.unit()?;
            loop {
                let operator = if reader.take("+") {
                    BinaryOperator::Add
                } else if reader.take("-") {
                    BinaryOperator::Subtract
                } else {
                    return Ok(all);
                };
                let right = reader.unit()?;
                all = Expression::Binary(operator, Box::new(all), Box::new(right));
                reader.one_more_operator()?;
            }
        })
    }

    fn unit(&mut self) -> Parsed<Expression<'s>> {
        let Some(word) = self.peek() else { return Err(self.unexpected("a register or a number")) };
        match word.kind {
            Kind::Register(text) => {
                self.advance();
                Ok(Expression::Register(Name { text, span: word.span }))
            }
            Kind::Number(number) => {
                self.advance();
                Ok(Expression::Number(number))
            }
            Kind::Symbol("-") => {
                self.advance();
                self.one_more_operator()?;
                Ok(Expression::Negated(Box::new(self.nested(Self::unit)?)))
            }
            Kind::Symbol("(") => {
                self.advance();
                let inside = self.expression()?;
                self.word(")")?;
                Ok(inside)
            }
            Kind::Name(name) => {
                let error = Diagnostic::error(format!("expressions see registers only, not `{name}`"), word.span);
                Err(self.record(error.with_help("read it first: `read: $r := …`")))
            }
            Kind::Keyword(_) | Kind::Symbol(_) => Err(self.unexpected("a register or a number")),
        }
    }
}
