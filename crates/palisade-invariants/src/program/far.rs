//! Certificates that do not tell apart which counters are how far behind.
//!
//! In integers, let a class of counters have the grain g, and let the certificate name an address
//! of it, the *reference*, and a distance. Once a configuration is shifted so that the reference
//! has its initial value (or less than g more), what is at most the *end*, its initial value less
//! the distance, is *far*: the certificate has in its place the value congruent to it modulo g
//! among the last g values up to the end, which stands for itself and for all less by a multiple of
//! g. So the checker asks of each expression whether its value is known ([`Known`]). A condition
//! holds where it may; everything else has to be known, or be far and stay so. The reference must
//! not fall: what is far would come near. THEORY.md ("Monotone counters") has the proof that then
//! no attack on the program is feasible.

use super::counters::Counters;
use super::model::Model;
use super::spans::{Span, Variable};
use crate::CheckFailure;
use crate::failure::reject;
use palisade_model::program::{
    BinaryOperator as Op, Expression, InstructionId, Program, ThreadId, UnaryOperator, Value,
};

/// What is known of an expression's value where what is far stands for many.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    /// It is what comes out.
    Exactly,
    /// It is what comes out, or less by a multiple of the grain of this class.
    AtMost(usize),
    /// It may be true, and it may be false.
    Nothing,
}

/// Where an expression stands, and the values that it reads.
struct Reading<'a> {
    at: (ThreadId, InstructionId),
    registers: &'a [Value],
    old: Value,
}

/// A value on one side of a comparison, and whether it may be less by multiples of the grain.
type Side = (i128, bool);

impl Counters {
    /// From here on what is as far behind these addresses, or farther, is one value for each
    /// residue.
    pub(super) fn forget_far(&mut self, program: &Program, far: &[(Value, Value)]) -> Result<(), CheckFailure> {
        if program.domain.is_some() {
            reject!(Form, "what is far behind may come around in a domain");
        }
        if self.members.values().any(|(_, span)| *span != Span::Whole) {
            reject!(Form, "what is far behind may come around where counters are cut to some bits");
        }
        if !far.windows(2).all(|pair| pair[0].0 < pair[1].0) {
            reject!(Form, "the addresses that others are far behind are not ascending");
        }
        for (reference, distance) in far {
            let Some(class) = self.cell(*reference) else {
                reject!(Form, "address {reference}, which others are far behind, is no counter's");
            };
            let end = program.initial_value(*reference).checked_sub(*distance);
            let (Some(end), 1..) = (end, *distance) else {
                reject!(Form, "{distance} is no distance from address {reference}");
            };
            if self.ends[class].replace(end).is_some() {
                reject!(Form, "two addresses of one class have others far behind");
            }
            self.classes[class].0 = *reference;
        }
        Ok(())
    }

    /// Whether some values stand for others.
    pub(super) fn knows_far(&self) -> bool {
        self.ends.iter().any(Option::is_some)
    }

    /// Rejects shifts upwards of classes in which values stand for what is less.
    pub(super) fn check_rise(&self, by: &[i128]) -> Result<(), CheckFailure> {
        for ((by, end), (reference, _)) in by.iter().zip(&self.ends).zip(&self.classes) {
            if *by > 0 && end.is_some() {
                reject!(Form, "address {reference}, which others are far behind, falls");
            }
        }
        Ok(())
    }

    /// A member's value, shifted, and the one in its place where it is far.
    pub(super) fn put(&self, (class, span): (usize, Span), value: Value, by: i128) -> Result<Value, CheckFailure> {
        let value = self.shifted(span, value, by)?;
        let (Some(end), (_, grain)) = (self.ends[class], self.classes[class]) else { return Ok(value) };
        if value > end {
            return Ok(value);
        }
        let below = i128::from(end) - i128::from(value);
        match Value::try_from(i128::from(end) - below % grain) {
            Ok(value) => Ok(value),
            Err(_) => reject!(Form, "a counter does not fit 64 bits"),
        }
    }

    /// What is known of the value of what is a member, or is none.
    fn known(&self, member: Option<&(usize, Span)>, value: Value) -> Known {
        match member {
            Some((class, _)) if self.ends[*class].is_some_and(|end| value <= end) => Known::AtMost(*class),
            _ => Known::Exactly,
        }
    }

    /// Whether members stay congruent modulo a number.
    fn keeps_residue(&self, class: usize, modulus: i128) -> bool {
        modulus > 0 && self.classes[class].1 % modulus == 0
    }
}

