//! Operands: registers and their parts, constants, addresses.

use super::super::Architecture;
use super::super::assembly::{MemoryOperand, Operand, OperandKind};
use super::super::code::Code;
use super::super::fold::{binary, or, truncate};
use super::super::registers::{MachineRegister, Part};
use super::{Lowering, Slot};
use crate::Diagnostic;
use palisade_model::program::{Action, BinaryOperator as Op, Expression, RegisterId, Span, Value};

impl Lowering<'_> {
    /// An operand's value, read from memory if need be.
    pub(super) fn loaded_value(&mut self, operand: &Operand) -> Result<Expression, Diagnostic> {
        let OperandKind::Memory(memory) = &operand.kind else { return self.value(operand) };
        let address = self.address(memory, operand.span)?;
        let register = self.slot(Slot::Temporary(0));
        self.act(Action::Load { register, address });
        Ok(Expression::Register(register))
    }

    /// The value of an operand that is not in memory.
    pub(super) fn value(&mut self, operand: &Operand) -> Result<Expression, Diagnostic> {
        match &operand.kind {
            OperandKind::Register(register) => Ok(self.read(*register)),
            OperandKind::Number(number) => Ok(self.canonical(constant(*number))),
            OperandKind::Address(name) => {
                if self.bits != self.architecture.register_bits() {
                    return Err(Diagnostic::error("an address is as wide as a register", operand.span));
                }
                let location = self.layout.location(name).expect("all locations are laid out");
                Ok(self.layout.address_expression(location, 0))
            }
            OperandKind::Memory(_) => Err(Diagnostic::error("at most one operand can be in memory", operand.span)),
        }
    }

    /// An operand's value in a register of its own, so that it stays when the operand changes.
    pub(super) fn copied(&mut self, temporary: u8, operand: &Operand) -> Result<Expression, Diagnostic> {
        let value = self.value(operand)?;
        Ok(self.copied_expression(temporary, value))
    }

    pub(super) fn copied_expression(&mut self, temporary: u8, value: Expression) -> Expression {
        if value.is_constant() {
            return value;
        }
        let register = self.slot(Slot::Temporary(temporary));
        self.act(Action::Assign { register, value });
        Expression::Register(register)
    }

    pub(super) fn write_operand(&mut self, operand: &Operand, value: Expression) -> Result<(), Diagnostic> {
        match &operand.kind {
            OperandKind::Register(register) => {
                self.write(*register, value);
                Ok(())
            }
            OperandKind::Memory(memory) => {
                let address = self.address(memory, operand.span)?;
                self.act(Action::Store { address, value });
                Ok(())
            }
            OperandKind::Number(_) | OperandKind::Address(_) => {
                Err(Diagnostic::error("a constant cannot be written to", operand.span))
            }
        }
    }

    /// The program's register for an operand whose every write replaces the whole register.
    pub(super) fn direct_destination(&mut self, operand: &Operand) -> Option<RegisterId> {
        match operand.kind {
            OperandKind::Register(register) if register.part.bits() >= 32 => Some(self.family(register.family)),
            _ => None,
        }
    }

    pub(super) fn address(&mut self, memory: &MemoryOperand, span: Span) -> Result<Expression, Diagnostic> {
        let MemoryOperand { symbol, displacement, base, index } = memory;
        let location = match symbol {
            Some(symbol) => Some(self.layout.location(symbol).expect("all locations are laid out")),
            None => None,
        };
        if let (Some(location), None, None) = (location, base, index) {
            let element = location.element_at(*displacement, self.bits, span)?;
            return Ok(self.layout.address_expression(location, element));
        }
        let mut sum = match location {
            Some(location) => binary(Op::Add, self.layout.address_expression(location, 0), constant(*displacement)),
            None => constant(*displacement),
        };
        let mut known = location.map_or(Some(0), |location| Some(self.layout.element(location, 0)));
        known = known.and_then(|known| known.checked_add(Value::try_from(*displacement).ok()?));
        for (register, scale) in
            base.iter().map(|base| (base, 1)).chain(index.iter().map(|(register, scale)| (register, *scale)))
        {
            if register.part != MachineRegister::whole(0, self.architecture).part {
                return Err(Diagnostic::error("addresses are computed from whole registers", span));
            }
            let scale = Value::try_from(scale).ok().filter(|scale| matches!(scale, 1 | 2 | 4 | 8));
            let scale = scale.ok_or_else(|| Diagnostic::error("the scale of an index is 1, 2, 4 or 8", span))?;
            let value = Expression::Register(self.family(register.family));
            sum = binary(Op::Add, binary(Op::Multiply, value, Expression::Constant(scale)), sum);
            known = known.and_then(|known| known.checked_add(self.constant_register(*register)?.checked_mul(scale)?));
        }
        match known {
            Some(address) => match self.layout.cell_at(address) {
                Some((location, element)) if location.cell_type.bits == self.bits => {
                    Ok(self.layout.address_expression(location, element))
                }
                _ => Err(Diagnostic::error(format!("there is no cell of {} bits at this address", self.bits), span)),
            },
            None => Ok(self.checked_address(sum)),
        }
    }

    /// The value of a register that the thread never writes.
    pub(super) fn constant_register(&self, register: MachineRegister) -> Option<Value> {
        let written = self.written.iter().any(|written| written.family == register.family);
        (!written).then(|| self.initial.get(&register.family).copied().unwrap_or(0))
    }

    /// An address only known when the program runs: dividing by zero, an error, where it is no whole cell's.
    pub(super) fn checked_address(&self, sum: Expression) -> Expression {
        let is = |cell: Value| binary(Op::Equal, sum.clone(), Expression::Constant(cell));
        let valid = self.layout.cells(self.bits).into_iter().map(is).reduce(or).unwrap_or(Expression::Constant(0));
        let check = Expression::binary(Op::Divide, Expression::Constant(0), valid);
        Expression::binary(Op::Add, sum, check)
    }

    pub(super) fn read(&mut self, register: MachineRegister) -> Expression {
        let whole = Expression::Register(self.family(register.family));
        let bits = register.part.bits();
        match register.part {
            _ if bits == self.architecture.register_bits() => whole,
            Part::Double if self.is_narrow(register.family) => whole,
            Part::HighByte => truncate(binary(Op::ShiftRight, whole, Expression::Constant(8)), 8, false),
            _ => truncate(whole, bits, false),
        }
    }

    pub(super) fn write(&mut self, register: MachineRegister, value: Expression) {
        let id = self.family(register.family);
        let value = self.widened(register, value);
        self.act(Action::Assign { register: id, value });
    }

    /// What a whole register becomes when a part of it is written.
    pub(super) fn widened(&mut self, register: MachineRegister, value: Expression) -> Expression {
        let whole = MachineRegister::whole(register.family, self.architecture);
        let (mask, value) = match register.part {
            Part::Quad | Part::Double => return value,
            Part::Word => (!0xffff, value),
            Part::LowByte => (!0xff, value),
            Part::HighByte => (!0xff00, binary(Op::ShiftLeft, value, Expression::Constant(8))),
        };
        binary(Op::BitOr, binary(Op::BitAnd, self.read(whole), Expression::Constant(mask)), value)
    }

    /// Whether a 64-bit register never holds more than 32 bits.
    pub(super) fn is_narrow(&self, family: u8) -> bool {
        let initial = self.initial.get(&family).copied().unwrap_or(0);
        let wide = self.written.iter().any(|written| written.family == family && written.part == Part::Quad);
        self.architecture == Architecture::X86_64 && !wide && u32::try_from(initial).is_ok()
    }

    pub(super) fn family(&mut self, family: u8) -> RegisterId {
        self.slot(Slot::Family(family))
    }

    pub(super) fn slot(&mut self, slot: Slot) -> RegisterId {
        let index = self.slots.iter().position(|known| *known == slot).unwrap_or_else(|| {
            self.slots.push(slot);
            self.thread.own.push(!matches!(slot, Slot::Family(_)));
            self.slots.len() - 1
        });
        RegisterId::from_index(index)
    }

    pub(super) fn act(&mut self, action: Action) {
        self.thread.code.push(Code::Action(action, self.span));
    }

    /// A number in the form its width is kept in.
    pub(super) fn canonical(&self, expression: Expression) -> Expression {
        truncate(expression, self.bits, self.is_signed())
    }

    pub(super) fn is_signed(&self) -> bool {
        self.bits == self.architecture.register_bits()
    }

    /// A canonical value as a signed number.
    pub(super) fn signed(&self, value: Expression) -> Expression {
        if self.is_signed() { value } else { truncate(value, self.bits, true) }
    }

    /// A canonical value as an unsigned number.
    pub(super) fn unsigned(&self, value: Expression) -> Expression {
        if self.is_signed() { truncate(value, self.bits, false) } else { value }
    }
}

/// A number of the text, of 64 bits at most, signed or not.
pub(super) fn constant(number: i128) -> Expression {
    let signed = palisade_model::program::truncate(number, 64, true);
    Expression::Constant(Value::try_from(signed).expect("64 signed bits are a value"))
}
