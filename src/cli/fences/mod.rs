//! `palisade fences`: the cheapest repair, for robustness, for the program's properties, against
//! hangs or against triangular races.

mod arguments;
mod changes;
mod checks;
mod language;
mod needed;
mod pairs;
mod progress;
mod properties;
mod races;
mod remedies;
mod repaired;
mod robustness;
#[cfg(feature = "machine")]
pub(super) mod sources;

use super::check::NO_GRACE;
use super::outcome::{Outcome, run_change};
use super::words::Ask;
use super::{Exit, Loaded, SharedOptions};
use crate::limits::Limits;
use crate::questions::LanguageRobustness;
use crate::report::models::model_word;
use crate::semantics::Model;
use crate::semantics::graphs::Axioms;
use crate::syntax::InputError;
pub(super) use arguments::FencesArguments;
use arguments::ObjectiveChoice;
pub(super) use arguments::path_in;
pub(super) use changes::{Wanted, changes_of_text, untaken};
pub(super) use checks::Guarded;
pub(super) use properties::placement_options;
pub(super) use remedies::{hang_options, language_hang_options};
pub(super) use repaired::write_back;
pub(super) use robustness::rejected;

/// Runs `palisade fences`.
pub(super) fn run(arguments: &FencesArguments, shared: &SharedOptions) -> Exit {
    let limits = shared.limits();
    let answer = || {
        let loaded = arguments.program.read_any_within(&arguments.file, &limits)?;
        loaded.print_warnings(shared);
        answer(arguments, shared, loaded, &limits)
    };
    run_change(("fences", &arguments.file, &arguments.sarif), shared, answer, |proposal| {
        #[cfg(feature = "machine")]
        return arguments.apply.then(|| {
            let model = model_word(arguments.model().unwrap_or(Model::Tso));
            let again = sources::Again {
                file: &arguments.file,
                program: &arguments.program,
                model: arguments.language().map_or(model, Axioms::word),
                values: arguments.values,
                ask: Some(arguments.ask).filter(|ask| *ask != Ask::Robustness),
                ignore_timeouts: arguments.ignore_timeouts,
            };
            sources::apply(proposal, again, shared)
        });
        #[cfg(not(feature = "machine"))]
        unreachable!("{} is not read without the reader of machine code: {proposal:?}", arguments.file)
    })
}

/// Answers the question that the options ask.
pub(super) fn answer(
    arguments: &FencesArguments,
    shared: &SharedOptions,
    mut loaded: Loaded,
    limits: &Limits,
) -> Result<Outcome, InputError> {
    // Fences are for all delays.
    loaded.program.accepted.clear();
    let loaded = &loaded;
    if arguments.apply && arguments.file == "-" {
        return Err(InputError::file("<stdin>", "standard input cannot be written back; leave `--apply` out"));
    }
    let model = if arguments.language().is_some() { Model::Sc } else { arguments.model().unwrap_or(Model::Tso) };
    if let Some((message, help)) = LanguageRobustness::other_models(&loaded.program, model) {
        let error = InputError::file(&loaded.program.source.name, message);
        return Err(error.with_help_if(Some(help.to_owned())));
    }
    if arguments.ignore_timeouts && arguments.ask != Ask::Hangs {
        return Err(InputError::file(&loaded.program.source.name, "`--ignore-timeouts` is said with `--ask hangs`"));
    }
    if arguments.ask == Ask::Hopeless {
        let help = "`fences --ask hangs` finds fences after which nobody waits for ever".to_owned();
        let message = "no fences are sought for who waits while others go on";
        return Err(InputError::file(&loaded.program.source.name, message).with_help_if(Some(help)));
    }
    if arguments.is_for_properties() && !loaded.program.finally.is_empty() {
        let message = "fences for the other properties would say nothing of what `finally` states";
        let help = "`fences --ask hangs` finds fences for that; leave `finally` out to ask for the others".to_owned();
        return Err(InputError::file(&loaded.program.source.name, message).with_help_if(Some(help)));
    }
    if arguments.ask == Ask::Hangs && loaded.program.has_grace_periods() {
        return Err(InputError::file(&loaded.program.source.name, NO_GRACE));
    }
    if arguments.ask == Ask::Concurrency && !loaded.program.is_event_driven() {
        let message = "robustness against concurrency is about events, and the program has none";
        return Err(InputError::file(&loaded.program.source.name, message));
    }
    if let Some(axioms) = arguments.language().filter(|_| arguments.ask != Ask::Hangs) {
        return language::answer(arguments, axioms, shared, loaded, limits);
    }
    if loaded.program.is_event_driven() || arguments.ask == Ask::Hangs {
        return remedies::answer(arguments, shared, loaded, limits);
    }
    if arguments.ask == Ask::Races {
        return races::answer(arguments, shared, loaded, limits);
    }
    pairs::check_options(arguments, &loaded.program)?;
    if arguments.is_for_properties() && arguments.objective == Some(ObjectiveChoice::Pairs) {
        return pairs::answer(arguments, shared, loaded, limits);
    }
    if arguments.is_for_properties() {
        return properties::answer(arguments, shared, loaded, limits);
    }
    robustness::answer(arguments, shared, loaded, limits)
}
