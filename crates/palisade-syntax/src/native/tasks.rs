//! Resolves what is special to events and tasks: roles, guards and posts.

use super::ast::{ExpressionKind, Head, Name, RawExpression, RawThread};
use super::is_comparison;
use super::posts::{executor_named, posted};
use super::resolve::{Resolver, Scope};
use crate::build::ThreadBuilder;
use crate::suggest::did_you_mean;
use palisade_model::program::{Action, Guard, Posts, Program, Role, Span};

impl<'s> Resolver<'_, 's> {
    /// Checks that the name of a task says nothing else.
    pub(super) fn task_name(&mut self, head: Head, name: Name<'s>) {
        let Name { text, span } = name;
        if head == Head::Task && executor_named(text).is_some() {
            let message = format!("`{text}` says where tasks run and cannot be the name of one");
            self.error(message, span).help =
                Some(format!("choose another name, `{text}_`, and write `post {text} {text}_()`"));
        }
    }

    /// The role of a template. What its kind cannot have is an error.
    pub(super) fn role(&mut self, raw: &RawThread<'s>) -> Role {
        match raw.head {
            Head::Thread => Role::Thread,
            Head::Event => {
                if let Some((names, span)) = raw.parameters.as_ref().filter(|(names, _)| !names.is_empty()) {
                    let name = names[0].text;
                    let error = self.error("an event has no parameters: nobody is there to give them", *span);
                    error.help =
                        Some(format!("a choice stands for an input: `regs {name}`, and `{name} <- *` in the handler"));
                }
                Role::Event {
                    guard: raw.guard.as_ref().and_then(|(condition, span)| self.guard(raw, condition, *span)),
                }
            }
            Head::Task => {
                if let Some((_, span)) = raw.copies {
                    self.error("a task has no copies", span).help =
                        Some("it runs once for every post of it".to_owned());
                }
                if let Some((_, span)) = &raw.guard {
                    let error = self.error("only an event has a guard", *span);
                    error.help =
                        Some("a task can wait: `r <- mem[x]; assume r = 0`, which blocks its thread".to_owned());
                }
                Role::Task { parameters: raw.parameters.as_ref().map_or(0, |(names, _)| names.len()) }
            }
        }
    }

    fn guard(&mut self, event: &RawThread<'s>, condition: &RawExpression<'s>, span: Span) -> Option<Guard> {
        let mut register = None;
        condition.names(&mut |name| {
            if register.is_none() && event.register_names().any(|own| own.text == name.text) {
                register = Some(name);
            }
        });
        if let Some(Name { text, span }) = register {
            let message = format!("a guard reads no registers: `{text}` has no value before the handler starts");
            self.error(message, span).help = Some("a guard reads memory: `when mem[x] = 0`".to_owned());
            return None;
        }
        let shape = match &condition.kind {
            ExpressionKind::Binary(operator, left, right) if is_comparison(*operator) => match &left.kind {
                ExpressionKind::Memory(address) => Some((*operator, address, right)),
                _ => None,
            },
            _ => None,
        };
        let Some((operator, address, value)) = shape else {
            let error = self.error("a guard compares the content of one address with a constant", condition.span);
            error.expected = vec!["`mem[…]` on the left of a comparison".to_owned()];
            error.help = Some("write `when mem[x] = 0`".to_owned());
            return None;
        };
        let scope = Scope { thread: None, old: false };
        let address = self.expression(address, scope);
        let value = self.expression(value, scope);
        Some(Guard { address: address?, operator, value: value?, span })
    }

    /// `posts drain`, `posts plain`.
    pub(super) fn posts(&mut self, program: &mut Program, declared: &mut bool, word: Name<'s>) {
        if std::mem::replace(declared, true) {
            self.error("what posts do to store buffers is declared twice", word.span);
        }
        match [Posts::Drain, Posts::Plain].into_iter().find(|posts| posts.word() == word.text) {
            Some(posts) => program.posts = posts,
            None => {
                let error = self.error(format!("posts are `drain` or `plain`, not `{}`", word.text), word.span);
                error.expected = vec!["`drain`".to_owned(), "`plain`".to_owned()];
                error.help = did_you_mean(word.text, ["drain", "plain"]);
            }
        }
    }

    /// `post executor task(arguments)`; a `spawn` has no executor and means a thread of the task's
    /// own.
    pub(super) fn post(
        &mut self,
        builder: &ThreadBuilder<'s>,
        executor: Option<Name<'s>>,
        task: Name<'s>,
        arguments: &[RawExpression<'s>],
        span: Span,
    ) -> Option<Action> {
        let scope = Scope { thread: Some(builder), old: false };
        let resolved: Vec<_> = arguments.iter().map(|argument| self.expression(argument, scope)).collect();
        let (executor, task) = posted(&self.templates, executor, task, arguments.len(), span, &mut self.found)?;
        Some(Action::Post { executor, task, arguments: resolved.into_iter().collect::<Option<_>>()? })
    }
}
