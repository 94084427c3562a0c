//! What posts name: a task, and where it runs.

use super::ast::{Head, Name};
use super::grammar::SPAWN;
use super::templates::{Template, Templates};
use crate::Diagnostic;
use crate::suggest::{did_you_mean, did_you_mean_or_list};
use palisade_model::program::{Executor, Span, ThreadId};

/// Where a post runs which task. A `spawn` has no executor and means a thread of the task's own.
pub(super) fn posted(
    templates: &Templates<'_>,
    executor: Option<Name<'_>>,
    task: Name<'_>,
    arguments: usize,
    span: Span,
    found: &mut Vec<Diagnostic>,
) -> Option<(Executor, ThreadId)> {
    let verb = executor.map_or(SPAWN.to_owned(), |word| format!("post {}", word.text));
    let where_to = match executor {
        None => Some(Executor::Any),
        Some(word) => {
            let named = executor_named(word.text);
            if named.is_none() {
                let message = format!("tasks run on `main` or on `any`, not on `{}`", word.text);
                let help = did_you_mean(word.text, ["main", "any"])
                    .or_else(|| Some(format!("`post any {}` runs it on a thread of its own", task.text)));
                let error = Diagnostic::error(message, word.span).with_expected(["`main`", "`any`"]);
                found.push(error.with_help_if(help));
            }
            named
        }
    };
    let template = match task_named(templates, task) {
        Ok(template) => template,
        Err(error) => {
            found.push(error);
            return None;
        }
    };
    if template.parameters != arguments {
        let takes = match template.parameters {
            0 => "no argument".to_owned(),
            1 => "one argument".to_owned(),
            count => format!("{count} arguments"),
        };
        let message = format!("the task `{}` takes {takes}, not {arguments}", task.text);
        let places = vec!["…"; template.parameters].join(", ");
        found.push(Diagnostic::error(message, span).with_help(format!("write `{verb} {}({places})`", task.text)));
        return None;
    }
    Some((where_to?, template.id))
}

/// The task of a name.
fn task_named<'s>(templates: &Templates<'s>, name: Name<'_>) -> Result<Template<'s>, Diagnostic> {
    let (message, help) = match templates.named(name.text) {
        Some(template) if template.head == Head::Task => return Ok(template),
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
            did_you_mean_or_list(name.text, "task", templates.task_names()),
        ),
    };
    Err(Diagnostic::error(message, name.span).with_expected(["a task"]).with_help_if(help))
}

/// Where tasks run, by its word.
pub(super) fn executor_named(word: &str) -> Option<Executor> {
    [Executor::Main, Executor::Any].into_iter().find(|executor| executor.word() == word)
}
