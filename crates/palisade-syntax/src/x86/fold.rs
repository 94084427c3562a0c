//! Expressions as the machine computes them, simplified where they are built.

use palisade_model::program::{BinaryOperator as Op, Expression, RegisterId, UnaryOperator, Value};
use std::sync::Arc;

/// `left operator right`, folded.
pub fn binary(operator: Op, left: Expression, right: Expression) -> Expression {
    use Expression::Constant;
    match (operator, &left, &right) {
        (Op::Add | Op::Subtract | Op::BitOr | Op::BitXor | Op::ShiftLeft | Op::ShiftRight, _, Constant(0)) => left,
        (Op::Add | Op::BitOr | Op::BitXor, Constant(0), _) => right,
        (Op::Subtract | Op::BitXor, ..) if left == right => Constant(0),
        (Op::BitAnd | Op::BitOr, ..) if left == right => left,
        (Op::BitAnd | Op::Multiply, _, Constant(0)) | (Op::BitAnd | Op::Multiply, Constant(0), _) => Constant(0),
        (Op::Multiply, _, Constant(1)) => left,
        (Op::Multiply, Constant(1), _) => right,
        (Op::And, Constant(0), _) | (Op::And, _, Constant(0)) => Constant(0),
        (Op::Equal | Op::LessOrEqual | Op::GreaterOrEqual, ..) if left == right => Constant(1),
        (Op::NotEqual | Op::Less | Op::Greater, ..) if left == right => Constant(0),
        _ => folded(Expression::binary(operator, left, right)),
    }
}

/// 1 when the 0-or-1 expression is 0, and the other way round.
pub fn not(operand: Expression) -> Expression {
    match operand {
        Expression::Binary(operator, left, right) => {
            let opposite = match operator {
                Op::Equal => Op::NotEqual,
                Op::NotEqual => Op::Equal,
                Op::Less => Op::GreaterOrEqual,
                Op::GreaterOrEqual => Op::Less,
                Op::LessOrEqual => Op::Greater,
                Op::Greater => Op::LessOrEqual,
                _ => return Expression::unary(UnaryOperator::Not, Expression::Binary(operator, left, right)),
            };
            Expression::Binary(opposite, left, right)
        }
        Expression::Unary(UnaryOperator::Not, inner) => Arc::unwrap_or_clone(inner),
        Expression::Constant(value) => Expression::Constant(Value::from(value == 0)),
        other => Expression::unary(UnaryOperator::Not, other),
    }
}

/// Either of two 0-or-1 expressions.
pub fn or(left: Expression, right: Expression) -> Expression {
    match (left, right) {
        (Expression::Constant(0), other) | (other, Expression::Constant(0)) => other,
        (Expression::Constant(_), other) | (other, Expression::Constant(_)) if !other.divides() => {
            Expression::Constant(1)
        }
        // a < b or a = b
        (Expression::Binary(Op::Less, a, b), Expression::Binary(Op::Equal, c, d)) if a == c && b == d => {
            Expression::Binary(Op::LessOrEqual, a, b)
        }
        (left, right) => Expression::binary(Op::Or, left, right),
    }
}

/// The low bits of a number.
pub fn truncate(operand: Expression, bits: u8, signed: bool) -> Expression {
    let operand = match operand {
        // Only the low bits of an inner truncation that keeps at least as many matter.
        Expression::Unary(UnaryOperator::Truncate { bits: inner, .. }, kept) if inner >= bits => {
            Arc::unwrap_or_clone(kept)
        }
        other => other,
    };
    folded(Expression::unary(UnaryOperator::Truncate { bits, signed }, operand))
}

/// `condition ? left : right`, for a 0-or-1 condition.
pub fn select(condition: Expression, left: Expression, right: Expression) -> Expression {
    match condition {
        Expression::Constant(0) => right,
        Expression::Constant(_) => left,
        condition if left == right => {
            drop(condition);
            left
        }
        condition => {
            let chosen = binary(Op::Multiply, condition.clone(), left);
            binary(Op::Add, chosen, binary(Op::Multiply, not(condition), right))
        }
    }
}

fn folded(expression: Expression) -> Expression {
    // Addresses keep their names.
    if !expression.is_constant() || mentions_address(&expression) {
        return expression;
    }
    match expression.evaluate(&[], None) {
        Ok(value) => Expression::Constant(value),
        Err(_) => expression,
    }
}

fn mentions_address(expression: &Expression) -> bool {
    match expression {
        Expression::Address { .. } => true,
        Expression::Constant(_) | Expression::Register(_) | Expression::Old => false,
        Expression::Unary(_, operand) => mentions_address(operand),
        Expression::Binary(_, left, right) => mentions_address(left) || mentions_address(right),
    }
}

/// The expression with registers replaced by what `replacement` gives for them.
pub fn substitute(expression: &Expression, replacement: &impl Fn(RegisterId) -> Option<Expression>) -> Expression {
    let leaf = |leaf: &Expression| match leaf {
        Expression::Register(register) => replacement(*register),
        _ => None,
    };
    rebuilt(expression, &leaf)
}

/// The expression with registers and old values replaced by what `replacement` gives for them,
/// simplified anew.
pub fn rebuilt(expression: &Expression, replacement: &impl Fn(&Expression) -> Option<Expression>) -> Expression {
    let again = |expression: &Expression| rebuilt(expression, replacement);
    match expression {
        Expression::Register(_) | Expression::Old => replacement(expression).unwrap_or_else(|| expression.clone()),
        Expression::Constant(_) | Expression::Address { .. } => expression.clone(),
        Expression::Unary(UnaryOperator::Not, operand) => not(again(operand)),
        Expression::Unary(UnaryOperator::Truncate { bits, signed }, operand) => {
            truncate(again(operand), *bits, *signed)
        }
        Expression::Unary(operator, operand) => folded(Expression::unary(*operator, again(operand))),
        Expression::Binary(Op::Or, left, right) => or(again(left), again(right)),
        Expression::Binary(operator, left, right) => binary(*operator, again(left), again(right)),
    }
}

/// The number of operators and operands.
pub fn size(expression: &Expression) -> usize {
    match expression {
        Expression::Unary(_, operand) => 1 + size(operand),
        Expression::Binary(_, left, right) => 1 + size(left) + size(right),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn register() -> Expression {
        Expression::Register(RegisterId::from_index(0))
    }

    #[test]
    fn simplification() {
        use Expression::Constant;
        assert_eq!(binary(Op::BitXor, register(), register()), Constant(0));
        assert_eq!(binary(Op::BitAnd, register(), register()), register());
        assert_eq!(binary(Op::Add, Constant(2), Constant(3)), Constant(5));
        assert_eq!(not(binary(Op::Equal, register(), Constant(0))), binary(Op::NotEqual, register(), Constant(0)));
        let less = binary(Op::Less, register(), Constant(1));
        let equal = binary(Op::Equal, register(), Constant(1));
        assert_eq!(not(or(less, equal)), binary(Op::Greater, register(), Constant(1)));
        assert_eq!(truncate(truncate(register(), 32, false), 8, true), truncate(register(), 8, true));
    }

    #[test]
    fn selection_selects() {
        let chosen = select(register(), Expression::Constant(7), Expression::Constant(-3));
        assert_eq!(chosen.evaluate(&[1], None), Ok(7));
        assert_eq!(chosen.evaluate(&[0], None), Ok(-3));
    }
}
