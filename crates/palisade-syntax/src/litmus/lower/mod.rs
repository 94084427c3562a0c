//! Machine instructions in terms of the program's actions.
//!
//! What an instruction does to values is in the table of [`x86`](crate::x86), where loads and
//! stores move values as they are and only arithmetic truncates; this module finds the addresses
//! and puts the effects in an order.

mod operands;

use super::Architecture;
use super::assembly::{AssemblyInstruction, AssemblyItem, Column, OperandKind};
use super::code::{Code, CodeLabel, TextLabel};
use super::layout::{Layout, access_bits};
use super::registers::{INSTRUCTION_POINTER, MachineRegister, Part};
use crate::Diagnostic;
use crate::x86::lowerer::{LoweredThread, Lowerer, Operand};
use crate::x86::{Operation, condition, meaning};
use operands::{check_count, form_error, is_about_values};
use palisade_model::program::{Action, Value};
use std::collections::BTreeMap;

/// Lowers one column. `initial` gives the values that registers start with.
pub(super) fn lower(
    column: &Column,
    architecture: Architecture,
    layout: &Layout,
    initial: &BTreeMap<u8, Value>,
) -> Result<(LoweredThread, Vec<Diagnostic>), Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let labels = text_labels(column, &mut errors);
    let mut lowering = Lowering {
        lowerer: Lowerer::new(architecture),
        layout,
        initial,
        written: Vec::new(),
        labels,
        bits: 32,
        warnings: Vec::new(),
    };
    lowering.look_at_writes(column);
    let mut marked = 0;
    for item in &column.items {
        match item {
            AssemblyItem::Label(..) => {
                if marked < lowering.labels.len() {
                    lowering.lowerer.thread.code.push(Code::Mark(marked));
                }
                marked += 1;
            }
            AssemblyItem::Instruction(instruction) => {
                if let Err(error) = lowering.instruction(instruction) {
                    errors.push(error);
                }
            }
        }
    }
    if errors.is_empty() {
        lowering.lowerer.thread.clean_up();
        errors.extend(lowering.lowerer.undefined_flags());
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let Lowering { lowerer, labels, warnings, .. } = lowering;
    Ok((lowerer.finish(labels), warnings))
}

fn text_labels(column: &Column, errors: &mut Vec<Diagnostic>) -> Vec<TextLabel> {
    let mut labels: Vec<TextLabel> = Vec::new();
    for item in &column.items {
        if let AssemblyItem::Label(name, span) = item {
            if labels.iter().any(|label| label.name == *name) {
                let message = format!("the label `{name}` is there twice in thread P{}", column.number);
                errors.push(Diagnostic::error(message, *span));
            }
            labels.push(TextLabel { name: name.clone(), span: *span });
        }
    }
    labels
}

struct Lowering<'a> {
    lowerer: Lowerer,
    layout: &'a Layout,
    initial: &'a BTreeMap<u8, Value>,
    /// Registers that some instruction of the thread writes.
    written: Vec<MachineRegister>,
    labels: Vec<TextLabel>,
    /// The bits it works on.
    bits: u8,
    warnings: Vec<Diagnostic>,
}

