//! Expressions over registers, constants and address names.
//!
//! Operators compute in 128 bits; the result of a whole expression is a 64-bit [`Value`]. Under a
//! domain that wraps, every operator wraps its result into the range, so that comparisons see
//! wrapped values; under a domain that does not wrap only the whole expression's value must lie in
//! it. Address expressions ([`Expression::evaluate_address`]) are computed in plain integers: a
//! domain is about data.

use super::domain::{Domain, EvaluationError, Value, admitted};
use super::ids::{AddressId, RegisterId};
use std::sync::Arc;

/// A unary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOperator {
    /// `!e`: 1 when `e` is 0, else 0.
    Not,
    /// `-e`.
    Negate,
    /// `~e`: bitwise complement.
    Complement,
    /// The low `bits` bits, read as a two's-complement number when `signed`. Machine arithmetic of
    /// the litmus reader.
    Truncate {
        /// Width, 1 to 64.
        bits: u8,
        /// Whether the top bit is a sign.
        signed: bool,
    },
}

/// A binary operator, with C's meaning; comparisons and logic give 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say what the C operators do")]
pub enum BinaryOperator {
    Multiply,
    Divide,
    Remainder,
    Add,
    Subtract,
    ShiftLeft,
    ShiftRight,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    BitAnd,
    BitXor,
    BitOr,
    And,
    Or,
}

/// An expression over the registers of one thread. Operands are shared, so that copies of a program
/// cost little.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expression {
    /// A constant.
    Constant(Value),
    /// An address name, with its number.
    Address {
        /// The name.
        id: AddressId,
        /// The (first) address it stands for.
        value: Value,
    },
    /// A register of the thread.
    Register(RegisterId),
    /// The value a locked read-modify-write has loaded; only inside
    /// [`Action::Rmw`](super::Action::Rmw).
    Old,
    /// A unary operator applied to an operand.
    Unary(UnaryOperator, Arc<Expression>),
    /// A binary operator applied to its operands.
    Binary(BinaryOperator, Arc<Expression>, Arc<Expression>),
}

impl Expression {
    /// `left operator right`.
    pub fn binary(operator: BinaryOperator, left: Expression, right: Expression) -> Self {
        Self::Binary(operator, Arc::new(left), Arc::new(right))
    }

    /// `operator operand`.
    pub fn unary(operator: UnaryOperator, operand: Expression) -> Self {
        Self::Unary(operator, Arc::new(operand))
    }

    /// The expression's value as data: wrapped into the domain, or an error when it leaves it.
    #[inline]
    pub fn evaluate(&self, registers: &[Value], domain: Option<Domain>) -> Result<Value, EvaluationError> {
        self.evaluate_with_old(registers, 0, domain)
    }

    /// Like [`evaluate`](Self::evaluate), with the value of [`Expression::Old`].
    #[inline]
    pub fn evaluate_with_old(
        &self,
        registers: &[Value],
        old: Value,
        domain: Option<Domain>,
    ) -> Result<Value, EvaluationError> {
        let wrapping = domain.filter(|domain| domain.wrap);
        let value = self.compute(registers, old, wrapping)?;
        admitted(value, domain)
    }

    /// The expression's truth value: whether it is not 0. A condition is no data, so it need not
    /// lie in the domain.
    #[inline]
    pub fn holds(&self, registers: &[Value], domain: Option<Domain>) -> Result<bool, EvaluationError> {
        let wrapping = domain.filter(|domain| domain.wrap);
        Ok(self.compute(registers, 0, wrapping)? != 0)
    }

    /// Like [`holds`](Self::holds), with the value of [`Expression::Old`].
    #[inline]
    pub fn holds_of(&self, registers: &[Value], old: Value, domain: Option<Domain>) -> Result<bool, EvaluationError> {
        let wrapping = domain.filter(|domain| domain.wrap);
        Ok(self.compute(registers, old, wrapping)? != 0)
    }

    /// The expression's value as an address, in plain integers whatever the domain of data is. The
    /// least number of 64 bits is no address: it stands for that of fences under release/acquire.
    #[inline]
    pub fn evaluate_address(&self, registers: &[Value]) -> Result<Value, EvaluationError> {
        let address = Value::try_from(self.compute(registers, 0, None)?).ok();
        address.filter(|address| *address != Value::MIN).ok_or(EvaluationError::Overflow)
    }

