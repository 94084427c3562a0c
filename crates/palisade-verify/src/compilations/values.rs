//! What one thread alone can tell of a value: which bits must be 0, which must be 1.

use palisade_model::program::{BinaryOperator, Expression, RegisterId, UnaryOperator, Value};

/// A set of numbers of 128 bits in two's complement; what expressions come to on the way fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Partial {
    /// Bits that are 0.
    zeros: u128,
    /// Bits that are 1.
    ones: u128,
    /// One number that is not in the set.
    without: Option<i128>,
}

pub(super) const ANYTHING: Partial = Partial { zeros: 0, ones: 0, without: None };

fn number(value: i128) -> Partial {
    let ones = value.cast_unsigned();
    Partial { zeros: !ones, ones, without: None }
}

fn whether(known: Option<bool>) -> Partial {
    known.map_or(ANYTHING, |holds| number(holds.into()))
}

impl Partial {
    /// All numbers but one.
    pub(super) fn all_but(value: i128) -> Self {
        Self { without: Some(value), ..ANYTHING }
    }

    /// The only number of the set.
    pub(super) fn only(self) -> Option<i128> {
        (self.zeros | self.ones == u128::MAX).then_some(self.ones.cast_signed())
    }

    /// Whether 0 is not in the set, or nothing else is.
    pub(super) fn truth(self) -> Option<bool> {
        match self.only() {
            Some(value) => Some(value != 0),
            None => (self.ones != 0 || self.without == Some(0)).then_some(true),
        }
    }

    fn equal(self, other: Self) -> Option<bool> {
        let excluded = |set: Self, value: Option<i128>| value.is_some() && set.without == value;
        if self.ones & other.zeros != 0
            || self.zeros & other.ones != 0
            || excluded(self, other.only())
            || excluded(other, self.only())
        {
            return Some(false);
        }
        (self.only()? == other.only()?).then_some(true)
    }

    fn low(self, bits: u8, signed: bool) -> Self {
        let rest = u128::MAX << bits;
        let (zeros, ones) = (self.zeros & !rest, self.ones & !rest);
        let top = 1u128 << (bits - 1);
        match (signed, ones & top != 0, zeros & top != 0) {
            (false, ..) | (true, false, true) => Self { zeros: zeros | rest, ones, without: None },
            (true, true, _) => Self { zeros, ones: ones | rest, without: None },
            (true, false, false) => Self { zeros, ones, without: None },
        }
    }

    fn shifted(self, by: Self, left: bool) -> Self {
        let Some(by) = by.only().filter(|by| (0..64).contains(by)) else { return ANYTHING };
        if left {
            return Self { zeros: self.zeros << by | !(u128::MAX << by), ones: self.ones << by, without: None };
        }
        let right = |bits: u128| (bits.cast_signed() >> by).cast_unsigned();
        Self { zeros: right(self.zeros), ones: right(self.ones), without: None }
    }
}

/// The numbers that an expression may come to.
pub(super) fn of(expression: &Expression, registers: &dyn Fn(RegisterId) -> Partial) -> Partial {
    match expression {
        Expression::Constant(value) | Expression::Address { value, .. } => number(i128::from(*value)),
        Expression::Register(register) => registers(*register),
        Expression::Old => ANYTHING,
        Expression::Unary(operator, operand) => {
            let operand = of(operand, registers);
            match operator {
                UnaryOperator::Not => whether(operand.truth().map(|holds| !holds)),
                UnaryOperator::Complement => Partial { zeros: operand.ones, ones: operand.zeros, without: None },
                UnaryOperator::Negate => operand.only().and_then(i128::checked_neg).map_or(ANYTHING, number),
                UnaryOperator::Truncate { bits, signed } => operand.low(*bits, *signed),
            }
        }
        Expression::Binary(operator, left, right) => pair(*operator, of(left, registers), of(right, registers)),
    }
}

