//! `palisade check --criterion trf`: has the program a triangular race?

use super::arguments::CheckArguments;
use crate::cli::batch::{Extent, Spoken};
use crate::cli::confirm::{Confirmation, races_check};
use crate::cli::evidence_files::{unwritten, write_document};
use crate::cli::{Exit, Loaded, SharedOptions};
use crate::evidence::Evidence;
use crate::properties::races::{RaceOptions, RaceVerdict, Races, races};
use crate::report::context::{Context, fault_error};
use crate::report::documents::{self, RacesDocument};
use crate::report::findings::race_findings;
use crate::report::page::race_page;
use crate::report::races as report;
use crate::syntax::InputError;
use std::io;
use std::path::{Path, PathBuf};
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
    let mut certificates = Vec::new();
    if let Some(folder) = &arguments.certificate {
        let written = write_evidence(folder, file, &loaded, &found).map_err(|error| unwritten(folder, &error))?;
        certificates.extend(written.map(|path| path.display().to_string()));
    }
    let context = loaded.context(file, begin, &certificates);
    let mut spoken = spoken(&loaded, &found, &context, confirmation.as_ref(), shared, extent.brief);
    if arguments.outputs.are_any() {
        let mut answer = race_findings(&found, &context);
        if arguments.outputs.asks_for_a_page() {
            answer.page = Some(race_page(&document(&found, &context, confirmation.as_ref()), &found, &context));
        }
        spoken.add_answer(answer);
    }
    Ok(spoken)
}

fn spoken(
    loaded: &Loaded,
    found: &Races,
    context: &Context<'_>,
    confirmation: Option<&Confirmation>,
    shared: &SharedOptions,
    brief: bool,
) -> Spoken {
    let mut exit = match found.verdict {
        RaceVerdict::Free(_) => Exit::Holds,
        RaceVerdict::Racy(_) => Exit::Fails,
        RaceVerdict::Unknown(_) => Exit::Unknown,
    };
    let mut remarks = loaded.warnings_text(shared);
    if let Some(confirmation) = confirmation {
        confirmation.say_if_rejected(context.file, &mut exit, &mut remarks);
    }
    if shared.json {
        let document = document(found, context, confirmation);
        return Spoken::new(exit, String::new(), remarks).with_document(documents::text(&document));
    }
    let report = if brief { report::line(found, context) } else { report::text(found, context, shared.verbose) };
    Spoken::new(exit, report, remarks)
}

fn document<'a>(found: &'a Races, context: &Context<'a>, confirmation: Option<&Confirmation>) -> RacesDocument<'a> {
    let mut document = RacesDocument::new(found, context);
    document.evidence = confirmation.map(Confirmation::document);
    document
}

/// Writes the closed set or the race into the folder; its path, unless there is no answer.
fn write_evidence(folder: &Path, file: &str, loaded: &Loaded, found: &Races) -> io::Result<Option<PathBuf>> {
    let (evidence, suffix) = match &found.verdict {
        RaceVerdict::Free(set) => (Evidence::RaceFree(loaded.subject(), set.clone()), "race-free"),
        RaceVerdict::Racy(race) => (Evidence::Race(loaded.subject(), race.witness()), "race"),
        RaceVerdict::Unknown(_) => return Ok(None),
    };
    write_document(folder, file, suffix, &evidence).map(Some)
}
