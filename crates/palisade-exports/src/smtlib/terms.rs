//! Terms of SMT-LIB as text.

use num_bigint::BigInt;
use num_traits::Signed;
use std::fmt::Write;

pub(super) fn conjunction(conditions: impl IntoIterator<Item = String>) -> String {
    joined("and", "true", conditions)
}

pub(super) fn disjunction(conditions: impl IntoIterator<Item = String>) -> String {
    joined("or", "false", conditions)
}

pub(super) fn sum(terms: impl IntoIterator<Item = String>) -> String {
    joined("+", "0", terms)
}

/// An operator applied to any number of operands.
fn joined(operator: &str, neutral: &str, operands: impl IntoIterator<Item = String>) -> String {
    let operands: Vec<String> = operands.into_iter().collect();
    match operands.as_slice() {
        [] => neutral.to_owned(),
        [only] => only.clone(),
        _ => format!("({operator} {})", operands.join(" ")),
    }
}

pub(super) fn negation(condition: &str) -> String {
    format!("(not {condition})")
}

pub(super) fn equal(left: impl std::fmt::Display, right: impl std::fmt::Display) -> String {
    format!("(= {left} {right})")
}

/// SMT-LIB has no negative numerals.
pub(super) fn integer(value: impl Into<BigInt>) -> String {
    let value: BigInt = value.into();
    if value.is_negative() { format!("(- {})", value.abs()) } else { value.to_string() }
}

pub(super) fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("writing to a string does not fail");
}

/// A name or text of the input as part of a comment.
pub(super) fn comment(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