fn pair(operator: BinaryOperator, left: Partial, right: Partial) -> Partial {
    use BinaryOperator as Op;
    let zero = number(0);
    let both = left.only().zip(right.only());
    match operator {
        Op::BitAnd => Partial { zeros: left.zeros | right.zeros, ones: left.ones & right.ones, without: None },
        Op::BitOr => Partial { zeros: left.zeros & right.zeros, ones: left.ones | right.ones, without: None },
        Op::BitXor => Partial {
            zeros: left.zeros & right.zeros | left.ones & right.ones,
            ones: left.zeros & right.ones | left.ones & right.zeros,
            without: None,
        },
        Op::ShiftLeft => left.shifted(right, true),
        Op::ShiftRight => left.shifted(right, false),
        Op::Equal => whether(left.equal(right)),
        Op::NotEqual => whether(left.equal(right).map(|equal| !equal)),
        Op::And => match (left.truth(), right.truth()) {
            (Some(false), _) | (_, Some(false)) => zero,
            (one, two) => whether(one.zip(two).map(|_| true)),
        },
        Op::Or => match (left.truth(), right.truth()) {
            (Some(true), _) | (_, Some(true)) => number(1),
            (one, two) => whether(one.zip(two).map(|_| false)),
        },
        Op::Multiply if left == zero || right == zero => zero,
        Op::Multiply if left == number(1) => right,
        Op::Add if left == zero => right,
        Op::Multiply if right == number(1) => left,
        Op::Add | Op::Subtract if right == zero => left,
        Op::Multiply => both.and_then(|(one, two)| one.checked_mul(two)).map_or(ANYTHING, number),
        Op::Add => both.and_then(|(one, two)| one.checked_add(two)).map_or(ANYTHING, number),
        Op::Subtract => both.and_then(|(one, two)| one.checked_sub(two)).map_or(ANYTHING, number),
        Op::Less => whether(both.map(|(one, two)| one < two)),
        Op::LessOrEqual => whether(both.map(|(one, two)| one <= two)),
        Op::Greater => whether(both.map(|(one, two)| one > two)),
        Op::GreaterOrEqual => whether(both.map(|(one, two)| one >= two)),
        Op::Divide | Op::Remainder => ANYTHING,
    }
}

/// The value, where it is one of the language's.
pub(super) fn value(partial: Partial) -> Option<Value> {
    Value::try_from(partial.only()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(set: Partial, value: Value) -> bool {
        let bits = i128::from(value).cast_unsigned();
        bits & set.zeros == 0 && !bits & set.ones == 0 && set.without != Some(i128::from(value))
    }

    #[test]
    fn no_number_is_left_out() {
        use BinaryOperator as Op;
        let mut sets = vec![ANYTHING];
        for value in -2..=3i128 {
            sets.extend([number(value), Partial::all_but(value)]);
            sets.extend([1u128, 2, !1].map(|mask| {
                let exact = number(value);
                Partial { zeros: exact.zeros & mask, ones: exact.ones & mask, without: None }
            }));
        }
        for operator in Op::ALL {
            for left in &sets {
                for right in &sets {
                    let result = pair(operator, *left, *right);
                    for (one, two) in (-2..=3).flat_map(|one| (-2..=3).map(move |two| (one, two))) {
                        let [first, second] = [one, two].map(Expression::Constant);
                        if has(*left, one)
                            && has(*right, two)
                            && let Ok(value) = Expression::binary(operator, first, second).evaluate(&[], None)
                        {
                            assert!(has(result, value), "{one} {operator:?} {two} = {value}: {result:?}");
                        }
                    }
                }
            }
        }
        for (value, bits, signed) in
            (-300..300).flat_map(|value| [(value, 8, true), (value, 8, false), (value, 1, true)])
        {
            let expression = Expression::unary(UnaryOperator::Truncate { bits, signed }, Expression::Constant(value));
            let expected = expression.evaluate(&[], None).expect("it fits");
            for mask in [u128::MAX, 0xff, 0x0f] {
                let exact = number(i128::from(value));
                let set = Partial { zeros: exact.zeros & mask, ones: exact.ones & mask, without: None };
                assert!(has(set.low(bits, signed), expected), "{value} {bits} {signed} {mask:#x}");
            }
        }
    }
}
