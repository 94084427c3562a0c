//! Calls that wait and wake: futexes by the names of the system call's operations, mutexes,
//! spinlocks, locks of readers and writers, condition variables and semaphores of POSIX.
//!
//! A lock of readers and writers is a number: how many readers hold it, or -1 while a writer does.
//! Who comes first is not said, so readers may overtake a writer that waits. A call that tries
//! returns 0 where it takes, and another number where it does not.

use super::body::{Read, Reader};
use super::calls::{Called, Returned, update, word};
use super::lexer::Token;
use super::types::{INT, Typed};
use crate::Diagnostic;
use crate::native::ast::{ExpressionKind, Name, RawExpression};
use crate::native::braced::StatementKind;
use palisade_model::program::{BinaryOperator, Ordering};
use palisade_model::text::Span;

/// The calls that are understood.
const KNOWN: [&str; 18] = [
    "futex_wait",
    "futex_wake",
    "pthread_mutex_lock",
    "pthread_mutex_trylock",
    "pthread_mutex_unlock",
    "pthread_spin_lock",
    "pthread_spin_trylock",
    "pthread_spin_unlock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_rwlock_trywrlock",
    "pthread_rwlock_unlock",
    "pthread_cond_wait",
    "pthread_cond_signal",
    "pthread_cond_broadcast",
    "sem_wait",
    "sem_post",
    "sem_trywait",
];

/// How names begin of which some are understood.
const BEGINNINGS: [&str; 7] =
    ["pthread_mutex_", "pthread_spin_", "pthread_rwlock_", "pthread_cond_", "pthread_barrier_", "sem_", "futex"];

impl<'s> Reader<'_, 's> {
    /// A call that waits or wakes; nothing if it is none.
    pub(super) fn of_posix(&mut self, name: Name<'s>) -> Read<Option<Called<'s>>> {
        if !KNOWN.contains(&name.text) {
            if BEGINNINGS.iter().any(|begin| name.text.starts_with(begin)) {
                let known = KNOWN.map(|known| format!("`{known}`")).join(", ");
                let error = Diagnostic::error(format!("`{}` is not understood", name.text), name.span);
                return Err(error.with_help(format!("of what waits and wakes there are {known}")));
            }
            return Ok(None);
        }
        let place = self.location()?.raw;
        let span = name.span;
        let number = |value: i128| RawExpression::new(ExpressionKind::Constant(value), span);
        let binary = RawExpression::binary;
        let waits = |access, condition| Called::Statement(StatementKind::Wait { register: None, access, condition });
        let returned = |raw| Called::Update { raw, cell: INT, outcome: Returned::Old };
        let effect = |word: &'static str, operands: Vec<RawExpression<'s>>| {
            Called::Statement(StatementKind::Effect(update(word, operands, span)))
        };
        Ok(Some(match name.text {
            "pthread_mutex_lock" | "pthread_spin_lock" => {
                waits(taking(place, 0, 1, span), binary(BinaryOperator::Equal, old(span), number(0)))
            }
            "pthread_rwlock_wrlock" => {
                waits(taking(place, 0, -1, span), binary(BinaryOperator::Equal, old(span), number(0)))
            }
            "pthread_rwlock_rdlock" => {
                // A try that fails stores what was there.
                let is_free = binary(BinaryOperator::GreaterOrEqual, old(span), number(0));
                let more = binary(BinaryOperator::Add, old(span), is_free);
                let access = update("rmw", vec![place, more, word(Ordering::Acquire, span)], span);
                waits(access, binary(BinaryOperator::GreaterOrEqual, old(span), number(0)))
            }
            // One reader less, or the writer.
            "pthread_rwlock_unlock" => {
                let is_read = binary(BinaryOperator::Greater, old(span), number(0));
                let is_written = binary(BinaryOperator::Less, old(span), number(0));
                let less = binary(BinaryOperator::Subtract, old(span), is_read);
                let new = binary(BinaryOperator::Add, less, is_written);
                effect("rmw", vec![place, new, word(Ordering::Release, span)])
            }
            "pthread_mutex_trylock" | "pthread_spin_trylock" => returned(taking(place, 0, 1, span)),
            "pthread_rwlock_trywrlock" => returned(taking(place, 0, -1, span)),
            "sem_trywait" => {
                let is_there = binary(BinaryOperator::Greater, old(span), number(0));
                let less = binary(BinaryOperator::Subtract, old(span), is_there);
                let raw = update("rmw", vec![place, less, word(Ordering::Acquire, span)], span);
                Called::Update { raw, cell: INT, outcome: Returned::Is(Typed::known(0, INT, span)) }
            }
            "pthread_mutex_unlock" | "pthread_spin_unlock" => {
                effect("xchg", vec![place, number(0), word(Ordering::Release, span)])
            }
            "pthread_cond_wait" => {
                self.expect(",")?;
                let mutex = self.location()?.raw;
                effect("cond_wait", vec![place, mutex])
            }
            "pthread_cond_signal" => effect("notify_one", vec![place]),
            "pthread_cond_broadcast" => effect("notify_all", vec![place]),
            "sem_wait" => effect("acquire", vec![place]),
            "sem_post" => effect("release", vec![place]),
            "futex_wait" => {
                self.expect(",")?;
                let value = self.nested(Self::expression)?.raw;
                effect("wait", vec![place, value])
            }
            _ => {
                self.expect(",")?;
                if matches!(self.peek(), Some(Token::Name("INT_MAX"))) {
                    let all = self.name("how many are woken")?;
                    let all = RawExpression::new(ExpressionKind::Name("all"), all.span);
                    effect("wake", vec![place, all])
                } else {
                    let count = self.nested(Self::expression)?.raw;
                    effect("wake", vec![place, count])
                }
            }
        }))
    }
}

/// What an access finds.
fn old<'s>(span: Span) -> RawExpression<'s> {
    RawExpression::new(ExpressionKind::Name("old"), span)
}

/// A lock's update from one number to another.
fn taking<'s>(place: RawExpression<'s>, from: i128, to: i128, span: Span) -> RawExpression<'s> {
    let number = |value| RawExpression::new(ExpressionKind::Constant(value), span);
    let orderings = [Ordering::Acquire, Ordering::Relaxed].map(|ordering| word(ordering, span));
    update("cas", [place, number(from), number(to)].into_iter().chain(orderings).collect(), span)
}
