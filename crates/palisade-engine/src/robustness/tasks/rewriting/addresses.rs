//! Addresses of their own for what a rewritten program needs.

use super::NotRewritten;
use palisade_model::program::{AddressId, AddressName, Expression, Program, Value};
use palisade_model::text::Span;

/// Refuses domains in which a flag cannot be said.
pub(super) fn has_flags(program: &Program) -> Result<(), NotRewritten> {
    let has = |value: Value| program.domain.is_none_or(|domain| (domain.low..=domain.high).contains(&value));
    if has(0) && has(1) { Ok(()) } else { Err(NotRewritten::Domain) }
}

/// An address that no other name has; the expression for it.
pub(super) fn declare(program: &mut Program, like: &str) -> Expression {
    let mut name = like.to_owned();
    while program.addresses.iter().any(|known| known.name == name) {
        name.push('_');
    }
    // Programs may compute addresses that they do not name; these are small.
    let ends = program.addresses.iter().map(|known| known.address.saturating_add(Value::from(known.length)));
    let value = ends
        .chain(program.initial_memory.keys().map(|address| address.saturating_add(1)))
        .max()
        .unwrap_or(0)
        .max(1 << 20);
    program.addresses.push(AddressName { name, address: value, length: 1, span: Span::default() });
    Expression::Address { id: AddressId::from_index(program.addresses.len() - 1), value }
}
