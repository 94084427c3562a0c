//! Values: what an expression reads from memory becomes instructions, the rest an expression over
//! registers.

use super::Lowering;
use super::places::base_name;
use super::scope::{Binding, Meaning};
use crate::MAX_EXPRESSION_DEPTH;
use crate::native::ast::{ExpressionKind, Name, RawExpression};
use crate::native::width;
use palisade_model::program::{Action, BinaryOperator, Expression, LabelId, RegisterId, UnaryOperator, Value};
use palisade_model::text::Span;

impl<'s> Lowering<'_, 's, '_> {
    /// A label in the middle of the statement that is being lowered.
    pub(super) fn step_label(&mut self, span: Span) -> LabelId {
        let label = self.label(None, span);
        self.layout.inside(label, self.statement);
        label
    }

    /// The value of an expression that is evaluated from `from` on, with the label at which it is
    /// known.
    pub(super) fn value(&mut self, raw: &RawExpression<'s>, from: LabelId) -> Option<(Expression, LabelId)> {
        match &raw.kind {
            ExpressionKind::Literal(value) => Some((self.number(i128::from(*value), raw.span)?, from)),
            ExpressionKind::Constant(value) => Some((self.number(*value, raw.span)?, from)),
            ExpressionKind::Name(text) => match self.meaning(Name { text, span: raw.span })? {
                Meaning::Bound(Binding::Register(register)) => Some((Expression::Register(register), from)),
                Meaning::Bound(Binding::Value(value)) => Some((value, from)),
                Meaning::Bound(Binding::Place(_)) | Meaning::Address(_) => self.read(raw, from),
            },
            ExpressionKind::Index(..)
            | ExpressionKind::Memory(_)
            | ExpressionKind::Any
            | ExpressionKind::CompareExchange(_) => self.read(raw, from),
            ExpressionKind::AddressOf(place) => self.place(place, from, true),
            ExpressionKind::Unary(operator, operand) => {
                let (operand, at) = self.value(operand, from)?;
                Some((Expression::unary(*operator, operand), at))
            }
            ExpressionKind::Binary(operator @ (BinaryOperator::And | BinaryOperator::Or), _, right)
                if self.acts(right) =>
            {
                let _ = operator;
                self.truth_value(raw, from)
            }
            ExpressionKind::Binary(operator, left, right) => {
                let (left, at) = self.value(left, from)?;
                let (right, at) = self.value(right, at)?;
                Some((Expression::binary(*operator, left, right), at))
            }
            ExpressionKind::Apply(name, operands) => match (width(name.text), operands.as_slice()) {
                (Some((bits, signed)), [operand]) => {
                    let (operand, at) = self.value(operand, from)?;
                    Some((Expression::unary(UnaryOperator::Truncate { bits, signed }, operand), at))
                }
                _ => self.read(raw, from),
            },
            ExpressionKind::TooDeep | ExpressionKind::Call(..) => {
                let message =
                    format!("the expression has more than {MAX_EXPRESSION_DEPTH} operators inside each other");
                self.error(message, raw.span);
                None
            }
        }
    }

    /// The value of an expression that is one action, in a register of the statement.
    fn read(&mut self, raw: &RawExpression<'s>, from: LabelId) -> Option<(Expression, LabelId)> {
        self.goes_without_old(raw)?;
        let base = base_name(raw);
        // The register is taken only after what the action itself reads, so that these do not
        // differ for nothing.
        let to = self.step_label(Span { start: raw.span.end, end: raw.span.end });
        let register = self.temporary(base, raw.span);
        self.action_into(raw, register, from, to)?;
        Some((Expression::Register(register), to))
    }

    /// Complains where what takes instructions of its own, before an `rmw`, uses the value that
    /// this will find.
    fn goes_without_old(&mut self, raw: &RawExpression<'s>) -> Option<()> {
        let Some(span) = self.named_old(raw) else { return Some(()) };
        let error = self.error("`old` is known only in the one step of its `rmw`", span);
        error.help = Some("memory is read, and calls are made, before that step: write a loop around `cas`".to_owned());
        None
    }

