//! Machine instructions in terms of the program's actions.
//!
//! A value as wide as the architecture's registers is a signed number; a narrower one is zero-extended, which is what
//! a 32-bit load leaves in a 64-bit register. So loads and stores move values as they are, and only arithmetic
//! truncates.

mod flags;
mod operands;
mod operations;

use super::Architecture;
use super::assembly::{AssemblyInstruction, AssemblyItem, Column, OperandKind};
use super::code::{Code, CodeLabel, ThreadCode};
use super::layout::{Layout, access_bits};
use super::mnemonics::{Arithmetic, Operation};
use super::registers::{INSTRUCTION_POINTER, MachineRegister, Part};
use crate::Diagnostic;
use palisade_model::program::{Action, Span, Value};
use std::collections::BTreeMap;

/// What a register of the program stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// A register of the machine.
    Family(u8),
    /// A flag, or a Boolean function of flags.
    Flag(Flag),
    /// A value on its way.
    Temporary(u8),
}

/// Flags as they are kept: the machine's, and SF ≠ OF, which signed comparisons ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flag {
    Zero,
    Less,
    Carry,
    Sign,
    Overflow,
}

impl Slot {
    /// The name the register gets.
    pub(super) fn name(self, architecture: Architecture) -> String {
        match self {
            Self::Family(family) => MachineRegister::whole(family, architecture).name(architecture),
            Self::Flag(flag) => match flag {
                Flag::Zero => "ZF",
                Flag::Less => "SF_neq_OF",
                Flag::Carry => "CF",
                Flag::Sign => "SF",
                Flag::Overflow => "OF",
            }
            .to_owned(),
            Self::Temporary(number) => format!("t{number}"),
        }
    }
}

/// A label of a thread's text.
#[derive(Clone, Debug)]
pub(super) struct TextLabel {
    pub(super) name: String,
    pub(super) span: Span,
}

/// A thread in code, not yet an automaton.
#[derive(Debug)]
pub(super) struct LoweredThread {
    pub(super) code: ThreadCode,
    pub(super) slots: Vec<Slot>,
    pub(super) labels: Vec<TextLabel>,
    pub(super) warnings: Vec<Diagnostic>,
}

