//! Accesses that state orderings, weak compare-exchanges, and instructions that wait.

use super::Lowering;
use super::conditions::negated;
use super::scope::{Binding, Meaning};
use crate::native::ast::{ExpressionKind, Name, Orderings, RawExpression};
use crate::native::orderings::{Ordered, orderings, state};
use palisade_model::program::{Action, BinaryOperator, Expression, LabelId, RegisterId};
use palisade_model::text::Span;

/// The locked updates and what is written like them, with their operands after the place and what
/// their orderings are of.
pub(super) const UPDATES: [(&str, usize, &str, Ordered); 11] = [
    ("load", 0, "load(place, ordering)", Ordered::Load),
    ("store", 1, "store(place, value, ordering)", Ordered::Store),
    ("weak_cas", 2, "weak_cas(place, expected, new, ordering, ordering)", Ordered::CompareExchange),
    ("cas", 2, "cas(place, expected, new)", Ordered::CompareExchange),
    ("xchg", 1, "xchg(place, new)", Ordered::Update),
    ("rmw", 1, "rmw(place, new)", Ordered::Update),
    ("fetch_add", 1, "fetch_add(place, number)", Ordered::Update),
    ("fetch_sub", 1, "fetch_sub(place, number)", Ordered::Update),
    ("fetch_and", 1, "fetch_and(place, mask)", Ordered::Update),
    ("fetch_or", 1, "fetch_or(place, mask)", Ordered::Update),
    ("fetch_xor", 1, "fetch_xor(place, mask)", Ordered::Update),
];

/// A weak compare-exchange whose operands are known.
pub(super) struct WeakCas {
    pub(super) address: Expression,
    pub(super) expected: Expression,
    pub(super) new: Expression,
    pub(super) given: Option<Orderings>,
    pub(super) span: Span,
}

impl<'s> Lowering<'_, 's, '_> {
    /// Adds an access to memory with the orderings that the text gives it; its number as it was
    /// added.
    pub(super) fn access(
        &mut self,
        from: LabelId,
        to: LabelId,
        action: Action,
        given: Option<Orderings>,
        span: Span,
    ) -> usize {
        let number = self.automaton.instruction(from, to, action, span);
        let addresses = self.context.addresses;
        state(&mut self.automaton.instructions[number], given, |address| addresses.is_plain(address));
        number
    }

