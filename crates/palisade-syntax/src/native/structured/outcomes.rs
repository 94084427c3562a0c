//! Conditions that may take what a `cas` returns, the value that was there, for whether it has
//! stored.

use crate::Diagnostic;
use crate::native::ast::{ExpressionKind, RawExpression};
use palisade_model::program::{BinaryOperator, UnaryOperator};
use palisade_model::text::SourceText;

/// The warnings for each `cas` in a condition whose outcome is nothing but true or false there.
pub(super) fn warnings(source: &SourceText, condition: &RawExpression<'_>, found: &mut Vec<Diagnostic>) {
    match &condition.kind {
        ExpressionKind::Unary(UnaryOperator::Not, operand) => warnings(source, operand, found),
        ExpressionKind::Binary(BinaryOperator::And | BinaryOperator::Or, left, right) => {
            warnings(source, left, found);
            warnings(source, right, found);
        }
        ExpressionKind::Apply(name, operands) if name.text == "cas" && operands.len() == 3 => {
            let (update, expected) = (source.slice(condition.span), source.slice(operands[1].extent));
            let message = "`cas` returns the value that was there, not whether it has stored";
            let help =
                format!("`{update} == {expected}` holds if it has stored, `{update} != {expected}` if it has not");
            found.push(Diagnostic::warning(message, condition.span).with_help(help));
        }
        _ => {}
    }
}
