//! Statements that wait, sleep and wake sleepers by the names that people give them: `wait`, `wake`, `lock`, `acquire`, `cond_wait`.

use super::Lowering;
use super::conditions::negated;
use super::places::base_name;
use crate::native::ast::{Name, RawExpression};
use crate::native::operations::taking_one;
use crate::native::sleeping::{WAKE_COUNT, wakes_all};
use palisade_model::program::{Action, BinaryOperator, Expression, LabelId, Patience, Queue, RegisterId};
use palisade_model::text::Span;

/// The statements with how they are written. Procedures of these names go before them.
pub(super) const STATEMENTS: [(&str, usize, &str); 9] = [
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
        let (address, at) = self.place(&operands[0], from, false)?;
        let (action, queue) = match name.text {
            "lock" => return self.lock(address, &operands[0], span, [at, to]),
            "acquire" => {
                let (until, new) = taking_one();
                let register = self.temporary(base_name(&operands[0]), span);
                let action = Action::Rmw { register: Some(register), address, new };
                return self.guarded(action, register, until, span, [at, to]);
            }
            "unlock" | "release" => {
                let old = |operator| Expression::binary(operator, Expression::Old, Expression::Constant(1));
                let new = if name.text == "release" { old(BinaryOperator::Add) } else { Expression::Constant(0) };
                self.automaton.instruction(at, to, Action::Rmw { register: None, address, new }, span);
                return Some(());
            }
            "wait" => {
                let (expected, at) = self.value(&operands[1], at)?;
                return self.queued(Queue::sleep_if(address, expected), span, [at, to]);
            }
            "cond_wait" => {
                let (mutex, at) = self.place(&operands[1], at, false)?;
                let woken = self.step_label(Span { start: span.end, end: span.end });
                self.queued(Queue::sleep(address, Some(mutex.clone())), span, [at, woken])?;
                return self.lock(mutex, &operands[1], span, [woken, to]);
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
        self.queued((action, queue), span, [at, to])
    }

    /// Takes a mutex: waits until it is 0, and makes it 1.
    fn lock(&mut self, address: Expression, place: &RawExpression<'s>, span: Span, labels: [LabelId; 2]) -> Option<()> {
        let (zero, one) = (Expression::Constant(0), Expression::Constant(1));
        let register = self.temporary(base_name(place), span);
        let until = Expression::binary(BinaryOperator::Equal, Expression::Old, zero.clone());
        let action = Action::Cas { register: Some(register), address, expected: zero, new: one };
        self.guarded(action, register, until, span, labels)
    }

    /// An update that waits for a condition on what it finds.
    fn guarded(
        &mut self,
        action: Action,
        register: RegisterId,
        until: Expression,
        span: Span,
        [from, to]: [LabelId; 2],
    ) -> Option<()> {
        let read = self.step_label(Span { start: span.end, end: span.end });
        let number = self.automaton.instruction(from, read, action, span);
        let of_register = |part: &Expression| (*part == Expression::Old).then_some(Expression::Register(register));
        let condition = until.replaced(&of_register);
        self.automaton.instructions[number].set_waiting(until);
        let otherwise = negated(&condition);
        self.automaton.instruction(read, to, Action::Assume(condition), span);
        self.automaton.instruction(read, from, Action::Assume(otherwise), span);
        Some(())
    }

    fn queued(&mut self, (action, queue): (Action, Queue), span: Span, [from, to]: [LabelId; 2]) -> Option<()> {
        let number = self.automaton.instruction(from, to, action, span);
        self.automaton.instructions[number].set_queue(queue);
        Some(())
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
