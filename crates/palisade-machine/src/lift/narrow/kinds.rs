//! Expressions over narrowed values: what they are, and how they are computed in fewer bits.
//!
//! A narrowed value stands for all numbers with the same low bits. Sums, products and logical
//! operations of such values need only these bits of their operands, so they are left as they are
//! and cut where they are kept. What fewer bits cannot tell is refused.

use super::super::refusal::Objection;
use palisade_model::program::{BinaryOperator as Op, Expression, RegisterId, UnaryOperator, Value};
use palisade_syntax::x86::fold::{binary, truncate};

/// What an expression is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// This number.
    Constant(Value),
    /// A number with all of its bits.
    Plain,
    /// So many low bits of a number, which the code takes for a signed one or not.
    Narrow {
        /// The bits.
        bits: u8,
        /// Whether the code reads it with a sign.
        signed: bool,
    },
}

use Kind::{Constant, Narrow, Plain};

impl Kind {
    /// The bits of a narrowed value.
    pub(crate) fn bits(self) -> Option<u8> {
        match self {
            Narrow { bits, .. } => Some(bits),
            Constant(_) | Plain => None,
        }
    }
}

/// What leaves are.
pub(crate) struct Leaves<'a> {
    /// A register.
    pub(crate) register: &'a dyn Fn(RegisterId) -> Kind,
    /// What memory held.
    pub(crate) old: Kind,
}

type Rewritten = Result<(Expression, Kind), Objection>;

/// The low bits of an expression.
pub(crate) fn cut(expression: Expression, bits: u8) -> Expression {
    truncate(expression, bits, false)
}

/// A value as something of so many bits keeps it, or as it is.
pub(crate) fn kept((expression, kind): (Expression, Kind), bits: Option<u8>) -> Result<Expression, Objection> {
    match (bits, kind.bits()) {
        (Some(bits), Some(other)) if bits != other => Err(different(bits, other)),
        (Some(bits), _) => Ok(cut(expression, bits)),
        (None, _) => Ok(expression),
    }
}

/// Why values of different numbers of bits do not go together.
pub(crate) fn different(one: u8, other: u8) -> Objection {
    let (one, other) = (one.min(other), one.max(other));
    Objection::new(format!("a value narrowed to {one} bits meets one narrowed to {other} bits"))
        .with_help("narrow both to the same number of bits")
}

/// The expression as it is computed where leaves are narrowed, and what it is.
pub(crate) fn rewritten(expression: &Expression, leaves: &Leaves<'_>) -> Rewritten {
    match expression {
        Expression::Constant(value) | Expression::Address { value, .. } => Ok((expression.clone(), Constant(*value))),
        Expression::Register(register) => Ok((expression.clone(), (leaves.register)(*register))),
        Expression::Old => Ok((expression.clone(), leaves.old)),
        Expression::Unary(operator, operand) => {
            let operand = rewritten(operand, leaves)?;
            Ok(unary(*operator, operand))
        }
        Expression::Binary(operator, left, right) => {
            // A register compared with itself and the like.
            let (left, right) = (rewritten(left, leaves)?, rewritten(right, leaves)?);
            if left.1.bits().is_none() && right.1.bits().is_none() {
                return Ok((Expression::binary(*operator, left.0, right.0), Plain));
            }
            narrow_binary(*operator, left, right)
        }
    }
}

fn unary(operator: UnaryOperator, (operand, kind): (Expression, Kind)) -> (Expression, Kind) {
    let Narrow { bits, .. } = kind else { return (Expression::unary(operator, operand), Plain) };
    match operator {
        UnaryOperator::Not => (Expression::unary(operator, cut(operand, bits)), Plain),
        UnaryOperator::Truncate { bits: left, .. } if left <= bits => (Expression::unary(operator, operand), Plain),
        UnaryOperator::Truncate { signed, .. } => (Expression::unary(operator, operand), Narrow { bits, signed }),
        UnaryOperator::Negate | UnaryOperator::Complement => {
            (Expression::unary(operator, operand), Narrow { bits, signed: true })
        }
    }
}

