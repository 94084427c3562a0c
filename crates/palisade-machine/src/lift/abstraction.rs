//! What is known of a value at a place of the code, whatever the run.
//!
//! An [`Abstract`] says that a value is one number, that it points into the role's own stack frame,
//! that it is some number, or that nothing is known, so that it may point into the frame. Only what
//! is proved to be a number may leave the thread, and only what is proved to point into the frame
//! is private.

use palisade_model::program::{BinaryOperator as Op, Expression, UnaryOperator, Value, truncate};

/// What is known of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Abstract {
    /// This number.
    Constant(Value),
    /// So many bytes from where the stack pointer stood when the role began.
    Frame(i64),
    /// A number that as many low bits hold; of 64 bits, any number.
    Number(u8),
    /// What is left when a part of a register is written: some low bits are a number, whatever the
    /// others are. Only registers hold it.
    Low(Low),
    /// Anything, a pointer into the frame included.
    Unknown,
}

/// A value whose low bits are a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Low {
    /// How many low bits: 8 or 16.
    bits: u8,
    /// The number that they hold, if it is known.
    value: Option<Value>,
    /// As many bits hold all of it, if all of it is a number.
    whole: Option<u8>,
}

use Abstract::{Constant, Frame, Number, Unknown};

/// Addresses below this one are never mapped, so no pointer into the frame equals them.
const LOWEST_ADDRESS: Value = 4096;

impl Abstract {
    /// What is known when either of two is.
    pub(crate) fn join(self, other: Self) -> Self {
        match (self, other) {
            _ if self == other => self,
            (Self::Low(one), Self::Low(two)) => one.join(two),
            (Self::Low(low), number) | (number, Self::Low(low)) if number.is_number() => low.join(Low {
                bits: low.bits,
                value: number.constant().map(|value| value & ((1 << low.bits) - 1)),
                whole: number.bits(),
            }),
            _ => match (self.bits(), other.bits()) {
                (Some(one), Some(two)) => Number(one.max(two)),
                _ => Unknown,
            },
        }
    }

    /// The low bits that hold the number; nothing unless it is one.
    pub(crate) fn bits(self) -> Option<u8> {
        match self {
            Constant(value) if value < 0 => Some(64),
            Constant(value) => Some(u8::try_from(64 - value.leading_zeros()).expect("at most 63")),
            Number(bits) => Some(bits),
            Self::Low(low) => low.whole,
            Frame(_) | Unknown => None,
        }
    }

    /// What is known of all of it.
    pub(crate) fn whole(self) -> Self {
        match self {
            Self::Low(Low { whole, .. }) => whole.map_or(Unknown, Number),
            other => other,
        }
    }

    /// Whether some low bits, or all, are a number.
    pub(crate) fn has_number(self) -> bool {
        self.is_number() || matches!(self, Self::Low(_))
    }

    /// Whether it cannot point into the frame.
    pub(crate) fn is_number(self) -> bool {
        self.bits().is_some()
    }

    /// The number, when it is one and known.
    pub(crate) fn constant(self) -> Option<Value> {
        match self {
            Constant(value) => Some(value),
            _ => None,
        }
    }

    /// The low bits as an unsigned number, or all 64 as a signed one.
    pub(crate) fn truncated(self, bits: u8, signed: bool) -> Self {
        match self {
            Constant(value) => constant(truncate(i128::from(value), bits, signed)),
            Self::Low(low) if bits <= low.bits => match low.value {
                Some(value) => constant(truncate(i128::from(value), bits, signed)),
                None => Number(if signed { 64 } else { bits }),
            },
            Self::Low(_) => self.whole().truncated(bits, signed),
            Frame(_) if bits == 64 => self,
            Number(known) if !signed => Number(known.min(bits)),
            Number(known) if known < bits => self,
            Number(_) => Number(64),
            Frame(_) | Unknown => Unknown,
        }
    }

