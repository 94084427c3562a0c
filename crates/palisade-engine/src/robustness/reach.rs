//! Which labels control reaches under sequential consistency: what a verdict says nothing about.
//!
//! A label counts as reached when an exploration under SC has a thread there. That a label is *not*
//! reached is said only after an exploration of the copies that are asked for which is closed under
//! steps and left no step out. A robust program reaches the same labels under TSO, as its
//! computations have the traces of interleavings (ASSUMES that buffers can be emptied: no section
//! stays open for ever); one that is not robust may reach more there.

use crate::decide::schedule::REACH;
use palisade_exploration::instrumented::system::Growth;
use palisade_exploration::instrumented::tso::System;
use palisade_exploration::instrumented::{Fault, Reached, ThreadLabel, explore_sc_until};
use palisade_model::limits::{Budget, Halt, Limits};
use palisade_model::program::{Action, BinaryOperator, Copies, Expression, Program, UnaryOperator};

/// With more copies than this in all, nothing is explored for the labels alone: to list them takes
/// long enough.
const MOST_COPIES: u64 = 1000;

/// The labels that no interleaving of the program's copies reaches; nothing when a small
/// exploration does not tell.
///
/// # Errors
///
/// A [`Fault`] when the exploration comes to a step without a meaning.
pub fn unreached(program: &Program, values: usize, limits: &Limits) -> Result<Option<Vec<ThreadLabel>>, Fault> {
    let mut reached = Reached::none(program);
    let is_known = explore(program, values, limits, &mut reached, !may_be_faulty(program))?;
    Ok(is_known.then(|| reached.missing(program)))
}

/// Explores the program under SC and adds the labels it reaches; whether there are no others. With
/// `until_everything`, it stops as soon as all are reached.
pub(super) fn explore(
    program: &Program,
    values: usize,
    limits: &Limits,
    reached: &mut Reached,
    until_everything: bool,
) -> Result<bool, Fault> {
    let copies = program.threads.iter().map(|thread| match thread.copies {
        Copies::Exactly(count) => count,
        Copies::Any => 1,
    });
    if until_everything && reached.is_everything() || copies.sum::<u64>() > MOST_COPIES {
        return Ok(reached.is_everything());
    }
    let budget = Budget::within(limits).with_work(REACH);
    let mut system = System::new(program, Growth::Fault(values));
    system.note_reached(reached);
    let explored =
        explore_sc_until(&mut system, &budget, |system| until_everything && system.reached().is_everything());
    reached.add(system.reached());
    match explored {
        Ok(_) => Ok(true),
        Err(Halt::Fault(fault)) if !fault.is_growth() => Err(fault),
        Err(_) => Ok(reached.is_everything()),
    }
}

/// Whether some step of the program might have no meaning: all others are copies, comparisons and
/// logic.
pub(super) fn may_be_faulty(program: &Program) -> bool {
    let holds_truth = program.domain.is_none_or(|domain| domain.contains(1));
    let actions = program.threads.iter().flat_map(|thread| &thread.instructions).map(|instruction| &instruction.action);
    actions.flat_map(Action::expressions).any(|expression| match expression {
        Expression::Constant(_) | Expression::Address { .. } | Expression::Register(_) | Expression::Old => false,
        _ => !holds_truth || !has_value(expression),
    })
}

/// Whether an expression has a value whatever its registers hold, and one that every domain with 0
/// and 1 has.
fn has_value(expression: &Expression) -> bool {
    use BinaryOperator as Op;
    match expression {
        Expression::Constant(_) | Expression::Address { .. } | Expression::Register(_) | Expression::Old => true,
        Expression::Unary(UnaryOperator::Not, operand) => has_value(operand),
        Expression::Binary(
            Op::Equal | Op::NotEqual | Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual | Op::And | Op::Or,
            left,
            right,
        ) => has_value(left) && has_value(right),
        _ => false,
    }
}
