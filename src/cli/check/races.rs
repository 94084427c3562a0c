//! `palisade check --criterion trf`: has the program a triangular race?

use super::answered::{spoken, write};
use super::arguments::CheckArguments;
use crate::cli::batch::{Extent, Spoken};
use crate::cli::confirm::{Confirmation, races_check};
use crate::cli::{Exit, Loaded, SharedOptions};
use crate::evidence::Evidence;
use crate::properties::races::{RaceOptions, RaceVerdict, Races, races};
use crate::report::context::{Context, fault_error};
use crate::report::documents::{self, RacesDocument};
use crate::report::findings::race_findings;
use crate::report::page::race_page;
use crate::report::races as report;
use crate::syntax::InputError;
use std::time::Instant;

/// Answers about one program.
pub(super) fn check_file(
    arguments: &CheckArguments,
    shared: &SharedOptions,
    file: &str,
    extent: Extent,
) -> Result<Spoken, InputError> {
    let begin = Instant::now();
    let limits = shared.limits();
    let loaded = arguments.program.read_within(file, &limits)?;
    let options = RaceOptions { values: arguments.values, limits: limits.clone() };
    let mut found = races(&loaded.program, &options).map_err(|fault| fault_error(&loaded.program, &fault))?;
    let check = || races_check(&loaded.program, &found);
    let confirmation = Confirmation::of(file, arguments.verify, &limits, check);
    if let Some(reason) = confirmation.as_ref().and_then(Confirmation::stopped) {
        found.verdict = RaceVerdict::Unknown(reason);
    }
    let certificates = write(arguments, file, evidence(&loaded, &found))?;
    let context = loaded.context(file, begin, &certificates);
    let exit = match found.verdict {
        RaceVerdict::Free(_) => Exit::Holds,
        RaceVerdict::Racy(_) => Exit::Fails,
        RaceVerdict::Unknown(_) => Exit::Unknown,
    };
    let document = || document(&found, &context, confirmation.as_ref());
    let report =
        || if extent.brief { report::line(&found, &context) } else { report::text(&found, &context, shared.verbose) };
    let text = || documents::text(&document());
    let mut spoken = spoken(&loaded, file, exit, confirmation.as_ref(), shared, text, report);
    if arguments.outputs.are_any() {
        let mut answer = race_findings(&found, &context);
        if arguments.outputs.asks_for_a_page() {
            answer.page = Some(race_page(&document(), &found, &context));
        }
        spoken.add_answer(answer);
    }
    Ok(spoken)
}

fn document<'a>(found: &'a Races, context: &Context<'a>, confirmation: Option<&Confirmation>) -> RacesDocument<'a> {
    let mut document = RacesDocument::new(found, context);
    document.evidence = confirmation.map(Confirmation::document);
    document
}

/// The closed set or the race, with a word for its file; nothing where there is no answer.
fn evidence(loaded: &Loaded, found: &Races) -> Option<(Evidence, &'static str)> {
    match &found.verdict {
        RaceVerdict::Free(set) => Some((Evidence::RaceFree(loaded.subject(), set.clone()), "race-free")),
        RaceVerdict::Racy(race) => Some((Evidence::Race(loaded.subject(), race.witness()), "race")),
        RaceVerdict::Unknown(_) => None,
    }
}
