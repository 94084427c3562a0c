//! Values of which some bits are known, as far as one thread alone tells.

use palisade_model::program::{BinaryOperator as Op, Expression, RegisterId, UnaryOperator, Value};

/// A number in two's complement of 128 bits, which all intermediate results fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Bits {
    /// The bits that are known.
    mask: u128,
    /// Their values; 0 elsewhere.
    value: u128,
    /// A number that it is not.
    other: Option<Value>,
}

impl Bits {
    /// Nothing is known.
    pub(super) const UNKNOWN: Self = Self { mask: 0, value: 0, other: None };

    /// A number.
    pub(super) fn constant(value: Value) -> Self {
        Self::of(u128::MAX, i128::from(value).cast_unsigned())
    }

    /// Any number but this one.
    pub(super) fn anything_but(value: Value) -> Self {
        Self { other: Some(value), ..Self::UNKNOWN }
    }

    fn of(mask: u128, value: u128) -> Self {
        Self { mask, value: value & mask, other: None }
    }

    fn truth(holds: bool) -> Self {
        Self::constant(Value::from(holds))
    }

    fn wide(self) -> Option<i128> {
        (self.mask == u128::MAX).then(|| self.value.cast_signed())
    }

    /// The number, if all of it is known.
    pub(super) fn known(self) -> Option<Value> {
        self.wide().and_then(|value| Value::try_from(value).ok())
    }

    /// Whether it is not 0, if that is known.
    pub(super) fn is_true(self) -> Option<bool> {
        if self.value != 0 { Some(true) } else { self.wide().map(|value| value != 0) }
    }

    /// What is known of an expression.
    pub(super) fn evaluated(expression: &Expression, register: &impl Fn(RegisterId) -> Self) -> Self {
        let of = |expression: &Expression| Self::evaluated(expression, register);
        match expression {
            Expression::Constant(value) | Expression::Address { value, .. } => Self::constant(*value),
            Expression::Register(id) => register(*id),
            Expression::Old => Self::UNKNOWN,
            Expression::Unary(UnaryOperator::Truncate { bits, signed }, operand) => {
                of(operand).truncated(*bits, *signed)
            }
            Expression::Unary(UnaryOperator::Not, operand) => {
                of(operand).is_true().map_or(Self::UNKNOWN, |holds| Self::truth(!holds))
            }
            Expression::Unary(UnaryOperator::Complement, operand) => {
                let operand = of(operand);
                Self::of(operand.mask, !operand.value)
            }
            Expression::Unary(UnaryOperator::Negate, operand) => {
                of(operand).wide().map_or(Self::UNKNOWN, |value| Self::of(u128::MAX, (-value).cast_unsigned()))
            }
            Expression::Binary(operator, left, right) => Self::binary(*operator, of(left), of(right)),
        }
    }

    fn truncated(self, bits: u8, signed: bool) -> Self {
        let low = (1u128 << bits) - 1;
        let sign = 1u128 << (bits - 1);
        if !signed {
            return Self::of(self.mask | !low, self.value & low);
        }
        if self.mask & sign == 0 {
            return Self::of(self.mask & low, self.value);
        }
        let upper = if self.value & sign == 0 { 0 } else { !low };
        Self::of(self.mask | !low, self.value & low | upper)
    }

