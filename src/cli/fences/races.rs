//! `palisade fences --ask races`: the cheapest fences without triangular races, to compare with
//! those for robustness.

use super::arguments::{FencesArguments, refused_cost};
use super::checks::alarm;
use crate::cli::confirm::check_within;
use crate::cli::outcome::Outcome;
use crate::cli::outputs::OutputOptions;
use crate::cli::{Exit, Loaded, SharedOptions};
use crate::limits::Limits;
use crate::properties::races::{RaceFencesError, RaceOptions, race_fences};
use crate::report::context::fault_error;
use crate::report::documents::RaceFencesDocument;
use crate::report::findings::race_fence_findings;
use crate::report::page::race_fences_page;
use crate::report::races::fences_text;
use crate::syntax::InputError;
use crate::verify::check_race_free;
use std::time::Instant;

/// Answers `palisade fences --ask races`: the exit status, and what was found for `--sarif`.
pub(super) fn answer(
    arguments: &FencesArguments,
    shared: &SharedOptions,
    loaded: &Loaded,
    limits: &Limits,
) -> Result<Outcome, InputError> {
    let begin = Instant::now();
    let program = &loaded.program;
    check_options(arguments, &program.source.name)?;
    let options = RaceOptions { values: arguments.values, limits: limits.clone() };
    let found = match race_fences(program, &arguments.cost_function(loaded)?, &options) {
        Ok(found) => Ok(found),
        Err(RaceFencesError::Stopped(reason)) => Err(reason),
        Err(RaceFencesError::Fault(fault)) => return Err(fault_error(program, &fault)),
        Err(RaceFencesError::Cost(cost)) => return Err(refused_cost(&cost, loaded)),
    };
    let found = match found {
        Err(reason) => Err(reason),
        Ok(found) => {
            let (fenced, proof) = (found.fenced.clone(), found.proof.clone());
            let checked = check_within(&arguments.file, limits, Box::new(move || check_race_free(&fenced, &proof)));
            match checked {
                Ok(Ok(())) => Ok(found),
                Ok(Err(failure)) => {
                    return Ok(Outcome::rejected(alarm(&arguments.file, &failure)));
                }
                Err(reason) => Err(reason),
            }
        }
    };
    let context = loaded.context(&arguments.file, begin, &[]);
    let exit = if found.is_ok() { Exit::Holds } else { Exit::Unknown };
    let found = found.as_ref().map_err(|reason| *reason);
    let document = RaceFencesDocument::new(found, &context);
    let find = || race_fence_findings(found, &context, loaded.format);
    let page = || race_fences_page(&document, found, &context);
    let mut outcome = Outcome::new(exit, shared, || &document, || fences_text(found, &context, shared.verbose));
    outcome.spoken.answer = OutputOptions::from(&arguments.sarif).answer(find, page);
    Ok(outcome)
}

/// Refuses what is for other criteria.
fn check_options(arguments: &FencesArguments, name: &str) -> Result<(), InputError> {
    let FencesArguments { all, diff, apply, .. } = *arguments;
    let is_other = all || diff || apply || arguments.is_for_robustness_alone();
    if !is_other {
        return Ok(());
    }
    let help = "besides FILE, copies and values, `--cost`, `--sarif` and `--report` go with `--ask races`".to_owned();
    Err(InputError::file(name, "triangular races are counted to compare, and nothing else is done about them")
        .with_help_if(Some(help)))
}