    #[inline]
    fn compute(&self, registers: &[Value], old: Value, wrapping: Option<Domain>) -> Result<i128, EvaluationError> {
        let into_range = |value: i128| wrapping.map_or(value, |domain| i128::from(domain.wrapped(value)));
        Ok(match self {
            Self::Constant(value) => into_range(i128::from(*value)),
            Self::Address { value, .. } => into_range(i128::from(*value)),
            Self::Register(register) => i128::from(registers[register.index()]),
            Self::Old => i128::from(old),
            Self::Unary(operator, operand) => into_range(unary(*operator, operand.compute(registers, old, wrapping)?)?),
            Self::Binary(operator, left, right) => {
                let left = left.compute(registers, old, wrapping)?;
                // Short-circuit as C does, so that a guard may protect a division.
                match operator {
                    BinaryOperator::And if left == 0 => return Ok(0),
                    BinaryOperator::Or if left != 0 => return Ok(into_range(1)),
                    _ => {}
                }
                into_range(binary(*operator, left, right.compute(registers, old, wrapping)?)?)
            }
        })
    }

    /// Calls `visit` with every address named, left to right, repetitions included.
    pub fn for_each_address(&self, visit: &mut impl FnMut(AddressId)) {
        match self {
            Self::Address { id, .. } => visit(*id),
            Self::Unary(_, operand) => operand.for_each_address(visit),
            Self::Binary(_, left, right) => {
                left.for_each_address(visit);
                right.for_each_address(visit);
            }
            Self::Constant(_) | Self::Register(_) | Self::Old => {}
        }
    }

    /// Calls `visit` with every constant, left to right, repetitions included.
    pub fn for_each_constant(&self, visit: &mut impl FnMut(Value)) {
        match self {
            Self::Constant(value) => visit(*value),
            Self::Unary(_, operand) => operand.for_each_constant(visit),
            Self::Binary(_, left, right) => {
                left.for_each_constant(visit);
                right.for_each_constant(visit);
            }
            Self::Address { .. } | Self::Register(_) | Self::Old => {}
        }
    }

    /// Whether two values are compared by order of which neither is a constant.
    pub fn compares_by_order(&self) -> bool {
        use BinaryOperator as Op;
        match self {
            Self::Constant(_) | Self::Address { .. } | Self::Register(_) | Self::Old => false,
            Self::Unary(_, operand) => operand.compares_by_order(),
            Self::Binary(operator, left, right) => {
                let is_order = matches!(operator, Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual);
                is_order && !left.is_constant() && !right.is_constant()
                    || left.compares_by_order()
                    || right.compares_by_order()
            }
        }
    }

    /// The expression with other expressions in place of some of its parts, the outermost ones
    /// first.
    #[must_use]
    pub fn replaced(&self, by: &impl Fn(&Self) -> Option<Self>) -> Self {
        by(self).unwrap_or_else(|| match self {
            Self::Unary(operator, operand) => Self::unary(*operator, operand.replaced(by)),
            Self::Binary(operator, left, right) => Self::binary(*operator, left.replaced(by), right.replaced(by)),
            Self::Constant(_) | Self::Address { .. } | Self::Register(_) | Self::Old => self.clone(),
        })
    }

    /// Calls `visit` with every register read, left to right, repetitions included.
    pub fn for_each_register(&self, visit: &mut impl FnMut(RegisterId)) {
        match self {
            Self::Register(register) => visit(*register),
            Self::Unary(_, operand) => operand.for_each_register(visit),
            Self::Binary(_, left, right) => {
                left.for_each_register(visit);
                right.for_each_register(visit);
            }
            Self::Constant(_) | Self::Address { .. } | Self::Old => {}
        }
    }

    /// Whether the expression reads no register and not [`Expression::Old`].
    #[inline]
    pub fn is_constant(&self) -> bool {
        match self {
            Self::Register(_) | Self::Old => false,
            Self::Constant(_) | Self::Address { .. } => true,
            Self::Unary(_, operand) => operand.is_constant(),
            Self::Binary(_, left, right) => left.is_constant() && right.is_constant(),
        }
    }

    /// Whether something is divided by something, which may have no value.
    pub fn divides(&self) -> bool {
        match self {
            Self::Constant(_) | Self::Address { .. } | Self::Register(_) | Self::Old => false,
            Self::Unary(_, operand) => operand.divides(),
            Self::Binary(operator, left, right) => {
                *operator == BinaryOperator::Divide || left.divides() || right.divides()
            }
        }
    }
}

impl BinaryOperator {
    /// All of them.
    pub const ALL: [Self; 18] = [
        Self::Multiply,
        Self::Divide,
        Self::Remainder,
        Self::Add,
        Self::Subtract,
        Self::ShiftLeft,
        Self::ShiftRight,
        Self::Less,
        Self::LessOrEqual,
        Self::Greater,
        Self::GreaterOrEqual,
        Self::Equal,
        Self::NotEqual,
        Self::BitAnd,
        Self::BitXor,
        Self::BitOr,
        Self::And,
        Self::Or,
    ];

