//! `palisade fences` for robustness: the cheapest fences that make a program robust.

use super::arguments::{FencesArguments, refused_cost, refused_pattern};
use super::changes::{Wanted, changes_of_text};
use super::checks::{Guarded, alarm};
use super::needed;
use super::progress::Progress;
use super::repaired::{Proofs, write_back, write_proofs};
use crate::cli::asked::question;
use crate::cli::outcome::Outcome;
use crate::cli::outputs::OutputOptions;
use crate::cli::{Exit, Loaded, SharedOptions};
use crate::evidence::{Evidence, RobustCertificate};
use crate::fences::{FenceError, Repair, RepairError, Repaired, repair};
use crate::limits::Limits;
use crate::report::context::fault_error;
use crate::report::documents::FencesDocument;
use crate::report::fences as report;
use crate::report::findings::fence_findings;
use crate::report::needed::Needed;
use crate::report::page::fences_page;
use crate::syntax::InputError;
use std::time::Instant;

/// Answers `palisade fences` for robustness: the exit status, and what was found for `--sarif`.
pub(super) fn answer(
    arguments: &FencesArguments,
    shared: &SharedOptions,
    loaded: &Loaded,
    limits: &Limits,
) -> Result<Outcome, InputError> {
    let begin = Instant::now();
    let program = &loaded.program;
    arguments.check_for_robustness(program)?;
    let progress = Progress::new(shared);
    let (options, wanted) = (arguments.fence_options(loaded, limits)?, arguments.repair_options(loaded));
    let found = match repair(program, &options, &wanted, &progress, &Guarded { file: &arguments.file }) {
        Ok(found) => found,
        Err(RepairError::Fences(error)) => return Err(refused(&error, loaded)),
        Err(RepairError::Rejected(failure)) => {
            return Ok(Outcome::rejected(alarm(&arguments.file, &failure.to_string())));
        }
        Err(RepairError::Broken(what)) => {
            return Ok(Outcome::rejected(alarm(&arguments.file, &what)));
        }
    };
    let needed = needed::ask(arguments, loaded, &found, limits);
    drop(progress);
    let needed = match needed {
        Ok(needed) => needed,
        Err(failure) => {
            return Ok(Outcome::rejected(alarm(&arguments.file, &failure)));
        }
    };
    let measures = found.measures();
    let (proposal, no_text) = changes_of_text(&Wanted::of(arguments), loaded, &measures, found.text.as_ref())?;
    let certificates = match &arguments.certificate {
        Some(folder) => write_proofs(folder, arguments, loaded, proofs(loaded, &found, needed.as_ref()))?,
        None => Vec::new(),
    };
    let text = found.repaired_text().filter(|_| found.certificate.is_some());
    let written = write_back(&arguments.file, loaded, text.filter(|_| arguments.apply))?;
    let context = loaded.context(&arguments.file, begin, &certificates);
    let result = report::Result {
        found: &found,
        all: arguments.all,
        no_diff: no_text.as_deref(),
        proposal: proposal.as_ref(),
        written,
        needed: needed.as_ref(),
    };
    let exit = match &found.repair {
        // Asked to write, and not sure enough to.
        Repair::Valid(placement) if arguments.apply && !placement.measures.is_empty() && written.is_none() => {
            Exit::Unknown
        }
        Repair::Valid(_) => Exit::Holds,
        Repair::Impossible(_) => Exit::Fails,
        Repair::Unknown { .. } => Exit::Unknown,
    };
    let find = || fence_findings(&result, &context, loaded.format);
    let page = || fences_page(&FencesDocument::new(&result, &context), &result, &context, &question(&arguments.file));
    let document = || FencesDocument::new(&result, &context);
    let report =
        || if arguments.diff { result.diff().to_owned() } else { report::text(&result, &context, shared.verbose) };
    let mut outcome = Outcome::new(exit, shared, document, report);
    if arguments.diff && !shared.json && !matches!(found.repair, Repair::Valid(_)) {
        outcome.spoken.remarks = report::text(&result, &context, shared.verbose);
    }
    outcome.spoken.answer = OutputOptions::from(&arguments.sarif).answer(find, page);
    outcome.text = text.map(|text| text.text().to_owned());
    outcome.proposal = proposal;
    Ok(outcome)
}

/// The evidence for a repair.
fn proofs<'a>(loaded: &Loaded, found: &'a Repaired, needed: Option<&'a Needed>) -> Proofs<'a> {
    let mut proofs = Proofs::default();
    if let Some(certificate) = &found.certificate {
        match found.repaired_text() {
            Some(text) => {
                let subject = loaded.subject_of(&text.program);
                proofs.text = Some((text, Evidence::Robust(subject, RobustCertificate::clone(certificate))));
            }
            None if found.measures().is_empty() => {
                proofs.unchanged = Some(Evidence::Robust(loaded.subject(), RobustCertificate::clone(certificate)));
            }
            None => {}
        }
    }
    let shown = found.shown.as_ref().filter(|_| !found.is_robust_already());
    proofs.repairs.extend(shown.map(|shown| ("repair", &shown.evidence)));
    proofs.repairs.extend(found.redundancy_shown.as_ref().map(|shown| ("redundant", &shown.evidence)));
    if let Some(Needed::Found(needed)) = needed {
        proofs.repairs.extend(needed.shown.as_ref().map(|shown| ("needed", &shown.evidence)));
    }
    proofs
}

/// What is wrong with the input, as an error of it.
pub(super) fn refused(error: &FenceError, loaded: &Loaded) -> InputError {
    match error {
        FenceError::Fault(fault) => fault_error(&loaded.program, fault),
        FenceError::Cost(cost) => refused_cost(cost, loaded),
        FenceError::Pattern(pattern) => refused_pattern(pattern, loaded),
    }
}

/// What a command comes to whose repair failed: the input is at fault, or the repair's own evidence
/// is rejected, which is said loudly.
pub(in crate::cli) fn rejected(error: &RepairError, file: &str, loaded: &Loaded) -> Result<Outcome, InputError> {
    match error {
        RepairError::Fences(error) => Err(refused(error, loaded)),
        RepairError::Rejected(_) | RepairError::Broken(_) => Ok(Outcome::rejected(alarm(file, &error.to_string()))),
    }
}
