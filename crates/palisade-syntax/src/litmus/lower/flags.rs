//! The flags that instructions leave and conditions read.

use super::super::code::{Code, has_old};
use super::super::fold::{binary, not, or, truncate};
use super::super::mnemonics::{Arithmetic, ConditionCode, FlagTest};
use super::{Flag, Lowering, Slot};
use crate::Diagnostic;
use palisade_model::program::{Action, BinaryOperator as Op, Expression};

/// The values of two operands.
type Operands = (Expression, Expression);

impl Lowering<'_> {
    pub(super) fn condition(&mut self, code: ConditionCode) -> Expression {
        let mut flag = |flag| Expression::Register(self.slot(Slot::Flag(flag)));
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

    pub(super) fn set(&mut self, flag: Flag, value: Expression) {
        let register = self.slot(Slot::Flag(flag));
        self.act(Action::Assign { register, value });
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
                let negative = binary(Op::Less, self.signed(result), Expression::Constant(0));
                self.set(Flag::Less, negative);
            }
        }
    }

    pub(super) fn addition_flags(&mut self, (left, right): &Operands, carry: bool) {
        if carry {
            let sum = binary(Op::Add, self.unsigned(left.clone()), self.unsigned(right.clone()));
            let kept = truncate(sum.clone(), self.bits, false);
            self.set(Flag::Carry, binary(Op::NotEqual, sum, kept));
        }
        let sum = binary(Op::Add, self.signed(left.clone()), self.signed(right.clone()));
        let kept = truncate(sum.clone(), self.bits, true);
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
        let kept = truncate(difference.clone(), self.bits, true);
        self.set(Flag::Overflow, binary(Op::NotEqual, difference, kept));
        self.set(Flag::Less, binary(Op::Less, left, right));
    }

    pub(super) fn result_flags(&mut self, result: Expression) {
        self.set(Flag::Zero, binary(Op::Equal, result.clone(), Expression::Constant(0)));
        self.sign_flag(result);
    }

    pub(super) fn sign_flag(&mut self, result: Expression) {
        let negative = binary(Op::Less, self.signed(result), Expression::Constant(0));
        self.set(Flag::Sign, negative);
    }

    /// Instructions whose undefined flags somebody reads.
    pub(super) fn undefined_flags(&self) -> Vec<Diagnostic> {
        let undefined = self.thread.code.iter().filter_map(|element| match element {
            Code::Action(Action::Assign { value, .. }, span) if has_old(value) => Some(*span),
            _ => None,
        });
        undefined
            .map(|span| Diagnostic::error("a later instruction reads a flag that this one leaves undefined", span))
            .collect()
    }
}

/// What stands for a flag without a value; nothing but a locked instruction's new value may otherwise contain it.
pub(super) fn undefined() -> Expression {
    Expression::Old
}
