//! The table of instructions, read into assembly: columns of labels and instructions with operands.

use super::Architecture;
use super::cursor::{Cursor, thread_number};
use super::lexer::Token;
use super::mnemonics::{UNDERSTOOD, operation};
use super::registers::{INSTRUCTION_POINTER, MachineRegister};
use crate::Diagnostic;
use crate::x86::Operation;
use palisade_model::text::Span;

/// An operand in memory: `symbol + displacement + base + index * scale`, whatever of it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MemoryOperand {
    pub(super) symbol: Option<String>,
    pub(super) displacement: i128,
    pub(super) base: Option<MachineRegister>,
    pub(super) index: Option<(MachineRegister, i128)>,
}

/// What an operand is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OperandKind {
    /// A register or a part of one.
    Register(MachineRegister),
    /// A constant.
    Number(i128),
    /// The address of a location.
    Address(String),
    /// A place in memory.
    Memory(MemoryOperand),
}

/// An operand with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Operand {
    pub(super) kind: OperandKind,
    pub(super) span: Span,
}

/// An instruction, its operands with the destination first.
#[derive(Clone, Debug)]
pub(super) struct AssemblyInstruction {
    pub(super) operation: Operation,
    /// The mnemonic as written.
    pub(super) mnemonic: String,
    /// Whether `lock` stands before it.
    pub(super) locked: bool,
    /// The bits its suffix gives.
    pub(super) bits: Option<u8>,
    pub(super) operands: Vec<Operand>,
    /// The label of a jump.
    pub(super) target: Option<(String, Span)>,
    pub(super) span: Span,
}

/// What stands in a cell of the table.
#[derive(Clone, Debug)]
pub(super) enum AssemblyItem {
    /// A label.
    Label(String, Span),
    /// An instruction.
    Instruction(AssemblyInstruction),
}

/// A column of the table.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// The thread's number.
    pub(super) number: u32,
    /// The place of its name.
    pub(super) span: Span,
    pub(super) items: Vec<AssemblyItem>,
}

/// Reads the table; every cell that cannot be read is reported.
pub(super) fn columns(text: &str, within: Span, architecture: Architecture) -> Result<Vec<Column>, Vec<Diagnostic>> {
    let mut cursor = Cursor::new(text, within).map_err(|error| vec![error])?;
    let mut columns = first_row(&mut cursor).map_err(|error| vec![error])?;
    let mut errors = Vec::new();
    while !cursor.is_done() {
        if let Err(error) = row(&mut cursor, &mut columns, architecture, &mut errors) {
            errors.push(error);
            break;
        }
    }
    if errors.is_empty() { Ok(columns) } else { Err(errors) }
}

fn first_row(cursor: &mut Cursor<'_>) -> Result<Vec<Column>, Diagnostic> {
    let mut columns: Vec<Column> = Vec::new();
    cursor.eat(";");
    loop {
        let (name, span) = cursor.name("a thread's name such as `P0`")?;
        let Some(number) = thread_number(name) else {
            return Err(Diagnostic::error(format!("`{name}` is no thread's name"), span)
                .with_expected(["`P0`, `P1`, … at the head of each column"]));
        };
        if columns.iter().any(|column| column.number == number) {
            return Err(Diagnostic::error(format!("thread `{name}` has a column already"), span));
        }
        columns.push(Column { number, span, items: Vec::new() });
        if cursor.eat(";") {
            return Ok(columns);
        }
        if !cursor.eat("|") {
            return Err(cursor.unexpected(&["`|`", "`;`"]));
        }
    }
}

fn row(
    cursor: &mut Cursor<'_>,
    columns: &mut [Column],
    architecture: Architecture,
    errors: &mut Vec<Diagnostic>,
) -> Result<(), Diagnostic> {
    let count = columns.len();
    for index in 0.. {
        let Some(column) = columns.get_mut(index) else {
            let message = format!("this row has more cells than there are threads ({count})");
            return Err(Diagnostic::error(message, cursor.span()));
        };
        let mut cell = CellReader { cursor, architecture };
        if let Err(error) = cell.read(&mut column.items) {
            errors.push(error);
            cursor.skip_to(&["|", ";"]);
        }
        let end = cursor.span();
        if cursor.eat(";") || cursor.is_done() {
            if index + 1 < count {
                let message = format!("this row has fewer cells than there are threads ({count})");
                let help = "a cell may be empty, and each but the last is followed by `|`";
                return Err(Diagnostic::error(message, end).with_help(help));
            }
            return Ok(());
        }
        cursor.expect("|")?;
    }
    Ok(())
}

