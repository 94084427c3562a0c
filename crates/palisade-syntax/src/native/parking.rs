//! Tokens of threads that park: each such thread has an address `name'token`, or an array of them
//! by its copies.

use super::ast::{ExpressionKind, Name, RawCopies};
use super::braced::Structured;
use super::scope::Addresses;
use super::token::{PARK, UNPARK};
use palisade_model::program::{AddressId, AddressName, Value};
use rustc_hash::FxHashSet;

/// The most copies with tokens of their own.
const MOST: i128 = 64;

impl<'s> Addresses<'s> {
    /// Gives addresses, behind all others, to the threads that park or are unparked. Procedures of
    /// these names go before the words.
    pub(super) fn add_tokens(&mut self, structured: &Structured<'s>) {
        let is_procedure = |word: &str| structured.procedures.iter().any(|own| own.name.text == word);
        if is_procedure(PARK) || is_procedure(UNPARK) {
            return;
        }
        let mut named: FxHashSet<&'s str> = FxHashSet::default();
        let mut procedures_park = false;
        structured.calls(
            &mut |owner, name, operands| match (name.text, operands.first().map(|operand| &operand.kind)) {
                (UNPARK, Some(ExpressionKind::Name(thread) | ExpressionKind::Index(Name { text: thread, .. }, _))) => {
                    named.insert(thread);
                }
                (PARK, None) => match owner {
                    Some(owner) => drop(named.insert(owner.text)),
                    None => procedures_park = true,
                },
                _ => {}
            },
        );
        let end = |entry: &AddressName| entry.address.saturating_add(Value::from(entry.length));
        let mut next = self.all.iter().map(end).max().unwrap_or(1).max(1);
        for thread in &structured.threads {
            let Name { text, span } = thread.name;
            if !procedures_park && !named.contains(text) || self.tokens.contains_key(text) {
                continue;
            }
            let length = match &thread.copies {
                Some((RawCopies::Number(number), _)) => u32::try_from(number.value.clamp(1, MOST)).unwrap_or(1),
                _ => 1,
            };
            self.tokens.insert(text, AddressId::from_index(self.all.len()));
            self.all.push(AddressName { name: format!("{text}'token"), address: next, length, span });
            next = next.saturating_add(Value::from(length));
        }
    }

    /// The tokens of the copies of a thread.
    pub(crate) fn token(&self, thread: &str) -> Option<AddressId> {
        self.tokens.get(thread).copied()
    }
}
