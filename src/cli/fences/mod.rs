//! `palisade fences`: the cheapest repair, for robustness, for the program's properties, against hangs or against triangular races.

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

use super::batch::{Spoken, print_unwritten};
use super::outcome::Outcome;
use super::outputs::OutputOptions;
use super::words::Ask;
use super::{Exit, Loaded, SharedOptions, print_input_error};
use crate::limits::Limits;
use crate::report::findings::Answer;
use crate::semantics::graphs::Axioms;
use crate::syntax::InputError;
pub(super) use arguments::FencesArguments;
use arguments::ObjectiveChoice;
pub(super) use arguments::path_in;
pub(super) use changes::{Wanted, changes_of_text, untaken};
pub(super) use checks::Guarded;
pub(super) use properties::placement_options;
pub(super) use remedies::hang_options;
pub(super) use repaired::write_back;
pub(super) use robustness::rejected;

/// Runs `palisade fences`.
pub(super) fn run(arguments: &FencesArguments, shared: &SharedOptions) -> Exit {
    let limits = shared.limits();
    let outputs = OutputOptions::from(&arguments.sarif);
    let outputs = match outputs.open() {
        Ok(outputs) => outputs,
        Err(error) => return print_input_error(&error, shared),
    };
    let answered = arguments.program.read_any_within(&arguments.file, &limits).and_then(|loaded| {
        loaded.print_warnings(shared);
        answer(arguments, shared, loaded, &limits)
    });
    let (exit, answer) = match answered.and_then(|outcome| say(outcome, arguments, shared)) {
        Ok(said) => said,
        Err(error) => {
            let Spoken { answer, .. } = Spoken::refused(&arguments.file, &error, shared);
            (print_input_error(&error, shared), answer)
        }
    };
    // Where the evidence was rejected, there is nothing to write.
    let Some(answer) = answer else { return exit };
    match outputs.finish("fences", &[answer]) {
        Ok(()) => exit,
        Err(error) => exit.worst(print_unwritten(&error, shared)),
    }
}

/// Says what there is to say, and makes the changes of sources that are to be made.
fn say(
    outcome: Outcome,
    arguments: &FencesArguments,
    shared: &SharedOptions,
) -> Result<(Exit, Option<Answer>), InputError> {
    outcome.print();
    let Outcome { spoken, proposal, .. } = outcome;
    #[cfg(feature = "machine")]
    if let (Some(proposal), true) = (&proposal, arguments.apply) {
        let (file, values) = (arguments.file.as_str(), arguments.values);
        let model = arguments.language().map_or("tso", Axioms::word);
        let again = sources::Again { file, program: &arguments.program, model, values };
        return Ok((sources::apply(proposal, again, shared)?, None));
    }
    #[cfg(not(feature = "machine"))]
    let _ = (proposal, arguments, shared);
    Ok((spoken.exit, spoken.answer))
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
    if arguments.ignore_timeouts && arguments.ask != Ask::Hangs {
        return Err(InputError::file(&loaded.program.source.name, "`--ignore-timeouts` is said with `--ask hangs`"));
    }
    if let Some(axioms) = arguments.language() {
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
