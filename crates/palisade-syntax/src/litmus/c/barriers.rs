//! The kernel's full barriers: calls that order everything before them before everything behind
//! them [ASPLOS18].
//!
//! Their nearest of C11 is `atomic_thread_fence(memory_order_seq_cst)`. On x86 the fence stands
//! beside a locked instruction, where store buffers are empty, so it changes nothing there. An
//! update that returns a value has fences before and behind its statement, if nothing else in the
//! statement accesses memory: a store behind the update would not be delayed past the fence. A
//! `cmpxchg` has none, as it orders nothing when it fails. `smp_mb__before_atomic` and its like are
//! full barriers beside such statements alone.

use super::body::{Reader, statement};
use super::calls::{Called, fence, update, word};
use super::lexer::Token;
use crate::native::braced::{Statement, StatementKind};
use crate::native::token::FENCE;
use palisade_model::program::Ordering;
use palisade_model::text::Span;

/// A full barrier.
fn barrier<'s>(span: Span) -> StatementKind<'s> {
    StatementKind::Effect(update(FENCE, vec![word(Ordering::SeqCst, span)], span))
}

/// Whether an update is a full barrier: it has no suffix, returns a value and always stores.
fn is_full(name: &str) -> bool {
    let is_relaxed = ["_relaxed", "_acquire", "_release"].iter().any(|suffix| name.ends_with(suffix));
    let parts = ["_return", "_and_test"];
    let returns = name.starts_with("atomic_fetch_") || parts.iter().any(|part| name.ends_with(part));
    !is_relaxed && (returns || matches!(name, "xchg" | "atomic_xchg"))
}

/// Whether a call is one that a barrier may stand beside: an update, or one that takes a spinlock.
fn is_update(name: &str, of_locks: bool) -> bool {
    if of_locks {
        return name.trim_start_matches("raw_").starts_with("spin_lock");
    }
    let is_none = ["atomic_read", "atomic_set", "atomic_load", "atomic_store", "atomic_thread", "atomic_init"];
    let is_one = name.starts_with("atomic_") || name.starts_with("xchg") || name.starts_with("cmpxchg");
    is_one && !is_none.iter().any(|begin| name.starts_with(begin))
}

impl<'s> Reader<'_, 's> {
    /// Notes that the statement has an update that is a full barrier.
    pub(super) fn note_full_update(&mut self, name: &str) {
        self.is_full_barrier |= is_full(name);
    }

    /// Puts fences around the statements from a number on, if an update in them is a full barrier.
    pub(super) fn fence_full_update(&mut self, first: usize, start: Span, statements: &mut Vec<Statement<'s>>) {
        let is_one = std::mem::take(&mut self.is_full_barrier);
        let begin = self.tokens.iter().position(|(_, span)| span.start >= start.start).unwrap_or(self.at);
        let own = (begin..self.at).filter_map(|at| self.token_at(at)).filter(|token| *token != Token::Symbol(";"));
        if is_one && is_alone(&own.collect::<Vec<_>>(), is_full) {
            let at = |place: usize| Span { start: place, end: place };
            let fenced = |span: Span| statement(barrier(span), span, span);
            statements.insert(first, fenced(at(start.start)));
            statements.push(fenced(at(self.before().end)));
        }
    }

    /// `smp_mb__before_atomic` and its like, the name of which has just been read.
    pub(super) fn barrier_beside(&self, name: &str, span: Span) -> Called<'s> {
        let of_locks = name.ends_with("spinlock");
        let is_beside = match name.starts_with("smp_mb__after_") {
            true => self.is_in_statement_before(|word| is_update(word, of_locks)),
            false => self.is_in_statement_behind(|word| is_update(word, of_locks)),
        };
        if is_beside { Called::Statement(barrier(span)) } else { fence(Ordering::AcqRel, span) }
    }

    /// Whether a word of the statement before the one of the call that is being read is such a
    /// name, and that statement is always executed right before it.
    fn is_in_statement_before(&self, is_it: impl Fn(&str) -> bool) -> bool {
        // The name and its parenthesis, and the end of the statement before.
        let Some(end) = self.at.checked_sub(3) else { return false };
        let ends = |token: &Option<Token<'s>>| matches!(token, Some(Token::Symbol(";" | "{" | "}")) | None);
        if self.token_at(end) != Some(Token::Symbol(";")) {
            return false;
        }
        let words = (0..end).rev().map(|at| self.token_at(at)).take_while(|token| !ends(token));
        let mut own: Vec<Token<'s>> = words.flatten().collect();
        own.reverse();
        is_alone(&own, is_it)
    }

    /// The same of the statement behind it.
    fn is_in_statement_behind(&self, is_it: impl Fn(&str) -> bool) -> bool {
        if self.token(1) != Some(Token::Symbol(";")) {
            return false;
        }
        let ends = |token: &Token<'s>| matches!(token, Token::Symbol(";" | "{" | "}"));
        let own = (2..).map_while(|ahead| self.token(ahead)).take_while(|token| !ends(token));
        is_alone(&own.collect::<Vec<_>>(), is_it)
    }
}

/// Whether a statement is the call of such a name, or gives its value to a variable, and accesses
/// memory by that call alone: `int r = xchg(x, 1)`.
fn is_alone(statement: &[Token<'_>], is_it: impl Fn(&str) -> bool) -> bool {
    let Some(open) = statement.iter().position(|token| *token == Token::Symbol("(")) else { return false };
    let [before @ .., Token::Name(name)] = &statement[..open] else { return false };
    let [operands @ .., Token::Symbol(")")] = &statement[open + 1..] else { return false };
    let is_given = match before {
        [] => true,
        [names @ .., Token::Symbol("=")] => names.iter().all(|token| matches!(token, Token::Name(_))),
        _ => false,
    };
    let accesses = |token: &Token<'_>| matches!(token, Token::Symbol("(" | ")" | "*" | "[" | "?"));
    is_given && is_it(name) && !operands.iter().any(accesses)
}
