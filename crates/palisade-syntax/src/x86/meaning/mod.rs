//! The table: what every form does to registers, memory and flags.
//!
//! Operands and results are those of the instructions' pages in Intel's manual [SDM, vol. 2], with
//! what it leaves open as processors do it: a `cmpxchg` of 32 bits that writes a register leaves
//! the upper half of the other one alone.

mod flags;
mod lanes;
mod numbers;

pub use flags::condition;
pub use lanes::{VectorForm, VectorOperation, vector_mask, vector_meaning};

use super::fold::{binary, select, truncate};
use super::form::{Form, FormError, Place};
use super::operation::{Arithmetic, BitChange, ConditionCode, Operation};
use super::parts::{Atom, Flag, Half, Machine, widened};
use super::registers::{MachineRegister, Part};
use palisade_model::program::{BinaryOperator as Op, Expression, UnaryOperator, Value};

/// What an instruction does to memory, as one action or two. Expressions read what memory has held
/// as [`Expression::Old`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing.
    None,
    /// It loads.
    Load,
    /// It stores the value.
    Store(Expression),
    /// It loads and then stores the value, as two actions.
    LoadStore(Expression),
    /// It loads and stores the value as one action, locked.
    Locked(Expression),
    /// It loads and, where the value is as expected, stores the new one, as one action, locked.
    CompareExchange {
        /// The expected value.
        expected: Expression,
        /// The new value.
        new: Expression,
    },
}

/// A register that is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The register or part of one.
    pub register: MachineRegister,
    /// What it is given, canonical.
    pub value: Expression,
    /// Where this is 0, the whole register is left alone.
    pub condition: Option<Expression>,
}

/// What an instruction does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// What it does to memory.
    pub access: Access,
    /// The value that [`Atom::Result`] stands for in the other expressions; the last write, if any,
    /// is of it.
    pub result: Option<Expression>,
    /// The registers it writes; a later write wins over an earlier one to the same bits.
    pub writes: Vec<Write>,
    /// The flags it changes, with their values, or without where the machine leaves them undefined.
    pub flags: Vec<(Flag, Option<Expression>)>,
    /// The halves of registers of 16 bytes that it writes, each once.
    pub vectors: Vec<(Half, Expression)>,
}

impl Meaning {
    /// It does nothing.
    pub fn nothing() -> Self {
        let (writes, flags, vectors) = (Vec::new(), Vec::new(), Vec::new());
        Self { access: Access::None, result: None, writes, flags, vectors }
    }

    /// The whole registers that change, by family, with what they hold afterwards.
    pub fn registers(&self) -> Vec<(u8, Expression)> {
        let mut registers: Vec<(u8, Expression)> = Vec::new();
        for Write { register, value, condition } in &self.writes {
            let known = registers.iter_mut().find(|(family, _)| *family == register.family);
            let before = known.as_ref().map_or_else(|| Atom::Family(register.family).expression(), |it| it.1.clone());
            let written = widened(*register, before.clone(), value.clone());
            let after = match condition {
                Some(condition) => select(condition.clone(), written, before),
                None => written,
            };
            match known {
                Some(known) => known.1 = after,
                None => registers.push((register.family, after)),
            }
        }
        registers
    }
}

/// Looks a form up. Jumps, fences and `nop` are not about values and mean nothing here.
pub fn meaning(form: &Form, machine: &Machine) -> Result<Meaning, FormError> {
    form.check()?;
    let mut builder = Builder { form, machine, meaning: Meaning::nothing(), reads_memory: false, stored: None };
    builder.operation();
    let Builder { mut meaning, reads_memory, stored, .. } = builder;
    let locked = form.locked || form.operation == Operation::Exchange;
    meaning.access = match (stored, reads_memory) {
        // A locked `cmpxchg` has said itself what it does.
        _ if meaning.access != Access::None => meaning.access,
        (Some(value), true) if locked => Access::Locked(value),
        (Some(value), true) => Access::LoadStore(value),
        (Some(value), false) => Access::Store(value),
        (None, true) => Access::Load,
        (None, false) => Access::None,
    };
    Ok(meaning)
}

