//! From a program to a litmus test in the `X86_64` syntax that herd7 reads.
//!
//! Every cell is a `uint64_t`; every copy of a thread is a column. What machine code of the
//! understood kind cannot say is refused: computed addresses, addresses as values, locked sections,
//! arbitrary values, free choices between instructions, arithmetic that wraps into a domain. An
//! `assert` that blocks becomes a jump to itself. The instructions keep to what herd7 knows where
//! they can; those it lacks (xadd, and locked `and` and `or`) are a warning.

mod column;
mod conditions;
mod expressions;
mod thread;

use super::WIDEST;
use super::registers::MachineRegister;
use crate::Diagnostic;
use palisade_model::program::{BinaryOperator, Copies, Domain, Expression, Program, Span, UnaryOperator, Value};
use palisade_semantics::{Condition, CopyId};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// What a place holds in a final state that a test asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinalValue {
    /// A register of a copy.
    Register {
        /// The copy.
        copy: CopyId,
        /// Its register.
        register: palisade_model::program::RegisterId,
        /// What it holds.
        value: Value,
    },
    /// Memory at an address.
    Memory {
        /// The address.
        address: Value,
        /// What it holds.
        value: Value,
    },
}

/// The final states that the written test asks for.
#[derive(Clone, Copy, Debug)]
pub enum Request<'a> {
    /// For all registers and locations.
    Everything,
    /// Whether some final state has all these values.
    Exists(&'a [FinalValue]),
    /// A condition on the program's threads, of one copy each.
    Condition(&'a Condition),
}

/// A litmus test as text, with what to know about it.
#[derive(Clone, Debug)]
pub struct WrittenTest {
    /// The text.
    pub text: String,
    /// What it leaves out, or what some tools do not understand in it.
    pub warnings: Vec<Diagnostic>,
}

/// More columns than this help nobody.
const MOST_COLUMNS: u64 = 64;

/// Writes a program as a litmus test, or says what in it cannot be expressed.
pub fn write(program: &Program, request: Request<'_>) -> Result<WrittenTest, Vec<Diagnostic>> {
    crate::threads_only(program, "a litmus test", crate::NATIVE_SAYS_IT)?;
    let mut writer = Writer::new(program);
    writer.check_program();
    writer.check_wrapping();
    let mut columns = Vec::new();
    let lists_copies = writer.errors.is_empty();
    for (id, thread) in program.thread_ids() {
        let Copies::Exactly(copies) = thread.copies else { continue };
        // Where there are too many, one copy tells what else is wrong.
        for copy in 0..if lists_copies { copies } else { copies.min(1) } {
            columns.push((CopyId { thread: id, copy }, column::Column::new(thread)));
        }
        writer.errors.extend(columns.last().filter(|_| copies > 0).and_then(|(_, column)| column.objection(thread)));
    }
    let mut cells: Vec<Vec<String>> = Vec::new();
    if writer.errors.is_empty() {
        for (index, (copy, column)) in columns.iter().enumerate() {
            let first = copy.copy == 0;
            let written = thread::rows(program.thread(copy.thread), column, index, &mut writer, first);
            cells.push(written);
        }
    }
    if writer.errors.is_empty() {
        let question = writer.question(request, &columns);
        if writer.errors.is_empty() {
            let text = writer.assemble(&columns, &cells, &question);
            return Ok(WrittenTest { text, warnings: writer.warnings });
        }
    }
    Err(writer.errors)
}

/// The writer's state: the program, the names of its locations, what was found.
struct Writer<'p> {
    program: &'p Program,
    names: BTreeMap<Value, String>,
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
}

impl<'p> Writer<'p> {
    fn new(program: &'p Program) -> Self {
        let mut writer = Self { program, names: BTreeMap::new(), errors: Vec::new(), warnings: Vec::new() };
        let initial: Vec<Value> = program.initial_memory.keys().copied().collect();
        for address in initial {
            writer.location(address);
        }
        writer
    }

    fn check_program(&mut self) {
        for joint in &self.program.never {
            let message = format!("the property `{}` is left out", crate::joint_state_text(self.program, joint));
            self.warnings.push(Diagnostic::warning(message, joint.span));
        }
        for claim in &self.program.finally {
            let message = format!("`finally` with `{}` is left out", crate::final_claim_text(self.program, claim));
            self.warnings.push(Diagnostic::warning(message, claim.span));
        }
        let mut columns = 0u64;
        for thread in &self.program.threads {
            match thread.copies {
                Copies::Any => {
                    let message = format!("any number of copies of `{}` cannot be expressed", thread.name);
                    let help = format!("choose a number: `--threads {}=2`", thread.name);
                    self.errors.push(Diagnostic::error(message, thread.span).with_help(help));
                }
                Copies::Exactly(copies) => columns = columns.saturating_add(copies),
            }
        }
        if columns > MOST_COLUMNS {
            let message = format!("{columns} threads are too many for a litmus test");
            self.errors.push(Diagnostic::error(message, Span::default()));
        }
        if columns == 0 {
            self.errors
                .push(Diagnostic::error("a litmus test has a thread, but every one is left out", Span::default()));
        }
    }

