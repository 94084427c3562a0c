//! Statements that wait, sleep and wake sleepers by the names that people give them: `wait`,
//! `wake`, `lock`, `acquire`, `cond_wait`.

use super::Lowering;
use super::conditions::negated;
use super::places::base_name;
use crate::native::ast::{ExpressionKind, Name, RawExpression};
use crate::native::token::{PARK, UNPARK};
use crate::native::waiting::{WAKE_COUNT, taking_one, wakes_all};
use palisade_model::program::{Action, AddressName, BinaryOperator, Expression, LabelId, Patience, Queue, RegisterId};
use palisade_model::text::Span;

/// The statements with how they are written. Procedures of these names go before them.
pub(super) const STATEMENTS: [(&str, usize, &str); 11] = [
    (PARK, 0, "park()"),
    (UNPARK, 1, "unpark(thread)"),
    ("wait", 2, "wait(place, value)"),
    ("wake", 2, "wake(place, 1)` or `wake(place, all)"),
    ("lock", 1, "lock(place)"),
    ("unlock", 1, "unlock(place)"),
    ("acquire", 1, "acquire(place)"),
    ("release", 1, "release(place)"),
    ("cond_wait", 2, "cond_wait(place, mutex)"),
    ("notify_one", 1, "notify_one(place)"),
    ("notify_all", 1, "notify_all(place)"),
];