/// Collects what one instruction does.
pub(super) struct Builder<'a> {
    pub(super) form: &'a Form,
    pub(super) machine: &'a Machine,
    pub(super) meaning: Meaning,
    /// Whether it reads its operand in memory.
    reads_memory: bool,
    /// What it writes to its operand in memory.
    stored: Option<Expression>,
}

impl Builder<'_> {
    fn operation(&mut self) {
        match self.form.operation {
            Operation::Move => {
                let value = self.value(1);
                self.write(0, value);
            }
            Operation::Exchange => {
                let (left, right) = (self.value(0), self.value(1));
                self.write(0, right);
                self.write(1, left);
            }
            Operation::ExchangeAdd => self.exchange_add(),
            Operation::CompareExchange => self.compare_exchange(),
            Operation::Increment => self.arithmetic(Arithmetic::Add),
            Operation::Decrement => self.arithmetic(Arithmetic::Subtract),
            Operation::Arithmetic(operation) => self.arithmetic(operation),
            Operation::Compare => {
                let operands = (self.value(0), self.value(1));
                self.comparison_flags(&operands);
                self.subtraction_flags(&operands, true);
            }
            Operation::Test => {
                let operands = (self.value(0), self.value(1));
                let both = self.apply(Arithmetic::And, operands.0.clone(), operands.1.clone());
                self.operand_flags(Arithmetic::And, &operands, true);
                self.result_flags(both);
            }
            Operation::ShiftLeft => self.shift_left(),
            Operation::ShiftRight { signed } => self.shift_right(signed),
            Operation::RotateLeft => self.rotate(true),
            Operation::RotateRight => self.rotate(false),
            Operation::WithCarry { subtract } => self.with_carry(subtract),
            Operation::Negate => self.negate(),
            Operation::Complement => {
                let operand = self.value(0);
                let flipped = self.canonical(Expression::unary(UnaryOperator::Complement, operand));
                self.write(0, flipped);
            }
            Operation::Multiply if self.form.operands.len() == 1 => self.multiply_accumulator(true),
            Operation::Multiply => self.multiply(),
            Operation::MultiplyUnsigned => self.multiply_accumulator(false),
            Operation::Divide { signed } => self.divide(signed),
            Operation::Scan(scan) => self.scan(scan),
            Operation::CountOnes => self.count_ones(),
            Operation::SwapBytes => self.swap_bytes(),
            Operation::Extend { from, signed } => {
                let narrow = self.value(1);
                let value = if signed { self.canonical(truncate(narrow, from, true)) } else { narrow };
                self.write(0, value);
            }
            Operation::BitTest(change) => self.bit_test(change),
            Operation::ConditionalMove(code) => self.conditional_move(code),
            Operation::Set(code) => self.write(0, condition(code)),
            Operation::Jump
            | Operation::ConditionalJump(_)
            | Operation::MemoryFence
            | Operation::StoreFence
            | Operation::LoadFence
            | Operation::Nop
            | Operation::Return => {}
        }
    }

    /// `TEMP := SRC + DEST; SRC := DEST; DEST := TEMP`, in this order [SDM, vol. 2, XADD].
    fn exchange_add(&mut self) {
        let operands = (self.value(0), self.value(1));
        let sum = self.apply(Arithmetic::Add, operands.0.clone(), operands.1.clone());
        let result = self.result(sum);
        self.addition_flags(&operands, true);
        self.result_flags(result.clone());
        self.write(1, operands.0);
        self.write(0, result);
    }

    /// Where the accumulator equals the destination, the destination is given the source; where
    /// not, the accumulator is given the destination [SDM, vol. 2, CMPXCHG]. A destination in
    /// memory is stored to in both cases, unless the instruction is locked: then a failing one only
    /// loads.
    fn compare_exchange(&mut self) {
        let accumulator = MachineRegister { family: 0, part: Part::of_bits(self.form.bits) };
        let accumulated = self.machine.read(accumulator);
        let (old, new) = (self.value(0), self.value(1));
        let equal = binary(Op::Equal, accumulated.clone(), old.clone());
        let operands = (accumulated.clone(), old.clone());
        self.comparison_flags(&operands);
        self.subtraction_flags(&operands, true);
        // An accumulator that equals the destination keeps the bits above it as well. Without any,
        // it need not be told apart. The destination is written after it: they may be the same.
        let whole = self.machine.is_whole(accumulator);
        let condition = (!whole).then(|| super::fold::not(equal.clone()));
        self.meaning.writes.push(Write { register: accumulator, value: old.clone(), condition });
        match self.form.operands[0] {
            Place::Register(register) => {
                self.meaning.writes.push(Write { register, value: new, condition: Some(equal) });
            }
            _ if self.form.locked => {
                self.meaning.access = Access::CompareExchange { expected: accumulated, new };
            }
            _ => self.stored = Some(select(equal, new, old)),
        }
    }

    /// Addition and its kin; without a second operand, by one and without the carry.
    fn arithmetic(&mut self, operation: Arithmetic) {
        let by_one = self.form.operands.len() == 1;
        let left = self.value(0);
        let right = if by_one { Expression::Constant(1) } else { self.value(1) };
        let computed = self.apply(operation, left.clone(), right.clone());
        let result = self.result(computed);
        self.operand_flags(operation, &(left, right), !by_one);
        self.result_flags(result.clone());
        self.write(0, result);
    }

    /// A canonical result.
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

    fn negate(&mut self) {
        let operand = self.value(0);
        let operands = (Expression::Constant(0), operand.clone());
        let computed = self.apply(Arithmetic::Subtract, Expression::Constant(0), operand);
        let result = self.result(computed);
        self.subtraction_flags(&operands, true);
        self.result_flags(result.clone());
        self.write(0, result);
    }

    fn with_carry(&mut self, subtract: bool) {
        let operands = (self.value(0), self.value(1));
        let carry = Atom::Flag(Flag::Carry).expression();
        let operator = if subtract { Op::Subtract } else { Op::Add };
        let sum = binary(operator, operands.0.clone(), operands.1.clone());
        let computed = self.canonical(binary(operator, sum, carry));
        let result = self.result(computed);
        self.carried_flags(&operands, operator);
        self.result_flags(result.clone());
        self.write(0, result);
    }

    /// The flags tell whether the signed product fits; the others are undefined [SDM, vol. 2,
    /// IMUL].
    fn multiply(&mut self) {
        let first = usize::from(self.form.operands.len() == 3);
        let (left, right) = (self.value(first), self.value(first + 1));
        let product = binary(Op::Multiply, self.signed(left), self.signed(right));
        let kept = truncate(product.clone(), self.form.bits, true);
        let overflow = binary(Op::NotEqual, product.clone(), kept);
        let computed = self.canonical(product);
        self.set(Flag::Carry, overflow.clone());
        self.set(Flag::Overflow, overflow);
        self.undefine(&[Flag::Zero, Flag::Sign, Flag::Less]);
        self.write(0, computed);
    }

    /// The carry gets the bit; ZF stays, the other flags are undefined [SDM, vol. 2, BT].
    fn bit_test(&mut self, change: BitChange) {
        let tested = self.value(0);
        let mask = i64::from(self.form.bits) - 1;
        let position = match &self.form.operands[1] {
            Place::Number(number) => {
                Expression::Constant(Value::try_from(number & i128::from(mask)).expect("a masked bit is small"))
            }
            _ => binary(Op::BitAnd, self.value(1), Expression::Constant(mask)),
        };
        let carry = self.bit(tested.clone(), position.clone());
        self.set(Flag::Carry, carry);
        self.undefine(&[Flag::Overflow, Flag::Sign, Flag::Less]);
        let one = binary(Op::ShiftLeft, Expression::Constant(1), position);
        let changed = match change {
            BitChange::Keep => return,
            BitChange::Set => binary(Op::BitOr, tested, one),
            BitChange::Clear => binary(Op::BitAnd, tested, Expression::unary(UnaryOperator::Complement, one)),
            BitChange::Flip => binary(Op::BitXor, tested, one),
        };
        let changed = self.canonical(changed);
        self.write(0, changed);
    }

    /// The count of a shift, masked as the processor does.
    pub(super) fn shift_count(&mut self) -> Expression {
        let mask = if self.form.bits == 64 { 63 } else { 31 };
        match self.form.operands.get(1) {
            None => Expression::Constant(1),
            Some(Place::Number(number)) => {
                Expression::Constant(Value::try_from(number & i128::from(mask)).expect("a masked count is small"))
            }
            Some(_) => {
                let count = self.machine.read(MachineRegister { family: 1, part: Part::LowByte });
                binary(Op::BitAnd, count, Expression::Constant(mask))
            }
        }
    }

    fn shift_right(&mut self, signed: bool) {
        let operand = self.value(0);
        let shifted = if signed { self.signed(operand) } else { self.unsigned(operand) };
        let count = self.shift_count();
        let computed = self.canonical(binary(Op::ShiftRight, shifted.clone(), count.clone()));
        let result = self.result(computed);
        if count != Expression::Constant(0) {
            self.right_shift_flags(&shifted, result.clone(), &count, signed);
        }
        self.write(0, result);
    }

    /// The processor takes the count modulo 32, or 64 for operations of 64 bits. A count of 0
    /// writes the destination too, which clears the upper half of a register of 64 bits; only the
    /// flags stay.
    fn shift_left(&mut self) {
        let shifted = self.value(0);
        let count = self.shift_count();
        let computed = self.canonical(binary(Op::ShiftLeft, shifted.clone(), count.clone()));
        let result = self.result(computed);
        match count {
            Expression::Constant(0) => {}
            Expression::Constant(count) => self.shift_flags(&shifted, result.clone(), count),
            count => self.variable_shift_flags(&shifted, result.clone(), &count),
        }
        self.write(0, result);
    }

    /// The destination is written in any case, so that 32 bits clear the upper half.
    fn conditional_move(&mut self, code: ConditionCode) {
        let (kept, moved) = (self.value(0), self.value(1));
        self.write(0, select(condition(code), moved, kept));
    }

    /// An operand's canonical value before the instruction.
    pub(super) fn value(&mut self, operand: usize) -> Expression {
        match &self.form.operands[operand] {
            Place::Register(register) => self.machine.read(*register),
            Place::Memory => {
                self.reads_memory = true;
                Expression::Old
            }
            Place::Number(number) => self.canonical(constant(*number)),
            Place::Address(address) => address.clone(),
        }
    }

    pub(super) fn write(&mut self, operand: usize, value: Expression) {
        match &self.form.operands[operand] {
            Place::Register(register) => {
                self.meaning.writes.push(Write { register: *register, value, condition: None });
            }
            Place::Memory => self.stored = Some(value),
            Place::Number(_) | Place::Address(_) => unreachable!("forms are checked before they are looked up"),
        }
    }

    pub(super) fn result(&mut self, value: Expression) -> Expression {
        self.meaning.result = Some(value);
        Atom::Result.expression()
    }

    /// A number in the form its width is kept in.
    pub(super) fn canonical(&self, expression: Expression) -> Expression {
        truncate(expression, self.form.bits, self.is_signed())
    }

    pub(super) fn is_signed(&self) -> bool {
        self.form.bits == self.machine.architecture.register_bits()
    }

    /// A canonical value as a signed number.
    pub(super) fn signed(&self, value: Expression) -> Expression {
        if self.is_signed() { value } else { truncate(value, self.form.bits, true) }
    }

    /// A canonical value as an unsigned number.
    pub(super) fn unsigned(&self, value: Expression) -> Expression {
        if self.is_signed() { truncate(value, self.form.bits, false) } else { value }
    }
}

/// A number of the text, of 64 bits at most, signed or not.
fn constant(number: i128) -> Expression {
    let signed = palisade_model::program::truncate(number, 64, true);
    Expression::Constant(Value::try_from(signed).expect("64 signed bits are a value"))
}
