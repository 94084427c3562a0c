//! `palisade fences`: the cheapest repair, for robustness, for the program's properties or against triangular races.

mod arguments;
mod checks;
mod needed;
mod pairs;
mod progress;
mod properties;
mod races;
mod repaired;
mod robustness;

use super::check::Criterion;
use super::{Exit, Loaded, SharedOptions, print_input_error};
use crate::limits::Limits;
use crate::syntax::InputError;
pub(super) use arguments::FencesArguments;
use arguments::ObjectiveChoice;

/// Runs `palisade fences`.
pub(super) fn run(arguments: &FencesArguments, shared: &SharedOptions) -> Exit {
    let limits = shared.limits();
    let loaded = match arguments.program.load(&arguments.file, shared, &limits) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    match answer(arguments, shared, &loaded, &limits) {
        Ok(exit) => exit,
        Err(error) => print_input_error(&error, shared),
    }
}

/// Answers the question that the options ask.
fn answer(
    arguments: &FencesArguments,
    shared: &SharedOptions,
    loaded: &Loaded,
    limits: &Limits,
) -> Result<Exit, InputError> {
    if arguments.apply && arguments.file == "-" {
        return Err(InputError::file("<stdin>", "standard input cannot be written back; leave `--apply` out"));
    }
    if arguments.criterion == Criterion::Trf {
        return races::answer(arguments, shared, loaded, limits);
    }
    pairs::check_options(arguments, &loaded.program)?;
    if arguments.for_property && arguments.objective == Some(ObjectiveChoice::Pairs) {
        return pairs::answer(arguments, shared, loaded, limits);
    }
    if arguments.for_property {
        return properties::answer(arguments, shared, loaded, limits);
    }
    robustness::answer(arguments, shared, loaded, limits)
}
