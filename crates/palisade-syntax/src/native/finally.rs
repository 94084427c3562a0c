//! What must hold in the end: `finally { ensure x == 1; }`, beside threads of either form.

use super::again::again;
use super::ast::{ExpressionKind, Name, RawExpression};
use super::braced::{Block, StatementKind, Structured};
use super::resolve::Resolver;
use super::width::width;
use crate::suggest::did_you_mean;
use palisade_model::program::{
    BinaryOperator, Expression, FinalClaim, Program, RegisterId, SourceText, Span, UnaryOperator, Value,
};

impl<'s> Resolver<'_, 's> {
    /// Resolves what the text states of the end.
    pub(super) fn finally(&mut self, program: &mut Program, structured: &Structured<'s>, source: &SourceText) {
        let [first, others @ ..] = structured.finally.as_slice() else { return };
        for other in others {
            self.found.push(again("`finally` is declared twice".to_owned(), other.0, first.0, source));
        }
        if program.is_event_driven() {
            let error = self.error("`finally` is about threads alone, and the program has events or tasks", first.0);
            error.help = Some("state it by an `ensure` of a task".to_owned());
        }
        self.claims(program, structured, &first.1);
    }

    fn claims(&mut self, program: &mut Program, structured: &Structured<'s>, block: &Block<'s>) {
        for statement in &block.statements {
            let named = statement.label.map(|label| label.span);
            let costs = statement.annotations.first().map(|annotation| annotation.name.span);
            if let Some(span) = named.or(costs) {
                self.error("nothing goes to what is stated in `finally`", span);
            }
            match &statement.kind {
                StatementKind::Empty => {}
                StatementKind::Ensure(raw) => {
                    let mut claiming = Claiming { resolver: self, structured, reads: Vec::new() };
                    if let Some(condition) = claiming.value(raw) {
                        let reads = claiming.reads;
                        program.finally.push(FinalClaim { condition, reads, span: raw.extent });
                    }
                }
                _ => {
                    let error = self.error("`finally` states what holds, and does nothing", statement.span);
                    error.help = Some("write `ensure x == 1;`, with what memory holds then".to_owned());
                }
            }
        }
        if block.statements.is_empty() {
            self.error("`finally` states nothing", block.span).help = Some("write `ensure x == 1;`".to_owned());
        }
    }
}

/// One condition, with the addresses that it has read so far.
struct Claiming<'r, 'a, 's> {
    resolver: &'r mut Resolver<'a, 's>,
    structured: &'r Structured<'s>,
    reads: Vec<Value>,
}

impl<'s> Claiming<'_, '_, 's> {
    /// What memory holds at an address.
    fn read(&mut self, address: Value) -> Expression {
        let known = self.reads.iter().position(|own| *own == address);
        let index = known.unwrap_or_else(|| {
            self.reads.push(address);
            self.reads.len() - 1
        });
        Expression::Register(RegisterId::from_index(index))
    }

    /// An expression over what memory holds.
    fn value(&mut self, raw: &RawExpression<'s>) -> Option<Expression> {
        match &raw.kind {
            ExpressionKind::Literal(value) => self.number(i128::from(*value), raw.span),
            ExpressionKind::Constant(value) => self.number(*value, raw.span),
            ExpressionKind::Name(text) => {
                if let Some(constant) = self.structured.constants.iter().find(|own| own.name.text == *text) {
                    return Some(Expression::Constant(constant.value));
                }
                let address = self.place(raw)?;
                Some(self.read(address))
            }
            ExpressionKind::Index(..) | ExpressionKind::Memory(_) => {
                let address = self.place(raw)?;
                Some(self.read(address))
            }
            ExpressionKind::AddressOf(place) => self.place(place).map(Expression::Constant),
            ExpressionKind::Unary(operator, operand) => Some(Expression::unary(*operator, self.value(operand)?)),
            ExpressionKind::Binary(operator, left, right) => {
                let (left, right) = (self.value(left), self.value(right));
                Some(Expression::binary(*operator, left?, right?))
            }
            ExpressionKind::Apply(name, operands) if width(name.text).is_some() && operands.len() == 1 => {
                let (bits, signed) = width(name.text)?;
                Some(Expression::unary(UnaryOperator::Truncate { bits, signed }, self.value(&operands[0])?))
            }
            ExpressionKind::TooDeep => {
                self.resolver.error("the expression is nested too deeply", raw.span);
                None
            }
            ExpressionKind::Apply(..)
            | ExpressionKind::Call(..)
            | ExpressionKind::CompareExchange(_)
            | ExpressionKind::Any => {
                let error = self.resolver.error("in the end memory is only read", raw.span);
                error.expected = vec!["the name of an address".to_owned(), "a number".to_owned()];
                None
            }
        }
    }

