//! What the instructions do, one after the other.

use super::super::assembly::{Operand, OperandKind};
use super::super::fold::{binary, select};
use super::super::mnemonics::{Arithmetic, ConditionCode, Operation};
use super::super::registers::{MachineRegister, Part};
use super::flags::undefined;
use super::{Flag, Lowering, Slot};
use crate::Diagnostic;
use palisade_model::program::{Action, BinaryOperator as Op, Expression, Value};

impl Lowering<'_> {
    pub(super) fn lower_move(&mut self, destination: &Operand, source: &Operand) -> Result<(), Diagnostic> {
        if let OperandKind::Memory(memory) = &source.kind {
            let address = self.address(memory, source.span)?;
            return self.load_into(destination, address);
        }
        let value = self.value(source)?;
        self.write_operand(destination, value)
    }

    pub(super) fn load_into(&mut self, destination: &Operand, address: Expression) -> Result<(), Diagnostic> {
        if let Some(register) = self.direct_destination(destination) {
            self.act(Action::Load { register, address });
            return Ok(());
        }
        let temporary = self.slot(Slot::Temporary(0));
        self.act(Action::Load { register: temporary, address });
        self.write_operand(destination, Expression::Register(temporary))
    }

    pub(super) fn exchange(&mut self, left: &Operand, right: &Operand) -> Result<(), Diagnostic> {
        let new = self.value(right)?;
        if let OperandKind::Memory(memory) = &left.kind {
            let address = self.address(memory, left.span)?;
            let direct = self.direct_destination(right);
            let register = direct.unwrap_or_else(|| self.slot(Slot::Temporary(0)));
            self.act(Action::Rmw { register: Some(register), address, new });
            if direct.is_some() {
                return Ok(());
            }
            return self.write_operand(right, Expression::Register(register));
        }
        let temporary = self.copied(1, left)?;
        self.write_operand(left, new)?;
        self.write_operand(right, temporary)
    }

    pub(super) fn exchange_add(&mut self, left: &Operand, right: &Operand, locked: bool) -> Result<(), Diagnostic> {
        let addend = self.copied(2, right)?;
        let old = self.read_modify_write(left, locked, |lowering, old| {
            lowering.canonical(binary(Op::Add, old, addend.clone()))
        })?;
        self.addition_flags(&(old.clone(), addend.clone()), true);
        let sum = self.canonical(binary(Op::Add, old.clone(), addend));
        self.result_flags(sum);
        self.write_operand(right, old)
    }

    /// Reads the destination, writes a function of what was read, and gives what was read.
    pub(super) fn read_modify_write(
        &mut self,
        destination: &Operand,
        locked: bool,
        new: impl FnOnce(&mut Self, Expression) -> Expression,
    ) -> Result<Expression, Diagnostic> {
        let OperandKind::Memory(memory) = &destination.kind else {
            let old = self.copied(1, destination)?;
            let new = new(self, old.clone());
            self.write_operand(destination, new)?;
            return Ok(old);
        };
        let address = self.address(memory, destination.span)?;
        let temporary = self.slot(Slot::Temporary(0));
        let old = Expression::Register(temporary);
        if locked {
            let new = new(self, Expression::Old);
            self.act(Action::Rmw { register: Some(temporary), address, new });
        } else {
            self.act(Action::Load { register: temporary, address: address.clone() });
            let value = new(self, old.clone());
            self.act(Action::Store { address, value });
        }
        Ok(old)
    }

    /// `cmpxchg`: a locked one that fails is a load; an unlocked one always stores, what it has read when it fails.
    pub(super) fn compare_exchange(&mut self, left: &Operand, right: &Operand, locked: bool) -> Result<(), Diagnostic> {
        let accumulator = self.accumulator();
        let accumulated = self.read(accumulator);
        let expected = self.copied_expression(2, accumulated);
        let new = self.value(right)?;
        let equal = |old: Expression| binary(Op::Equal, old, expected.clone());
        let old = match (&left.kind, locked) {
            (OperandKind::Memory(memory), true) => {
                let address = self.address(memory, left.span)?;
                let temporary = self.slot(Slot::Temporary(0));
                self.act(Action::Cas { register: Some(temporary), address, expected: expected.clone(), new });
                Expression::Register(temporary)
            }
            _ => self.read_modify_write(left, false, |_, old| select(equal(old.clone()), new, old))?,
        };
        self.subtraction_flags(&(expected.clone(), old.clone()), true);
        let difference = self.canonical(binary(Op::Subtract, expected.clone(), old.clone()));
        self.sign_flag(difference);
        self.set(Flag::Zero, equal(old.clone()));
        // A narrow accumulator is left alone when the comparison succeeds, the bits above it included.
        if accumulator.part == MachineRegister::whole(0, self.architecture).part || self.is_narrow(0) {
            self.write(accumulator, old);
        } else {
            let whole = self.family(0);
            let failed = self.widened(accumulator, old.clone());
            let value = select(equal(old), Expression::Register(whole), failed);
            self.act(Action::Assign { register: whole, value });
        }
        Ok(())
    }

    pub(super) fn accumulator(&self) -> MachineRegister {
        let part = match self.bits {
            8 => Part::LowByte,
            16 => Part::Word,
            32 => Part::Double,
            _ => Part::Quad,
        };
        MachineRegister { family: 0, part }
    }

    /// Addition and its kin; without a second operand, by one and without the carry.
    pub(super) fn arithmetic(
        &mut self,
        operation: Arithmetic,
        destination: &Operand,
        source: Option<&Operand>,
        locked: bool,
    ) -> Result<(), Diagnostic> {
        let right = match source {
            Some(source) => self.loaded_value(source)?,
            None => Expression::Constant(1),
        };
        let result = |lowering: &Self, left: Expression| lowering.apply(operation, left, right.clone());
        let is_memory = matches!(destination.kind, OperandKind::Memory(_));
        if is_memory {
            let left = self.read_modify_write(destination, locked, |lowering, old| result(lowering, old))?;
            self.operand_flags(operation, &(left.clone(), right.clone()), source.is_some());
            let computed = result(self, left);
            self.result_flags(computed);
        } else {
            let left = self.value(destination)?;
            // Flags of the operands first: the result overwrites one of them.
            self.operand_flags(operation, &(left.clone(), right.clone()), source.is_some());
            let computed = result(self, left);
            let is_constant = computed.is_constant();
            self.write_operand(destination, computed.clone())?;
            let written = if is_constant { computed } else { self.value(destination)? };
            self.result_flags(written);
        }
        Ok(())
    }

    pub(super) fn apply(&self, operation: Arithmetic, left: Expression, right: Expression) -> Expression {
        match operation {
            Arithmetic::Add => self.canonical(binary(Op::Add, left, right)),
            Arithmetic::Subtract => self.canonical(binary(Op::Subtract, left, right)),
            // On canonical operands these give canonical results.
            Arithmetic::And => binary(Op::BitAnd, left, right),
            Arithmetic::Or => binary(Op::BitOr, left, right),
            Arithmetic::Xor => binary(Op::BitXor, left, right),
        }
    }

    pub(super) fn compare(&mut self, operation: Operation, left: &Operand, right: &Operand) -> Result<(), Diagnostic> {
        let left = self.loaded_value(left)?;
        let right = self.loaded_value(right)?;
        if operation == Operation::Test {
            let both = binary(Op::BitAnd, left.clone(), right.clone());
            self.operand_flags(Arithmetic::And, &(left, right), true);
            self.result_flags(both);
        } else {
            self.set(Flag::Zero, binary(Op::Equal, left.clone(), right.clone()));
            let difference = self.canonical(binary(Op::Subtract, left.clone(), right.clone()));
            self.sign_flag(difference);
            self.subtraction_flags(&(left, right), true);
        }
        Ok(())
    }

    pub(super) fn shift_left(&mut self, destination: &Operand, count: Option<&Operand>) -> Result<(), Diagnostic> {
        let mask = if self.bits == 64 { 63 } else { 31 };
        let count = match count.map(|count| (&count.kind, count.span)) {
            None => Expression::Constant(1),
            Some((OperandKind::Number(number), _)) => {
                Expression::Constant(Value::try_from(number & mask).expect("a masked count is small"))
            }
            Some((OperandKind::Register(MachineRegister { family: 1, part: Part::LowByte }), _)) => {
                let count = self.read(MachineRegister { family: 1, part: Part::LowByte });
                binary(Op::BitAnd, count, Expression::Constant(if mask == 63 { 63 } else { 31 }))
            }
            Some((_, span)) => return Err(Diagnostic::error("a shift is by a number or by `cl`", span)),
        };
        if count == Expression::Constant(0) {
            return Ok(());
        }
        let result = |lowering: &Self, old| lowering.canonical(binary(Op::ShiftLeft, old, count.clone()));
        let old = self.read_modify_write(destination, false, |lowering, old| result(lowering, old))?;
        let shifted = result(self, old.clone());
        if let Expression::Constant(by) = count {
            self.result_flags(shifted.clone());
            let last_out = Value::from(self.bits).checked_sub(by).filter(|bit| *bit >= 0);
            let carry = match last_out {
                Some(bit) => {
                    let moved = binary(Op::ShiftRight, self.unsigned(old), Expression::Constant(bit));
                    binary(Op::BitAnd, moved, Expression::Constant(1))
                }
                None => undefined(),
            };
            self.set(Flag::Carry, carry.clone());
            let negative = binary(Op::Less, self.signed(shifted), Expression::Constant(0));
            let single = by == 1;
            self.set(Flag::Overflow, if single { binary(Op::NotEqual, carry.clone(), negative) } else { undefined() });
            // SF ≠ OF: the sign and (carry ≠ sign) differ exactly when the carry is set.
            self.set(Flag::Less, if single { carry } else { undefined() });
        } else {
            for flag in [Flag::Zero, Flag::Sign, Flag::Carry, Flag::Overflow, Flag::Less] {
                self.set(flag, undefined());
            }
        }
        Ok(())
    }

    pub(super) fn conditional_move(
        &mut self,
        code: ConditionCode,
        destination: &Operand,
        source: &Operand,
    ) -> Result<(), Diagnostic> {
        let source = self.loaded_value(source)?;
        let kept = self.value(destination)?;
        let condition = self.condition(code);
        self.write_operand(destination, select(condition, source, kept))
    }
}