/// Reads one cell.
struct CellReader<'c, 'a> {
    cursor: &'c mut Cursor<'a>,
    architecture: Architecture,
}

impl CellReader<'_, '_> {
    fn read(&mut self, items: &mut Vec<AssemblyItem>) -> Result<(), Diagnostic> {
        while let (Some(Token::Name(name)), Some(Token::Symbol(":"))) = (self.cursor.peek(), self.cursor.peek_at(1)) {
            items.push(AssemblyItem::Label(name.to_owned(), self.cursor.span()));
            self.cursor.take();
            self.cursor.take();
        }
        if self.cursor.is_done() || self.cursor.at("|") || self.cursor.at(";") {
            return Ok(());
        }
        items.push(AssemblyItem::Instruction(self.instruction()?));
        if self.cursor.is_done() || self.cursor.at("|") || self.cursor.at(";") {
            return Ok(());
        }
        Err(self.cursor.unexpected(&["`|`", "`;`"]))
    }

    fn instruction(&mut self) -> Result<AssemblyInstruction, Diagnostic> {
        let start = self.cursor.span();
        let locked = self.cursor.eat_word("lock");
        if locked {
            // `lock; inc [x]` is an old way to write it.
            self.cursor.eat(";");
        }
        let (mnemonic, span) = self.cursor.name("an instruction")?;
        let Some((operation, bits)) = operation(mnemonic) else {
            let message = format!("the instruction `{mnemonic}` is not understood");
            return Err(Diagnostic::error(message, span).with_help(UNDERSTOOD));
        };
        let mut operands = Vec::new();
        let mut target = None;
        if matches!(operation, Operation::Jump | Operation::ConditionalJump(_)) {
            let (label, span) = self.cursor.name("a label")?;
            target = Some((label.to_owned(), span));
        } else {
            while !(self.cursor.is_done() || self.cursor.at("|") || self.cursor.at(";")) {
                operands.push(self.operand()?);
                if !self.cursor.eat(",") {
                    break;
                }
            }
        }
        if self.architecture == Architecture::X86_64 {
            // The AT&T order puts the destination last. Where only one operand of `cmpxchg` or
            // `cmov` can be the destination, it is, in whatever order they stand.
            operands.reverse();
        }
        let misplaced = match (operation, operands.as_slice()) {
            (Operation::CompareExchange | Operation::ExchangeAdd, [left, right]) => {
                !is_memory(left) && is_memory(right)
            }
            (Operation::ConditionalMove(_), [left, _]) => is_memory(left),
            (Operation::Exchange, [left, right]) => !is_memory(left) && is_memory(right),
            _ => false,
        };
        if misplaced {
            operands.reverse();
        }
        let span = start.to(self.cursor.previous_span());
        Ok(AssemblyInstruction { operation, mnemonic: mnemonic.to_owned(), locked, bits, operands, target, span })
    }

    fn operand(&mut self) -> Result<Operand, Diagnostic> {
        let start = self.cursor.span();
        let kind = self.operand_kind()?;
        Ok(Operand { kind, span: start.to(self.cursor.previous_span()) })
    }

    fn operand_kind(&mut self) -> Result<OperandKind, Diagnostic> {
        let cursor = &mut *self.cursor;
        if cursor.eat("$") {
            if cursor.at_number() {
                return Ok(OperandKind::Number(cursor.number()?));
            }
            let (name, _) = cursor.name("a number or a location's name")?;
            return Ok(OperandKind::Address(name.to_owned()));
        }
        if cursor.at_number() {
            let number = cursor.number()?;
            if cursor.at("(") || cursor.at("[") {
                return self.memory(number, None);
            }
            return Ok(OperandKind::Number(number));
        }
        if cursor.at("[") || cursor.at("(") {
            return self.memory(0, None);
        }
        let (name, span) = cursor.name("an operand")?;
        let segment = matches!(name.to_ascii_lowercase().as_str(), "cs" | "ds" | "es" | "ss" | "fs" | "gs");
        if segment && cursor.eat(":") {
            return self.operand_kind();
        }
        if let Some(register) = MachineRegister::named(name) {
            return self.known(register, span).map(OperandKind::Register);
        }
        if cursor.at("(") || cursor.at("[") {
            return self.memory(0, Some(name.to_owned()));
        }
        let suggestion = match self.architecture {
            Architecture::X86 => format!("write `[{name}]` for the memory location"),
            Architecture::X86_64 => format!("write `({name})` for the memory location"),
        };
        Err(Diagnostic::error(format!("`{name}` is no register"), span).with_help(suggestion))
    }