    /// Under a domain that wraps, arithmetic is not the machine's.
    fn check_wrapping(&mut self) {
        let Some(domain) = self.program.domain.filter(|domain| domain.wrap) else { return };
        for instruction in self.program.threads.iter().flat_map(|thread| &thread.instructions) {
            if instruction.action.expressions().any(|expression| may_wrap(expression, domain)) {
                self.refuse("arithmetic that wraps into a domain cannot be expressed", instruction.span);
            }
        }
    }

    fn refuse(&mut self, message: impl Into<String>, span: Span) {
        let message = message.into();
        // The copies of a thread all say the same.
        if !self.errors.iter().any(|error| error.message == message && error.span == span) {
            self.errors.push(Diagnostic::error(message, span));
        }
    }

    /// The name of a location.
    fn location(&mut self, address: Value) -> String {
        if let Some(name) = self.names.get(&address) {
            return name.clone();
        }
        let taken: BTreeSet<&String> = self.names.values().collect();
        let mut name = plain_name(&self.program.address_name(address), "m");
        while MachineRegister::named(&name).is_some() || taken.contains(&name) || is_thread_name(&name) {
            name.push('_');
        }
        self.names.insert(address, name.clone());
        name
    }

    fn assemble(&self, columns: &[(CopyId, column::Column)], cells: &[Vec<String>], question: &str) -> String {
        let mut text = format!("X86_64 {}\n{{\n", plain_name(&self.program.name, "t"));
        for (address, name) in &self.names {
            let _ = match self.program.initial_value(*address) {
                0 => writeln!(text, " uint64_t {name};"),
                value => writeln!(text, " uint64_t {name}={value};"),
            };
        }
        for (index, (copy, column)) in columns.iter().enumerate() {
            let thread = self.program.thread(copy.thread);
            for (register, machine) in thread.registers.iter().zip(&column.registers) {
                if register.initial != 0 {
                    let _ = writeln!(text, " {index}:{machine}={};", register.initial);
                }
            }
        }
        text.push_str("}\n");
        let heads: Vec<String> = (0..columns.len()).map(|index| format!("P{index}")).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = heads
            .iter()
            .zip(cells)
            .map(|(head, column)| column.iter().map(String::len).max().unwrap_or(0).max(head.len()).min(WIDEST))
            .collect();
        let mut row = |of: &dyn Fn(usize) -> String| {
            let row: Vec<String> =
                widths.iter().enumerate().map(|(column, width)| format!(" {:width$} ", of(column))).collect();
            let _ = writeln!(text, "{};", row.join("|"));
        };
        row(&|column| heads[column].clone());
        for line in 0..height.max(1) {
            row(&|column| cells[column].get(line).cloned().unwrap_or_default());
        }
        text.push_str(question);
        text
    }
}

/// Whether the expression has operators or constants whose values wrapping may change.
fn may_wrap(expression: &Expression, domain: Domain) -> bool {
    match expression {
        Expression::Constant(value) | Expression::Address { value, .. } => !domain.contains(*value),
        Expression::Register(_) | Expression::Old => false,
        Expression::Unary(operator, operand) => *operator != UnaryOperator::Not || may_wrap(operand, domain),
        Expression::Binary(operator, left, right) => {
            is_arithmetic(*operator) || may_wrap(left, domain) || may_wrap(right, domain)
        }
    }
}

fn is_arithmetic(operator: BinaryOperator) -> bool {
    use BinaryOperator as Op;
    !matches!(
        operator,
        Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual | Op::Equal | Op::NotEqual | Op::And | Op::Or
    )
}

/// A name that the tools of the field read: letters, digits and `_`, beginning with a letter.
fn plain_name(name: &str, prefix: &str) -> String {
    let plain: String =
        name.trim_end_matches(']').chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if plain.starts_with(|c: char| c.is_ascii_alphabetic()) { plain } else { format!("{prefix}{plain}") }
}

fn is_thread_name(name: &str) -> bool {
    super::cursor::thread_number(name).is_some()
}