impl<'s> Lowering<'_, 's, '_> {
    /// A statement that waits, sleeps or wakes sleepers, between two labels.
    pub(super) fn sleeping(
        &mut self,
        (name, wanted, usage): (Name<'s>, usize, &str),
        operands: &[RawExpression<'s>],
        span: Span,
        result: Option<RegisterId>,
        [from, to]: [LabelId; 2],
    ) -> Option<()> {
        if result.is_some() {
            let message = format!("`{}` has no value", name.text);
            self.error(message, span).help = Some("write it as a statement of its own".to_owned());
            return None;
        }
        if operands.len() != wanted {
            let message = format!("wrong number of operands: {}, not {wanted}", operands.len());
            self.error(message, span).help = Some(format!("write `{usage}`"));
            return None;
        }
        if name.text == PARK {
            let token = self.own_token(span)?;
            self.taken(token, [1, 0], "token", span, [from, to]);
            return Some(());
        }
        let (address, at) = match name.text {
            UNPARK => self.token(&operands[0], from)?,
            _ => self.place(&operands[0], from, false)?,
        };
        let (action, queue) = match name.text {
            "lock" => {
                self.taken(address, [0, 1], base_name(&operands[0]), span, [at, to]);
                return Some(());
            }
            "acquire" => {
                let (until, new) = taking_one();
                let register = self.temporary(base_name(&operands[0]), span);
                let action = Action::Rmw { register: Some(register), address, new };
                self.guarded(action, register, until, span, [at, to]);
                return Some(());
            }
            "unlock" | "release" | UNPARK => {
                let new = match name.text {
                    "release" => Expression::binary(BinaryOperator::Add, Expression::Old, Expression::Constant(1)),
                    text => Expression::Constant(i64::from(text == UNPARK)),
                };
                self.automaton.instruction(at, to, Action::Rmw { register: None, address, new }, span);
                return Some(());
            }
            "wait" => {
                let (expected, at) = self.value(&operands[1], at)?;
                self.queued(Queue::sleep_if(address, expected), span, [at, to]);
                return Some(());
            }
            "cond_wait" => {
                let (mutex, at) = self.place(&operands[1], at, false)?;
                let woken = self.step_label(Span { start: span.end, end: span.end });
                self.queued(Queue::sleep(address, Some(mutex.clone())), span, [at, woken]);
                self.taken(mutex, [0, 1], base_name(&operands[1]), span, [woken, to]);
                return Some(());
            }
            "wake" => match wakes_all(&operands[1].kind) {
                Some(all) => Queue::wake(address, all),
                None => {
                    let error = self.error("a wake-up wakes one sleeper or all", operands[1].span);
                    error.help = Some(WAKE_COUNT.to_owned());
                    return None;
                }
            },
            _ => Queue::wake(address, name.text == "notify_all"),
        };
        self.queued((action, queue), span, [at, to]);
        Some(())
    }

    /// Waits until an address has a value, and gives it another one: a mutex, a token.
    fn taken(&mut self, address: Expression, values: [i64; 2], base: &str, span: Span, labels: [LabelId; 2]) {
        let [expected, new] = values.map(Expression::Constant);
        let register = self.temporary(base, span);
        let until = Expression::binary(BinaryOperator::Equal, Expression::Old, expected.clone());
        let action = Action::Cas { register: Some(register), address, expected, new };
        self.guarded(action, register, until, span, labels);
    }

    /// The token of the copy itself.
    fn own_token(&mut self, span: Span) -> Option<Expression> {
        let found = self.context.addresses.token(self.name).filter(|_| self.number.is_some());
        let (Some(id), Some(number)) = (found, self.number) else {
            let error = self.error("which token? Copies that are counted have none of their own", span);
            error.help = Some("park in a thread with one copy, or with some: `[3]`".to_owned());
            return None;
        };
        let tokens = &self.context.addresses.all[id.index()];
        let first = Expression::Address { id, value: tokens.address };
        self.uses_self |= tokens.length > 1;
        Some(match number {
            0 => first,
            _ => Expression::binary(BinaryOperator::Add, first, Expression::Constant(number)),
        })
    }

    /// The token of a thread, or of a copy, that somebody names.
    fn token(&mut self, raw: &RawExpression<'s>, from: LabelId) -> Option<(Expression, LabelId)> {
        let (name, index) = match &raw.kind {
            ExpressionKind::Name(text) => (*text, None),
            ExpressionKind::Index(name, index) => (name.text, Some(index)),
            _ => ("", None),
        };
        let Some(id) = self.context.addresses.token(name) else {
            let error = self.error("this is no thread with a body in braces", raw.span);
            error.expected = vec!["the name of a thread".to_owned(), "`thread[number]`".to_owned()];
            return None;
        };
        let AddressName { address: value, length, .. } = self.context.addresses.all[id.index()];
        let first = Expression::Address { id, value };
        match index {
            None if length == 1 => Some((first, from)),
            Some(raw) if length > 1 => {
                let (index, at) = self.value(raw, from)?;
                match index.is_constant().then(|| index.evaluate_address(&[])) {
                    Some(Ok(0)) => Some((first, at)),
                    Some(number) if !number.as_ref().is_ok_and(|it| (0..i64::from(length)).contains(it)) => {
                        let error = self.error(format!("`{name}` has no such copy"), raw.span);
                        error.help = Some(format!("its copies are {name}[0] to {name}[{}]", length - 1));
                        None
                    }
                    _ => Some((Expression::binary(BinaryOperator::Add, first, index), at)),
                }
            }
            _ => {
                let error = self.error("which copy is to be unparked?", raw.span);
                let is_one = length == 1;
                error.help = Some(if is_one {
                    format!("`{name}` has one copy: write `unpark({name})`")
                } else {
                    format!("write `unpark({name}[i])`, with i from 0 to {}", length - 1)
                });
                None
            }
        }
    }

    /// An update that waits for a condition on what it finds.
    fn guarded(
        &mut self,
        action: Action,
        register: RegisterId,
        until: Expression,
        span: Span,
        [from, to]: [LabelId; 2],
    ) {
        let read = self.step_label(Span { start: span.end, end: span.end });
        let number = self.automaton.instruction(from, read, action, span);
        let of_register = |part: &Expression| (*part == Expression::Old).then_some(Expression::Register(register));
        let condition = until.replaced(&of_register);
        self.automaton.instructions[number].set_waiting(until);
        let otherwise = negated(&condition);
        self.automaton.instruction(read, to, Action::Assume(condition), span);
        self.automaton.instruction(read, from, Action::Assume(otherwise), span);
    }

    fn queued(&mut self, (action, queue): (Action, Queue), span: Span, [from, to]: [LabelId; 2]) {
        let number = self.automaton.instruction(from, to, action, span);
        self.automaton.instructions[number].set_queue(queue);
    }

    /// Marks what waits among the instructions from a number on: `idle`, `timed`.
    pub(super) fn mark(&mut self, mark: Name<'s>, first: usize) -> Option<()> {
        let mut marked = 0;
        for instruction in self.automaton.instructions[first..].iter_mut().filter(|own| own.may_wait()) {
            instruction.set_patience(Patience::named(mark.text).unwrap_or_default());
            marked += 1;
        }
        if marked == 0 {
            let error = self.error(format!("`{}` is said of a statement that waits", mark.text), mark.span);
            error.help = Some("of a loop that waits, mark the `await` or the `wait` in it".to_owned());
        }
        (marked > 0).then_some(())
    }
}
