//! Counters, whose values are told apart up to a number.

use crate::CheckFailure;
use crate::failure::reject;
use palisade_model::program::{Action, BinaryOperator, Expression, Program, RegisterId, Thread, Value};

/// By how much an update of a counter moves it; nothing where it does something else.
pub(super) fn moves_by(new: &Expression) -> Option<Value> {
    let Expression::Binary(operator, left, right) = new else { return None };
    let takes_one = Expression::binary(BinaryOperator::Greater, Expression::Old, Expression::Constant(0));
    match operator {
        BinaryOperator::Add if **left == Expression::Old => constant(right),
        BinaryOperator::Add if **right == Expression::Old => constant(left),
        BinaryOperator::Subtract if **left == Expression::Old && **right == takes_one => Some(-1),
        BinaryOperator::Subtract if **left == Expression::Old => constant(right)?.checked_neg(),
        _ => None,
    }
}

fn constant(expression: &Expression) -> Option<Value> {
    match expression {
        Expression::Constant(value) => Some(*value),
        _ => None,
    }
}

/// Checks that addresses count: nothing but additions and loads touches them, and what they held is
/// only compared with numbers that are told apart. There must be no domain, and no computed
/// address.
pub(super) fn check_counters(program: &Program, counters: &[Value], most: u64) -> Result<(), CheckFailure> {
    if counters.is_empty() {
        return Ok(());
    }
    let is_ascending = counters.windows(2).all(|pair| pair[0] < pair[1]);
    if program.domain.is_some() || !is_ascending {
        reject!(Form, "counters are ascending addresses of a program without a domain");
    }
    for counter in counters {
        if !u64::try_from(program.initial_value(*counter)).is_ok_and(|initial| initial <= most) {
            reject!(Form, "counter {counter} begins beyond what is told apart");
        }
    }
    for thread in &program.threads {
        check_counting(thread, counters, most)?;
    }
    for claim in &program.finally {
        let counting = claim.reads.iter().enumerate().filter(|(_, address)| counters.contains(address));
        for (index, counter) in counting {
            if !is_compared(&claim.condition, &Expression::Register(RegisterId::from_index(index)), most) {
                reject!(Form, "`finally` does more with counter {counter} than to compare it");
            }
        }
    }
    Ok(())
}

fn check_counting(thread: &Thread, counters: &[Value], most: u64) -> Result<(), CheckFailure> {
    for own in &thread.instructions {
        let Some(address) = own.action.address() else { continue };
        let value = address.evaluate_address(&[]).ok().filter(|_| address.is_constant());
        let Some(value) = value else { reject!(Form, "thread `{}` computes an address beside counters", thread.name) };
        if !counters.contains(&value) {
            continue;
        }
        let waits = own.until();
        let counts = match &own.action {
            Action::Load { .. } => true,
            // Who takes one of several waits for one.
            Action::Rmw { new: Expression::Binary(_, _, right), .. } if constant(right).is_none() => {
                let some = Expression::binary(BinaryOperator::Greater, Expression::Old, Expression::Constant(0));
                waits == Some(&some)
            }
            // What adds nothing changes nothing, and may go on for ever.
            Action::Rmw { new, .. } => moves_by(new).is_some_and(|step| step != 0),
            _ => false,
        };
        let is_told = waits.is_none_or(|until| is_compared(until, &Expression::Old, most));
        let is_kept = own.action.written_register().is_none_or(|register| {
            let mut read = thread.instructions.iter().flat_map(|other| other.expressions());
            read.all(|expression| is_compared(expression, &Expression::Register(register), most))
        });
        if !counts || !is_told || !is_kept || own.queue().is_some() {
            reject!(Form, "thread `{}` does more with counter {value} than to count", thread.name);
        }
    }
    Ok(())
}

/// Whether an expression only compares a part with numbers that are told apart, wherever it has it.
fn is_compared(expression: &Expression, part: &Expression, most: u64) -> bool {
    if expression == part {
        return false;
    }
    let is_told =
        |other: &Expression| constant(other).is_some_and(|own| u64::try_from(own).is_ok_and(|own| own <= most));
    match expression {
        Expression::Unary(_, operand) => is_compared(operand, part, most),
        Expression::Binary(operator, left, right) => {
            let compares = matches!(
                operator,
                BinaryOperator::Equal
                    | BinaryOperator::NotEqual
                    | BinaryOperator::Less
                    | BinaryOperator::LessOrEqual
                    | BinaryOperator::Greater
                    | BinaryOperator::GreaterOrEqual
            );
            let is_told = compares && (**left == *part && is_told(right) || **right == *part && is_told(left));
            is_told || is_compared(left, part, most) && is_compared(right, part, most)
        }
        _ => true,
    }
}
