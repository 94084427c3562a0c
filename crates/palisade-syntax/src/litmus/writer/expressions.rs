//! Expressions and comparisons in machine instructions.

use super::super::Architecture;
use super::super::code::has_old;
use super::super::registers::{MachineRegister, Part};
use super::column::{Column, SCRATCH};
use crate::Diagnostic;
use palisade_model::program::{BinaryOperator as Op, Expression, RegisterId, Span, UnaryOperator, Value};

/// Writes the instructions for one instruction of the program.
pub(super) struct Emitter<'a> {
    pub(super) column: &'a Column,
    pub(super) lines: Vec<String>,
    pub(super) span: Span,
    pub(super) errors: &'a mut Vec<Diagnostic>,
}

/// How a comparison comes out.
pub(super) enum Comparison {
    /// Known without looking.
    Always(bool),
    /// By a jump, taken when the condition holds, or when it does not.
    Jump {
        /// The jump.
        mnemonic: &'static str,
        /// Whether it is taken when the condition holds.
        holds: bool,
    },
}

impl Emitter<'_> {
    pub(super) fn push(&mut self, line: String) {
        self.lines.push(line);
    }

    pub(super) fn refuse(&mut self, message: impl Into<String>) {
        let error = Diagnostic::error(message, self.span);
        // The copies of a thread all say the same.
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    /// An operand that holds the value: a constant, a register, or the scratch register it was
    /// computed into with the help of the free ones.
    pub(super) fn operand(&mut self, value: &Expression, scratch: &str, free: &[&str]) -> String {
        if let Some(leaf) = self.leaf(value) {
            return leaf;
        }
        self.assign(scratch, value, free);
        format!("%{scratch}")
    }

    /// A constant or a register as an operand. Constants must fit the immediate operands of the
    /// machine.
    fn leaf(&self, value: &Expression) -> Option<String> {
        if let Some(constant) = constant(value) {
            return i32::try_from(constant).ok().map(|constant| format!("${constant}"));
        }
        match value {
            Expression::Register(register) => Some(format!("%{}", self.column.register(*register))),
            _ => None,
        }
    }

    /// `target <- value`, also where the value reads the target; the free registers may be
    /// overwritten.
    pub(super) fn assign(&mut self, target: &str, value: &Expression, free: &[&str]) {
        if let Some(leaf) = self.leaf(value) {
            if leaf != format!("%{target}") {
                self.push(format!("movq {leaf},%{target}"));
            }
            return;
        }
        if let Some(constant) = constant(value) {
            self.push(format!("movq ${constant},%{target}"));
            return;
        }
        match value {
            Expression::Unary(UnaryOperator::Negate, operand) => {
                self.assign(target, operand, free);
                self.push(format!("xorq $-1,%{target}"));
                self.push(format!("addq $1,%{target}"));
            }
            Expression::Unary(UnaryOperator::Complement, operand) => {
                self.assign(target, operand, free);
                self.push(format!("xorq $-1,%{target}"));
            }
            // 64 signed bits are what the machine keeps.
            Expression::Unary(UnaryOperator::Truncate { bits: 64, signed: true }, operand) => {
                self.assign(target, operand, free);
            }
            // A 32-bit copy clears the rest.
            Expression::Unary(UnaryOperator::Truncate { bits: 32, signed: false }, operand) => {
                self.assign(target, operand, free);
                let half = half_name(target);
                self.push(format!("movl %{half},%{half}"));
            }
            Expression::Unary(UnaryOperator::Truncate { bits, signed: false }, operand) if *bits < 32 => {
                self.assign(target, operand, free);
                self.push(format!("and ${},%{target}", (1i64 << bits) - 1));
            }
            Expression::Binary(operator, left, right) => self.assign_binary(target, *operator, (left, right), free),
            Expression::Address { .. } => self.refuse("an address as a value cannot be expressed"),
            _ => self.refuse("this expression cannot be expressed in machine code"),
        }
    }

    fn assign_binary(&mut self, target: &str, operator: Op, (left, right): (&Expression, &Expression), free: &[&str]) {
        let mnemonic = match operator {
            Op::Add | Op::Subtract => "addq",
            Op::BitAnd => "and",
            Op::BitOr => "orq",
            Op::BitXor => "xorq",
            _ => {
                self.refuse("this arithmetic cannot be expressed in machine code");
                return;
            }
        };
        let added = match operator {
            Op::Subtract => match constant(right).and_then(Value::checked_neg) {
                Some(negated) => Expression::Constant(negated),
                None => Expression::unary(UnaryOperator::Negate, right.clone()),
            },
            _ => right.clone(),
        };
        // The right operand may have to be computed, or saved from the left one, which the target
        // gets.
        let (operand, free) = match self.leaf(&added) {
            Some(leaf) if leaf != format!("%{target}") => (leaf, free),
            _ => {
                let Some((scratch, rest)) = free.split_first() else {
                    self.refuse("this expression is too deep for the machine's scratch registers");
                    return;
                };
                self.assign(scratch, &added, rest);
                (format!("%{scratch}"), rest)
            }
        };
        self.assign(target, left, free);
        self.push(format!("{mnemonic} {operand},%{target}"));
    }

    /// A locked instruction that stores a function of the old value. Gives what some tools do not
    /// understand.
    pub(super) fn read_modify_write(
        &mut self,
        register: Option<RegisterId>,
        new: &Expression,
        place: &str,
    ) -> Option<String> {
        let target = register.map(|register| self.column.register(register));
        let Some((operator, operand)) = function_of_old(new) else {
            self.refuse("this function of the old value is no instruction of the machine");
            return None;
        };
        let Some(operator) = operator else {
            // An exchange.
            let target = target.unwrap_or(SCRATCH[0]);
            self.assign(target, operand, &SCRATCH[1..]);
            self.push(format!("xchgq %{target},{place}"));
            return None;
        };
        if let Some(target) = target {
            if operator != Op::Add {
                self.refuse("only an exchange and an addition can return the old value");
                return None;
            }
            self.assign(target, operand, &SCRATCH);
            self.push(format!("lock xaddq %{target},{place}"));
            return Some("herd7 does not know xadd".to_owned());
        }
        if operator == Op::Add {
            match constant(operand) {
                Some(1) => self.push(format!("lock incq {place}")),
                Some(-1) => self.push(format!("lock decq {place}")),
                _ => {
                    let operand = self.operand(operand, SCRATCH[0], &SCRATCH[1..]);
                    self.push(format!("lock addq {operand},{place}"));
                }
            }
            return None;
        }
        let mnemonic = match operator {
            Op::BitXor => "xorq",
            Op::BitOr => "orq",
            _ => "andq",
        };
        let operand = self.operand(operand, SCRATCH[0], &SCRATCH[1..]);
        self.push(format!("lock {mnemonic} {operand},{place}"));
        (operator != Op::BitXor).then(|| format!("herd7 does not know lock {mnemonic}"))
    }
}