    /// The operands of an access without its orderings, and these. A load and a store that are
    /// written as calls have one.
    pub(super) fn with_orderings<'e>(
        &mut self,
        operands: &'e [RawExpression<'s>],
        wanted: usize,
        of: Ordered,
        usage: &str,
        span: Span,
    ) -> Option<(&'e [RawExpression<'s>], Option<Orderings>)> {
        let most = wanted + if of == Ordered::CompareExchange { 2 } else { 1 };
        let is_word = |operand: &RawExpression<'_>| matches!(operand.kind, ExpressionKind::Name(_));
        let needs_one = matches!(of, Ordered::Load | Ordered::Store);
        if operands.len() == wanted && needs_one {
            self.error("the ordering is missing", span).help = Some(format!("write `{usage}`"));
            return None;
        }
        if operands.len() < wanted || operands.len() > most || !operands[wanted..].iter().all(is_word) {
            let message =
                format!("wrong number of operands: {}, not {}", operands.len(), wanted + usize::from(needs_one));
            self.error(message, span).help = Some(format!("write `{usage}`"));
            return None;
        }
        let (operands, words) = operands.split_at(wanted);
        let given = if words.is_empty() { None } else { Some(orderings(of, words, self.found)?) };
        Some((operands, given))
    }

    /// `fence(ordering)`, between two labels.
    pub(super) fn fence(
        &mut self,
        operands: &[RawExpression<'s>],
        span: Span,
        result: Option<RegisterId>,
        [from, to]: [LabelId; 2],
    ) -> Option<()> {
        if operands.len() != 1 || result.is_some() {
            let message = if result.is_some() { "a fence has no value" } else { "a fence has one ordering" };
            self.error(message, span).help = Some("write `fence(seq_cst);`".to_owned());
            return None;
        }
        let given = orderings(Ordered::Fence, operands, self.found)?;
        self.access(from, to, Action::Fence, Some(given), span);
        Some(())
    }

    /// A weak compare-exchange between two labels; whether it stored goes to `result`.
    pub(super) fn weak_cas(
        &mut self,
        cas: WeakCas,
        result: Option<RegisterId>,
        from: LabelId,
        to: LabelId,
    ) -> Option<()> {
        let WeakCas { address, expected, new, given, span } = cas;
        let end = Span { start: span.end, end: span.end };
        let Some(register) = result else {
            let action = Action::Cas { register: None, address, expected, new };
            let number = self.access(from, to, action, given, span);
            self.automaton.instructions[number].set_weak(to);
            return Some(());
        };
        let seen = self.temporary("seen", span);
        let [read, yes, no] = std::array::from_fn(|_| self.step_label(end));
        let action = Action::Cas { register: Some(seen), address, expected: expected.clone(), new };
        let number = self.access(from, read, action, given, span);
        self.automaton.instructions[number].set_weak(no);
        let stored = Expression::binary(BinaryOperator::Equal, Expression::Register(seen), expected);
        let failed = negated(&stored);
        for (condition, label, value) in [(stored, yes, 1), (failed, no, 0)] {
            self.automaton.instruction(read, label, Action::Assume(condition), span);
            let value = Expression::Constant(value);
            self.automaton.instruction(label, to, Action::Assign { register, value }, span);
        }
        Some(())
    }

    /// Waits for a condition on the value that an access finds, which goes to a register.
    pub(super) fn wait(
        &mut self,
        name: Option<Name<'s>>,
        access: &RawExpression<'s>,
        condition: &RawExpression<'s>,
        from: LabelId,
        to: LabelId,
    ) -> Option<()> {
        let read = self.step_label(Span { start: access.span.end, end: access.span.end });
        let register = match name {
            None => self.temporary("old", access.span),
            Some(name) => match self.meaning(name)? {
                Meaning::Bound(Binding::Register(register)) => register,
                _ => return None,
            },
        };
        let before = self.automaton.instructions.len();
        self.value_into(access, register, from, read, access.span)?;
        let scope = std::iter::once(("old", (Binding::Register(register), condition.span))).collect();
        self.frame().scopes.push(scope);
        let condition = self.value(condition, read);
        self.frame().scopes.pop();
        let (condition, at) = condition?;
        let otherwise = negated(&condition);
        self.automaton.instruction(at, to, Action::Assume(condition), access.span);
        self.automaton.instruction(at, from, Action::Assume(otherwise), access.span);
        self.note_wait(before, from);
        Some(())
    }

    /// Notes of a statement that waits, by its first instruction, that its access happens only when
    /// the condition holds: where one access is all that comes back, and fails without storing.
    pub(super) fn note_wait(&mut self, first: usize, from: LabelId) {
        let [access, one, other] = &mut self.automaton.instructions[first..] else { return };
        let (on, back) = if other.target == from { (one, other) } else { (other, one) };
        let Action::Assume(condition) = &on.action else { return };
        let is_alone = access.source == from && on.source == access.target && back.source == on.source;
        let comes_back = back.target == from && on.target != from && matches!(back.action, Action::Assume(_));
        let register = match &access.action {
            Action::Load { register, .. } => *register,
            Action::Cas { register: Some(register), expected, .. } => {
                let seen = Expression::Register(*register);
                if *condition != Expression::binary(BinaryOperator::Equal, seen, expected.clone()) {
                    return;
                }
                *register
            }
            _ => return,
        };
        if is_alone && comes_back {
            let old = |part: &Expression| (*part == Expression::Register(register)).then_some(Expression::Old);
            let until = condition.replaced(&old);
            access.set_waiting(until);
        }
    }
}
