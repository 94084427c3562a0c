//! Rotations, products and quotients of twice as many bits, and searches for bits.
//!
//! All of them are expressions over what there is: expressions compute in 128 bits. What has no
//! value on the machine, or a value that differs from processor to processor, has none here:
//! something is divided by 0.

use super::super::fold::{binary, or, truncate};
use super::super::form::Place;
use super::super::operation::Scan;
use super::super::parts::{Atom, Flag};
use super::super::registers::{MachineRegister, Part};
use super::{Builder, Write};
use palisade_model::program::{BinaryOperator as Op, Expression, Value};

/// The families of `rax` and `rdx`.
const ACCUMULATOR: u8 = 0;
const DATA: u8 = 2;

/// 0, or no value where a condition does not hold.
fn only_if(condition: Expression) -> Expression {
    binary(Op::Divide, Expression::Constant(0), condition)
}

fn number(number: Value) -> Expression {
    Expression::Constant(number)
}

/// How many of these 0-or-1 expressions are 1.
fn count(among: impl Iterator<Item = Expression>) -> Expression {
    let sum = among.reduce(|sum, one| binary(Op::Add, sum, one)).unwrap_or(number(0));
    // As many bits hold it: nothing is cut off.
    binary(Op::BitAnd, sum, number(127))
}

