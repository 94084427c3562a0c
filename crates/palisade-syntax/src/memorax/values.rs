//! Which values expressions can have, and whether they fit where they go.
//!
//! In Memorax a write or assignment whose value lies outside of the target's domain cannot be
//! executed. Here an assumption stands before it, unless the domains of the registers show that it
//! is not needed.

use super::ast::Range;
use palisade_model::program::{BinaryOperator, Expression, UnaryOperator, Value};

/// All values between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    low: i128,
    high: i128,
}

impl Interval {
    /// The values of a domain; nothing stands for all integers.
    pub(super) fn of(domain: Option<Range>) -> Self {
        let Range { low, high } = domain.unwrap_or(Range { low: Value::MIN, high: Value::MAX });
        Self { low: low.into(), high: high.into() }
    }

    /// The values of an expression over registers with these domains; `old` are those of what a
    /// locked update loads.
    pub(super) fn of_expression(expression: &Expression, registers: &[Option<Range>], old: Option<Range>) -> Self {
        let one = |value: i128| Self { low: value, high: value };
        match expression {
            Expression::Constant(value) | Expression::Address { value, .. } => one((*value).into()),
            Expression::Register(register) => Self::of(registers[register.index()]),
            Expression::Old => Self::of(old),
            Expression::Unary(UnaryOperator::Negate, operand) => {
                let Self { low, high } = Self::of_expression(operand, registers, old);
                Self { low: high.saturating_neg(), high: low.saturating_neg() }
            }
            Expression::Binary(BinaryOperator::Add, left, right) => {
                let (left, right) =
                    (Self::of_expression(left, registers, old), Self::of_expression(right, registers, old));
                Self { low: left.low.saturating_add(right.low), high: left.high.saturating_add(right.high) }
            }
            Expression::Binary(BinaryOperator::Subtract, left, right) => {
                let (left, right) =
                    (Self::of_expression(left, registers, old), Self::of_expression(right, registers, old));
                Self { low: left.low.saturating_sub(right.high), high: left.high.saturating_sub(right.low) }
            }
            Expression::Unary(..) | Expression::Binary(..) => Self { low: i128::MIN, high: i128::MAX },
        }
    }

    /// Whether every value lies in the other interval.
    pub(super) fn is_inside(self, other: Self) -> bool {
        other.low <= self.low && self.high <= other.high
    }

    /// Whether no value lies in the other interval.
    pub(super) fn is_outside(self, other: Self) -> bool {
        self.high < other.low || other.high < self.low
    }
}

/// Whether a value fits where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// Whatever the registers hold.
    Always,
    /// While the condition holds.
    When(Expression),
    /// Never.
    Never,
}

impl Fit {
    /// Whether the values of an expression, which lie in `values`, fit a domain.
    pub(super) fn of(expression: &Expression, values: Interval, domain: Option<Range>) -> Self {
        let Some(Range { low, high }) = domain else { return Self::Always };
        let all = Interval::of(domain);
        if values.is_inside(all) {
            return Self::Always;
        }
        if values.is_outside(all) {
            return Self::Never;
        }
        let compared = |operator, bound| Expression::binary(operator, expression.clone(), Expression::Constant(bound));
        let above = (values.low < low.into()).then(|| compared(BinaryOperator::GreaterOrEqual, low));
        let below = (values.high > high.into()).then(|| compared(BinaryOperator::LessOrEqual, high));
        let parts = above.into_iter().chain(below).map(Self::When);
        parts.fold(Self::Always, Self::and)
    }

    /// Both fit.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Never, _) | (_, Self::Never) => Self::Never,
            (Self::Always, fit) | (fit, Self::Always) => fit,
            (Self::When(one), Self::When(other)) => Self::When(Expression::binary(BinaryOperator::And, one, other)),
        }
    }

    /// One of several fits, at least one.
    pub(super) fn any(mut all: Vec<Self>) -> Self {
        // Halves instead of one after the other, so that the expression is not deep.
        match all.len() {
            0 => Self::Never,
            1 => all.swap_remove(0),
            length => {
                let right = all.split_off(length / 2);
                match (Self::any(all), Self::any(right)) {
                    (Self::Always, _) | (_, Self::Always) => Self::Always,
                    (Self::Never, fit) | (fit, Self::Never) => fit,
                    (Self::When(one), Self::When(other)) => {
                        Self::When(Expression::binary(BinaryOperator::Or, one, other))
                    }
                }
            }
        }
    }
}

/// What does not hold when the condition does.
pub(super) fn opposite(condition: Expression) -> Expression {
    match condition {
        Expression::Binary(operator, left, right) => match operator.contrary() {
            Some(contrary) => Expression::Binary(contrary, left, right),
            None => Expression::unary(UnaryOperator::Not, Expression::Binary(operator, left, right)),
        },
        condition => Expression::unary(UnaryOperator::Not, condition),
    }
}
