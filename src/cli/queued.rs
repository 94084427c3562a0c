//! Events and tasks as threads with the same properties, for `prove`.

use super::Loaded;
use crate::program::Queued;
use crate::semantics::Model;
use crate::syntax::{Diagnostic, InputError};

/// The threads that say a program of events and tasks; nothing for one of threads alone.
pub(super) fn queued(loaded: &Loaded, model: Model) -> Result<Option<Queued>, InputError> {
    let program = &loaded.program;
    if !program.is_event_driven() {
        return Ok(None);
    }
    let refuse = |message: &str, help: &str| {
        Err(InputError::file(program.source.name.clone(), message).with_help_if(Some(help.to_owned())))
    };
    if model == Model::Pso {
        return refuse("events and tasks run under SC or under TSO", "say `--model sc` or `--model tso`");
    }
    if !program.never.is_empty() {
        return refuse("`never` is about threads alone, and the program has events or tasks", "say it by an `ensure`");
    }
    program.queued().map(Some).map_err(|error| {
        let template = program.threads.iter().find(|thread| !thread.is_thread());
        let span = template.map_or_else(Default::default, |thread| thread.span);
        let help = "`palisade simulate` looks at fixed numbers of events";
        let error = Diagnostic::error(format!("the properties cannot be asked for: {error}"), span).with_help(help);
        InputError::from((program.source.clone(), vec![error]))
    })
}
