//! `palisade fences --ask properties --objective pairs`: the fewest pairs of statements that must
//! not be reordered.

use super::arguments::{ALTERNATIVES, FencesArguments, MethodChoice, ObjectiveChoice};
use super::properties::model_to_ask;
use crate::cli::outcome::Outcome;
use crate::cli::outputs::OutputOptions;
use crate::cli::{Exit, Loaded, SharedOptions};
use crate::limits::Limits;
use crate::program::Program;
use crate::properties::placement::PlacementOptions;
use crate::properties::placement::pairs::{Method, MethodError, PairOptions, PairsPlaced, place_pairs};
use crate::report::documents::FencesDocument;
use crate::report::findings::pair_findings;
use crate::report::page::pairs_page;
use crate::report::pairs as report;
use crate::report::simulate::value_error;
use crate::syntax::InputError;
use std::time::Instant;

/// The first bound on reordered pairs, unless told otherwise.
const FIRST_BOUND: usize = 5;

/// Refuses options that do not go together.
pub(super) fn check_options(arguments: &FencesArguments, program: &Program) -> Result<(), InputError> {
    let name = program.source.name.as_str();
    let refuse = |message: &str, help: &str| Err(InputError::file(name, message).with_help_if(Some(help.to_owned())));
    let is_for_pairs = arguments.objective == Some(ObjectiveChoice::Pairs);
    if arguments.objective.is_some() && !arguments.is_for_properties() {
        return refuse("an objective can be chosen for properties only", "say `--ask properties` as well");
    }
    match arguments.method {
        Some(MethodChoice::Rows) if is_for_pairs => {
            return refuse("the method `rows` finds fences, not pairs", "say `robmc`, `robmc-et`, `fi` or `te`");
        }
        Some(method) if method != MethodChoice::Rows && !is_for_pairs => {
            return refuse(
                "this method finds pairs of statements, not fences",
                "say `--ask properties --objective pairs` as well",
            );
        }
        _ => {}
    }
    if is_for_pairs && !program.never.is_empty() {
        return refuse(
            "no pairs of statements can be found for `never`, and leaving it out would say too much",
            "leave `--objective pairs` out, or state it by an `ensure`",
        );
    }
    if arguments.bound.is_some()
        && !matches!(arguments.method, None | Some(MethodChoice::Robmc | MethodChoice::RobmcEt))
    {
        return refuse("only `robmc` and `robmc-et` have a bound", "leave `--bound` out");
    }
    if arguments.bound.is_some() && !is_for_pairs {
        return refuse("`--bound` is for pairs of statements", "say `--ask properties --objective pairs` as well");
    }
    if arguments.no_slice && !arguments.is_for_properties() {
        return refuse("only fences for properties are placed on slices", "say `--ask properties` as well");
    }
    if is_for_pairs && (arguments.apply || arguments.diff) {
        return refuse("no text says that a pair must not be reordered", "leave `--objective pairs` out to get fences");
    }
    Ok(())
}

/// Answers `palisade fences --ask properties --objective pairs`: the exit status, and what was
/// found for `--sarif`.
pub(super) fn answer(
    arguments: &FencesArguments,
    shared: &SharedOptions,
    loaded: &Loaded,
    limits: &Limits,
) -> Result<Outcome, InputError> {
    let begin = Instant::now();
    let program = &loaded.program;
    let model = model_to_ask(arguments, loaded)?;
    let defaults = PlacementOptions::new(model);
    let options = PairOptions {
        model,
        method: match arguments.method {
            None | Some(MethodChoice::Rows | MethodChoice::RobmcEt) => Method::RobmcEt,
            Some(MethodChoice::Robmc) => Method::Robmc,
            Some(MethodChoice::Fi) => Method::Fi,
            Some(MethodChoice::Te) => Method::Te,
        },
        bound: arguments.bound.unwrap_or((FIRST_BOUND, None)),
        targets: Vec::new(),
        slice: !arguments.no_slice,
        alternatives: if arguments.all { ALTERNATIVES } else { 0 },
        buffer: defaults.buffer,
        states: defaults.states,
        limits: limits.clone(),
    };
    let placed = match place_pairs(program, loaded.question.as_ref(), &options) {
        Ok(placed) => Ok(placed),
        Err(MethodError::Value(error)) => return Err(value_error(program, &error)),
        Err(error @ MethodError::AnyNumber) => {
            let help = "fix their number: `--threads all=2`".to_owned();
            return Err(InputError::file(program.source.name.clone(), error.to_string()).with_help_if(Some(help)));
        }
        Err(MethodError::Unfinished(why)) => Err(why),
    };
    let context = loaded.context(&arguments.file, begin, &[]);
    let result = report::Result { placed: placed.as_ref().map_err(String::as_str), options: &options };
    let document = FencesDocument::for_pairs(&result, &context);
    let exit = match &placed {
        Ok(PairsPlaced::Valid(placement)) if placement.is_proved => Exit::Holds,
        Ok(PairsPlaced::Valid(_)) | Err(_) => Exit::Unknown,
        Ok(PairsPlaced::NoBanHelps(_)) => Exit::Fails,
    };
    let find = || pair_findings(&result, &context);
    let page = || pairs_page(&document, &result, &context);
    let mut outcome = Outcome::new(exit, shared, || &document, || report::text(&result, &context, shared.verbose));
    outcome.spoken.answer = OutputOptions::from(&arguments.sarif).answer(find, page);
    Ok(outcome)
}
