//! What turning does to the value of an expression: nothing, or the same as to a member.

use super::form::{Form, Setting, cut_operand};
use super::partition::{Blame, Partition, Variable, is_countable};
use crate::program::{BinaryOperator, Expression, LabelId};

/// What a turn does to a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// Nothing.
    Plain,
    /// The same as to this variable, of whose counter it has this form. In an address, where
    /// nothing wraps: the same modulo the size of the domain.
    Member(Variable, Form),
    /// Nothing modulo 2 to this power, and more than nothing besides. What it is made of has the
    /// class of this variable.
    Difference(Variable, u8),
}

/// Where an expression stands.
#[derive(Clone, Copy)]
pub(super) struct Context {
    pub(super) blame: Blame,
    pub(super) label: LabelId,
    /// What [`Expression::Old`] is the value of, when that is known.
    pub(super) old: Option<Variable>,
    /// Whether the expression is an address, which is computed in plain integers.
    pub(super) is_address: bool,
}

/// What a turn does to an expression's value. What no turn commutes with strikes the classes out
/// that it meets.
pub(super) fn shape(partition: &mut Partition<'_>, context: Context, expression: &Expression) -> Shape {
    if let Some((operand, cut)) = cut_operand(expression, partition.domain()) {
        let operand = shape(partition, context, operand);
        return cut_shape(partition, context, operand, cut);
    }
    if let Expression::Binary(operator, left, right) = expression
        && let Some((counter, modulus)) = masked(partition, context, *operator, left, right)
    {
        match shape(partition, context, counter) {
            Shape::Member(counter, form) if sees_part(form, modulus) => {
                partition.see(counter, modulus, Some(context.blame));
                return Shape::Plain;
            }
            Shape::Difference(_, bits) if (1 << bits) % modulus == 0 => return Shape::Plain,
            _ => {}
        }
    }
    if let Some((counter, modulus)) = floored(partition, expression)
        && let floor @ Shape::Member(counter, Form::Whole) = shape(partition, context, counter)
    {
        partition.see(counter, modulus, Some(context.blame));
        return floor;
    }
    match expression {
        Expression::Constant(_) | Expression::Address { .. } => Shape::Plain,
        Expression::Register(register) => {
            let variable = partition.register(context.blame.thread, context.label, *register);
            member(partition, variable)
        }
        Expression::Old => context.old.map_or(Shape::Plain, |old| member(partition, old)),
        Expression::Unary(_, operand) => {
            let operand = shape(partition, context, operand);
            plain(partition, context, &[operand])
        }
        Expression::Binary(operator, left, right) => binary(partition, context, *operator, left, right),
    }
}

fn member(partition: &Partition<'_>, variable: Variable) -> Shape {
    if partition.is_member(variable) { Shape::Member(variable, partition.form(variable)) } else { Shape::Plain }
}

/// Whether a mask sees a part of what a form has of a counter, so that the other part does not
/// matter.
fn sees_part(form: Form, modulus: i128) -> bool {
    match form {
        Form::Whole => true,
        Form::Residue { bits, .. } => (1 << bits) % modulus == 0,
    }
}

/// What a turn does to a value that is cut to some bits.
fn cut_shape(partition: &mut Partition<'_>, context: Context, operand: Shape, cut: (u8, bool)) -> Shape {
    match operand {
        Shape::Plain => Shape::Plain,
        Shape::Member(variable, form) => match form.cut(cut, setting(partition, context)) {
            Some(form) => Shape::Member(variable, form),
            None => plain(partition, context, &[operand]),
        },
        Shape::Difference(_, bits) if cut.0 <= bits => Shape::Plain,
        Shape::Difference(..) => operand,
    }
}

fn setting(partition: &Partition<'_>, context: Context) -> Setting {
    Setting { domain: partition.domain(), is_address: context.is_address }
}

/// A value that no turn may change. All of a few bits is seen, so that turns are to be multiples
/// that go around; others are in no class.
pub(super) fn must_be_plain(partition: &mut Partition<'_>, blame: Blame, shape: Shape) {
    match shape {
        Shape::Plain => {}
        Shape::Member(variable, Form::Residue { bits: bits @ ..=16, low: Some(_) }) => {
            partition.see(variable, 1 << bits, Some(blame));
        }
        Shape::Member(variable, _) | Shape::Difference(variable, _) => partition.strike_out(variable, blame),
    }
}

/// Values that no turn may change.
fn plain(partition: &mut Partition<'_>, context: Context, shapes: &[Shape]) -> Shape {
    shapes.iter().for_each(|shape| must_be_plain(partition, context.blame, *shape));
    Shape::Plain
}

