//! The flags that instructions leave and conditions read.

use super::super::fold::{binary, not, or, select, truncate};
use super::super::operation::{Arithmetic, ConditionCode, FlagTest};
use super::super::parts::{Atom, Flag};
use super::Builder;
use palisade_model::program::{BinaryOperator as Op, Expression};

/// The values of two operands.
pub(super) type Operands = (Expression, Expression);

/// Whether a condition holds, 0 or 1, over the flags' atoms.
pub fn condition(code: ConditionCode) -> Expression {
    let flag = |flag| Atom::Flag(flag).expression();
    let holds = match code.test {
        FlagTest::Equal => flag(Flag::Zero),
        FlagTest::Less => flag(Flag::Less),
        FlagTest::LessOrEqual => or(flag(Flag::Less), flag(Flag::Zero)),
        FlagTest::Below => flag(Flag::Carry),
        FlagTest::BelowOrEqual => or(flag(Flag::Carry), flag(Flag::Zero)),
        FlagTest::Sign => flag(Flag::Sign),
        FlagTest::Overflow => flag(Flag::Overflow),
    };
    if code.negated { not(holds) } else { holds }
}

impl Builder<'_> {
    pub(super) fn set(&mut self, flag: Flag, value: Expression) {
        self.meaning.flags.push((flag, Some(value)));
    }

    pub(super) fn undefine(&mut self, flags: &[Flag]) {
        self.meaning.flags.extend(flags.iter().map(|flag| (*flag, None)));
    }

    /// The flags that depend on the operands and not on the result alone.
    pub(super) fn operand_flags(&mut self, operation: Arithmetic, operands: &Operands, carry: bool) {
        match operation {
            Arithmetic::Add => self.addition_flags(operands, carry),
            Arithmetic::Subtract => self.subtraction_flags(operands, carry),
            Arithmetic::And | Arithmetic::Or | Arithmetic::Xor => {
                let result = self.apply(operation, operands.0.clone(), operands.1.clone());
                self.set(Flag::Carry, Expression::Constant(0));
                self.set(Flag::Overflow, Expression::Constant(0));
                let negative = self.is_negative(result);
                self.set(Flag::Less, negative);
            }
        }
    }

    pub(super) fn addition_flags(&mut self, (left, right): &Operands, carry: bool) {
        if carry {
            let sum = binary(Op::Add, self.unsigned(left.clone()), self.unsigned(right.clone()));
            let kept = truncate(sum.clone(), self.form.bits, false);
            self.set(Flag::Carry, binary(Op::NotEqual, sum, kept));
        }
        let sum = binary(Op::Add, self.signed(left.clone()), self.signed(right.clone()));
        let kept = truncate(sum.clone(), self.form.bits, true);
        self.set(Flag::Overflow, binary(Op::NotEqual, sum.clone(), kept));
        // The sign of the true sum.
        self.set(Flag::Less, binary(Op::Less, sum, Expression::Constant(0)));
    }

    pub(super) fn subtraction_flags(&mut self, (left, right): &Operands, carry: bool) {
        if carry {
            let below = binary(Op::Less, self.unsigned(left.clone()), self.unsigned(right.clone()));
            self.set(Flag::Carry, below);
        }
        let (left, right) = (self.signed(left.clone()), self.signed(right.clone()));
        let difference = binary(Op::Subtract, left.clone(), right.clone());
        let kept = truncate(difference.clone(), self.form.bits, true);
        self.set(Flag::Overflow, binary(Op::NotEqual, difference, kept));
        self.set(Flag::Less, binary(Op::Less, left, right));
    }

    /// The flags of an addition or subtraction that takes the carry in.
    pub(super) fn carried_flags(&mut self, (left, right): &Operands, operator: Op) {
        let carry = Atom::Flag(Flag::Carry).expression();
        let computed = |left, right| binary(operator, binary(operator, left, right), carry.clone());
        let unsigned = computed(self.unsigned(left.clone()), self.unsigned(right.clone()));
        let kept = truncate(unsigned.clone(), self.form.bits, false);
        self.set(Flag::Carry, binary(Op::NotEqual, unsigned, kept));
        let signed = computed(self.signed(left.clone()), self.signed(right.clone()));
        let kept = truncate(signed.clone(), self.form.bits, true);
        self.set(Flag::Overflow, binary(Op::NotEqual, signed.clone(), kept));
        self.set(Flag::Less, binary(Op::Less, signed, Expression::Constant(0)));
    }

    /// Flags of a shift to the right, of a number with its sign or without [SDM, vol. 2,
    /// SAL/SAR/SHL/SHR].
    pub(super) fn right_shift_flags(
        &mut self,
        shifted: &Expression,
        result: Expression,
        count: &Expression,
        signed: bool,
    ) {
        let last = binary(Op::Subtract, count.clone(), Expression::Constant(1));
        if let Expression::Constant(number) = count {
            self.result_flags(result);
            if *number >= i64::from(self.form.bits) && !signed {
                self.undefine(&[Flag::Carry, Flag::Overflow, Flag::Less]);
                return;
            }
            let carry = binary(Op::BitAnd, binary(Op::ShiftRight, shifted.clone(), last), Expression::Constant(1));
            self.set(Flag::Carry, carry);
            if *number != 1 {
                self.undefine(&[Flag::Overflow, Flag::Less]);
            } else if signed {
                self.set(Flag::Overflow, Expression::Constant(0));
                let negative = self.is_negative(Atom::Result.expression());
                self.set(Flag::Less, negative);
            } else {
                // What was the sign moves away: SF is 0.
                let sign = binary(Op::ShiftRight, shifted.clone(), Expression::Constant(i64::from(self.form.bits) - 1));
                self.set(Flag::Overflow, sign.clone());
                self.set(Flag::Less, sign);
            }
            return;
        }
        let zero = binary(Op::Equal, result.clone(), Expression::Constant(0));
        let negative = self.is_negative(result);
        self.set_unless_zero(count, Flag::Zero, zero);
        self.set_unless_zero(count, Flag::Sign, negative);
        self.undefine(&[Flag::Carry, Flag::Overflow, Flag::Less]);
    }

    /// ZF and SF of a subtraction whose result nobody keeps.
    pub(super) fn comparison_flags(&mut self, (left, right): &Operands) {
        self.set(Flag::Zero, binary(Op::Equal, left.clone(), right.clone()));
        let difference = self.canonical(binary(Op::Subtract, left.clone(), right.clone()));
        let negative = self.is_negative(difference);
        self.set(Flag::Sign, negative);
    }

    /// ZF and SF of a result.
    pub(super) fn result_flags(&mut self, result: Expression) {
        self.set(Flag::Zero, binary(Op::Equal, result.clone(), Expression::Constant(0)));
        let negative = self.is_negative(result);
        self.set(Flag::Sign, negative);
    }

    /// Flags of a shift by a constant that is not 0. [SDM, vol. 2, SAL/SAR/SHL/SHR]: CF is
    /// undefined for counts of the width and more, OF for all but 1.
    pub(super) fn shift_flags(&mut self, shifted: &Expression, result: Expression, count: i64) {
        self.result_flags(result);
        let bit = i64::from(self.form.bits) - count;
        if bit <= 0 {
            self.undefine(&[Flag::Carry, Flag::Overflow, Flag::Less]);
            return;
        }
        let carry = self.bit(shifted.clone(), Expression::Constant(bit));
        self.set(Flag::Carry, carry.clone());
        if count == 1 {
            let overflow = binary(Op::NotEqual, carry.clone(), self.is_negative(Atom::Result.expression()));
            self.set(Flag::Overflow, overflow);
            // SF ≠ OF: the sign and (carry ≠ sign) differ exactly when the carry is set.
            self.set(Flag::Less, carry);
        } else {
            self.undefine(&[Flag::Overflow, Flag::Less]);
        }
    }

    /// Flags of a shift by `cl`, which keeps them all when the count is 0.
    pub(super) fn variable_shift_flags(&mut self, shifted: &Expression, result: Expression, count: &Expression) {
        let zero = binary(Op::Equal, result.clone(), Expression::Constant(0));
        let negative = self.is_negative(result);
        self.set_unless_zero(count, Flag::Zero, zero);
        self.set_unless_zero(count, Flag::Sign, negative);
        if self.form.bits < 32 {
            // The count may be the width or more.
            self.undefine(&[Flag::Carry]);
        } else {
            let position = binary(Op::Subtract, Expression::Constant(self.form.bits.into()), count.clone());
            let carry = self.bit(shifted.clone(), position);
            self.set_unless_zero(count, Flag::Carry, carry);
        }
        self.undefine(&[Flag::Overflow, Flag::Less]);
    }

    pub(super) fn set_unless_zero(&mut self, count: &Expression, flag: Flag, value: Expression) {
        let is_zero = binary(Op::Equal, count.clone(), Expression::Constant(0));
        let value = select(is_zero, Atom::Flag(flag).expression(), value);
        self.set(flag, value);
    }

    /// One bit of a canonical value.
    pub(super) fn bit(&self, value: Expression, position: Expression) -> Expression {
        let moved = binary(Op::ShiftRight, self.unsigned(value), position);
        binary(Op::BitAnd, moved, Expression::Constant(1))
    }

    pub(super) fn is_negative(&self, canonical: Expression) -> Expression {
        binary(Op::Less, self.signed(canonical), Expression::Constant(0))
    }
}
