//! What is special to events and tasks with bodies in braces: roles, guards and posts.

use super::Lowering;
use crate::native::ast::{ExpressionKind, Head, Name, RawExpression};
use crate::native::braced::BracedThread;
use crate::native::is_comparison;
use crate::native::posts::posted;
use palisade_model::program::{Action, Expression, Guard, LabelId, Role};
use palisade_model::text::Span;

impl<'a, 's> Lowering<'a, 's, '_> {
    /// What starts the body. The parameters of a task become its first registers; what its kind
    /// cannot have is an error.
    pub(super) fn role(&mut self, thread: &'a BracedThread<'s>) -> Role {
        let parameters = thread.parameters.as_ref();
        if let (Head::Task, Some((_, span))) = (thread.head, thread.copies) {
            self.error("a task has no copies", span).help = Some("it runs once for every post of it".to_owned());
        }
        if let (Head::Thread | Head::Task, Some((_, span))) = (thread.head, &thread.guard) {
            self.error("only an event has a guard", *span).help =
                Some("to wait in the body, write `await (…);`".to_owned());
        }
        match thread.head {
            Head::Thread => {
                if let Some((_, span)) = parameters {
                    self.error("a thread has no parameters", *span).help =
                        Some("`self` is the number of the copy; a task has parameters".to_owned());
                }
                Role::Thread
            }
            Head::Event => {
                if let Some((names, span)) = parameters.filter(|(names, _)| !names.is_empty()) {
                    let name = names[0].text;
                    self.error("an event has no parameters: nobody is there to give them", *span).help =
                        Some(format!("a choice stands for an input: `let {name} = *;` in the handler"));
                }
                let guard = thread.guard.as_ref();
                Role::Event { guard: guard.and_then(|(condition, span)| self.guard(condition, *span)) }
            }
            Head::Task => {
                let names: &[Name<'s>] = parameters.map_or(&[], |(names, _)| names);
                for name in names {
                    let _ = self.declare(*name);
                }
                Role::Task { parameters: names.len() }
            }
        }
    }

    /// `when x == 0`: one read, compared with a constant.
    fn guard(&mut self, condition: &RawExpression<'s>, span: Span) -> Option<Guard> {
        let sides = match &condition.kind {
            ExpressionKind::Binary(operator, left, right) if is_comparison(*operator) => {
                let is_place = matches!(
                    left.kind,
                    ExpressionKind::Name(_) | ExpressionKind::Index(..) | ExpressionKind::Memory(_)
                );
                is_place.then_some((*operator, left, right))
            }
            _ => None,
        };
        let Some((operator, left, right)) = sides else { return self.no_guard(condition.span) };
        let (anywhere, before) = (LabelId::from_index(0), self.automaton.instructions.len());
        let (address, _) = self.place(left, anywhere, false)?;
        let (value, _) = self.value(right, anywhere)?;
        // What has to be read to know the address or the value is no constant.
        if self.automaton.instructions.len() > before || !matches!(value, Expression::Constant(_)) {
            return self.no_guard(condition.span);
        }
        Some(Guard { address, operator, value, span })
    }

    fn no_guard(&mut self, span: Span) -> Option<Guard> {
        let error = self.error("a guard compares the content of one address with a constant", span);
        error.expected = vec!["an address on the left of a comparison".to_owned()];
        error.help = Some("write `when x == 0`".to_owned());
        None
    }

    /// `post main task(arguments);`, between two labels.
    pub(super) fn post(
        &mut self,
        (executor, task): (Option<Name<'s>>, Name<'s>),
        arguments: &[RawExpression<'s>],
        from: LabelId,
        to: LabelId,
        span: Span,
    ) -> Option<()> {
        let mut at = from;
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let (value, next) = self.value(argument, at)?;
            values.push(value);
            at = next;
        }
        let (executor, task) = posted(self.context.templates, executor, task, arguments.len(), span, self.found)?;
        self.automaton.instruction(at, to, Action::Post { executor, task, arguments: values }, span);
        Some(())
    }
}
