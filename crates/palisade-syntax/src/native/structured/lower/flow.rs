//! Statements: control flow between the labels of an automaton.

use super::layout::{StatementPlace, StoreText};
use super::scope::{Binding, Meaning};
use super::{Lowering, MOST_OPEN};
use crate::native::ast::{ExpressionKind, Name, RawExpression, Target};
use crate::native::braced::{Block, Statement, StatementKind};
use crate::native::structured::memory_change;
use crate::suggest::did_you_mean;
use palisade_model::program::{Action, Expression, LabelId};
use palisade_model::text::Span;

impl<'a, 's> Lowering<'a, 's, '_> {
    /// The declarations at the beginning of a thread's body whose values are known: registers start
    /// with them. The other statements.
    pub(super) fn initial_values(&mut self, statements: &'a [Statement<'s>]) -> &'a [Statement<'s>] {
        let mut rest = statements;
        while let [first, others @ ..] = rest {
            let StatementKind::Let { register, value } = &first.kind else { break };
            if first.label.is_some() || !first.annotations.is_empty() {
                break;
            }
            let number = match value {
                None => None,
                Some(raw) => match self.known_value(raw) {
                    Some(number) => Some(number),
                    None => break,
                },
            };
            if let (Some(register), Some(number)) = (self.declare(*register), number) {
                self.automaton.initialise(register, number);
            }
            rest = others;
        }
        rest
    }

    /// The value of a number, a constant or `self`.
    fn known_value(&mut self, raw: &RawExpression<'s>) -> Option<i64> {
        let is_known = match raw.kind {
            ExpressionKind::Literal(value) => i64::try_from(value).is_ok(),
            ExpressionKind::Constant(value) => i64::try_from(value).is_ok(),
            ExpressionKind::Name(name) => {
                matches!(self.meaning_if_any(name), Some(Meaning::Bound(Binding::Value(Expression::Constant(_)))))
            }
            _ => false,
        };
        if !is_known {
            return None;
        }
        let anywhere = LabelId::from_index(0);
        match self.value(raw, anywhere)?.0 {
            Expression::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// A statement between two labels.
    pub(super) fn statement(&mut self, statement: &'a Statement<'s>, from: LabelId, to: LabelId) {
        if self.is_full {
            return;
        }
        if self.open == MOST_OPEN {
            self.is_full = true;
            self.error(format!("calls and blocks are nested deeper than {MOST_OPEN} levels"), statement.span);
            return;
        }
        self.open += 1;
        let outer = self.statement;
        let place = StatementPlace::of(statement, self.frames.len());
        let id = self.layout.statement(from, place);
        let labels_before = self.automaton.label_count();
        self.statement = Some(id);
        let in_use = self.in_use.len();
        self.annotations(statement, from);
        // What is wrong is reported; the labels around it stay as they are.
        let _ = self.kind(statement, from, to);
        self.in_use.truncate(in_use);
        self.open -= 1;
        self.layout.made(id, labels_before..self.automaton.label_count());
        self.statement = outer;
    }

    /// What a statement does.
    pub(super) fn kind(&mut self, statement: &'a Statement<'s>, from: LabelId, to: LabelId) -> Option<()> {
        let span = statement.span;
        let simple = |lowering: &mut Self, action| {
            lowering.automaton.instruction(from, to, action, span);
            Some(())
        };
        match &statement.kind {
            StatementKind::Empty | StatementKind::Pause => simple(self, Action::Nop),
            StatementKind::Fail => simple(self, Action::Fail),
            StatementKind::Fence => simple(self, Action::Fence),
            StatementKind::StoreFence => simple(self, Action::StoreFence),
            StatementKind::Let { register, value } => self.declaration(*register, value.as_ref(), from, to, span),
            StatementKind::Assign { target, value } => self.assignment(target, value, from, to, span),
            StatementKind::Change { target, value, operator } => self.change(*target, value, *operator, from, to, span),
            StatementKind::Effect(raw) => self.effect(raw, from, to),
            StatementKind::Post { executor, task, arguments } => {
                self.post((*executor, *task), arguments, from, to, span)
            }
            StatementKind::Assume(condition) => {
                let (condition, at) = self.value(condition, from)?;
                self.automaton.instruction(at, to, Action::Assume(condition), span);
                Some(())
            }
            StatementKind::Ensure(condition) => {
                let (condition, at) = self.value(condition, from)?;
                self.automaton.instruction(at, to, Action::Ensure(condition), span);
                Some(())
            }
            StatementKind::Await(condition) => {
                if !self.acts(condition) {
                    let message = "nothing in this condition is read from memory, so waiting changes nothing";
                    let error = self.error(message, condition.span);
                    error.help = Some("`assume (…);` stops threads for which a condition does not hold".to_owned());
                    return None;
                }
                let before = self.automaton.instructions.len();
                self.branch(condition, from, to, from)?;
                self.note_wait(before, from);
                Some(())
            }
            StatementKind::Marked { mark, statement } => {
                let before = self.automaton.instructions.len();
                self.kind(statement, from, to)?;
                self.mark(*mark, before)
            }
            StatementKind::Wait { register, access, condition } => self.wait(*register, access, condition, from, to),
            StatementKind::If { branches, otherwise } => self.branches(branches, otherwise.as_ref(), from, to),
            StatementKind::While { condition, body } => {
                self.while_loop(condition, body, from, to);
                Some(())
            }
            StatementKind::DoWhile { body, condition } => {
                self.do_while(body, condition, from, to);
                Some(())
            }
            StatementKind::For(it) => {
                self.for_loop(it, statement, from, to);
                Some(())
            }
            StatementKind::Loop(body) => {
                self.endless(body, from, to, span);
                Some(())
            }
            StatementKind::Choose(blocks) => {
                for block in blocks {
                    let sequence = self.plan(&block.statements, to, None);
                    self.jump(from, sequence.entry, block.span);
                    self.run(&sequence);
                }
                Some(())
            }
            StatementKind::Atomic(body) => self.atomic(body, from, to, span),
            StatementKind::Block(body) => {
                self.sequence(&body.statements, from, to, span);
                Some(())
            }
            StatementKind::Break | StatementKind::Continue | StatementKind::Goto(_) | StatementKind::Return(None) => {
                let (target, sections) = self.jump_target(statement)?;
                self.leave(from, target, sections, span);
                Some(())
            }
            StatementKind::Return(Some(value)) => self.returned(value, from, span),
        }
    }

    fn declaration(
        &mut self,
        name: Name<'s>,
        value: Option<&RawExpression<'s>>,
        from: LabelId,
        to: LabelId,
        span: Span,
    ) -> Option<()> {
        let Some(raw) = value else {
            let register = self.declare(name)?;
            self.automaton.instruction(from, to, Action::Assign { register, value: Expression::Constant(0) }, span);
            return Some(());
        };
        // The name means nothing in its own value.
        let mut itself = None;
        raw.names(&mut |inside| itself = itself.or((inside.text == name.text).then_some(inside)));
        if let Some(itself) = itself {
            self.meaning(itself)?;
        }
        let register = self.declare(name)?;
        self.value_into(raw, register, from, to, span)
    }

    fn assignment(
        &mut self,
        target: &RawExpression<'s>,
        value: &RawExpression<'s>,
        from: LabelId,
        to: LabelId,
        span: Span,
    ) -> Option<()> {
        if let ExpressionKind::Name(text) = target.kind {
            match self.meaning(Name { text, span: target.span })? {
                Meaning::Bound(Binding::Register(register)) => {
                    return self.value_into(value, register, from, to, span);
                }
                Meaning::Bound(Binding::Value(_)) => {
                    let message = format!("`{text}` cannot be assigned: it has one value");
                    self.error(message, target.span);
                    return None;
                }
                Meaning::Bound(Binding::Place(_)) | Meaning::Address(_) => {}
            }
        } else if !matches!(target.kind, ExpressionKind::Index(..) | ExpressionKind::Memory(_)) {
            let error = self.error("nothing can be assigned to this", target.span);
            error.expected = vec!["a register".to_owned(), "a place in memory".to_owned()];
            return None;
        }
        let (address, at) = self.place(target, from, false)?;
        let (value_, at) = self.value(value, at)?;
        let number = self.access(at, to, Action::Store { address, value: value_ }, None, span);
        self.layout.store(number, StoreText::Assignment { target: target.span, value: value.extent });
        Some(())
    }

    /// `r += value`: on registers alone.
    fn change(
        &mut self,
        target: Name<'s>,
        value: &RawExpression<'s>,
        operator: Span,
        from: LabelId,
        to: LabelId,
        span: Span,
    ) -> Option<()> {
        if let Meaning::Bound(Binding::Place(_)) | Meaning::Address(_) = self.meaning(target)?
            && let ExpressionKind::Binary(_, _, summand) = &value.kind
        {
            let source = self.context.source;
            let spelling = source.slice(operator);
            let is_step = summand.span == operator;
            let summand = if is_step { "1" } else { source.slice(summand.extent) };
            let sign = if is_step { &spelling[..1] } else { spelling.trim_end_matches('=') };
            self.found.push(memory_change(spelling, operator, sign, target.text, summand));
            return None;
        }
        let register = RawExpression::new(ExpressionKind::Name(target.text), target.span);
        self.assignment(&register, value, from, to, span)
    }

    /// An update or a call whose outcome nobody wants.
    fn effect(&mut self, raw: &RawExpression<'s>, from: LabelId, to: LabelId) -> Option<()> {
        if let ExpressionKind::CompareExchange(_) = &raw.kind {
            return self.compare_exchange(raw, None, from, to);
        }
        let ExpressionKind::Apply(name, operands) = &raw.kind else {
            self.error("this does nothing", raw.span);
            return None;
        };
        self.apply(*name, operands, raw.span, None, from, to)
    }

    fn branches(
        &mut self,
        branches: &'a [(RawExpression<'s>, Block<'s>)],
        otherwise: Option<&'a Block<'s>>,
        from: LabelId,
        to: LabelId,
    ) -> Option<()> {
        let mut at = from;
        let mut result = Some(());
        for (index, (condition, block)) in branches.iter().enumerate() {
            let sequence = self.plan(&block.statements, to, None);
            let others = match (branches.get(index + 1), otherwise) {
                (Some((next, _)), _) => self.step_label(next.span),
                (None, Some(block)) => {
                    let last = self.plan(&block.statements, to, None);
                    let entry = last.entry;
                    result = result.and(self.branch(condition, at, sequence.entry, entry));
                    self.run(&sequence);
                    self.run(&last);
                    return result;
                }
                (None, None) => to,
            };
            let in_use = self.in_use.len();
            result = result.and(self.branch(condition, at, sequence.entry, others));
            self.in_use.truncate(in_use);
            self.run(&sequence);
            at = others;
        }
        result
    }

    fn atomic(&mut self, body: &'a Block<'s>, from: LabelId, to: LabelId, span: Span) -> Option<()> {
        if self.sections > 0 {
            let error = self.error("a locked section cannot begin inside of another one", span);
            error.help = Some("the section around it locks all of this already".to_owned());
            return None;
        }
        let word = Span { start: span.start, end: span.start + "atomic".len() };
        let close = Span { start: body.close(), end: body.span.end };
        let unlock = self.step_label(close);
        self.sections += 1;
        let sequence = self.plan(&body.statements, unlock, None);
        self.automaton.instruction(from, sequence.entry, Action::Lock, word);
        self.run(&sequence);
        self.sections -= 1;
        self.automaton.instruction(unlock, to, Action::Unlock, close);
        Some(())
    }

    /// Where a statement jumps to, and how many locked sections are open there.
    fn jump_target(&mut self, statement: &Statement<'s>) -> Option<(LabelId, usize)> {
        let word = match &statement.kind {
            StatementKind::Break => "break",
            StatementKind::Continue => "continue",
            StatementKind::Return(_) => {
                let frame = self.frame();
                return Some((frame.return_to, frame.sections));
            }
            StatementKind::Goto(Target::End(_)) => return Some((self.frames.first()?.return_to, 0)),
            StatementKind::Goto(Target::Label(name)) => {
                let (label, sections) = self.goto_label(*name)?;
                self.layout.jumped_to(label);
                return Some((label, sections));
            }
            _ => return None,
        };
        let Some(innermost) = self.frame().loops.last().copied() else {
            self.error(format!("`{word}` outside of a loop"), statement.span);
            return None;
        };
        let target = if word == "break" { innermost.end } else { innermost.start };
        Some((target, innermost.sections))
    }

    /// Jumps, out of a locked section if one is open that is not open there.
    fn leave(&mut self, from: LabelId, target: LabelId, sections: usize, span: Span) {
        let action = if sections < self.sections { Action::Unlock } else { Action::Nop };
        self.automaton.instruction(from, target, action, span);
    }

    fn returned(&mut self, value: &RawExpression<'s>, from: LabelId, span: Span) -> Option<()> {
        let frame = self.frame();
        let (result, to, sections) = (frame.result, frame.return_to, frame.sections);
        if frame.owner.is_empty() {
            let error = self.error("a thread returns no value", value.span);
            error.help = Some("`return;` stops the thread; what others are to see is stored".to_owned());
            return None;
        }
        let leaves = sections < self.sections;
        let then = if leaves { self.step_label(span) } else { to };
        match result {
            Some(register) => self.value_into(value, register, from, then, span)?,
            None => {
                let (_, at) = self.value(value, from)?;
                self.jump(at, then, span);
            }
        }
        if leaves {
            self.automaton.instruction(then, to, Action::Unlock, span);
        }
        Some(())
    }

    /// `@cost(2.5)`: what a fence before the statement costs.
    fn annotations(&mut self, statement: &Statement<'s>, label: LabelId) {
        for annotation in &statement.annotations {
            if annotation.name.text != "cost" {
                let help = did_you_mean(annotation.name.text, ["cost"]);
                let error = self.error(format!("unknown annotation `@{}`", annotation.name.text), annotation.name.span);
                error.expected = vec!["`@cost(…)`".to_owned()];
                error.help = help;
                continue;
            }
            let text = self.context.source.slice(annotation.value);
            let Some(cost) = text.parse().ok().filter(|cost: &f64| cost.is_finite() && *cost > 0.0) else {
                self.error("a cost is a number greater than 0", annotation.value);
                continue;
            };
            if !self.automaton.set_cost(label, cost) {
                self.error("this place has a cost already", annotation.name.span);
            }
        }
    }

    /// Notes that a jump without instructions of its own leads to a label of the text.
    pub(super) fn note_jump(&mut self, statement: &Statement<'s>) {
        if let StatementKind::Goto(Target::Label(name)) = &statement.kind
            && let Some((label, _)) = self.goto_label(*name)
        {
            self.layout.jumped_to(label);
        }
    }
}