/// Lowers one column. `initial` gives the values that registers start with.
pub(super) fn lower(
    column: &Column,
    architecture: Architecture,
    layout: &Layout,
    initial: &BTreeMap<u8, Value>,
) -> Result<LoweredThread, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let labels = text_labels(column, &mut errors);
    let written: Vec<MachineRegister> = column.items.iter().flat_map(written_registers).collect();
    let mut lowering = Lowering {
        architecture,
        layout,
        initial,
        written,
        labels,
        thread: ThreadCode::default(),
        slots: Vec::new(),
        span: Span::default(),
        bits: 32,
        warnings: Vec::new(),
    };
    let mut marked = 0;
    for item in &column.items {
        match item {
            AssemblyItem::Label(..) => {
                if marked < lowering.labels.len() {
                    lowering.thread.code.push(Code::Mark(marked));
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
        lowering.thread.clean_up();
        errors.extend(lowering.undefined_flags());
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let Lowering { thread, slots, labels, warnings, .. } = lowering;
    Ok(LoweredThread { code: thread, slots, labels, warnings })
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

/// The registers an instruction may write.
fn written_registers(item: &AssemblyItem) -> Vec<MachineRegister> {
    let AssemblyItem::Instruction(instruction) = item else { return Vec::new() };
    let count = match instruction.operation {
        Operation::Exchange | Operation::ExchangeAdd => 2,
        Operation::Compare | Operation::Test | Operation::Nop => 0,
        _ => 1,
    };
    let registers = instruction.operands.iter().take(count).filter_map(|operand| match operand.kind {
        OperandKind::Register(register) => Some(register),
        _ => None,
    });
    let mut written: Vec<MachineRegister> = registers.collect();
    if instruction.operation == Operation::CompareExchange {
        let part = if access_bits(instruction).is_none_or(|bits| bits == 64) { Part::Quad } else { Part::Double };
        written.push(MachineRegister { family: 0, part });
    }
    written
}

struct Lowering<'a> {
    architecture: Architecture,
    layout: &'a Layout,
    initial: &'a BTreeMap<u8, Value>,
    /// Registers that some instruction of the thread writes.
    written: Vec<MachineRegister>,
    labels: Vec<TextLabel>,
    thread: ThreadCode,
    slots: Vec<Slot>,
    /// The instruction being lowered.
    span: Span,
    /// The bits it works on.
    bits: u8,
    warnings: Vec<Diagnostic>,
}

impl Lowering<'_> {
    fn instruction(&mut self, instruction: &AssemblyInstruction) -> Result<(), Diagnostic> {
        self.span = instruction.span;
        self.bits = self.operation_bits(instruction)?;
        check_shape(instruction)?;
        let operands = instruction.operands.as_slice();
        let locked = instruction.locked;
        match instruction.operation {
            Operation::Move => self.lower_move(&operands[0], &operands[1]),
            Operation::Exchange => self.exchange(&operands[0], &operands[1]),
            Operation::ExchangeAdd => self.exchange_add(&operands[0], &operands[1], locked),
            Operation::CompareExchange => self.compare_exchange(&operands[0], &operands[1], locked),
            Operation::Increment => self.arithmetic(Arithmetic::Add, &operands[0], None, locked),
            Operation::Decrement => self.arithmetic(Arithmetic::Subtract, &operands[0], None, locked),
            Operation::Arithmetic(operation) => self.arithmetic(operation, &operands[0], Some(&operands[1]), locked),
            Operation::Compare | Operation::Test => self.compare(instruction.operation, &operands[0], &operands[1]),
            Operation::ShiftLeft => self.shift_left(&operands[0], operands.get(1)),
            Operation::Jump => {
                let label = self.target(instruction)?;
                self.thread.code.push(Code::Jump(label, self.span));
                Ok(())
            }
            Operation::ConditionalJump(code) => {
                let label = self.target(instruction)?;
                let condition = self.condition(code);
                self.thread.code.push(Code::Branch(condition, label, self.span));
                Ok(())
            }
            Operation::ConditionalMove(code) => self.conditional_move(code, &operands[0], &operands[1]),
            Operation::Set(code) => {
                let value = self.condition(code);
                self.write_operand(&operands[0], value)
            }
            Operation::MemoryFence => {
                self.act(Action::Fence);
                Ok(())
            }
            Operation::WeakFence => {
                let message = format!("`{}` orders nothing more under TSO: it is read as `nop`", instruction.mnemonic);
                self.warnings.push(Diagnostic::warning(message, self.span));
                self.act(Action::Nop);
                Ok(())
            }
            Operation::Nop => {
                self.act(Action::Nop);
                Ok(())
            }
            Operation::Return => {
                self.thread.code.push(Code::Stop);
                Ok(())
            }
        }
    }

    /// The bits an instruction works on: as its suffix, its registers, or the location it accesses say.
    fn operation_bits(&self, instruction: &AssemblyInstruction) -> Result<u8, Diagnostic> {
        if instruction.operation == Operation::Nop {
            return Ok(self.architecture.register_bits());
        }
        let location_bits = || {
            instruction.operands.iter().find_map(|operand| match &operand.kind {
                OperandKind::Memory(memory) => {
                    let location = self.layout.location(memory.symbol.as_ref()?)?;
                    Some(location.cell_type.bits)
                }
                _ => None,
            })
        };
        let bits = access_bits(instruction).or_else(location_bits).unwrap_or(self.architecture.register_bits());
        if bits > self.architecture.register_bits() {
            return Err(Diagnostic::error("64-bit operations need a test that begins with `X86_64`", instruction.span));
        }
        let compared = match instruction.operation {
            Operation::ShiftLeft => instruction.operands.get(..1).unwrap_or_default(),
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

/// Checks the number of operands and the lock prefix.
fn check_shape(instruction: &AssemblyInstruction) -> Result<(), Diagnostic> {
    let count = instruction.operands.len();
    let (least, most) = match instruction.operation {
        Operation::Move
        | Operation::Exchange
        | Operation::ExchangeAdd
        | Operation::CompareExchange
        | Operation::Arithmetic(_)
        | Operation::Compare
        | Operation::Test
        | Operation::ConditionalMove(_) => (2, 2),
        Operation::Increment | Operation::Decrement | Operation::Set(_) => (1, 1),
        Operation::ShiftLeft => (1, 2),
        Operation::Nop => (0, 1),
        Operation::Jump
        | Operation::ConditionalJump(_)
        | Operation::MemoryFence
        | Operation::WeakFence
        | Operation::Return => (0, 0),
    };
    if count < least || count > most {
        let message = format!("`{}` has {count} operands here", instruction.mnemonic);
        let expected = if least == most { least.to_string() } else { format!("{least} or {most}") };
        return Err(Diagnostic::error(message, instruction.span).with_expected([format!("{expected} operands")]));
    }
    let memory = instruction.operands.iter().filter(|operand| matches!(operand.kind, OperandKind::Memory(_)));
    if memory.count() > 1 {
        return Err(Diagnostic::error("at most one operand can be in memory", instruction.span));
    }
    if !instruction.locked {
        return Ok(());
    }
    let may_be_locked = matches!(
        instruction.operation,
        Operation::Exchange
            | Operation::ExchangeAdd
            | Operation::CompareExchange
            | Operation::Increment
            | Operation::Decrement
            | Operation::Arithmetic(_)
    );
    let in_memory = matches!(instruction.operands.first().map(|operand| &operand.kind), Some(OperandKind::Memory(_)));
    if may_be_locked && in_memory {
        return Ok(());
    }
    let message = format!("`{}` cannot be locked here", instruction.mnemonic);
    Err(Diagnostic::error(message, instruction.span).with_help(
        "lock goes with xchg, xadd, cmpxchg, inc, dec, add, sub, and, or and xor whose destination is in memory",
    ))
}
