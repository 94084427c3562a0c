//! Loops: where they begin, where their bodies come back to, and where fences at these places are
//! put.

use super::Lowering;
use super::layout::{StatementId, StatementPlace};
use super::scope::Loop;
use crate::native::ast::{ExpressionKind, RawExpression};
use crate::native::braced::{Block, For, Statement};
use palisade_model::program::{Action, LabelId};
use palisade_model::text::Span;
use rustc_hash::FxHashMap;

impl<'a, 's> Lowering<'a, 's, '_> {
    /// `while (condition) { … }`.
    pub(super) fn while_loop(
        &mut self,
        condition: &RawExpression<'s>,
        body: &'a Block<'s>,
        from: LabelId,
        to: LabelId,
    ) {
        if matches!(condition.kind, ExpressionKind::Literal(1) | ExpressionKind::Constant(1)) {
            return self.endless(body, from, to, body.span);
        }
        self.in_loop(from, to, |lowering| {
            let sequence = lowering.plan(&body.statements, from, None);
            lowering.asked(condition, from, sequence.entry, to);
            lowering.run(&sequence);
        });
    }

    /// `loop { … }`.
    pub(super) fn endless(&mut self, body: &'a Block<'s>, from: LabelId, to: LabelId, span: Span) {
        self.in_loop(from, to, |lowering| lowering.sequence(&body.statements, from, from, span));
    }

    /// `do { … } while (condition);`. A `continue` in it goes to the condition.
    pub(super) fn do_while(&mut self, body: &'a Block<'s>, condition: &RawExpression<'s>, from: LabelId, to: LabelId) {
        let (outer, labels_before) = (self.statement, self.automaton.label_count());
        let (asks, place) = self.end_of_body(body, from, condition.span);
        self.asked(condition, asks, from, to);
        self.statement = outer;
        self.in_loop(asks, to, |lowering| lowering.sequence(&body.statements, from, asks, body.span));
        self.layout.made(place, labels_before..self.automaton.label_count());
    }

    /// `for (start; condition; step) { … }`. A `continue` in it goes to the step. What is declared
    /// in its head is seen in it alone.
    pub(super) fn for_loop(&mut self, it: &'a For<'s>, statement: &'a Statement<'s>, from: LabelId, to: LabelId) {
        let outer = self.statement;
        self.frame().scopes.push(FxHashMap::default());
        let head = match &it.start {
            None => from,
            Some(start) => {
                let head = self.step_label(it.condition.as_ref().map_or(it.body.span, |condition| condition.span));
                self.in_head(start, from, head);
                head
            }
        };
        let labels_before = self.automaton.label_count();
        let whole = self.layout.statement(head, StatementPlace::of_loop(statement, &it.body, self.frames.len()));
        self.statement = Some(whole);
        let mut places = vec![whole];
        let again = match &it.step {
            None => head,
            Some(step) => {
                let (again, place) = self.end_of_body(&it.body, head, step.span);
                self.in_head(step, again, head);
                self.statement = Some(whole);
                places.push(place);
                again
            }
        };
        match &it.condition {
            Some(condition) => self.in_loop(again, to, |lowering| {
                let sequence = lowering.plan(&it.body.statements, again, None);
                lowering.asked(condition, head, sequence.entry, to);
                lowering.run(&sequence);
            }),
            None => self.in_loop(again, to, |lowering| {
                lowering.sequence(&it.body.statements, head, again, it.body.span);
            }),
        }
        for place in places {
            self.layout.made(place, labels_before..self.automaton.label_count());
        }
        self.frame().scopes.pop();
        self.statement = outer;
    }

    /// A label for what follows the body of a loop each time, with the place for a fence there: the
    /// end of the body. `start` is where the loop begins.
    fn end_of_body(&mut self, body: &Block<'s>, start: LabelId, span: Span) -> (LabelId, StatementId) {
        let label = self.step_label(span);
        let place = self.layout.place(label, StatementPlace::end_of(body, start, self.frames.len()));
        self.statement = Some(place);
        (label, place)
    }

    /// What a `for` does in its head. The text has no place for a fence between that and the loop,
    /// so nothing may be stored.
    fn in_head(&mut self, statement: &'a Statement<'s>, from: LabelId, to: LabelId) {
        let (in_use, before) = (self.in_use.len(), self.automaton.instructions.len());
        // What is wrong is reported.
        let _ = self.kind(statement, from, to);
        self.in_use.truncate(in_use);
        if self.automaton.instructions[before..].iter().any(|it| matches!(it.action, Action::Store { .. })) {
            let error = self.error("a `for` stores nothing in its head", statement.span);
            error.help = Some("store before the loop or in its body".to_owned());
        }
    }

    /// A condition whose registers are free again behind it.
    fn asked(&mut self, condition: &RawExpression<'s>, from: LabelId, yes: LabelId, no: LabelId) {
        let in_use = self.in_use.len();
        let _ = self.branch(condition, from, yes, no);
        self.in_use.truncate(in_use);
    }

    fn in_loop(&mut self, start: LabelId, end: LabelId, body: impl FnOnce(&mut Self)) {
        let sections = self.sections;
        self.frame().loops.push(Loop { start, end, sections });
        body(self);
        self.frame().loops.pop();
    }
}