    fn binary(operator: Op, left: Self, right: Self) -> Self {
        match operator {
            Op::BitAnd => {
                let zeros = (left.mask & !left.value) | (right.mask & !right.value);
                Self::of(left.mask & right.mask | zeros, left.value & right.value)
            }
            Op::BitOr => Self::of(left.mask & right.mask | left.value | right.value, left.value | right.value),
            Op::BitXor => Self::of(left.mask & right.mask, left.value ^ right.value),
            Op::ShiftLeft | Op::ShiftRight => match right.wide() {
                Some(by @ 0..64) if operator == Op::ShiftLeft => {
                    Self::of(left.mask << by | ((1u128 << by) - 1), left.value << by)
                }
                Some(by @ 0..64) => {
                    let signed = |bits: u128| (bits.cast_signed() >> by).cast_unsigned();
                    Self::of(signed(left.mask), signed(left.value))
                }
                _ => Self::UNKNOWN,
            },
            Op::Equal => left.equals(right).map_or(Self::UNKNOWN, Self::truth),
            Op::NotEqual => left.equals(right).map_or(Self::UNKNOWN, |equal| Self::truth(!equal)),
            Op::And => match (left.is_true(), right.is_true()) {
                (Some(false), _) | (_, Some(false)) => Self::truth(false),
                (Some(true), Some(true)) => Self::truth(true),
                _ => Self::UNKNOWN,
            },
            Op::Or => match (left.is_true(), right.is_true()) {
                (Some(true), _) | (_, Some(true)) => Self::truth(true),
                (Some(false), Some(false)) => Self::truth(false),
                _ => Self::UNKNOWN,
            },
            Op::Multiply if [left, right].contains(&Self::constant(0)) => Self::constant(0),
            Op::Multiply if left == Self::constant(1) => right,
            Op::Multiply if right == Self::constant(1) => left,
            Op::Add if left == Self::constant(0) => right,
            Op::Add | Op::Subtract if right == Self::constant(0) => left,
            _ => Self::of_known(operator, left, right).unwrap_or(Self::UNKNOWN),
        }
    }

    fn of_known(operator: Op, left: Self, right: Self) -> Option<Self> {
        let (left, right) = (left.wide()?, right.wide()?);
        let result = match operator {
            Op::Add => left.checked_add(right)?,
            Op::Subtract => left.checked_sub(right)?,
            Op::Multiply => left.checked_mul(right)?,
            Op::Less => i128::from(left < right),
            Op::LessOrEqual => i128::from(left <= right),
            Op::Greater => i128::from(left > right),
            Op::GreaterOrEqual => i128::from(left >= right),
            _ => return None,
        };
        Some(Self::of(u128::MAX, result.cast_unsigned()))
    }

    fn equals(self, right: Self) -> Option<bool> {
        let both = self.mask & right.mask;
        if self.value & both != right.value & both {
            return Some(false);
        }
        let is_other = |one: Self, two: Self| one.other.is_some_and(|other| Some(i128::from(other)) == two.wide());
        if is_other(self, right) || is_other(right, self) {
            return Some(false);
        }
        (both == u128::MAX).then_some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operator on every pair of half-known small numbers says nothing that a number it
    /// stands for does not meet.
    #[test]
    fn what_is_known_is_so() {
        let numbers = -3..=4i64;
        let stands_for = |bits: Bits, value: Value| {
            i128::from(value).cast_unsigned() & bits.mask == bits.value && bits.other != Some(value)
        };
        let mut all = Vec::new();
        for value in numbers.clone() {
            all.push(Bits::constant(value));
            all.push(Bits::anything_but(value));
            for mask in [1, 2, 3, !1, !3] {
                all.push(Bits::of(mask, i128::from(value).cast_unsigned()));
            }
        }
        for operator in Op::ALL {
            for left in &all {
                for right in &all {
                    let known = Bits::binary(operator, *left, *right);
                    for one in numbers.clone().filter(|one| stands_for(*left, *one)) {
                        for two in numbers.clone().filter(|two| stands_for(*right, *two)) {
                            let expression =
                                Expression::binary(operator, Expression::Constant(one), Expression::Constant(two));
                            let Ok(value) = expression.evaluate(&[], None) else { continue };
                            assert!(stands_for(known, value), "{one} {operator:?} {two} = {value}: {known:?}");
                        }
                    }
                }
            }
        }
        for value in -300..300 {
            for (bits, signed) in [(8, true), (8, false), (2, true), (64, true)] {
                for operand in [Bits::constant(value), Bits::of(0xff, i128::from(value).cast_unsigned())] {
                    let again =
                        Expression::unary(UnaryOperator::Truncate { bits, signed }, Expression::Constant(value));
                    let expected = again.evaluate(&[], None).expect("it fits");
                    assert!(stands_for(operand.truncated(bits, signed), expected), "{value} {bits} {signed}");
                }
            }
        }
    }
}
