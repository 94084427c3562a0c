//! Addresses that count: only added to and compared with small numbers, so that their values are
//! told apart up to a number, like counts of copies.

use palisade_model::program::{Action, BinaryOperator, Expression, Program, RegisterId, Value};
use std::collections::BTreeSet;

/// By how much an update moves the value that it finds: `old + c`, `old - c`, and `old - (old > 0)`
/// where that waits for more than 0.
pub(super) fn step_of(new: &Expression) -> Option<Value> {
    use Expression::{Binary, Constant, Old};
    let Binary(operator, left, right) = new else { return None };
    match (operator, &**left, &**right) {
        (BinaryOperator::Add, Old, Constant(step)) | (BinaryOperator::Add, Constant(step), Old) => Some(*step),
        (BinaryOperator::Subtract, Old, Constant(step)) => step.checked_neg(),
        (BinaryOperator::Subtract, Old, Binary(BinaryOperator::Greater, old, zero)) => {
            (**old == Old && **zero == Constant(0)).then_some(-1)
        }
        _ => None,
    }
}

/// The counters of a program of which values are told apart up to a number.
pub(super) fn counters(program: &Program, most: u64) -> Vec<Value> {
    let instructions = || program.threads.iter().flat_map(|thread| &thread.instructions);
    let has_computed = instructions().any(|own| own.action.address().is_some_and(|address| !address.is_constant()));
    if program.domain.is_some() || has_computed {
        return Vec::new();
    }
    let address_of = |action: &Action| action.address().and_then(|address| address.evaluate_address(&[]).ok());
    let added: BTreeSet<Value> = instructions()
        .filter(|own| matches!(&own.action, Action::Rmw { new, .. } if step_of(new).is_some()))
        .filter_map(|own| address_of(&own.action))
        .collect();
    let is_counter = |counter: &Value| {
        let is_small = u64::try_from(program.initial_value(*counter)).is_ok_and(|initial| initial <= most);
        let is_told_in_the_end = program.finally.iter().all(|claim| {
            let read = claim.reads.iter().position(|address| address == counter).map(RegisterId::from_index);
            read.is_none_or(|register| compares(&claim.condition, &Expression::Register(register), most))
        });
        is_small
            && is_told_in_the_end
            && program.threads.iter().all(|thread| {
                let mut touching = thread.instructions.iter().filter(|own| address_of(&own.action) == Some(*counter));
                touching.all(|own| {
                    let counts = match &own.action {
                        Action::Load { .. } => true,
                        Action::Rmw { new, .. } => step_of(new).is_some_and(|step| {
                            // What waits for more than 0 takes one of them.
                            step != 0
                                && (own.until().is_some()
                                    || !matches!(new, Expression::Binary(_, _, right) if !right.is_constant()))
                        }),
                        _ => false,
                    };
                    let is_told = |register| {
                        let reading = thread.instructions.iter().flat_map(|own| own.expressions());
                        reading
                            .into_iter()
                            .all(|expression| compares(expression, &Expression::Register(register), most))
                    };
                    let waits = own.until().is_none_or(|until| compares(until, &Expression::Old, most));
                    counts && own.queue().is_none() && waits && own.action.written_register().is_none_or(is_told)
                })
            })
    };
    added.into_iter().filter(is_counter).collect()
}

/// Whether an expression only compares something with numbers from 0 up to a number, where it
/// speaks of it at all.
fn compares(expression: &Expression, what: &Expression, most: u64) -> bool {
    use BinaryOperator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    let is_small = |number: &Expression| matches!(number, Expression::Constant(number) if u64::try_from(*number).is_ok_and(|number| number <= most));
    match expression {
        own if own == what => false,
        Expression::Unary(_, operand) => compares(operand, what, most),
        // To be above a number is to be at least the next one, which must be told apart.
        Expression::Binary(Equal | NotEqual | Greater | GreaterOrEqual | Less | LessOrEqual, left, right)
            if **left == *what && is_small(right) || **right == *what && is_small(left) =>
        {
            true
        }
        Expression::Binary(_, left, right) => compares(left, what, most) && compares(right, what, most),
        _ => true,
    }
}
