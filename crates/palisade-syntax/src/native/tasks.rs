//! Resolves what is special to events and tasks: roles, guards and posts.

use super::ast::{ExpressionKind, Head, Name, RawExpression, RawThread};
use super::grammar::SPAWN;
use super::is_comparison;
use super::resolve::{Resolver, Scope};
use super::templates::Template;
use crate::build::ThreadBuilder;
use crate::suggest::{did_you_mean, did_you_mean_or_list};
use palisade_model::program::{Action, Copies, Executor, Guard, Posts, Program, Role, Span};

impl<'s> Resolver<'_, 's> {
    /// Checks that the name of a task says nothing else.
    pub(super) fn task_name(&mut self, raw: &RawThread<'s>) {
        let Name { text, span } = raw.name;
        if raw.head == Head::Task && executor_named(text).is_some() {
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

    /// How many copies there are when the text does not say so.
    pub(super) fn default_copies(head: Head) -> Copies {
        match head {
            Head::Thread => Copies::Exactly(1),
            Head::Event => Copies::Any,
            Head::Task => Copies::Exactly(0),
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

    /// `post executor task(arguments)`; a `spawn` has no executor and means a thread of the task's own.
    pub(super) fn post(
        &mut self,
        builder: &ThreadBuilder<'s>,
        executor: Option<Name<'s>>,
        task: Name<'s>,
        arguments: &[RawExpression<'s>],
        span: Span,
    ) -> Option<Action> {
        let verb = executor.map_or(SPAWN.to_owned(), |word| format!("post {}", word.text));
        let executor = match executor {
            None => Some(Executor::Any),
            Some(word) => self.executor(word, task),
        };
        let scope = Scope { thread: Some(builder), old: false };
        let resolved: Vec<_> = arguments.iter().map(|argument| self.expression(argument, scope)).collect();
        let template = self.task(task)?;
        if template.parameters != arguments.len() {
            let takes = match template.parameters {
                0 => "no argument".to_owned(),
                1 => "one argument".to_owned(),
                count => format!("{count} arguments"),
            };
            let message = format!("the task `{}` takes {takes}, not {}", task.text, arguments.len());
            let places = vec!["…"; template.parameters].join(", ");
            self.error(message, span).help = Some(format!("write `{verb} {}({places})`", task.text));
            return None;
        }
        Some(Action::Post {
            executor: executor?,
            task: template.id,
            arguments: resolved.into_iter().collect::<Option<_>>()?,
        })
    }

    fn executor(&mut self, word: Name<'s>, task: Name<'s>) -> Option<Executor> {
        let executor = executor_named(word.text);
        if executor.is_none() {
            let error = self.error(format!("tasks run on `main` or on `any`, not on `{}`", word.text), word.span);
            error.expected = vec!["`main`".to_owned(), "`any`".to_owned()];
            error.help = did_you_mean(word.text, ["main", "any"])
                .or_else(|| Some(format!("`post any {}` runs it on a thread of its own", task.text)));
        }
        executor
    }

    /// The task of a name.
    fn task(&mut self, name: Name<'s>) -> Option<Template<'s>> {
        let (message, help) = match self.templates.named(name.text) {
            Some(template) if template.head == Head::Task => return Some(template),
            Some(template) if template.head == Head::Event => (
                format!("`{}` is an event, which only the outside world starts", name.text),
                Some("put what both are to do into a task, and post that".to_owned()),
            ),
            Some(_) => (
                format!("`{}` is a thread, whose copies run from the start", name.text),
                Some(format!("to start it by a post, declare it as `task {}`", name.text)),
            ),
            None => (
                format!("there is no task named `{}`", name.text),
                did_you_mean_or_list(name.text, "task", self.templates.task_names()),
            ),
        };
        let error = self.error(message, name.span);
        error.expected = vec!["a task".to_owned()];
        error.help = help;
        None
    }
}

fn executor_named(word: &str) -> Option<Executor> {
    [Executor::Main, Executor::Any].into_iter().find(|executor| executor.word() == word)
}
