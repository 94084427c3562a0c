//! Events and tasks as threads with the same properties, for commands about properties.

use super::Loaded;
use crate::program::{Program, Queued};
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
    program.queued(model.has_buffers()).map(Some).map_err(|error| {
        let template = program.threads.iter().find(|thread| !thread.is_thread());
        let span = template.map_or_else(Default::default, |thread| thread.span);
        let help = "`palisade prove --posts drain` asks about posts that drain, `--model sc` about interleavings, and \
                    `palisade simulate` about fixed numbers of events";
        let error = Diagnostic::error(format!("the properties cannot be asked for: {error}"), span).with_help(help);
        InputError::from((program.source.clone(), vec![error]))
    })
}

/// The program that evidence about properties under a model is about, of what a file says.
pub(super) fn asked_about(program: &Program, model: Model) -> Result<Program, String> {
    if program.is_event_driven() {
        return match program.queued(model.has_buffers()) {
            _ if model == Model::Pso => Err("events and tasks run under SC or under TSO".to_owned()),
            Ok(queued) => Ok(queued.program),
            Err(error) => Err(error.to_string()),
        };
    }
    program.monitored().map_err(|error| error.to_string())
}