impl Model<'_> {
    /// The counters, where some values stand for others.
    fn far(&self) -> Option<&Counters> {
        self.terms().counters.as_deref().filter(|counters| counters.knows_far())
    }

    /// Whether a condition that does not hold may hold of what far values stand for, where `old` is
    /// read.
    pub(super) fn may_hold(
        &self,
        at: (ThreadId, InstructionId),
        condition: &Expression,
        registers: &[Value],
        old: Value,
    ) -> Result<bool, CheckFailure> {
        let Some(counters) = self.far() else { return Ok(false) };
        match self.known(counters, &Reading { at, registers, old }, condition)? {
            Known::Exactly => Ok(false),
            Known::Nothing => Ok(true),
            Known::AtMost(_) => self.refuse(at, "asks whether a counter is 0"),
        }
    }

    /// Rejects an expression whose value is not known.
    pub(super) fn check_known(
        &self,
        at: (ThreadId, InstructionId),
        expression: &Expression,
        registers: &[Value],
    ) -> Result<(), CheckFailure> {
        let Some(counters) = self.far() else { return Ok(()) };
        match self.known(counters, &Reading { at, registers, old: 0 }, expression)? {
            Known::Exactly => Ok(()),
            _ => self.refuse(at, "computes with what is far behind"),
        }
    }

    /// Rejects a value that is not known, unless it is far, and stays so.
    pub(super) fn check_written(
        &self,
        at: (ThreadId, InstructionId),
        expression: &Expression,
        registers: &[Value],
        old: Value,
    ) -> Result<(), CheckFailure> {
        let Some(counters) = self.far() else { return Ok(()) };
        let reading = Reading { at, registers, old };
        match self.known(counters, &reading, expression)? {
            Known::Exactly => Ok(()),
            Known::AtMost(class) => {
                let value = self.plainly(&reading, expression)?;
                match counters.ends[class] {
                    Some(end) if value <= i128::from(end) => Ok(()),
                    _ => self.refuse(at, "moves up what is far behind"),
                }
            }
            Known::Nothing => self.refuse(at, "computes with what is not known of what is far behind"),
        }
    }

    /// Whether a comparison of what memory holds with what is expected succeeds.
    pub(super) fn succeeds(
        &self,
        at: (ThreadId, InstructionId),
        compared: (Value, &Expression),
        registers: &[Value],
    ) -> Result<bool, CheckFailure> {
        match self.whether_succeeds(at, compared, registers)? {
            Some(succeeds) => Ok(succeeds),
            None => self.refuse(at, "may find what it expects, and may not"),
        }
    }

    /// The same, of any value; nothing where it may, and may not.
    pub(super) fn whether_succeeds(
        &self,
        at: (ThreadId, InstructionId),
        (old, expected): (Value, &Expression),
        registers: &[Value],
    ) -> Result<Option<bool>, CheckFailure> {
        let (thread, instruction) = at;
        let Some(counters) = self.far() else {
            return Ok(Some(old == self.evaluate(at, expected, registers, 0)?));
        };
        let compared = Expression::binary(Op::Equal, Expression::Old, expected.clone());
        match self.known(counters, &Reading { at, registers, old }, &compared)? {
            Known::Exactly => {
                let value = compared.evaluate_with_old(registers, old, None);
                Ok(Some(self.value(thread, instruction, value)? != 0))
            }
            _ => Ok(None),
        }
    }

    fn refuse<T>(&self, (thread, instruction): (ThreadId, InstructionId), what: &str) -> Result<T, CheckFailure> {
        reject!(Form, "{} {what}", self.instruction_in_words(thread, instruction));
    }

    /// What comes out where far values are taken for themselves.
    fn plainly(&self, reading: &Reading<'_>, expression: &Expression) -> Result<i128, CheckFailure> {
        let (thread, instruction) = reading.at;
        let value = expression.evaluate_with_old(reading.registers, reading.old, None);
        self.value(thread, instruction, value).map(i128::from)
    }

    /// What is known of an expression's value.
    fn known(
        &self,
        counters: &Counters,
        reading: &Reading<'_>,
        expression: &Expression,
    ) -> Result<Known, CheckFailure> {
        let (thread, instruction) = reading.at;
        let instruction = self.instruction(thread, instruction);
        match expression {
            Expression::Constant(_) | Expression::Address { .. } => Ok(Known::Exactly),
            Expression::Register(register) => {
                let variable = Variable::Register(thread, instruction.source, *register);
                Ok(counters.known(counters.members.get(&variable), reading.registers[register.index()]))
            }
            Expression::Old => Ok(counters.known(counters.accesses.get(&reading.at), reading.old)),
            Expression::Unary(operator, operand) => match (operator, self.known(counters, reading, operand)?) {
                (_, Known::Exactly) => Ok(Known::Exactly),
                (UnaryOperator::Not, Known::Nothing) => Ok(Known::Nothing),
                _ => self.refuse(reading.at, "computes with what is far behind"),
            },
            Expression::Binary(operator, left, right) => self.known_binary(counters, reading, (*operator, left, right)),
        }
    }

    fn known_binary(
        &self,
        counters: &Counters,
        reading: &Reading<'_>,
        (operator, left, right): (Op, &Expression, &Expression),
    ) -> Result<Known, CheckFailure> {
        let is_comparison = matches!(
            operator,
            Op::Equal | Op::NotEqual | Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual
        );
        if is_comparison {
            return self.known_comparison(counters, reading, (operator, left, right));
        }
        let (one, other) = (self.known(counters, reading, left)?, self.known(counters, reading, right)?);
        match (operator, one, other) {
            (_, Known::Exactly, Known::Exactly) => Ok(Known::Exactly),
            (Op::And | Op::Or, Known::Exactly | Known::Nothing, Known::Exactly | Known::Nothing) => {
                let decides = |side: &Expression, known: Known| -> Result<bool, CheckFailure> {
                    let is_true = self.plainly(reading, side)? != 0;
                    Ok(known == Known::Exactly && is_true == (operator == Op::Or))
                };
                let is_decided = decides(left, one)? || decides(right, other)?;
                Ok(if is_decided { Known::Exactly } else { Known::Nothing })
            }
            (Op::Add | Op::Subtract, Known::AtMost(class), Known::Exactly) if right.is_constant() => {
                Ok(Known::AtMost(class))
            }
            (Op::Add, Known::Exactly, Known::AtMost(class)) if left.is_constant() => Ok(Known::AtMost(class)),
            // The next multiple of a divisor of the grain below it is less by as much.
            (Op::BitAnd, Known::AtMost(class), Known::Exactly)
                if right.is_constant()
                    && right.evaluate(&[], None).is_ok_and(|mask| {
                        let divisor = -i128::from(mask);
                        divisor > 0 && divisor.count_ones() == 1 && counters.keeps_residue(class, divisor)
                    }) =>
            {
                Ok(Known::AtMost(class))
            }
            (Op::BitAnd, Known::AtMost(class), Known::Exactly) => match right {
                Expression::Constant(mask)
                    if *mask > 0
                        && (i128::from(*mask) + 1).count_ones() == 1
                        && counters.keeps_residue(class, i128::from(*mask) + 1) =>
                {
                    Ok(Known::Exactly)
                }
                _ => self.refuse(reading.at, "masks what is far behind"),
            },
            _ => self.refuse(reading.at, "computes with what is far behind"),
        }
    }

    fn known_comparison(
        &self,
        counters: &Counters,
        reading: &Reading<'_>,
        (operator, left, right): (Op, &Expression, &Expression),
    ) -> Result<Known, CheckFailure> {
        // Whether a number divides a counter.
        if let (Op::Equal | Op::NotEqual, Expression::Binary(Op::Remainder, operand, divisor)) = (operator, left)
            && let (Expression::Constant(divisor), Expression::Constant(0)) = (&**divisor, right)
            && let Known::AtMost(class) = self.known(counters, reading, operand)?
        {
            return if counters.keeps_residue(class, i128::from(*divisor)) {
                Ok(Known::Exactly)
            } else {
                self.refuse(reading.at, "divides what is far behind")
            };
        }
        // `a - b = c` says that `a = b + c`.
        let (mut class, mut sides) = (None, [(0, false); 2]);
        let parts: [&[&Expression]; 2] = match (left, right) {
            (Expression::Binary(Op::Subtract, one, other), _) if !other.is_constant() => [&[one], &[other, right]],
            (_, Expression::Binary(Op::Subtract, one, other)) if !other.is_constant() => [&[left, other], &[one]],
            _ => [&[left], &[right]],
        };
        for ((value, is_far), parts) in sides.iter_mut().zip(parts) {
            for part in parts {
                *value += self.plainly(reading, part)?;
                match self.known(counters, reading, part)? {
                    Known::Exactly => {}
                    Known::AtMost(own) if !*is_far && class.is_none_or(|class| class == own) => {
                        (class, *is_far) = (Some(own), true);
                    }
                    _ => return self.refuse(reading.at, "compares what is far behind"),
                }
            }
        }
        let Some(class) = class else { return Ok(Known::Exactly) };
        let grain = counters.classes[class].1;
        let both = may_be(operator, sides, grain) && may_be(negation(operator), sides, grain);
        Ok(if both { Known::Nothing } else { Known::Exactly })
    }
}

/// The comparison that holds where another one does not.
fn negation(operator: Op) -> Op {
    match operator {
        Op::Equal => Op::NotEqual,
        Op::NotEqual => Op::Equal,
        Op::Less => Op::GreaterOrEqual,
        Op::LessOrEqual => Op::Greater,
        Op::Greater => Op::LessOrEqual,
        _ => Op::Less,
    }
}

/// Whether a comparison may hold: what is far may be less by any multiple of the grain.
fn may_be(operator: Op, [(left, is_left_far), (right, is_right_far)]: [Side; 2], grain: i128) -> bool {
    let can_meet = (left - right) % grain == 0;
    match operator {
        Op::Equal => {
            left == right || can_meet && (is_left_far && (left > right || is_right_far) || is_right_far && right > left)
        }
        Op::NotEqual => left != right || is_left_far || is_right_far,
        Op::Less => left < right || is_left_far,
        Op::LessOrEqual => left <= right || is_left_far,
        Op::Greater => left > right || is_right_far,
        _ => left >= right || is_right_far,
    }
}
