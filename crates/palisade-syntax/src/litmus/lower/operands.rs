//! Operands: their places for the table, and addresses.

use super::super::assembly::{AssemblyInstruction, MemoryOperand, Operand, OperandKind};
use super::super::fold::{binary, or};
use super::super::registers::{MachineRegister, Part};
use super::Lowering;
use crate::Diagnostic;
use crate::x86::{Form, FormError, HIGH_BYTE_BESIDE_EXTENDED, Operation, Place};
use palisade_model::program::{BinaryOperator as Op, Expression, Span, Value};

/// The family of `rsp`.
const STACK_POINTER: u8 = 4;

impl Lowering<'_> {
    /// The form of an instruction that works on so many bits.
    pub(super) fn form(&self, instruction: &AssemblyInstruction, bits: u8) -> Result<Form, Diagnostic> {
        let places = instruction.operands.iter().map(|operand| self.place(operand, bits));
        let operands = places.collect::<Result<Vec<Place>, Diagnostic>>()?;
        let is_absolute = instruction.mnemonic.to_ascii_lowercase().starts_with("movabs");
        if is_absolute && !matches!(operands[..], [Place::Register(_), Place::Number(_) | Place::Address(_)]) {
            let message = format!("`{}` moves a constant to a register", instruction.mnemonic);
            return Err(Diagnostic::error(message, instruction.span));
        }
        Ok(Form { operation: instruction.operation, bits, locked: instruction.locked, operands })
    }

    fn place(&self, operand: &Operand, bits: u8) -> Result<Place, Diagnostic> {
        Ok(match &operand.kind {
            OperandKind::Register(register) => Place::Register(*register),
            OperandKind::Number(number) => Place::Number(*number),
            OperandKind::Address(name) => {
                if bits != self.lowerer.architecture.register_bits() {
                    return Err(Diagnostic::error("an address is as wide as a register", operand.span));
                }
                let location = self.layout.location(name).expect("all locations are laid out");
                Place::Address(self.layout.address_expression(location, 0))
            }
            OperandKind::Memory(_) => Place::Memory,
        })
    }

    /// The address of the operand in memory, where there is one.
    pub(super) fn memory_address(
        &mut self,
        instruction: &AssemblyInstruction,
    ) -> Result<Option<Expression>, Diagnostic> {
        for operand in &instruction.operands {
            if let OperandKind::Memory(memory) = &operand.kind {
                check_encoding(instruction, memory, operand.span)?;
                return self.address(memory, operand.span).map(Some);
            }
        }
        Ok(None)
    }

    fn address(&mut self, memory: &MemoryOperand, span: Span) -> Result<Expression, Diagnostic> {
        let MemoryOperand { symbol, displacement, base, index } = memory;
        let location = match symbol {
            Some(symbol) => Some(self.layout.location(symbol).expect("all locations are laid out")),
            None => None,
        };
        if let (Some(location), None, None) = (location, base, index) {
            let element = location.element_at(*displacement, self.bits, span)?;
            return Ok(self.layout.address_expression(location, element));
        }
        let constant = i32::try_from(*displacement).map(Value::from);
        let constant = constant.map_err(|_| Diagnostic::error("a displacement has 32 bits", span))?;
        let mut sum = match location {
            Some(location) => {
                binary(Op::Add, self.layout.address_expression(location, 0), Expression::Constant(constant))
            }
            None => Expression::Constant(constant),
        };
        let mut known = location.map_or(Some(0), |location| Some(self.layout.element(location, 0)));
        known = known.and_then(|known| known.checked_add(constant));
        for (register, scale) in
            base.iter().map(|base| (base, 1)).chain(index.iter().map(|(register, scale)| (register, *scale)))
        {
            if register.part != MachineRegister::whole(0, self.lowerer.architecture).part {
                return Err(Diagnostic::error("addresses are computed from whole registers", span));
            }
            let scale = Value::try_from(scale).ok().filter(|scale| matches!(scale, 1 | 2 | 4 | 8));
            let scale = scale.ok_or_else(|| Diagnostic::error("the scale of an index is 1, 2, 4 or 8", span))?;
            let value = Expression::Register(self.lowerer.family(register.family));
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
    fn constant_register(&self, register: MachineRegister) -> Option<Value> {
        let written = self.written.iter().any(|written| written.family == register.family);
        (!written).then(|| self.initial.get(&register.family).copied().unwrap_or(0))
    }

    /// An address only known when the program runs: dividing by zero, an error, where it is no
    /// whole cell's.
    fn checked_address(&self, sum: Expression) -> Expression {
        let is = |cell: Value| binary(Op::Equal, sum.clone(), Expression::Constant(cell));
        let valid = self.layout.cells(self.bits).into_iter().map(is).reduce(or).unwrap_or(Expression::Constant(0));
        let check = Expression::binary(Op::Divide, Expression::Constant(0), valid);
        Expression::binary(Op::Add, sum, check)
    }
}

/// What no encoding has: `rsp` as an index, a high byte beside a register that came with 64 bits.
fn check_encoding(instruction: &AssemblyInstruction, memory: &MemoryOperand, span: Span) -> Result<(), Diagnostic> {
    if memory.index.is_some_and(|(register, _)| register.family == STACK_POINTER) {
        return Err(Diagnostic::error("the stack pointer cannot be an index", span));
    }
    let mut registers = memory.base.into_iter().chain(memory.index.map(|(register, _)| register));
    let extended = registers.any(|register| register.family >= 8);
    let high = instruction
        .operands
        .iter()
        .find(|operand| matches!(operand.kind, OperandKind::Register(register) if register.part == Part::HighByte));
    match high {
        Some(high) if extended => Err(Diagnostic::error(HIGH_BYTE_BESIDE_EXTENDED, high.span)),
        _ => Ok(()),
    }
}

/// A form that the machine does not have, at the operand's place.
pub(super) fn form_error(error: FormError, instruction: &AssemblyInstruction) -> Diagnostic {
    let operand = error.operand.and_then(|operand| instruction.operands.get(operand));
    let diagnostic = Diagnostic::error(error.message, operand.map_or(instruction.span, |operand| operand.span));
    match error.help {
        Some(help) => diagnostic.with_help(help),
        None => diagnostic,
    }
}

/// Checks the number of operands.
pub(super) fn check_count(instruction: &AssemblyInstruction) -> Result<(), Diagnostic> {
    let count = instruction.operands.len();
    let (least, most) = instruction.operation.operand_counts();
    if (least..=most).contains(&count) {
        return Ok(());
    }
    let message = format!("`{}` has {count} operands here", instruction.mnemonic);
    let expected = if least == most { least.to_string() } else { format!("{least} or {most}") };
    Err(Diagnostic::error(message, instruction.span).with_expected([format!("{expected} operands")]))
}

/// Whether the table says what the instruction does: it is about values.
pub(super) fn is_about_values(operation: Operation) -> bool {
    !matches!(
        operation,
        Operation::Jump
            | Operation::ConditionalJump(_)
            | Operation::MemoryFence
            | Operation::StoreFence
            | Operation::LoadFence
            | Operation::Nop
            | Operation::Return
    )
}
