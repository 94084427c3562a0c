//! The refusal of programs with events or tasks by what knows threads alone.

use crate::{Diagnostic, MAX_ERRORS};
use palisade_model::program::{Program, Role};

/// Refuses a program with events or tasks. `who` knows threads alone: the subject of a sentence;
/// `help` says what to do instead.
///
/// # Errors
///
/// One for each event and task, up to the number that is reported at once.
pub fn threads_only(program: &Program, who: &str, help: &str) -> Result<(), Vec<Diagnostic>> {
    let others = program.threads.iter().filter(|thread| !thread.is_thread());
    let errors: Vec<Diagnostic> = others
        .take(MAX_ERRORS)
        .map(|thread| {
            let what = if let Role::Event { .. } = thread.role { "an event" } else { "a task" };
            let message = format!("{who} knows threads alone, and `{}` is {what}", thread.name);
            Diagnostic::error(message, thread.span).with_help(help.to_owned())
        })
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}
