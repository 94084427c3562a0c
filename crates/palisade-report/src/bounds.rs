//! The numbers that a program compares values with, and what they say of values that grow.

use palisade_engine::robustness::{DEFAULT_VALUES, Fault};
use palisade_model::program::{Action, BinaryOperator, Expression, Program, Value};

/// The most values that are admitted because a number says so.
const MOST_VALUES: usize = 4096;

/// How many values to admit: what the user says; where that is the default, as many as the numbers
/// that values are compared with ask for.
pub fn admitted_values(program: &Program, asked: usize) -> usize {
    let wanted = compared(program).and_then(needed).filter(|wanted| *wanted <= MOST_VALUES);
    match wanted {
        Some(wanted) if asked == DEFAULT_VALUES => asked.max(wanted),
        _ => asked,
    }
}

/// What the user can do about a fault. A value that is compared with a large number need not grow
/// for ever.
pub fn advice(program: &Program, fault: &Fault) -> String {
    let bound = compared(program).filter(|_| fault.is_growth() && !program.source.is_listing);
    match bound.and_then(|bound| Some((bound, needed(bound)?))) {
        Some((bound, wanted)) if wanted > DEFAULT_VALUES => {
            let stop =
                format!("values are compared with {bound}: where they stop there, admit so many, `--values {wanted}`");
            match program.domain_to_wrap() {
                Some(range) => format!("{stop}; where they grow for ever, say in how many bits, `domain {range} wrap`"),
                None => stop,
            }
        }
        _ => fault.advice(program).into_owned(),
    }
}

/// What values may grow for ever and what to try, in a sentence, while a question about them runs;
/// nothing where they may stop at a number that they are compared with.
pub fn growth_hint(program: &Program, fault: &Fault) -> Option<String> {
    let stops = compared(program).and_then(needed).is_some_and(|wanted| wanted > DEFAULT_VALUES);
    fault.describe_growth(program).filter(|_| !stops || program.source.is_listing)
}

/// So many values has what counts up to a number.
fn needed(bound: Value) -> Option<usize> {
    usize::try_from(bound).ok()?.checked_add(2)
}

/// The largest number that a condition compares a value with.
fn compared(program: &Program) -> Option<Value> {
    let actions = program.threads.iter().flat_map(|thread| &thread.instructions).map(|own| &own.action);
    let conditions = actions.filter_map(|action| match action {
        Action::Assume(condition) => Some(condition),
        _ => None,
    });
    conditions.filter_map(largest).max()
}

/// The largest number that stands on one side of a comparison.
fn largest(expression: &Expression) -> Option<Value> {
    use BinaryOperator as Op;
    match expression {
        Expression::Unary(_, operand) => largest(operand),
        Expression::Binary(operator, left, right) => {
            let is_comparison = matches!(
                operator,
                Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual | Op::Equal | Op::NotEqual
            );
            let own = [left, right].into_iter().filter_map(|side| match &**side {
                Expression::Constant(number) if is_comparison => number.checked_abs(),
                _ => None,
            });
            own.chain(largest(left)).chain(largest(right)).max()
        }
        _ => None,
    }
}