    /// What is known of the result of an operator.
    pub(crate) fn binary(operator: Op, left: Self, right: Self) -> Self {
        if let Some(low) = Low::of(operator, left, right) {
            return low;
        }
        let (left, right) = (left.whole(), right.whole());
        match (left, right) {
            (Constant(one), Constant(two)) => {
                let expression = Expression::binary(operator, Expression::Constant(one), Expression::Constant(two));
                expression.evaluate(&[], None).map_or(Number(64), Constant)
            }
            (Frame(offset), Constant(number)) if operator == Op::Add => Self::moved(offset.checked_add(number)),
            (Constant(number), Frame(offset)) if operator == Op::Add => Self::moved(offset.checked_add(number)),
            (Frame(offset), Constant(number)) if operator == Op::Subtract => Self::moved(offset.checked_sub(number)),
            (Frame(one), Frame(two)) => Self::of_two_frames(operator, one, two),
            (Frame(offset), Constant(mask)) if operator == Op::BitAnd => Self::masked(offset, mask),
            (Frame(_), Constant(number)) | (Constant(number), Frame(_))
                if (0..LOWEST_ADDRESS).contains(&number) && matches!(operator, Op::Equal | Op::NotEqual) =>
            {
                Constant(Value::from(operator == Op::NotEqual))
            }
            _ => match (left.bits(), right.bits()) {
                (Some(one), Some(two)) => Number(Self::result_bits(operator, (left, one), (right, two))),
                // 0 times anything is 0.
                _ if operator == Op::Multiply && (left == Constant(0) || right == Constant(0)) => Constant(0),
                _ if operator == Op::Multiply && left == Constant(1) => right,
                _ if operator == Op::Add && left == Constant(0) => right,
                _ if operator == Op::Add && right == Constant(0) => left,
                _ => Unknown,
            },
        }
    }

    fn moved(offset: Option<i64>) -> Self {
        // A frame is small: what goes far away is no pointer into it.
        offset.filter(|offset| (-FRAME_SIZE..FRAME_SIZE).contains(offset)).map_or(Unknown, Frame)
    }

    /// The stack pointer is a multiple of 16 before a call, so that a role begins 8 below one.
    fn masked(offset: i64, mask: Value) -> Self {
        let above = offset + 8;
        match mask {
            0..=15 => Constant(above & mask),
            -16 | -8 | -4 | -2 => Frame((above & mask) - 8),
            _ => Unknown,
        }
    }

    fn of_two_frames(operator: Op, one: i64, two: i64) -> Self {
        let truth = |holds| Constant(Value::from(holds));
        match operator {
            Op::Subtract => Constant(one - two),
            Op::Equal => truth(one == two),
            Op::NotEqual => truth(one != two),
            Op::BitAnd | Op::BitOr if one == two => Frame(one),
            _ => Unknown,
        }
    }

    /// The bits of the result of two numbers.
    fn result_bits(operator: Op, (left, one): (Self, u8), (right, two): (Self, u8)) -> u8 {
        match operator {
            Op::Less
            | Op::LessOrEqual
            | Op::Greater
            | Op::GreaterOrEqual
            | Op::Equal
            | Op::NotEqual
            | Op::And
            | Op::Or => 1,
            Op::BitAnd => one.min(two),
            Op::BitOr | Op::BitXor => one.max(two),
            Op::Add if one.max(two) < 63 => one.max(two) + 1,
            Op::Multiply if one == 1 && left.bits() == Some(1) && two < 64 => two,
            Op::Multiply if u16::from(one) + u16::from(two) < 64 => one + two,
            Op::ShiftLeft => match right {
                Constant(by) if (0..64).contains(&by) && i64::from(one) + by < 64 => {
                    one + u8::try_from(by).expect("less than 64")
                }
                _ => 64,
            },
            Op::ShiftRight if one < 64 => match right {
                Constant(by) if by >= 0 => one.saturating_sub(u8::try_from(by).unwrap_or(64)),
                _ => one,
            },
            _ => 64,
        }
    }

