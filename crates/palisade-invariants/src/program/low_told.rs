//! What low bits tell of an expression.

use palisade_model::program::{Action, BinaryOperator as Op, Expression, RegisterId, UnaryOperator};
use std::collections::BTreeSet;

/// What is known where a thread stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    /// The registers that may have no more than their low bits right.
    pub(super) vague: BTreeSet<RegisterId>,
    /// The expression that the last `cas` on low bits expected, and the register with what it
    /// found, if neither has changed since.
    pub(super) tried: Option<(Expression, RegisterId)>,
}

/// What is told of an expression.
#[derive(Clone, Debug)]
pub(super) enum Told {
    /// Its value.
    Value(Expression),
    /// Its low bits.
    Bits(Expression),
    /// That it is 0 or 1, and not less than the first nor more than the second.
    Between(Expression, Expression),
}

/// Who reads expressions of an instruction.
pub(super) struct Teller<'s> {
    pub(super) bits: u8,
    pub(super) standing: &'s Standing,
    /// Whether the instruction accesses what has low bits.
    pub(super) accesses_bits: bool,
    /// The register of the last success.
    pub(super) success: RegisterId,
}

fn two(operator: Op, left: Expression, right: Expression) -> Expression {
    Expression::binary(operator, left, right)
}

fn number(value: i64) -> Expression {
    Expression::Constant(value)
}

fn negated(value: Expression) -> Expression {
    Expression::unary(UnaryOperator::Not, value)
}

fn at_least_zero(value: Expression) -> Expression {
    two(Op::And, value, number(0))
}

fn at_most_one(value: Expression) -> Expression {
    two(Op::Or, value, number(1))
}

/// Whether an expression reads a register.
fn reads(expression: &Expression, wanted: RegisterId) -> bool {
    let mut found = false;
    expression.for_each_register(&mut |register| found = found || register == wanted);
    found
}

impl Standing {
    /// What is known where a thread may stand one way or the other.
    pub(super) fn or(&self, other: &Self) -> Self {
        Self {
            vague: &self.vague | &other.vague,
            tried: if self.tried == other.tried { self.tried.clone() } else { None },
        }
    }
}

