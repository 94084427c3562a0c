//! C's operators between two values, with its conversions.

use super::body::Read;
use super::types::{INT, Typed, common};
use crate::Diagnostic;
use crate::native::ast::RawExpression;
use palisade_model::program::BinaryOperator;
use palisade_model::text::Span;

/// An operator between two values, with C's conversions.
pub(super) fn combined<'s>(operator: BinaryOperator, left: Typed<'s>, right: Typed<'s>) -> Read<Typed<'s>> {
    use BinaryOperator as Op;
    let span = left.raw.extent.to(right.raw.extent);
    let compares = matches!(operator, Op::And | Op::Or | Op::Equal | Op::NotEqual);
    if !compares && (left.points.is_some() || right.points.is_some()) {
        return Err(Diagnostic::error("addresses are compared here, and nothing else is done with them", span)
            .with_help("name the location, or an element of the array, that is meant"));
    }
    match operator {
        Op::And | Op::Or => return Ok(Typed::held(RawExpression::binary(operator, left.raw, right.raw), INT)),
        Op::ShiftLeft | Op::ShiftRight => {
            let cell = left.cell.promoted();
            if right.constant.is_none_or(|amount| !(0..i128::from(cell.bits)).contains(&amount)) {
                let message = format!("a shift of {} bits is by a number from 0 to {}", cell.bits, cell.bits - 1);
                return Err(Diagnostic::error(message, right.raw.span).with_help("write the number itself"));
            }
            signed_only(operator == Op::ShiftRight && cell.is_kept_otherwise(), span)?;
            return Ok(Typed::arithmetic(operator, left.converted(cell), right));
        }
        _ => {}
    }
    let cell = common(left.cell, right.cell);
    let (left, right) = (left.converted(cell), right.converted(cell));
    let is_ordered = matches!(operator, Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual);
    signed_only((is_ordered || matches!(operator, Op::Divide | Op::Remainder)) && cell.is_kept_otherwise(), span)?;
    if is_ordered || matches!(operator, Op::Equal | Op::NotEqual) {
        return Ok(Typed::held(RawExpression::binary(operator, left.raw, right.raw), INT));
    }
    Ok(Typed::arithmetic(operator, left, right))
}

fn signed_only(refused: bool, span: Span) -> Read<()> {
    if !refused {
        return Ok(());
    }
    Err(Diagnostic::error("unsigned numbers of 64 bits have no order and no division here", span)
        .with_help("use a signed type, or `uint32_t`"))
}