    /// The value of an expression all of whose parts are known numbers: what it computes on its way
    /// may need 128 bits.
    fn computed(
        expression: &Expression,
        register: &impl Fn(palisade_model::program::RegisterId) -> Self,
        old: Self,
    ) -> Option<Value> {
        let leaf = |leaf: &Expression| match leaf {
            Expression::Register(id) => register(*id).constant(),
            Expression::Old => old.constant(),
            _ => None,
        };
        if !matches!(expression, Expression::Unary(..) | Expression::Binary(..)) || !are_all(expression, &leaf) {
            return None;
        }
        expression.replaced(&|part| leaf(part).map(Expression::Constant)).evaluate(&[], None).ok()
    }

    /// What is known of an expression, given what is known of its registers and of what memory has
    /// held.
    pub(crate) fn of(
        expression: &Expression,
        register: &impl Fn(palisade_model::program::RegisterId) -> Self,
        old: Self,
    ) -> Self {
        if let Some(value) = Self::computed(expression, register, old) {
            return Constant(value);
        }
        let of = |expression: &Expression| Self::of(expression, register, old);
        match expression {
            Expression::Constant(value) | Expression::Address { value, .. } => Constant(*value),
            Expression::Register(id) => register(*id),
            Expression::Old => old,
            Expression::Unary(UnaryOperator::Truncate { bits, signed }, operand) => {
                of(operand).truncated(*bits, *signed)
            }
            Expression::Unary(operator, operand) => match (operator, of(operand).whole()) {
                (UnaryOperator::Not, Frame(_)) => Constant(0),
                (_, Constant(value)) => {
                    let again = Expression::unary(*operator, Expression::Constant(value));
                    again.evaluate(&[], None).map_or(Number(64), Constant)
                }
                (UnaryOperator::Not, Number(_)) => Number(1),
                (_, Number(_)) => Number(64),
                (_, Frame(_) | Unknown | Self::Low(_)) => Unknown,
            },
            Expression::Binary(operator, left, right) => match (of(left), of(right)) {
                // A register combined with itself, whatever it holds.
                _ if left == right && matches!(operator, Op::Subtract | Op::BitXor | Op::NotEqual | Op::Less) => {
                    Constant(0)
                }
                (left, right) => Self::binary(*operator, left, right),
            },
        }
    }
}

impl Low {
    /// What is known when either of two is.
    fn join(self, other: Self) -> Abstract {
        let whole = self.whole.zip(other.whole).map(|(one, two)| one.max(two));
        let value = self.value.filter(|_| self.value == other.value && self.bits == other.bits);
        Abstract::Low(Self { bits: self.bits.min(other.bits), value, whole })
    }

    /// What writing a part of a register comes to: a mask that clears low bits, and a number that
    /// takes their place.
    fn of(operator: Op, left: Abstract, right: Abstract) -> Option<Abstract> {
        match (operator, left, right) {
            (Op::BitAnd, Constant(_), Constant(_)) => None,
            (Op::BitAnd, kept, Constant(mask @ (-256 | -65536))) => {
                let bits = if mask == -256 { 8 } else { 16 };
                Some(Abstract::Low(Self { bits, value: Some(0), whole: kept.bits() }))
            }
            (Op::BitAnd, Abstract::Low(low), Constant(mask)) if (0..1 << low.bits).contains(&mask) => {
                Some(low.value.map_or_else(|| Number(right.bits().unwrap_or(64)), |value| Constant(value & mask)))
            }
            (Op::BitOr, Abstract::Low(low), number) | (Op::BitOr, number, Abstract::Low(low)) => {
                let bits = number.bits().filter(|bits| *bits <= low.bits)?;
                let value = low.value.zip(number.constant()).map(|(one, two)| one | two);
                Some(Abstract::Low(Self { value, whole: low.whole.map(|whole| whole.max(bits)), ..low }))
            }
            _ => None,
        }
    }
}

