//! `palisade fences` for a program of events and tasks: the cheapest fences that make it robust against TSO.

use super::arguments::FencesArguments;
use super::checks::{Guarded, alarm};
use super::repaired::{Proofs, no_text, write_back, write_proofs};
use super::robustness::refused;
use crate::cli::output::{print_document, print_text, remark};
use crate::cli::outputs::OutputOptions;
use crate::cli::words::Ask;
use crate::cli::{Exit, Loaded, SharedOptions};
use crate::evidence::Evidence;
use crate::fences::{EventRepair, EventRepaired, RepairError, repair_events};
use crate::limits::Limits;
use crate::report::documents::FencesDocument;
use crate::report::event_fences as report;
use crate::report::findings::{Answer, event_fence_findings};
use crate::report::page::event_fences_page;
use crate::syntax::InputError;
use std::time::Instant;

/// Answers `palisade fences` for a program of events and tasks: the exit status, and what was found for `--sarif`.
pub(super) fn answer(
    arguments: &FencesArguments,
    shared: &SharedOptions,
    loaded: &Loaded,
    limits: &Limits,
) -> Result<(Exit, Option<Answer>), InputError> {
    let begin = Instant::now();
    let program = &loaded.program;
    check_options(arguments, &program.source.name)?;
    loaded.posts_as_in_text()?;
    let (options, wanted) = (arguments.fence_options(loaded, limits)?, arguments.repair_options(loaded));
    let found = match repair_events(program, &options, &wanted, &Guarded { file: &arguments.file }) {
        Ok(found) => found,
        Err(RepairError::Fences(error)) => return Err(refused(&error, loaded)),
        Err(error @ (RepairError::Rejected(_) | RepairError::Broken(_))) => {
            remark(alarm(&arguments.file, &error.to_string()));
            return Ok((Exit::Rejected, None));
        }
    };
    let no_text = no_text(arguments, found.text.as_ref())?;
    let text = found.text.as_ref().and_then(|text| text.as_ref().ok());
    let certificates = match &arguments.certificate {
        Some(folder) => write_proofs(folder, arguments, loaded, proofs(loaded, &found))?,
        None => Vec::new(),
    };
    let written = write_back(arguments, loaded, text, found.certificate.is_some())?;
    let context = loaded.context(&arguments.file, begin, &certificates);
    let result = report::Result { found: &found, no_diff: no_text.as_deref(), written };
    if shared.json {
        print_document(&FencesDocument::for_events(&result, &context));
    } else if arguments.diff && matches!(found.repair, EventRepair::Valid(..)) {
        print_text(result.diff());
    } else {
        print_text(report::text(&result, &context, shared.verbose));
    }
    let exit = match &found.repair {
        // Asked to write, and not sure enough to.
        EventRepair::Valid(measures, _) if arguments.apply && !measures.is_empty() && written.is_none() => {
            Exit::Unknown
        }
        EventRepair::Valid(..) => Exit::Holds,
        EventRepair::Impossible(_) => Exit::Fails,
        EventRepair::Unknown(_) => Exit::Unknown,
    };
    let find = || event_fence_findings(&result, &context, loaded.format);
    let page = || event_fences_page(&FencesDocument::for_events(&result, &context), &result, &context);
    Ok((exit, OutputOptions::from(&arguments.sarif).answer(find, page)))
}

/// The evidence for a repair.
fn proofs<'a>(loaded: &Loaded, found: &'a EventRepaired) -> Proofs<'a> {
    let mut proofs = Proofs::default();
    let certificate = found.certificate.as_ref();
    match (&found.text, certificate) {
        (Some(Ok(text)), Some(certificate)) => {
            let subject = loaded.subject_of(&text.program);
            proofs.text = Some((text, Evidence::TsoRobust(subject, certificate.clone())));
        }
        (None, Some(certificate)) => {
            proofs.unchanged = Some(Evidence::TsoRobust(loaded.subject(), certificate.clone()));
        }
        _ => {}
    }
    let is_changed = found.text.is_some() || !matches!(found.repair, EventRepair::Valid(..));
    proofs.repairs.extend(found.shown.as_ref().filter(|_| is_changed).map(|shown| ("repair", &shown.evidence)));
    proofs
}

/// Refuses what is not for events and tasks.
fn check_options(arguments: &FencesArguments, name: &str) -> Result<(), InputError> {
    let FencesArguments { redundant, all, nets, no_slice, .. } = *arguments;
    let is_other = redundant
        || all
        || nets
        || no_slice
        || arguments.ask != Ask::Robustness
        || arguments.objective.is_some()
        || arguments.method.is_some()
        || arguments.bound.is_some()
        || arguments.model.is_some();
    if !is_other {
        return Ok(());
    }
    let message = "for a program with events or tasks, `palisade fences` finds the cheapest fences for robustness against TSO alone";
    let help =
        "besides FILE, `--cost`, `--with`, `--only`, `--never`, `--diff`, `--apply`, `--certificate`, `--sarif` and `--report` go with it"
            .to_owned();
    Err(InputError::file(name, message).with_help_if(Some(help)))
}