    /// The address of a place.
    fn place(&mut self, raw: &RawExpression<'s>) -> Option<Value> {
        match &raw.kind {
            ExpressionKind::Name(text) => {
                let (first, length) = self.named(Name { text, span: raw.span })?;
                if length > 1 {
                    let error = self.resolver.error(format!("`{text}` is an array"), raw.span);
                    error.help = Some(format!("write `{text}[i]`, with i from 0 to {}", length - 1));
                    return None;
                }
                Some(first)
            }
            ExpressionKind::Index(name, index) => {
                let (first, length) = self.named(*name)?;
                let index = self.constant(index)?;
                if !(0..i64::from(length)).contains(&index) {
                    let error = self.resolver.error(format!("`{}` has no element {index}", name.text), raw.span);
                    error.help = Some(format!("its elements are {0}[0] to {0}[{1}]", name.text, length - 1));
                    return None;
                }
                Some(first + index)
            }
            ExpressionKind::Memory(address) => self.address_value(address),
            _ => {
                let error = self.resolver.error("this is no place in memory", raw.span);
                error.expected = vec!["the name of an address".to_owned(), "`slot[1]`".to_owned()];
                None
            }
        }
    }

    /// The number in `mem[…]`, where the name of an address is its number.
    fn address_value(&mut self, raw: &RawExpression<'s>) -> Option<Value> {
        match &raw.kind {
            ExpressionKind::Name(text) if self.structured.constants.iter().all(|own| own.name.text != *text) => {
                Some(self.named(Name { text, span: raw.span })?.0)
            }
            ExpressionKind::Binary(operator @ (BinaryOperator::Add | BinaryOperator::Subtract), left, right) => {
                let (left, right) = (self.address_value(left)?, self.address_value(right)?);
                let (left, right) = (Expression::Constant(left), Expression::Constant(right));
                self.evaluated(&Expression::binary(*operator, left, right), raw.span)
            }
            _ => self.constant(raw),
        }
    }

    /// The first address of a name, and how many it has.
    fn named(&mut self, name: Name<'s>) -> Option<(Value, u32)> {
        let Some(id) = self.resolver.addresses.named(name.text) else {
            let help = did_you_mean(name.text, self.resolver.addresses.names());
            let error = self.resolver.error(format!("`{}` is no address", name.text), name.span);
            "unknown".clone_into(&mut error.label);
            error.help = help.or_else(|| Some("registers are gone in the end: only memory is read".to_owned()));
            return None;
        };
        let address = &self.resolver.addresses.all[id.index()];
        Some((address.address, address.length))
    }

    /// A number known when the text is read.
    fn constant(&mut self, raw: &RawExpression<'s>) -> Option<Value> {
        let before = self.reads.len();
        let value = self.value(raw)?;
        if !value.is_constant() {
            self.reads.truncate(before);
            self.resolver.error("only numbers and constants may stand here", raw.span);
            return None;
        }
        self.evaluated(&value, raw.span)
    }

    fn evaluated(&mut self, expression: &Expression, span: Span) -> Option<Value> {
        expression.evaluate_address(&[]).map_err(|error| self.resolver.error(error.to_string(), span)).ok()
    }

    fn number(&mut self, value: i128, span: Span) -> Option<Expression> {
        let number = Value::try_from(value).ok();
        if number.is_none() {
            self.resolver.error(format!("the number {value} does not fit 64 bits"), span);
        }
        number.map(Expression::Constant)
    }
}
