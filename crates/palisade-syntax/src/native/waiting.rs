//! What both forms say of waiting and waking.

use super::ast::ExpressionKind;
use palisade_model::program::{BinaryOperator, Expression};

/// What `acquire` waits for, and what it stores: less by one where that is so. A try that fails
/// stores what was there.
pub(crate) fn taking_one() -> (Expression, Expression) {
    let positive = Expression::binary(BinaryOperator::Greater, Expression::Old, Expression::Constant(0));
    (positive.clone(), Expression::binary(BinaryOperator::Subtract, Expression::Old, positive))
}

/// Whether a wake-up wakes all sleepers or one; nothing for anything else.
pub(crate) fn wakes_all(count: &ExpressionKind<'_>) -> Option<bool> {
    match count {
        ExpressionKind::Name("all") => Some(true),
        ExpressionKind::Literal(1) | ExpressionKind::Constant(1) => Some(false),
        _ => None,
    }
}

/// What to write for another number of sleepers.
pub(crate) const WAKE_COUNT: &str = "write `1` or `all`; to wake two, wake one twice";
