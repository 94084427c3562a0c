//! Registers of which only low bits are looked at hold these alone.
//!
//! A compiler computes bytes and halves of words in wider registers, and leaves above them what
//! comes out: `u32(rdx - rcx)` for the difference of two bytes, of which only the low eight bits
//! are compared later, or a byte put into a register whose upper part nobody reads. What stands
//! above them tells apart states that do the same, and keeps counters from being known by their
//! residues. So sums, differences and what is put together are cut where they are assigned to as
//! many bits as are looked at, rounded up to 8, 16 or 32.
//!
//! *What a thread does is the same.* Call two valuations alike at a label if each register is
//! congruent in both modulo 2 to the number of its bits looked at there. Low bits of sums,
//! differences, products and bitwise operations depend on as many low bits of the operands; all
//! else that an expression computes looks at all bits of its operands. So from alike valuations
//! each instruction accesses the same address, stores the same value, goes on or does not, and
//! leads to alike valuations; the cut changes nothing in the bits that are looked at. ∎

#[cfg(test)]
mod tests;

use palisade_model::program::{
    Action, BinaryOperator as Op, Expression, LabelId, RegisterId, Thread, UnaryOperator, Value, truncate,
};
use palisade_syntax::x86::fold;

/// Looked at as a whole.
const ALL: u8 = 64;

/// For each label and register how many low bits are looked at from there on.
type Looked = Vec<Vec<u8>>;

/// Cuts what a thread assigns to the bits that it looks at.
pub(crate) fn cut(thread: &mut Thread) {
    let looked = looked_at(thread);
    for instruction in &mut thread.instructions {
        if let Action::Assign { register, value } = &mut instruction.action {
            let bits = looked[instruction.target.index()][register.index()];
            let kept = [8, 16, 32].into_iter().find(|kept| (1..=*kept).contains(&bits));
            if let Some(kept) = kept.filter(|kept| is_put_together(value, *kept)) {
                *value = fold::truncate(low(value, kept), kept, false);
            }
        }
    }
}

/// The least solution of: an instruction looks at what its expressions look at, and hands on what
/// is looked at behind it.
fn looked_at(thread: &Thread) -> Looked {
    let mut looked: Looked = vec![vec![0; thread.registers.len()]; thread.labels.len()];
    let mut to_label: Vec<Vec<usize>> = vec![Vec::new(); thread.labels.len()];
    for (number, instruction) in thread.instructions.iter().enumerate() {
        to_label[instruction.target.index()].push(number);
    }
    let mut open: Vec<usize> = (0..thread.instructions.len()).collect();
    while let Some(number) = open.pop() {
        let instruction = &thread.instructions[number];
        let behind = looked[instruction.target.index()].clone();
        if before(&instruction.action, behind, &mut looked, instruction.source) {
            open.extend(&to_label[instruction.source.index()]);
        }
    }
    looked
}

/// Adds what an action looks at to what its source does; whether that is more.
fn before(action: &Action, mut bits: Vec<u8>, looked: &mut Looked, source: LabelId) -> bool {
    let mut wanted = ALL;
    if let Some(register) = action.written_register() {
        let behind = std::mem::take(&mut bits[register.index()]);
        // What may have no value is computed, whoever looks at it.
        if matches!(action, Action::Assign { value, .. } if always_has_value(value)) {
            wanted = behind;
        }
    }
    for expression in action.expressions() {
        look(expression, wanted, &mut |register, wanted| {
            let own = &mut bits[register.index()];
            *own = wanted.max(*own);
        });
    }
    let mut is_more = false;
    for (own, bits) in looked[source.index()].iter_mut().zip(bits) {
        is_more |= bits > *own;
        *own = bits.max(*own);
    }
    is_more
}

/// Whether an expression has a value whatever its registers hold.
fn always_has_value(expression: &Expression) -> bool {
    match expression {
        Expression::Constant(_) | Expression::Address { .. } | Expression::Register(_) | Expression::Old => true,
        Expression::Unary(_, operand) => always_has_value(operand),
        Expression::Binary(Op::Divide | Op::Remainder | Op::ShiftLeft | Op::ShiftRight, ..) => false,
        Expression::Binary(_, left, right) => always_has_value(left) && always_has_value(right),
    }
}

/// Visits the registers of an expression of which so many low bits matter, each with the bits of
/// its own that do.
fn look(expression: &Expression, bits: u8, visit: &mut impl FnMut(RegisterId, u8)) {
    if bits == 0 {
        return;
    }
    match expression {
        Expression::Constant(_) | Expression::Address { .. } | Expression::Old => {}
        Expression::Register(register) => visit(*register, bits),
        Expression::Unary(UnaryOperator::Truncate { bits: kept, signed }, operand) => {
            // Above a sign stands the sign.
            look(operand, if *signed && *kept < bits { *kept } else { bits.min(*kept) }, visit);
        }
        Expression::Unary(UnaryOperator::Negate | UnaryOperator::Complement, operand) => look(operand, bits, visit),
        Expression::Unary(UnaryOperator::Not, operand) => look(operand, ALL, visit),
        Expression::Binary(Op::BitAnd, left, right) => {
            let mask = |side: &Expression| match side {
                Expression::Constant(mask) => seen_through(*mask, bits),
                _ => bits,
            };
            look(left, mask(right), visit);
            look(right, mask(left), visit);
        }
        Expression::Binary(Op::Add | Op::Subtract | Op::Multiply | Op::BitOr | Op::BitXor, left, right) => {
            look(left, bits, visit);
            look(right, bits, visit);
        }
        Expression::Binary(_, left, right) => {
            look(left, ALL, visit);
            look(right, ALL, visit);
        }
    }
}

/// How many low bits of a value matter of which a mask is taken, where so many of the result do.
fn seen_through(mask: Value, bits: u8) -> u8 {
    let low = i128::from(mask) & ((1 << bits) - 1);
    u8::try_from(128 - low.leading_zeros()).expect("at most 64")
}

/// Whether a value is a sum, or put together of parts, that may have more bits than so many.
fn is_put_together(value: &Expression, bits: u8) -> bool {
    match value {
        Expression::Unary(UnaryOperator::Truncate { bits: own, signed }, operand) => {
            (*own > bits || *own == bits && *signed) && is_put_together(operand, bits)
        }
        Expression::Binary(operator, ..) => matches!(operator, Op::Add | Op::Subtract | Op::BitOr),
        _ => false,
    }
}

/// An expression with the same low bits, without what they do not depend on.
fn low(expression: &Expression, bits: u8) -> Expression {
    let all = (1_i128 << bits) - 1;
    match expression {
        Expression::Unary(UnaryOperator::Truncate { bits: kept, .. }, operand) if *kept >= bits => low(operand, bits),
        Expression::Binary(Op::BitAnd, operand, mask) => match **mask {
            Expression::Constant(mask) if i128::from(mask) & all == 0 => Expression::Constant(0),
            Expression::Constant(mask) if i128::from(mask) & all == all => low(operand, bits),
            _ => expression.clone(),
        },
        Expression::Binary(operator @ (Op::Add | Op::Subtract | Op::BitOr), left, right) => {
            fold::binary(*operator, low(left, bits), low(right, bits))
        }
        Expression::Constant(value) => {
            let nearest = truncate(i128::from(*value), bits, true);
            Value::try_from(nearest).map_or_else(|_| expression.clone(), Expression::Constant)
        }
        _ => expression.clone(),
    }
}
