//! Conditions: from one label to two others.

use super::Lowering;
use crate::native::ast::{ExpressionKind, RawExpression};
use palisade_model::program::{Action, BinaryOperator, Expression, LabelId, UnaryOperator};

impl<'s> Lowering<'_, 's, '_> {
    /// Goes from `from` to `yes` where a condition holds, and to `no` where it does not. What `&&`
    /// and `||` guard is read only where they ask for it.
    pub(super) fn branch(&mut self, raw: &RawExpression<'s>, from: LabelId, yes: LabelId, no: LabelId) -> Option<()> {
        match &raw.kind {
            ExpressionKind::Any => {
                self.jump(from, yes, raw.span);
                self.jump(from, no, raw.span);
                Some(())
            }
            ExpressionKind::Literal(0) | ExpressionKind::Constant(0) => {
                self.jump(from, no, raw.span);
                Some(())
            }
            ExpressionKind::Literal(1) | ExpressionKind::Constant(1) => {
                self.jump(from, yes, raw.span);
                Some(())
            }
            ExpressionKind::Unary(UnaryOperator::Not, operand) => self.branch(operand, from, no, yes),
            ExpressionKind::Binary(BinaryOperator::And, left, right) if self.splits(raw) => {
                let second = self.step_label(right.span);
                self.branch(left, from, second, no)?;
                self.branch(right, second, yes, no)
            }
            ExpressionKind::Binary(BinaryOperator::Or, left, right) if self.splits(raw) => {
                let second = self.step_label(right.span);
                self.branch(left, from, yes, second)?;
                self.branch(right, second, yes, no)
            }
            _ => {
                let (condition, at) = self.value(raw, from)?;
                let otherwise = negated(&condition);
                self.automaton.instruction(at, yes, Action::Assume(condition), raw.span);
                self.automaton.instruction(at, no, Action::Assume(otherwise), raw.span);
                Some(())
            }
        }
    }

    /// Whether a condition is more than one question: it reads memory behind a guard, or has `*`
    /// for a part, which goes either way and needs no value.
    fn splits(&self, raw: &RawExpression<'s>) -> bool {
        match &raw.kind {
            ExpressionKind::Any => true,
            ExpressionKind::Unary(UnaryOperator::Not, operand) => self.splits(operand),
            ExpressionKind::Binary(BinaryOperator::And | BinaryOperator::Or, left, right) => {
                self.acts(right) || self.splits(left) || self.splits(right)
            }
            _ => false,
        }
    }
}

/// What holds where a condition does not.
pub(crate) fn negated(condition: &Expression) -> Expression {
    use BinaryOperator as Op;
    match condition {
        Expression::Unary(UnaryOperator::Not, operand) => (**operand).clone(),
        Expression::Binary(operator, left, right) => {
            let opposite = match operator {
                Op::Equal => Op::NotEqual,
                Op::NotEqual => Op::Equal,
                Op::Less => Op::GreaterOrEqual,
                Op::GreaterOrEqual => Op::Less,
                Op::Greater => Op::LessOrEqual,
                Op::LessOrEqual => Op::Greater,
                _ => return Expression::unary(UnaryOperator::Not, condition.clone()),
            };
            Expression::Binary(opposite, left.clone(), right.clone())
        }
        _ => Expression::unary(UnaryOperator::Not, condition.clone()),
    }
}