impl Teller<'_> {
    /// What is known behind an instruction, which may cut what it assigns; nothing where what it
    /// assigns is not told.
    pub(super) fn after(&self, action: &Action, cuts: bool) -> Option<Standing> {
        let mut after = self.standing.clone();
        let swap = match action {
            Action::Cas { expected, .. } if self.accesses_bits => Some(expected),
            _ => None,
        };
        if swap.is_some() {
            after.tried = None;
        }
        let Some(written) = action.written_register() else { return Some(after) };
        let is_vague = match action {
            Action::Assign { value, .. } => matches!(self.told(value)?, Told::Bits(_)) || cuts,
            Action::Havoc { .. } => false,
            _ => self.accesses_bits,
        };
        if is_vague {
            after.vague.insert(written);
        } else {
            after.vague.remove(&written);
        }
        if after.tried.as_ref().is_some_and(|(expected, found)| *found == written || reads(expected, written)) {
            after.tried = None;
        }
        if let Some(expected) = swap.filter(|expected| !reads(expected, written)) {
            after.tried = Some((expected.clone(), written));
        }
        Some(after)
    }

    /// The low bits of a number.
    pub(super) fn bits_of(&self, value: Expression) -> Expression {
        if let Expression::Constant(own) = value {
            return number(own & ((1 << self.bits) - 1));
        }
        Expression::unary(UnaryOperator::Truncate { bits: self.bits, signed: false }, value)
    }

    fn is_vague(&self, expression: &Expression) -> bool {
        match expression {
            Expression::Old => self.accesses_bits,
            Expression::Register(register) => self.standing.vague.contains(register),
            Expression::Unary(_, inner) => self.is_vague(inner),
            Expression::Binary(_, left, right) => self.is_vague(left) || self.is_vague(right),
            Expression::Constant(_) | Expression::Address { .. } => false,
        }
    }

    /// The truth values that an expression is between.
    pub(super) fn truths(&self, expression: &Expression) -> Option<(Expression, Expression)> {
        match self.told(expression)? {
            Told::Value(value) => Some((value.clone(), value)),
            Told::Between(least, most) => Some((least, most)),
            Told::Bits(value) => {
                let has_bit = two(Op::NotEqual, self.bits_of(value), number(0));
                Some((has_bit.clone(), at_most_one(has_bit)))
            }
        }
    }

    /// What is told of an expression; nothing where low bits do not say enough.
    pub(super) fn told(&self, expression: &Expression) -> Option<Told> {
        if !self.is_vague(expression) {
            return Some(Told::Value(expression.clone()));
        }
        if expression.divides() {
            return None;
        }
        match expression {
            Expression::Register(_) | Expression::Old => Some(Told::Bits(expression.clone())),
            Expression::Unary(operator, inner) => self.of_one(*operator, inner),
            Expression::Binary(Op::Equal, left, right) if self.was_tried(left, right) => {
                Some(Told::Value(Expression::Register(self.success)))
            }
            Expression::Binary(Op::NotEqual, left, right) if self.was_tried(left, right) => {
                Some(Told::Value(negated(Expression::Register(self.success))))
            }
            Expression::Binary(operator @ (Op::And | Op::Or), left, right) => {
                let (left, right) = (self.truths(left)?, self.truths(right)?);
                Some(Told::Between(two(*operator, left.0, right.0), two(*operator, left.1, right.1)))
            }
            Expression::Binary(operator, left, right) => self.of_two(*operator, left, right),
            Expression::Constant(_) | Expression::Address { .. } => None,
        }
    }

    fn was_tried(&self, one: &Expression, other: &Expression) -> bool {
        let Some((expected, found)) = &self.standing.tried else { return false };
        let found = Expression::Register(*found);
        (one == expected && *other == found) || (other == expected && *one == found)
    }

    fn of_one(&self, operator: UnaryOperator, inner: &Expression) -> Option<Told> {
        let same = |value| Expression::unary(operator, value);
        let told = self.told(inner)?;
        if let Told::Value(value) = told {
            return Some(Told::Value(same(value)));
        }
        match operator {
            UnaryOperator::Not => match told {
                Told::Between(least, most) => Some(Told::Between(negated(most), negated(least))),
                Told::Bits(value) | Told::Value(value) => {
                    let has_none = two(Op::Equal, self.bits_of(value), number(0));
                    Some(Told::Between(at_least_zero(has_none.clone()), has_none))
                }
            },
            UnaryOperator::Truncate { bits, signed } => match told {
                Told::Between(..) => (!signed).then_some(told),
                Told::Bits(value) if bits <= self.bits => Some(Told::Value(same(value))),
                Told::Bits(value) | Told::Value(value) => Some(Told::Bits(same(value))),
            },
            UnaryOperator::Negate | UnaryOperator::Complement => match told {
                Told::Bits(value) => Some(Told::Bits(same(value))),
                _ => None,
            },
        }
    }

    fn of_two(&self, operator: Op, left: &Expression, right: &Expression) -> Option<Told> {
        let zero = number(0);
        let (left, right) = match (self.told(left)?, self.told(right)?) {
            (Told::Between(least, most), Told::Value(value)) if value == zero => {
                return match operator {
                    Op::NotEqual => Some(Told::Between(least, most)),
                    Op::Equal => Some(Told::Between(negated(most), negated(least))),
                    _ => None,
                };
            }
            (Told::Between(..), _) | (_, Told::Between(..)) => return None,
            (left, right) => (left, right),
        };
        let exact = |told: &Told| matches!(told, Told::Value(_));
        if exact(&left) && exact(&right) {
            let (Told::Value(left), Told::Value(right)) = (left, right) else { return None };
            return Some(Told::Value(two(operator, left, right)));
        }
        let mask = match (&left, &right) {
            (Told::Value(Expression::Constant(mask)), _) | (_, Told::Value(Expression::Constant(mask))) => Some(*mask),
            _ => None,
        };
        let is_right_exact = exact(&right);
        let is_left_exact = exact(&left);
        let part = |told| match told {
            Told::Value(value) | Told::Bits(value) => value,
            Told::Between(least, _) => least,
        };
        let (left, right) = (part(left), part(right));
        match operator {
            Op::BitAnd if mask.is_some_and(|mask| mask >= 0 && mask < 1 << self.bits) => {
                // The mask stands on the right.
                let (own, mask) = if is_left_exact { (right, left) } else { (left, right) };
                Some(Told::Value(two(operator, own, mask)))
            }
            Op::Add | Op::Subtract | Op::Multiply | Op::BitAnd | Op::BitOr | Op::BitXor => {
                Some(Told::Bits(two(operator, left, right)))
            }
            Op::ShiftLeft => {
                let is_number = is_right_exact && mask.is_some_and(|by| (0..64).contains(&by));
                is_number.then(|| Told::Bits(two(operator, self.bits_of(left), right)))
            }
            Op::Equal => {
                let same = two(operator, self.bits_of(left), self.bits_of(right));
                Some(Told::Between(at_least_zero(same.clone()), same))
            }
            Op::NotEqual => {
                let differ = two(operator, self.bits_of(left), self.bits_of(right));
                Some(Told::Between(differ.clone(), at_most_one(differ)))
            }
            Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual => {
                let order = two(operator, left, right);
                Some(Told::Between(at_least_zero(order.clone()), at_most_one(order)))
            }
            Op::Divide | Op::Remainder | Op::ShiftRight | Op::And | Op::Or => None,
        }
    }
}