fn narrow_binary(operator: Op, left: (Expression, Kind), right: (Expression, Kind)) -> Rewritten {
    let bits = match (left.1.bits(), right.1.bits()) {
        (Some(one), Some(other)) if one != other => return Err(different(one, other)),
        (one, other) => one.or(other).expect("one of them is narrowed"),
    };
    let sum = Narrow { bits, signed: true };
    match operator {
        Op::BitAnd => {
            let mask = [left.1, right.1].into_iter().find_map(|kind| match kind {
                Constant(value) => Some(value),
                _ => None,
            });
            let is_exact = mask.is_some_and(|mask| (0..1 << bits).contains(&mask));
            Ok((Expression::binary(operator, left.0, right.0), if is_exact { Plain } else { sum }))
        }
        Op::Add | Op::Subtract | Op::Multiply | Op::BitOr | Op::BitXor => {
            Ok((Expression::binary(operator, left.0, right.0), sum))
        }
        Op::ShiftLeft if matches!(right.1, Constant(by) if (0..64).contains(&by)) => {
            // The cut keeps the shifted value small.
            Ok((Expression::binary(operator, cut(left.0, bits), right.0), sum))
        }
        Op::Remainder if matches!(right.1, Constant(by) if by > 0 && by <= 1 << bits && by & (by - 1) == 0) => {
            if left.1 != (Narrow { bits, signed: false }) {
                return Err(Objection::new("a narrowed value is divided as a signed one"));
            }
            Ok((Expression::binary(operator, cut(left.0, bits), right.0), Plain))
        }
        Op::Equal | Op::NotEqual => {
            let one = comparable(left, bits, None)?;
            Ok((binary(operator, one, comparable(right, bits, None)?), Plain))
        }
        Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual => {
            let ((Narrow { signed, .. }, Constant(_)) | (Constant(_), Narrow { signed, .. })) = (left.1, right.1)
            else {
                return Err(Objection::new(
                    "narrowed values are compared by their order, which fewer bits do not keep",
                )
                .with_help("compare their difference with a number, as in `head.wrapping_sub(tail) >= capacity`"));
            };
            let one = comparable(left, bits, Some(signed))?;
            Ok((binary(operator, one, comparable(right, bits, Some(signed))?), Plain))
        }
        Op::And | Op::Or => {
            let truth = |(expression, kind): (Expression, Kind)| match kind {
                Narrow { .. } => cut(expression, bits),
                _ => expression,
            };
            Ok((Expression::binary(operator, truth(left), truth(right)), Plain))
        }
        Op::Divide | Op::Remainder | Op::ShiftLeft | Op::ShiftRight => {
            Err(Objection::new("a narrowed value is divided or shifted, which needs all of its bits")
                .with_help("narrow counters that are only added to, subtracted, masked and compared"))
        }
    }
}

/// The most bits that anything is narrowed to.
pub(crate) const MOST_BITS: u8 = 32;

