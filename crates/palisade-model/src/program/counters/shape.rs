//! What turning does to the value of an expression: nothing, or the same as to a member.

use super::partition::{Blame, Partition, Variable, is_countable};
use crate::program::{BinaryOperator, Expression, LabelId};

/// What a turn does to a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// Nothing.
    Plain,
    /// The same as to this variable. In an address, where nothing wraps: the same modulo the size of the domain.
    Member(Variable),
}

/// Where an expression stands.
#[derive(Clone, Copy)]
pub(super) struct Context {
    pub(super) blame: Blame,
    pub(super) label: LabelId,
    /// What [`Expression::Old`] is the value of, when a constant names it.
    pub(super) old: Option<Variable>,
    /// Whether the expression is an address, which is computed in plain integers.
    pub(super) is_address: bool,
}

/// What a turn does to an expression's value. What no turn commutes with strikes the classes out that it meets.
pub(super) fn shape(partition: &mut Partition<'_>, context: Context, expression: &Expression) -> Shape {
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
        Expression::Binary(operator, left, right) => {
            if let Some((counter, modulus)) = masked(partition, context, *operator, left, right)
                && let Shape::Member(counter) = shape(partition, context, counter)
            {
                partition.see(counter, modulus);
                return Shape::Plain;
            }
            binary(partition, context, *operator, left, right)
        }
    }
}

fn member(partition: &Partition<'_>, variable: Variable) -> Shape {
    if partition.is_member(variable) { Shape::Member(variable) } else { Shape::Plain }
}

/// Strikes out the members among some values.
fn plain(partition: &mut Partition<'_>, context: Context, shapes: &[Shape]) -> Shape {
    for shape in shapes {
        if let Shape::Member(variable) = shape {
            partition.strike_out(*variable, context.blame);
        }
    }
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
        (Op::Add, [Shape::Member(counter), Shape::Plain]) if moves_by(partition, right) => {
            moved(partition, counter, right)
        }
        (Op::Add, [Shape::Plain, Shape::Member(counter)]) if moves_by(partition, left) => {
            moved(partition, counter, left)
        }
        (Op::Subtract, [Shape::Member(counter), Shape::Plain]) if moves_by(partition, right) => {
            moved(partition, counter, right)
        }
        // In an address differences do not wrap, and equality does not see what does.
        (Op::Subtract | Op::Equal | Op::NotEqual, [Shape::Member(a), Shape::Member(b)])
            if !(wraps && context.is_address) =>
        {
            partition.unite(a, b);
            Shape::Plain
        }
        (Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual, [Shape::Member(a), Shape::Member(b)])
            if !wraps =>
        {
            partition.unite(a, b);
            Shape::Plain
        }
        _ => plain(partition, context, &shapes),
    }
}

/// Whether an expression that no turn changes may be added to a counter: where nothing wraps, a constant that is not too large.
fn moves_by(partition: &Partition<'_>, number: &Expression) -> bool {
    let is_small =
        || number.is_constant() && number.evaluate(&[], None).is_ok_and(|number| is_countable(number.into()));
    partition.domain().is_some() || is_small()
}

/// A counter to which a number is added. What adds 0 copies.
fn moved(partition: &mut Partition<'_>, counter: Variable, number: &Expression) -> Shape {
    if *number != Expression::Constant(0) {
        partition.move_by_number(counter);
    }
    Shape::Member(counter)
}

/// The operand and the number n of an expression that turns of the operand by multiples of n leave as it is: `e & (n - 1)` for a
/// power n of two, `e % n` where no value is negative, and whether `e % n` is 0. A domain that wraps has to have a multiple of n values.
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
