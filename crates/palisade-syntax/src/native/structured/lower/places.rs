//! Places in memory: names, elements of arrays, what an address points to.

use super::Lowering;
use super::accesses::UPDATES;
use super::scope::{Binding, Meaning};
use crate::Diagnostic;
use crate::native::ast::{ExpressionKind, Name, RawExpression};
use palisade_model::program::{AddressId, BinaryOperator, Expression, LabelId};

/// What the register for a value is called after.
pub(super) fn base_name<'s>(raw: &RawExpression<'s>) -> &'s str {
    match &raw.kind {
        ExpressionKind::Name(name) => name,
        ExpressionKind::Index(name, _) => name.text,
        ExpressionKind::Memory(inside) | ExpressionKind::AddressOf(inside) => base_name(inside),
        ExpressionKind::Apply(name, operands) if UPDATES.iter().any(|(update, ..)| *update == name.text) => {
            operands.first().map_or("value", base_name)
        }
        ExpressionKind::Apply(name, _) => name.text,
        ExpressionKind::Any => "any",
        _ => "value",
    }
}

/// Whether a text has `&x`, by which it stores addresses: `&` before a name and behind no value.
fn takes_addresses(text: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let behind = |at: usize| text[at + 1..].starts_with(is_letter);
    text.match_indices('&').any(|(at, _)| behind(at) && !text[..at].ends_with('&'))
}

impl<'s> Lowering<'_, 's, '_> {
    /// The address of a place, computed from `from` on. A whole array is a place only where its
    /// address is asked for.
    pub(super) fn place(
        &mut self,
        raw: &RawExpression<'s>,
        from: LabelId,
        as_address: bool,
    ) -> Option<(Expression, LabelId)> {
        match &raw.kind {
            ExpressionKind::Name(text) => match self.meaning(Name { text, span: raw.span })? {
                Meaning::Address(id) => {
                    let address = &self.context.addresses.all[id.index()];
                    if address.length > 1 && !as_address {
                        let (message, length) = (format!("`{text}` is an array"), address.length);
                        let error = self.error(message, raw.span);
                        error.help = Some(format!("write `{text}[i]`, with i from 0 to {}", length - 1));
                        return None;
                    }
                    Some((self.address(id), from))
                }
                Meaning::Bound(Binding::Place(address)) => Some((address, from)),
                Meaning::Bound(Binding::Register(_) | Binding::Value(_)) => {
                    let error = self.error(format!("`{text}` is no place in memory"), raw.span);
                    error.help = Some(format!("`*{text}` is what is stored at the address `{text}`"));
                    None
                }
            },
            ExpressionKind::Index(name, index) => self.element(*name, index, raw, from),
            ExpressionKind::Memory(address) => {
                self.doubt_indirection(address);
                self.value(address, from)
            }
            // `fetch_add(&x, 1)`, as in C.
            ExpressionKind::AddressOf(place) if !as_address => self.place(place, from, false),
            _ => {
                let error = self.error("this is no place in memory", raw.span);
                error.expected = vec!["the name of an address".to_owned(), "`slot[i]`".to_owned(), "`*r`".to_owned()];
                None
            }
        }
    }

    /// Warns where what is stored at an address is taken for an address, in a program that stores
    /// no addresses: in the older form `mem[x]` is the address itself.
    fn doubt_indirection(&mut self, address: &RawExpression<'s>) {
        let ExpressionKind::Name(text) = address.kind else { return };
        let is_address = matches!(self.meaning_if_any(text), Some(Meaning::Address(_)));
        let is_new = self.found.iter().all(|it| it.span != address.span);
        if is_address && is_new && !takes_addresses(&self.context.source.text) {
            let message = format!("this is what is stored at the number that `{text}` holds");
            let warning = Diagnostic::warning(message, address.span);
            self.found.push(warning.with_help(format!("`{text}` alone is what is stored at the address `{text}`")));
        }
    }

    /// The address with a number.
    fn address(&self, id: AddressId) -> Expression {
        Expression::Address { id, value: self.context.addresses.all[id.index()].address }
    }

    /// The address of an element of an array.
    fn element(
        &mut self,
        name: Name<'s>,
        index: &RawExpression<'s>,
        raw: &RawExpression<'s>,
        from: LabelId,
    ) -> Option<(Expression, LabelId)> {
        let (first, length) = match self.meaning(name)? {
            Meaning::Address(id) => (self.address(id), Some(self.context.addresses.all[id.index()].length)),
            Meaning::Bound(Binding::Place(address)) => {
                let length = match &address {
                    Expression::Address { id, .. } => Some(self.context.addresses.all[id.index()].length),
                    _ => None,
                };
                (address, length)
            }
            Meaning::Bound(Binding::Register(_) | Binding::Value(_)) => {
                let help = format!("`mem[{} + …]` is what is stored so far behind the address `{0}`", name.text);
                self.error(format!("`{}` is no array", name.text), name.span).help = Some(help);
                return None;
            }
        };
        let (index, at) = self.value(index, from)?;
        if !index.is_constant() {
            return Some((Expression::binary(BinaryOperator::Add, first, index), at));
        }
        // Addresses are plain integers, so the index is known now.
        let number = match index.evaluate_address(&[]) {
            Ok(number) => number,
            Err(error) => {
                self.error(error.to_string(), raw.span);
                return None;
            }
        };
        if let Some(length) = length
            && !(0..i64::from(length)).contains(&number)
        {
            let error = self.error(format!("`{}` has no element {number}", name.text), raw.span);
            error.help = Some(match length {
                1 => format!("it is a single address: declare `address {}[…]`", name.text),
                _ => format!("its elements are {0}[0] to {0}[{1}]", name.text, length - 1),
            });
            return None;
        }
        let element = if number == 0 {
            first
        } else {
            Expression::binary(BinaryOperator::Add, first, Expression::Constant(number))
        };
        Some((element, at))
    }
}