    /// Where an expression names the value that the `rmw` around it finds; an `rmw` inside of it
    /// has an `old` of its own.
    fn named_old(&self, raw: &RawExpression<'s>) -> Option<Span> {
        match &raw.kind {
            ExpressionKind::Name(name) => {
                let meaning = self.meaning_if_any(name);
                let is_old = matches!(meaning, Some(Meaning::Bound(Binding::Value(Expression::Old))));
                is_old.then_some(raw.span)
            }
            ExpressionKind::Apply(name, operands) => {
                let own = if name.text == "rmw" { 1 } else { operands.len() };
                operands.iter().take(own).find_map(|operand| self.named_old(operand))
            }
            ExpressionKind::Binary(_, left, right) => self.named_old(left).or_else(|| self.named_old(right)),
            ExpressionKind::CompareExchange(it) => self.named_old(&it.place).or_else(|| self.named_old(&it.new)),
            ExpressionKind::Unary(_, operand)
            | ExpressionKind::Memory(operand)
            | ExpressionKind::Index(_, operand)
            | ExpressionKind::Call(_, operand)
            | ExpressionKind::AddressOf(operand) => self.named_old(operand),
            ExpressionKind::Literal(_)
            | ExpressionKind::Constant(_)
            | ExpressionKind::Any
            | ExpressionKind::TooDeep => None,
        }
    }

    /// Lets a register have the value of an expression, between two labels.
    pub(super) fn value_into(
        &mut self,
        raw: &RawExpression<'s>,
        register: RegisterId,
        from: LabelId,
        to: LabelId,
        span: Span,
    ) -> Option<()> {
        if self.is_action(raw) {
            return self.action_into(raw, register, from, to);
        }
        let (value, at) = self.value(raw, from)?;
        self.automaton.instruction(at, to, Action::Assign { register, value }, span);
        Some(())
    }

    /// Whether an expression is one action with an outcome: a load, an update, a call, any value.
    fn is_action(&self, raw: &RawExpression<'s>) -> bool {
        match &raw.kind {
            ExpressionKind::Name(name) => {
                matches!(self.meaning_if_any(name), Some(Meaning::Bound(Binding::Place(_)) | Meaning::Address(_)))
            }
            ExpressionKind::Index(..)
            | ExpressionKind::Memory(_)
            | ExpressionKind::Any
            | ExpressionKind::CompareExchange(_) => true,
            ExpressionKind::Apply(name, operands) => width(name.text).is_none() || operands.len() != 1,
            _ => false,
        }
    }

    /// Whether evaluating an expression takes instructions of its own.
    pub(super) fn acts(&self, raw: &RawExpression<'s>) -> bool {
        self.is_action(raw)
            || match &raw.kind {
                ExpressionKind::Unary(_, operand) => self.acts(operand),
                ExpressionKind::Binary(_, left, right) => self.acts(left) || self.acts(right),
                ExpressionKind::Apply(_, operands) => operands.iter().any(|operand| self.acts(operand)),
                ExpressionKind::AddressOf(place) => match &place.kind {
                    ExpressionKind::Index(_, index) => self.acts(index),
                    ExpressionKind::Memory(address) => self.acts(address),
                    _ => false,
                },
                _ => false,
            }
    }

    /// The outcome of one action, in a register.
    fn action_into(&mut self, raw: &RawExpression<'s>, register: RegisterId, from: LabelId, to: LabelId) -> Option<()> {
        match &raw.kind {
            ExpressionKind::Any => {
                self.automaton.instruction(from, to, Action::Havoc { register }, raw.span);
            }
            ExpressionKind::Apply(name, operands) => {
                return self.apply(*name, operands, raw.span, Some(register), from, to);
            }
            ExpressionKind::CompareExchange(_) => return self.compare_exchange(raw, Some(register), from, to),
            _ => {
                let (address, at) = self.place(raw, from, false)?;
                self.access(at, to, Action::Load { register, address }, None, raw.span);
            }
        }
        Some(())
    }

    /// The truth value of a condition that reads memory only in part, as 0 or 1.
    fn truth_value(&mut self, raw: &RawExpression<'s>, from: LabelId) -> Option<(Expression, LabelId)> {
        self.goes_without_old(raw)?;
        let [yes, no, to] = std::array::from_fn(|_| self.step_label(Span { start: raw.span.end, end: raw.span.end }));
        self.branch(raw, from, yes, no)?;
        let register = self.temporary("holds", raw.span);
        for (at, value) in [(yes, 1), (no, 0)] {
            let value = Expression::Constant(value);
            self.automaton.instruction(at, to, Action::Assign { register, value }, raw.span);
        }
        Some((Expression::Register(register), to))
    }

    fn number(&mut self, value: i128, span: Span) -> Option<Expression> {
        match Value::try_from(value) {
            Ok(value) => Some(Expression::Constant(value)),
            Err(_) => {
                self.error(format!("the number {value} does not fit 64 bits"), span);
                None
            }
        }
    }
}
