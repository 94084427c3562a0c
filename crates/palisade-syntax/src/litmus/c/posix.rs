//! Calls that wait and wake: futexes by the names of the system call's operations, mutexes, condition variables and semaphores of POSIX.

use super::body::{Read, Reader};
use super::calls::{Called, update, word};
use super::lexer::Token;
use crate::Diagnostic;
use crate::native::ast::{ExpressionKind, Name, RawExpression};
use crate::native::braced::StatementKind;
use palisade_model::program::{BinaryOperator, Ordering};

/// The calls that are understood.
const KNOWN: [&str; 9] = [
    "futex_wait",
    "futex_wake",
    "pthread_mutex_lock",
    "pthread_mutex_unlock",
    "pthread_cond_wait",
    "pthread_cond_signal",
    "pthread_cond_broadcast",
    "sem_wait",
    "sem_post",
];

impl<'s> Reader<'_, 's> {
    /// A call that waits or wakes; nothing if it is none.
    pub(super) fn of_posix(&mut self, name: Name<'s>) -> Read<Option<Called<'s>>> {
        if !KNOWN.contains(&name.text) {
            let begins = ["pthread_mutex_", "pthread_cond_", "sem_", "futex"];
            if begins.iter().any(|begin| name.text.starts_with(begin)) {
                let known = KNOWN.map(|known| format!("`{known}`")).join(", ");
                let error = Diagnostic::error(format!("`{}` is not understood", name.text), name.span);
                return Err(error.with_help(format!("of what waits and wakes there are {known}")));
            }
            return Ok(None);
        }
        let place = self.location()?.raw;
        let span = name.span;
        let number = |value: i128| RawExpression::new(ExpressionKind::Constant(value), span);
        let effect = |word: &'static str, operands: Vec<RawExpression<'s>>| {
            Called::Statement(StatementKind::Effect(update(word, operands, span)))
        };
        Ok(Some(match name.text {
            "pthread_mutex_lock" => {
                let orderings = [Ordering::Acquire, Ordering::Relaxed].map(|ordering| word(ordering, span));
                let operands = [place, number(0), number(1)].into_iter().chain(orderings).collect();
                let old = RawExpression::new(ExpressionKind::Name("old"), span);
                Called::Statement(StatementKind::Wait {
                    register: None,
                    access: update("cas", operands, span),
                    condition: RawExpression::binary(BinaryOperator::Equal, old, number(0)),
                })
            }
            "pthread_mutex_unlock" => effect("xchg", vec![place, number(0), word(Ordering::Release, span)]),
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