/// Whether all registers of an expression are known, and what memory has held.
fn are_all(expression: &Expression, known: &impl Fn(&Expression) -> Option<Value>) -> bool {
    match expression {
        Expression::Register(_) | Expression::Old => known(expression).is_some(),
        Expression::Constant(_) | Expression::Address { .. } => true,
        Expression::Unary(_, operand) => are_all(operand, known),
        Expression::Binary(_, left, right) => are_all(left, known) && are_all(right, known),
    }
}

/// No frame is larger.
const FRAME_SIZE: i64 = 1 << 24;

fn constant(value: i128) -> Abstract {
    Value::try_from(value).map_or(Number(64), Constant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_into_the_frame_are_tracked() {
        assert_eq!(Abstract::binary(Op::Add, Frame(-8), Constant(24)), Frame(16));
        assert_eq!(Abstract::binary(Op::Subtract, Frame(-8), Frame(-24)), Constant(16));
        assert_eq!(Abstract::binary(Op::Equal, Frame(-8), Constant(0)), Constant(0));
        assert_eq!(Abstract::binary(Op::BitAnd, Frame(-24), Constant(7)), Constant(0));
        assert_eq!(Abstract::binary(Op::BitAnd, Frame(-32), Constant(-16)), Frame(-40));
        assert_eq!(Abstract::binary(Op::BitXor, Frame(-8), Constant(3)), Unknown);
        assert_eq!(Frame(0).join(Number(8)), Unknown);
        assert_eq!(Frame(0).truncated(32, false), Unknown);
    }

    #[test]
    fn a_part_of_a_register_is_a_number_whatever_the_rest_is() {
        for rest in [Frame(-8), Unknown, Number(64), Number(32), Constant(1 << 40)] {
            let write =
                |number| Abstract::binary(Op::BitOr, Abstract::binary(Op::BitAnd, rest, Constant(-256)), number);
            assert_eq!(write(Constant(2)).truncated(8, false), Constant(2), "{rest:?}");
            assert_eq!(write(Number(8)).truncated(8, false), Number(8), "{rest:?}");
            assert_eq!(write(Constant(2)).is_number(), rest.is_number(), "{rest:?}");
            assert_eq!(write(Constant(2)).truncated(16, false).is_number(), rest.is_number(), "{rest:?}");
            let joined = write(Constant(2)).join(write(Constant(3)));
            assert!(joined.truncated(8, false).is_number(), "{rest:?}");
            assert_eq!(joined.truncated(8, false).constant(), None, "{rest:?}");
            assert_eq!(joined.is_number(), rest.is_number(), "{rest:?}");
        }
        let low = Abstract::binary(Op::BitAnd, Frame(-8), Constant(-256));
        assert_eq!(low.join(Frame(-8)), Unknown);
        for number in [Number(64), Constant(256), Constant(-256)] {
            assert!(!low.join(number).is_number(), "{number:?}");
            let constant = if number == Number(64) { None } else { Some(0) };
            assert_eq!(low.join(number).truncated(8, false).constant(), constant, "{number:?}");
        }
        assert_eq!(low.join(Constant(1)).truncated(8, false), Number(8));
        assert_eq!(Abstract::binary(Op::BitOr, low, Number(9)), Unknown);
    }

    #[test]
    fn widths_are_tracked() {
        assert_eq!(Constant(3).join(Constant(200)), Number(8));
        assert_eq!(Constant(-1).join(Constant(0)), Number(64));
        assert_eq!(Abstract::binary(Op::BitAnd, Number(64), Constant(7)), Number(3));
        assert_eq!(Number(8).truncated(8, true), Number(64));
        assert_eq!(Number(7).truncated(8, true), Number(7));
    }
}
