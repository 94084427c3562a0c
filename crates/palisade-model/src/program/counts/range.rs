//! What an expression can be where the count in it is one of many.

use crate::program::expression::truncate;
use crate::program::{BinaryOperator as Op, Expression, UnaryOperator};

/// An expression without what does nothing to its values, and the least and the greatest of these.
pub(super) struct Range {
    plain: Expression,
    pub(super) least: i128,
    pub(super) most: i128,
}

/// The range of an expression whose one variable, wherever it stands, is between two numbers;
/// nothing where that is not clear.
pub(super) fn range(expression: &Expression, between: (i128, i128)) -> Option<Range> {
    let of = |plain: Expression, least: i128, most: i128| Some(Range { plain, least, most });
    match expression {
        Expression::Constant(value) | Expression::Address { value, .. } => {
            of(expression.clone(), i128::from(*value), i128::from(*value))
        }
        Expression::Register(_) | Expression::Old => of(expression.clone(), between.0, between.1),
        Expression::Unary(operator, operand) => {
            let inner = range(operand, between)?;
            let whole = |inner: &Range| Expression::unary(*operator, inner.plain.clone());
            match operator {
                UnaryOperator::Not => {
                    let (least, most) = truth(&inner);
                    of(whole(&inner), 1 - most, 1 - least)
                }
                UnaryOperator::Negate => of(whole(&inner), -inner.most, -inner.least),
                UnaryOperator::Complement => of(whole(&inner), !inner.most, !inner.least),
                UnaryOperator::Truncate { bits, signed } => {
                    let [least, most] = [inner.least, inner.most].map(|end| truncate(end, *bits, *signed));
                    if (least, most) == (inner.least, inner.most) {
                        return Some(inner);
                    }
                    // Both ends may go around together.
                    (most - least == inner.most - inner.least).then_some(())?;
                    of(whole(&inner), least, most)
                }
            }
        }
        Expression::Binary(operator, left, right) => binary(*operator, range(left, between)?, range(right, between)?),
    }
}

fn binary(operator: Op, left: Range, right: Range) -> Option<Range> {
    let is_same = left.plain == right.plain;
    let disjoint = left.most < right.least || right.most < left.least;
    let known = |is_true: bool, is_false: bool| (i128::from(is_true), i128::from(!is_false));
    let (least, most) = match operator {
        Op::Add => (left.least + right.least, left.most + right.most),
        Op::Subtract => (left.least - right.most, left.most - right.least),
        Op::Less => known(left.most < right.least, is_same || left.least >= right.most),
        Op::LessOrEqual => known(is_same || left.most <= right.least, left.least > right.most),
        Op::Greater => known(left.least > right.most, is_same || left.most <= right.least),
        Op::GreaterOrEqual => known(is_same || left.least >= right.most, left.most < right.least),
        Op::Equal => known(is_same || is_one(&left) && is_one(&right) && !disjoint, disjoint),
        Op::NotEqual => known(disjoint, is_same || is_one(&left) && is_one(&right) && !disjoint),
        Op::And | Op::Or => {
            let (left, right) = (truth(&left), truth(&right));
            let both = |one: i128, other: i128| if operator == Op::And { one.min(other) } else { one.max(other) };
            (both(left.0, right.0), both(left.1, right.1))
        }
        Op::BitAnd | Op::BitOr if is_one(&right) && right.least >= 0 && left.least >= 0 => {
            let (mask, below) = (right.least, all_below(left.most)?);
            match operator {
                Op::BitAnd if mask & below == below => return Some(left),
                Op::BitAnd => (0, left.most.min(mask)),
                _ if mask & below == below => (mask, mask),
                _ => (left.least.max(mask), mask | below),
            }
        }
        Op::ShiftRight if is_one(&right) && (0..64).contains(&right.least) && left.least >= 0 => {
            (left.least >> right.least, left.most >> right.least)
        }
        _ => return None,
    };
    Some(Range { plain: Expression::binary(operator, left.plain, right.plain), least, most })
}

fn is_one(range: &Range) -> bool {
    range.least == range.most
}

/// The least and the greatest truth value.
fn truth(range: &Range) -> (i128, i128) {
    let is_zero = range.least == 0 && range.most == 0;
    let may_be_zero = range.least <= 0 && range.most >= 0;
    (i128::from(!may_be_zero), i128::from(!is_zero))
}

/// The least number with all bits set that is not below a number.
fn all_below(number: i128) -> Option<i128> {
    (number < 1 << 100).then(|| (1_i128 << (128 - number.leading_zeros())) - 1)
}