    /// The comparison that holds where this one fails; nothing for what is no comparison.
    pub fn contrary(self) -> Option<Self> {
        Some(match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Less => Self::GreaterOrEqual,
            Self::LessOrEqual => Self::Greater,
            Self::Greater => Self::LessOrEqual,
            Self::GreaterOrEqual => Self::Less,
            _ => return None,
        })
    }
}

#[inline]
fn unary(operator: UnaryOperator, operand: i128) -> Result<i128, EvaluationError> {
    Ok(match operator {
        UnaryOperator::Not => i128::from(operand == 0),
        UnaryOperator::Negate => operand.checked_neg().ok_or(EvaluationError::Overflow)?,
        UnaryOperator::Complement => !operand,
        UnaryOperator::Truncate { bits, signed } => truncate(operand, bits, signed),
    })
}

/// The low `bits` bits (1 to 64) of a number, read as a two's-complement number when `signed`.
#[inline]
pub fn truncate(number: i128, bits: u8, signed: bool) -> i128 {
    let low = number & ((1i128 << bits) - 1);
    if signed && low >> (bits - 1) != 0 { low - (1i128 << bits) } else { low }
}

#[inline]
fn binary(operator: BinaryOperator, left: i128, right: i128) -> Result<i128, EvaluationError> {
    use BinaryOperator as Op;
    let shift = || u32::try_from(right).ok().filter(|amount| *amount < 128).ok_or(EvaluationError::Shift(right));
    let divisible = || {
        if right == 0 { Err(EvaluationError::DivisionByZero) } else { Ok(()) }
    };
    let checked = |value: Option<i128>| value.ok_or(EvaluationError::Overflow);
    Ok(match operator {
        Op::Multiply => checked(left.checked_mul(right))?,
        Op::Divide => {
            divisible()?;
            checked(left.checked_div(right))?
        }
        Op::Remainder => {
            divisible()?;
            checked(left.checked_rem(right))?
        }
        Op::Add => checked(left.checked_add(right))?,
        Op::Subtract => checked(left.checked_sub(right))?,
        Op::ShiftLeft => {
            let shifted = left << shift()?;
            if shifted >> shift()? == left {
                shifted
            } else {
                return Err(EvaluationError::Overflow);
            }
        }
        Op::ShiftRight => left >> shift()?,
        Op::Less => i128::from(left < right),
        Op::LessOrEqual => i128::from(left <= right),
        Op::Greater => i128::from(left > right),
        Op::GreaterOrEqual => i128::from(left >= right),
        Op::Equal => i128::from(left == right),
        Op::NotEqual => i128::from(left != right),
        Op::BitAnd => left & right,
        Op::BitXor => left ^ right,
        Op::BitOr => left | right,
        Op::And => i128::from(left != 0 && right != 0),
        Op::Or => i128::from(left != 0 || right != 0),
    })
}

#[cfg(test)]
mod tests {
    use super::super::DomainOrigin;
    use super::*;

    #[test]
    fn comparisons_see_wrapped_values() {
        let domain = Domain { low: 0, high: 7, wrap: true, origin: DomainOrigin::File };
        let sum = Expression::binary(BinaryOperator::Add, Expression::Constant(7), Expression::Constant(1));
        let less = Expression::binary(BinaryOperator::Less, sum.clone(), Expression::Constant(1));
        assert_eq!(sum.evaluate(&[], Some(domain)), Ok(0));
        assert_eq!(less.holds(&[], Some(domain)), Ok(true));
        assert_eq!(sum.evaluate_address(&[]), Ok(8));
    }

    #[test]
    fn the_address_of_fences_is_none_of_a_program() {
        let address = |value: Value| Expression::Constant(value).evaluate_address(&[]);
        assert_eq!(address(Value::MIN), Err(EvaluationError::Overflow));
        assert_eq!(address(Value::MIN + 1), Ok(Value::MIN + 1));
    }

    #[test]
    fn truncation_reads_the_sign() {
        let byte = |value, signed| {
            Expression::unary(UnaryOperator::Truncate { bits: 8, signed }, Expression::Constant(value))
                .evaluate(&[], None)
        };
        assert_eq!(byte(255, true), Ok(-1));
        assert_eq!(byte(-1, false), Ok(255));
        assert_eq!(byte(256, false), Ok(0));
    }
}