/// The value of a constant without addresses.
fn constant(expression: &Expression) -> Option<Value> {
    fn has_address(expression: &Expression) -> bool {
        match expression {
            Expression::Address { .. } => true,
            Expression::Unary(_, operand) => has_address(operand),
            Expression::Binary(_, left, right) => has_address(left) || has_address(right),
            Expression::Constant(_) | Expression::Register(_) | Expression::Old => false,
        }
    }
    if !expression.is_constant() || has_address(expression) {
        return None;
    }
    expression.evaluate(&[], None).ok()
}

/// The name of a register's low half.
fn half_name(register: &str) -> String {
    let register = MachineRegister::named(register).expect("the writer knows the registers it uses");
    MachineRegister { part: Part::Double, ..register }.name(Architecture::X86_64)
}

/// `old operator operand`, or no operator for what does not depend on the old value.
fn function_of_old(new: &Expression) -> Option<(Option<Op>, &Expression)> {
    if !has_old(new) {
        return Some((None, new));
    }
    match new {
        Expression::Unary(UnaryOperator::Truncate { bits: 64, signed: true }, inner) => function_of_old(inner),
        Expression::Binary(operator @ (Op::Add | Op::BitXor | Op::BitOr | Op::BitAnd), left, right) => {
            match (&**left, &**right) {
                (Expression::Old, operand) | (operand, Expression::Old) if !has_old(operand) => {
                    Some((Some(*operator), operand))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Compares, and gives the jump to take.
pub(super) fn compare(emitter: &mut Emitter<'_>, condition: &Expression) -> Option<Comparison> {
    if let Some(constant) = constant(condition) {
        return Some(Comparison::Always(constant != 0));
    }
    match condition {
        Expression::Unary(UnaryOperator::Not, inner) => Some(match compare(emitter, inner)? {
            Comparison::Always(holds) => Comparison::Always(!holds),
            Comparison::Jump { mnemonic, holds } => Comparison::Jump { mnemonic, holds: !holds },
        }),
        Expression::Binary(
            operator @ (Op::Equal | Op::NotEqual | Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual),
            left,
            right,
        ) => {
            let (operator, left, right) =
                if constant(left).is_some() { (mirrored(*operator), right, left) } else { (*operator, left, right) };
            let right = emitter.operand(right, SCRATCH[1], &SCRATCH[..1]);
            let left = emitter.operand(left, SCRATCH[0], &[]);
            emitter.push(format!("cmpq {right},{left}"));
            let (mnemonic, holds) = match operator {
                Op::Equal => ("je", true),
                Op::NotEqual => ("jne", true),
                Op::LessOrEqual => ("jle", true),
                Op::Greater => ("jle", false),
                Op::GreaterOrEqual => ("jge", true),
                _ => ("jge", false),
            };
            Some(Comparison::Jump { mnemonic, holds })
        }
        other => {
            let left = emitter.operand(other, SCRATCH[0], &SCRATCH[1..]);
            emitter.push(format!("cmpq $0,{left}"));
            Some(Comparison::Jump { mnemonic: "jne", holds: true })
        }
    }
}

/// The operator with its operands exchanged.
fn mirrored(operator: Op) -> Op {
    match operator {
        Op::Less => Op::Greater,
        Op::LessOrEqual => Op::GreaterOrEqual,
        Op::Greater => Op::Less,
        Op::GreaterOrEqual => Op::LessOrEqual,
        other => other,
    }
}