fn binary(
    partition: &mut Partition<'_>,
    context: Context,
    operator: BinaryOperator,
    left: &Expression,
    right: &Expression,
) -> Shape {
    use BinaryOperator as Op;
    let shapes = [shape(partition, context, left), shape(partition, context, right)];
    let wraps = partition.domain().is_some();
    match (operator, shapes) {
        (_, [Shape::Plain, Shape::Plain]) => Shape::Plain,
        (Op::Add, [Shape::Member(counter, form), Shape::Plain]) if moves_by(partition, right) => {
            moved(partition, context, (counter, form), right, 1)
        }
        (Op::Add, [Shape::Plain, Shape::Member(counter, form)]) if moves_by(partition, left) => {
            moved(partition, context, (counter, form), left, 1)
        }
        (Op::Subtract, [Shape::Member(counter, form), Shape::Plain]) if moves_by(partition, right) => {
            moved(partition, context, (counter, form), right, -1)
        }
        // In an address differences do not wrap, and equality does not see what does.
        (Op::Subtract, [Shape::Member(a, one), Shape::Member(b, other)]) if !(wraps && context.is_address) => {
            partition.unite(a, b);
            match (one, other) {
                (Form::Whole, Form::Whole) => Shape::Plain,
                (Form::Residue { bits, .. }, Form::Whole) | (Form::Whole, Form::Residue { bits, .. }) => {
                    Shape::Difference(a, bits)
                }
                (Form::Residue { bits, .. }, Form::Residue { bits: others, .. }) => {
                    Shape::Difference(a, bits.min(others))
                }
            }
        }
        // Values of one form are equal where their counters are.
        (Op::Equal | Op::NotEqual, [Shape::Member(a, one), Shape::Member(b, other)])
            if !(wraps && context.is_address) && one == other && one.is_definite() =>
        {
            partition.unite(a, b);
            Shape::Plain
        }
        (
            Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual,
            [Shape::Member(a, Form::Whole), Shape::Member(b, Form::Whole)],
        ) if !wraps => {
            partition.unite(a, b);
            Shape::Plain
        }
        _ => plain(partition, context, &shapes),
    }
}

/// Whether an expression that no turn changes may be added to a counter: where nothing wraps, a
/// constant that is not too large.
fn moves_by(partition: &Partition<'_>, number: &Expression) -> bool {
    let is_small =
        || number.is_constant() && number.evaluate(&[], None).is_ok_and(|number| is_countable(number.into()));
    partition.domain().is_some() || is_small()
}

/// A counter to which a number is added so many times. What adds 0 copies.
fn moved(
    partition: &mut Partition<'_>,
    context: Context,
    (counter, form): (Variable, Form),
    number: &Expression,
    times: i64,
) -> Shape {
    if *number == Expression::Constant(0) {
        return Shape::Member(counter, form);
    }
    partition.move_by_number(counter);
    let domain = partition.domain().filter(|_| !context.is_address);
    let constant = number.is_constant().then(|| number.evaluate(&[], domain).ok()).flatten();
    let by = constant.and_then(|constant| constant.checked_mul(times));
    Shape::Member(counter, form.plus(by, setting(partition, context)))
}

/// The operand and the number n of `e & -n`, the greatest multiple of the power n of two that is at
/// most e: turns by multiples of n commute with it, where nothing wraps.
fn floored<'e>(partition: &Partition<'_>, expression: &'e Expression) -> Option<(&'e Expression, i128)> {
    let Expression::Binary(BinaryOperator::BitAnd, operand, mask) = expression else { return None };
    let mask = Some(mask).filter(|mask| mask.is_constant() && partition.domain().is_none())?;
    let modulus = -i128::from(mask.evaluate(&[], None).ok()?);
    (modulus > 0 && modulus.count_ones() == 1).then_some((&**operand, modulus))
}

/// The operand and the number n of an expression that turns of the operand by multiples of n leave
/// as it is: `e & (n - 1)` for a power n of two, `e % n` where no value is negative, and whether
/// `e % n` is 0. A domain that wraps has to have a multiple of n values.
fn masked<'e>(
    partition: &Partition<'_>,
    context: Context,
    operator: BinaryOperator,
    left: &'e Expression,
    right: &Expression,
) -> Option<(&'e Expression, i128)> {
    use BinaryOperator as Op;
    let Expression::Constant(constant) = *right else { return None };
    let domain = partition.domain();
    let (operand, modulus) = match (operator, left) {
        (Op::BitAnd, _) if constant > 0 => (left, i128::from(constant) + 1),
        (Op::Remainder, _) if constant > 0 => {
            // In an address only a register is sure to be in the domain.
            let is_bare = matches!(left, Expression::Register(_));
            let is_natural = domain.is_some_and(|domain| domain.low == 0) && (!context.is_address || is_bare);
            (left, is_natural.then_some(i128::from(constant))?)
        }
        (Op::Equal | Op::NotEqual, Expression::Binary(Op::Remainder, operand, divisor)) if constant == 0 => {
            let Expression::Constant(divisor) = **divisor else { return None };
            // A constant outside of the domain is another one in it.
            let is_itself = divisor > 0 && domain.is_none_or(|domain| domain.contains(divisor));
            (&**operand, is_itself.then_some(i128::from(divisor))?)
        }
        _ => return None,
    };
    let is_mask = operator != Op::BitAnd || modulus & (modulus - 1) == 0;
    let wraps_evenly = domain.is_none_or(|domain| domain.contains(constant) && super::size(domain) % modulus == 0);
    (is_mask && wraps_evenly).then_some((operand, modulus))
}