impl Lowering<'_> {
    /// Finds out which registers the thread writes, and which of them never hold more than 32 bits.
    fn look_at_writes(&mut self, column: &Column) {
        for item in &column.items {
            let AssemblyItem::Instruction(instruction) = item else { continue };
            if !is_about_values(instruction.operation) || check_count(instruction).is_err() {
                continue;
            }
            // Errors are reported when the instruction is lowered.
            let form = self.operation_bits(instruction).and_then(|bits| self.form(instruction, bits));
            let Ok(form) = form else { continue };
            if let Ok(meaning) = meaning(&form, &self.lowerer.machine) {
                self.written.extend(meaning.writes.iter().map(|write| write.register));
            }
        }
        let wide = |family| self.written.iter().any(|written| written.family == family && written.part == Part::Quad);
        for (family, narrow) in (0..).zip(&mut self.lowerer.machine.narrow) {
            let initial = self.initial.get(&family).copied().unwrap_or(0);
            *narrow =
                self.lowerer.architecture == Architecture::X86_64 && !wide(family) && u32::try_from(initial).is_ok();
        }
    }

    fn instruction(&mut self, instruction: &AssemblyInstruction) -> Result<(), Diagnostic> {
        self.lowerer.span = instruction.span;
        check_count(instruction)?;
        if !is_about_values(instruction.operation) {
            return self.control(instruction);
        }
        self.bits = self.operation_bits(instruction)?;
        let form = self.form(instruction, self.bits)?;
        let meaning = meaning(&form, &self.lowerer.machine).map_err(|error| form_error(error, instruction))?;
        let address = self.memory_address(instruction)?;
        self.lowerer.effects(&meaning, address.map_or(Operand::None, Operand::Shared));
        Ok(())
    }

    /// Jumps, fences and what does nothing.
    fn control(&mut self, instruction: &AssemblyInstruction) -> Result<(), Diagnostic> {
        if instruction.locked {
            let message = format!("`{}` cannot be locked here", instruction.mnemonic);
            return Err(Diagnostic::error(message, instruction.span));
        }
        match instruction.operation {
            Operation::Jump => {
                let label = self.target(instruction)?;
                self.lowerer.thread.code.push(Code::Jump(label, self.lowerer.span));
            }
            Operation::ConditionalJump(code) => {
                let label = self.target(instruction)?;
                let condition = self.lowerer.of_atoms(&condition(code), None);
                self.lowerer.thread.code.push(Code::Branch(condition, label, self.lowerer.span));
            }
            Operation::MemoryFence => self.lowerer.act(Action::Fence),
            Operation::StoreFence => self.lowerer.act(Action::StoreFence),
            Operation::Return => self.lowerer.thread.code.push(Code::Stop),
            Operation::LoadFence => {
                let message = "`lfence` orders nothing more, as loads are in order: it is read as `nop`";
                self.warnings.push(Diagnostic::warning(message, self.lowerer.span));
                self.lowerer.act(Action::Nop);
            }
            _ => self.lowerer.act(Action::Nop),
        }
        Ok(())
    }

    /// The bits an instruction works on: as its suffix, its registers, or the location it accesses
    /// say.
    fn operation_bits(&self, instruction: &AssemblyInstruction) -> Result<u8, Diagnostic> {
        let location_bits = || {
            instruction.operands.iter().find_map(|operand| match &operand.kind {
                OperandKind::Memory(memory) => {
                    let location = self.layout.location(memory.symbol.as_ref()?)?;
                    Some(location.cell_type.bits)
                }
                _ => None,
            })
        };
        let bits = access_bits(instruction).or_else(location_bits).unwrap_or(self.lowerer.architecture.register_bits());
        if bits > self.lowerer.architecture.register_bits() {
            return Err(Diagnostic::error("64-bit operations need a test that begins with `X86_64`", instruction.span));
        }
        let compared = match instruction.operation {
            operation if operation.has_count() => instruction.operands.get(..1).unwrap_or_default(),
            _ => &instruction.operands,
        };
        for operand in compared {
            if let OperandKind::Register(register) = operand.kind {
                if register.family == INSTRUCTION_POINTER {
                    return Err(Diagnostic::error("`rip` is no operand", operand.span));
                }
                if register.part.bits() != bits {
                    let message = format!("this register has {} bits, the operation {bits}", register.part.bits());
                    return Err(Diagnostic::error(message, operand.span));
                }
            }
        }
        Ok(bits)
    }

    fn target(&self, instruction: &AssemblyInstruction) -> Result<CodeLabel, Diagnostic> {
        let (name, span) = instruction.target.as_ref().expect("jumps are read with their label");
        self.labels.iter().position(|label| label.name == *name).ok_or_else(|| {
            Diagnostic::error(format!("this thread has no label `{name}`"), *span)
                .with_expected(self.labels.iter().map(|label| format!("`{}`", label.name)))
        })
    }
}