impl Builder<'_> {
    /// The bits that go out on one side come in on the other [SDM, vol. 2, RCL/RCR/ROL/ROR].
    pub(super) fn rotate(&mut self, left: bool) {
        let bits = Value::from(self.form.bits);
        let operand = self.value(0);
        let (operand, masked) = (self.unsigned(operand), self.shift_count());
        let within = binary(Op::BitAnd, masked.clone(), number(bits - 1));
        let back = binary(Op::Subtract, number(bits), within.clone());
        let by = if left { within } else { binary(Op::BitAnd, back, number(bits - 1)) };
        let low = binary(Op::ShiftRight, operand.clone(), binary(Op::Subtract, number(bits), by.clone()));
        let turned = self.canonical(binary(Op::BitOr, binary(Op::ShiftLeft, operand, by), low));
        let result = self.result(turned);
        if masked != number(0) {
            self.rotation_flags(&result, &masked, left);
        }
        self.write(0, result);
    }

    /// CF is the bit that came in last, OF is defined for counts of 1; the others stay.
    fn rotation_flags(&mut self, result: &Expression, masked: &Expression, left: bool) {
        let top = Value::from(self.form.bits) - 1;
        let last = if left { number(0) } else { number(top) };
        let carry = self.bit(result.clone(), last);
        if *masked != number(1) {
            match masked {
                Expression::Constant(_) => self.set(Flag::Carry, carry),
                masked => self.set_unless_zero(masked, Flag::Carry, carry),
            }
            return self.undefine(&[Flag::Overflow, Flag::Less]);
        }
        let second = if left { carry.clone() } else { self.bit(result.clone(), number(top - 1)) };
        let overflow = binary(Op::NotEqual, self.bit(result.clone(), number(top)), second);
        self.set(Flag::Carry, carry);
        self.set(Flag::Overflow, overflow.clone());
        self.set(Flag::Less, binary(Op::NotEqual, Atom::Flag(Flag::Sign).expression(), overflow));
    }

    fn part_of(&self, family: u8) -> MachineRegister {
        MachineRegister { family, part: Part::of_bits(self.form.bits) }
    }

    fn write_register(&mut self, register: MachineRegister, value: Expression) {
        self.meaning.writes.push(Write { register, value, condition: None });
    }

    /// The product goes into `rdx` and `rax`, of bytes into `ax`; the flags tell whether the upper
    /// half counts [SDM, vol. 2, MUL, IMUL].
    pub(super) fn multiply_accumulator(&mut self, signed: bool) {
        let bits = self.form.bits;
        let (left, right) = (self.machine.read(self.part_of(ACCUMULATOR)), self.value(0));
        let (low, high, is_long) = if signed {
            let product = binary(Op::Multiply, self.signed(left), self.signed(right));
            let is_long = binary(Op::NotEqual, product.clone(), truncate(product.clone(), bits, true));
            (product.clone(), binary(Op::ShiftRight, product, number(bits.into())), is_long)
        } else if bits < 64 {
            let product = binary(Op::Multiply, self.unsigned(left), self.unsigned(right));
            let high = binary(Op::ShiftRight, product.clone(), number(bits.into()));
            (product, high.clone(), binary(Op::NotEqual, high, number(0)))
        } else {
            // An unsigned number is the signed one, and 2^64 more where that is negative; so 128
            // bits suffice.
            let product = binary(Op::Multiply, left.clone(), right.clone());
            let more = |one: &Expression, other: &Expression| {
                binary(Op::Multiply, binary(Op::Less, one.clone(), number(0)), other.clone())
            };
            let high = binary(Op::ShiftRight, product.clone(), number(64));
            let high = binary(Op::Add, binary(Op::Add, high, more(&left, &right)), more(&right, &left));
            let is_long = binary(Op::NotEqual, self.canonical(high.clone()), number(0));
            (product, high, is_long)
        };
        self.set(Flag::Carry, is_long.clone());
        self.set(Flag::Overflow, is_long);
        self.undefine(&[Flag::Zero, Flag::Sign, Flag::Less]);
        if bits == 8 {
            let whole = MachineRegister { family: ACCUMULATOR, part: Part::Word };
            return self.write_register(whole, truncate(low, 16, false));
        }
        let (low, high) = (self.canonical(low), self.canonical(high));
        self.write_register(self.part_of(ACCUMULATOR), low);
        self.write_register(self.part_of(DATA), high);
    }

    /// A quotient that does not fit, as by 0, is an error of the machine's [SDM, vol. 2, DIV,
    /// IDIV].
    pub(super) fn divide(&mut self, signed: bool) {
        let bits = self.form.bits;
        let (low, high) = (self.machine.read(self.part_of(ACCUMULATOR)), self.machine.read(self.part_of(DATA)));
        let divisor = self.value(0);
        let number_of = |own: &Self, value| if signed { own.signed(value) } else { own.unsigned(value) };
        let (high, divisor) = (number_of(self, high), number_of(self, divisor));
        let high = binary(Op::ShiftLeft, high, number(bits.into()));
        let dividend = binary(Op::BitOr, high, self.unsigned(low));
        let quotient = binary(Op::Divide, dividend.clone(), divisor.clone());
        let fits = binary(Op::Equal, quotient.clone(), truncate(quotient.clone(), bits, signed));
        let rest = binary(Op::Remainder, dividend, divisor);
        for (family, value) in [(ACCUMULATOR, quotient), (DATA, rest)] {
            let value = binary(Op::Add, self.canonical(value), only_if(fits.clone()));
            self.write_register(self.part_of(family), value);
        }
        self.undefine(&[Flag::Zero, Flag::Carry, Flag::Sign, Flag::Overflow, Flag::Less]);
    }

    /// What comes of 0 differs: `bsf` and `bsr` leave the destination alone [APM, vol. 3; SDM since
    /// 2023, vol. 2], and where `tzcnt` is not known it is `bsf`.
    pub(super) fn scan(&mut self, scan: Scan) {
        let bits = Value::from(self.form.bits);
        let sought = self.value(1);
        let source = self.unsigned(sought);
        let is_zero = binary(Op::Equal, source.clone(), number(0));
        let low_zeros = |most: Value| {
            let is_zero = |bits: Value| {
                let bits = u8::try_from(bits).expect("at most 64");
                binary(Op::Equal, truncate(source.clone(), bits, false), number(0))
            };
            count((1..=most).map(is_zero))
        };
        let above = |bit: Value| binary(Op::ShiftRight, source.clone(), number(bit));
        let kept = self.value(0);
        match scan {
            Scan::Lowest | Scan::Highest => {
                let place = match scan {
                    Scan::Lowest => low_zeros(bits - 1),
                    _ => count((1..bits).map(|bit| binary(Op::NotEqual, above(bit), number(0)))),
                };
                self.set(Flag::Zero, is_zero.clone());
                self.undefine(&[Flag::Carry, Flag::Sign, Flag::Overflow, Flag::Less]);
                let chosen = super::super::fold::select(is_zero.clone(), kept, place);
                let value = binary(Op::Add, chosen, self.kept_whole(is_zero));
                self.write(0, value);
            }
            Scan::ZerosBelow => {
                let is_same =
                    or(binary(Op::NotEqual, source.clone(), number(0)), binary(Op::Equal, kept, number(bits)));
                self.undefine(&[Flag::Zero, Flag::Carry, Flag::Sign, Flag::Overflow, Flag::Less]);
                self.write(0, binary(Op::Add, low_zeros(bits), only_if(is_same)));
            }
            Scan::ZerosAbove => {
                let zeros = count((0..bits).map(|bit| binary(Op::Equal, above(bit), number(0))));
                let result = self.result(zeros);
                self.set(Flag::Carry, is_zero);
                self.set(Flag::Zero, binary(Op::Equal, result.clone(), number(0)));
                self.undefine(&[Flag::Sign, Flag::Overflow, Flag::Less]);
                self.write(0, result);
            }
        }
    }

    /// 0; no value where 32 bits are left alone of a register that has more: whether its upper half
    /// is cleared differs.
    fn kept_whole(&self, is_zero: Expression) -> Expression {
        let Place::Register(register) = self.form.operands[0] else { return number(0) };
        if self.form.bits != 32 || self.machine.is_whole(register) {
            return number(0);
        }
        let upper = binary(Op::ShiftRight, Atom::Family(register.family).expression(), number(32));
        only_if(or(super::super::fold::not(is_zero), binary(Op::Equal, upper, number(0))))
    }

    /// Bits are added in pairs, in fours, in bytes, and the bytes by one multiplication [Warren,
    /// Hacker's Delight, fig. 5-2].
    pub(super) fn count_ones(&mut self) {
        const PAIRS: Value = 0x5555_5555_5555_5555;
        const FOURS: Value = 0x3333_3333_3333_3333;
        const BYTES: Value = 0x0f0f_0f0f_0f0f_0f0f;
        const ONES: Value = 0x0101_0101_0101_0101;
        let counted = self.value(1);
        let source = self.unsigned(counted);
        let moved = |value: &Expression, by| binary(Op::ShiftRight, value.clone(), number(by));
        let masked = |value, mask| binary(Op::BitAnd, value, number(mask));
        let pairs = binary(Op::Subtract, source.clone(), masked(moved(&source, 1), PAIRS));
        let fours = binary(Op::Add, masked(pairs.clone(), FOURS), masked(moved(&pairs, 2), FOURS));
        let bytes = masked(binary(Op::Add, fours.clone(), moved(&fours, 4)), BYTES);
        let sum = truncate(binary(Op::Multiply, bytes, number(ONES)), 64, false);
        self.set(Flag::Zero, binary(Op::Equal, source, number(0)));
        for flag in [Flag::Carry, Flag::Sign, Flag::Overflow, Flag::Less] {
            self.set(flag, number(0));
        }
        self.write(0, masked(moved(&sum, 56), 127));
    }

    pub(super) fn swap_bytes(&mut self) {
        let bits = Value::from(self.form.bits);
        let swapped = self.value(0);
        let source = self.unsigned(swapped);
        let byte = |from: Value| {
            let byte = binary(Op::BitAnd, binary(Op::ShiftRight, source.clone(), number(from)), number(255));
            binary(Op::ShiftLeft, byte, number(bits - 8 - from))
        };
        let places = (0..bits).step_by(8).map(byte);
        let sum = places.reduce(|sum, one| binary(Op::BitOr, sum, one)).expect("there are bytes");
        let reversed = self.canonical(sum);
        self.write(0, reversed);
    }
}