    fn known(&self, register: MachineRegister, span: Span) -> Result<MachineRegister, Diagnostic> {
        if register.exists_in(self.architecture) {
            return Ok(register);
        }
        let name = register.name(self.architecture);
        Err(Diagnostic::error(format!("there is no register `{name}` on 32-bit x86"), span)
            .with_help("begin the test with `X86_64`"))
    }

    /// What stands in brackets or parentheses: `x`, `x+4`, `rdi`, `rdi+rsi*4+8`, `%rdi,%rsi,4`.
    fn memory(&mut self, displacement: i128, symbol: Option<String>) -> Result<OperandKind, Diagnostic> {
        let open = self.cursor.span();
        let close = if self.cursor.eat("[") { "]" } else { ")" };
        if close == ")" {
            self.cursor.expect("(")?;
        }
        let mut operand = MemoryOperand { symbol, displacement, base: None, index: None };
        let mut negative = false;
        loop {
            self.term(&mut operand, negative)?;
            if self.cursor.at(",") {
                self.index_after_comma(&mut operand)?;
                break;
            }
            negative = self.cursor.at("-");
            if !(self.cursor.eat("+") || self.cursor.eat("-")) {
                break;
            }
        }
        self.cursor.expect(close)?;
        let span = open.to(self.cursor.previous_span());
        if let Some(base) = operand.base
            && base.family == INSTRUCTION_POINTER
        {
            // `x(%rip)` is the location x.
            if operand.symbol.is_none() || operand.index.is_some() {
                return Err(Diagnostic::error("an address relative to `rip` names no location", span));
            }
            operand.base = None;
        }
        Ok(OperandKind::Memory(operand))
    }

    fn term(&mut self, operand: &mut MemoryOperand, negative: bool) -> Result<(), Diagnostic> {
        let span = self.cursor.span();
        if self.cursor.at_number() {
            let number = self.cursor.number()?;
            if self.cursor.eat("*") {
                let register = self.register()?;
                return Self::set_index(operand, register, if negative { -number } else { number }, span);
            }
            operand.displacement += if negative { -number } else { number };
            return Ok(());
        }
        let (name, span) = self.cursor.name("a location or a register")?;
        if negative {
            return Err(Diagnostic::error(format!("`{name}` cannot be subtracted in an address"), span));
        }
        match MachineRegister::named(name) {
            Some(register) => {
                let register = self.known(register, span)?;
                if self.cursor.eat("*") {
                    let scale = self.cursor.number()?;
                    return Self::set_index(operand, register, scale, span);
                }
                if operand.base.is_none() {
                    operand.base = Some(register);
                    return Ok(());
                }
                Self::set_index(operand, register, 1, span)
            }
            None if operand.symbol.is_none() => {
                operand.symbol = Some(name.to_owned());
                Ok(())
            }
            None => Err(Diagnostic::error("an address names one location at most", span)),
        }
    }

    /// `, %rsi, 4` of the AT&T syntax.
    fn index_after_comma(&mut self, operand: &mut MemoryOperand) -> Result<(), Diagnostic> {
        self.cursor.expect(",")?;
        let span = self.cursor.span();
        let register = self.register()?;
        let scale = if self.cursor.eat(",") { self.cursor.number()? } else { 1 };
        Self::set_index(operand, register, scale, span)
    }

    fn register(&mut self) -> Result<MachineRegister, Diagnostic> {
        let (name, span) = self.cursor.name("a register")?;
        match MachineRegister::named(name) {
            Some(register) => self.known(register, span),
            None => Err(Diagnostic::error(format!("`{name}` is no register"), span)),
        }
    }

    fn set_index(
        operand: &mut MemoryOperand,
        register: MachineRegister,
        scale: i128,
        span: Span,
    ) -> Result<(), Diagnostic> {
        if operand.index.is_some() {
            return Err(Diagnostic::error("an address has one index at most", span));
        }
        operand.index = Some((register, scale));
        Ok(())
    }
}

fn is_memory(operand: &Operand) -> bool {
    matches!(operand.kind, OperandKind::Memory(_))
}