/// A side of a comparison in so many bits. With an order, constants must be numbers of that many
/// bits.
fn comparable((expression, kind): (Expression, Kind), bits: u8, order: Option<bool>) -> Result<Expression, Objection> {
    let has_room = |bits: u8, value: &Value| {
        let half = 1 << (bits - 1);
        match order {
            Some(true) => -half..half,
            Some(false) => 0..2 * half,
            None => -half..2 * half,
        }
        .contains(value)
    };
    match kind {
        Constant(value) if !has_room(bits, &value) => {
            let message = format!("a value narrowed to {bits} bits is compared with {value}, which needs more");
            let help = match (bits..=MOST_BITS).find(|bits| has_room(*bits, &value)) {
                Some(bits) => format!("narrow it to {bits} bits, or more"),
                None => format!("{MOST_BITS} bits are the most, so that it cannot be narrowed"),
            };
            Err(Objection::new(message).with_help(help))
        }
        Plain => Err(Objection::new("a narrowed value is compared with one that is not")
            .with_help("narrow the cell that the other one comes from as well")),
        Constant(_) | Narrow { .. } => Ok(truncate(expression, bits, order == Some(true))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of an operator on the low 3 bits of a value and a constant.
    fn with_constant(operator: Op, signed: bool, constant: Value) -> Rewritten {
        let leaves = Leaves { register: &|_| Narrow { bits: 3, signed }, old: Plain };
        let register = Expression::Register(RegisterId::from_index(0));
        rewritten(&Expression::binary(operator, register, Expression::Constant(constant)), &leaves)
    }

    /// Whatever the number, its low bits are enough for what is not refused.
    #[test]
    fn low_bits_are_enough() {
        for operator in [Op::Add, Op::Subtract, Op::Multiply, Op::BitAnd, Op::BitOr, Op::BitXor, Op::ShiftLeft] {
            for constant in -9..20 {
                if operator == Op::ShiftLeft && constant < 0 {
                    continue;
                }
                let (narrow, kind) = with_constant(operator, true, constant).expect("is understood");
                for number in -40..40i64 {
                    let wide =
                        Expression::binary(operator, Expression::Constant(number), Expression::Constant(constant));
                    let wide = wide.evaluate(&[], None).expect("a number");
                    let found = narrow.evaluate(&[number.rem_euclid(8)], None).expect("a number");
                    match kind {
                        Plain => assert_eq!(found, wide, "{operator:?} {number} {constant}"),
                        _ => assert_eq!(found.rem_euclid(8), wide.rem_euclid(8), "{operator:?} {number} {constant}"),
                    }
                }
            }
        }
    }

    /// Comparisons are those of numbers in the range of the bits.
    #[test]
    fn comparisons_are_those_of_numbers_of_so_many_bits() {
        for signed in [false, true] {
            let numbers = if signed { -4..4 } else { 0..8i64 };
            for operator in [Op::Less, Op::LessOrEqual, Op::Greater, Op::GreaterOrEqual, Op::Equal, Op::NotEqual] {
                for constant in numbers.clone() {
                    let (narrow, kind) = with_constant(operator, signed, constant).expect("is understood");
                    assert_eq!(kind, Plain);
                    for number in numbers.clone() {
                        let wide =
                            Expression::binary(operator, Expression::Constant(number), Expression::Constant(constant));
                        let found = narrow.evaluate(&[number.rem_euclid(8)], None);
                        assert_eq!(found, wide.evaluate(&[], None), "{operator:?} {number} {constant}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_needs_more_bits_is_refused() {
        for (operator, constant, why) in [
            (Op::Equal, 8, "needs more"),
            (Op::Less, 8, "needs more"),
            (Op::ShiftRight, 1, "needs all of its bits"),
            (Op::Divide, 2, "needs all of its bits"),
            (Op::Remainder, 3, "needs all of its bits"),
            (Op::Remainder, 16, "needs all of its bits"),
        ] {
            let error = with_constant(operator, false, constant).expect_err("is refused");
            assert!(error.message.contains(why), "{error:?}");
            let most = (1 << MOST_BITS) - 1;
            for (needed, help) in [(8, "to 4 bits, or more"), (most, "to 32 bits"), (most + 1, "cannot be narrowed")] {
                let error = with_constant(Op::Equal, false, needed).expect_err("is refused");
                assert!(error.help.as_deref().is_some_and(|own| own.contains(help)), "{error:?}");
            }
        }
        let leaves = Leaves { register: &|_| Narrow { bits: 3, signed: true }, old: Plain };
        let register = |index| Expression::Register(RegisterId::from_index(index));
        let order = Expression::binary(Op::Less, register(0), register(1));
        assert!(rewritten(&order, &leaves).expect_err("is refused").message.contains("by their order"));
        let other = Expression::binary(Op::Equal, register(0), Expression::Old);
        assert!(rewritten(&other, &leaves).expect_err("is refused").message.contains("with one that is not"));
    }
}
