//! `palisade fences` where remedies are sought round by round: robustness of events and tasks
//! against TSO, and `--ask hangs`.

use super::arguments::FencesArguments;
use super::changes::{Wanted, changes_of_text, untaken};
use super::checks::Guarded;
use super::properties::{model_with_buffers, options_under};
use super::repaired::{Proofs, write_back, write_proofs};
use super::robustness::rejected;
use crate::cli::asked::question;
use crate::cli::outcome::Outcome;
use crate::cli::outputs::OutputOptions;
use crate::cli::words::Ask;
use crate::cli::{Exit, Loaded, SharedOptions};
use crate::evidence::{Evidence, ValidProof};
use crate::fences::{FenceOptions, Measure, Remedied, Remedy, language_offer, repair_events};
use crate::hangs::{repair_hangs, repair_hangs_in_language};
use crate::limits::Limits;
use crate::program::Program;
use crate::properties::placement::PlacementOptions;
use crate::questions::LanguageRobustness;
use crate::report::documents::FencesDocument;
use crate::report::findings::remedy_findings;
use crate::report::page::remedy_page;
use crate::report::remedies as report;
use crate::semantics::graphs::Axioms;
use crate::syntax::InputError;
use std::time::Instant;

/// Answers `palisade fences` for a program of events and tasks, or `--ask hangs`: the exit status,
/// and what was found for `--sarif`.
pub(super) fn answer(
    arguments: &FencesArguments,
    shared: &SharedOptions,
    loaded: &Loaded,
    limits: &Limits,
) -> Result<Outcome, InputError> {
    let begin = Instant::now();
    let program = &loaded.program;
    let (wanted, checks) = (arguments.repair_options(loaded), Guarded { file: &arguments.file });
    let mut kept = Vec::new();
    let found = if program.is_event_driven() {
        check_options_for_events(arguments, &program.source.name)?;
        loaded.posts_as_in_text()?;
        repair_events(program, &arguments.fence_options(loaded, limits)?, &wanted, &checks)
    } else if let Some(axioms) = arguments.language() {
        let mut options = language_hang_options(arguments, axioms, loaded, limits)?;
        (options.withheld, kept) = untaken(&arguments.file, loaded, || language_offer(program, axioms, &options));
        repair_hangs_in_language(program, axioms, (&options, arguments.ignore_timeouts), &wanted, &checks)
    } else {
        let options = hang_options(arguments, loaded, limits)?;
        repair_hangs(program, (&options, arguments.ignore_timeouts), &wanted, &checks)
    };
    let found = match found {
        Ok(found) => found,
        Err(error) => return rejected(&error, &arguments.file, loaded),
    };
    let measures: Vec<Measure> = match &found.remedy {
        Remedy::Valid(measures, _) => measures.iter().map(|(measure, _)| *measure).collect(),
        Remedy::Impossible(_) | Remedy::Unknown(_) => Vec::new(),
    };
    let (proposal, no_text) = changes_of_text(&Wanted::of(arguments), loaded, &measures, found.text.as_ref())?;
    let text = found.text.as_ref().and_then(|text| text.as_ref().ok());
    let certificates = match &arguments.certificate {
        Some(folder) => write_proofs(folder, arguments, loaded, proofs(loaded, &found))?,
        None => Vec::new(),
    };
    let text = text.filter(|_| found.proof.is_some());
    let written = write_back(&arguments.file, loaded, text.filter(|_| arguments.apply))?;
    let context = loaded.context(&arguments.file, begin, &certificates);
    let result = report::Result {
        found: &found,
        no_diff: no_text.as_deref(),
        proposal: proposal.as_ref(),
        kept: &kept,
        states_the_end: !program.finally.is_empty(),
        written,
    };
    let exit = match &found.remedy {
        // Asked to write, and not sure enough to.
        Remedy::Valid(measures, _) if arguments.apply && !measures.is_empty() && written.is_none() => Exit::Unknown,
        Remedy::Valid(..) => Exit::Holds,
        Remedy::Impossible(_) => Exit::Fails,
        Remedy::Unknown(_) => Exit::Unknown,
    };
    let find = || remedy_findings(&result, &context, loaded.format);
    let page =
        || remedy_page(&FencesDocument::for_remedy(&result, &context), &result, &context, &question(&arguments.file));
    let report = || match &found.remedy {
        Remedy::Valid(..) if arguments.diff => result.diff().to_owned(),
        _ => report::text(&result, &context, shared.verbose),
    };
    let mut outcome = Outcome::new(exit, shared, || FencesDocument::for_remedy(&result, &context), report);
    outcome.spoken.answer = OutputOptions::from(&arguments.sarif).answer(find, page);
    outcome.text = text.map(|text| text.text().to_owned());
    outcome.proposal = proposal;
    Ok(outcome)
}

/// The evidence for a remedy.
fn proofs<'a>(loaded: &Loaded, found: &'a Remedied) -> Proofs<'a> {
    let mut proofs = Proofs::default();
    let about = |program: &Program, proof: &ValidProof| {
        let subject = loaded.subject_of(program);
        match proof.clone() {
            ValidProof::Tasks(certificate) => Some(Evidence::TsoRobust(subject, certificate)),
            ValidProof::Free(certificate) => Some(Evidence::Free(subject, certificate)),
            ValidProof::Robust(_) | ValidProof::Language(_) | ValidProof::Properties(_) => None,
        }
    };
    match (&found.text, &found.proof) {
        (Some(Ok(text)), Some(proof)) => {
            proofs.text = about(&text.program, proof).map(|evidence| (text, evidence));
        }
        (None, Some(proof)) => proofs.unchanged = about(&loaded.program, proof),
        _ => {}
    }
    let is_changed = found.text.is_some() || !matches!(found.remedy, Remedy::Valid(..));
    proofs.repairs.extend(found.shown.as_ref().filter(|_| is_changed).map(|shown| ("repair", &shown.evidence)));
    proofs
}

/// What to place against hangs, and how.
pub(in crate::cli) fn hang_options(
    arguments: &FencesArguments,
    loaded: &Loaded,
    limits: &Limits,
) -> Result<PlacementOptions, InputError> {
    let name = loaded.program.source.name.as_str();
    if arguments.with.is_some() {
        let message = "exchanges are not offered against hangs: one that writes what is there already is nothing";
        let help = "a copy may then wait that stores for ever; fences leave waiting alone".to_owned();
        return Err(InputError::file(name, message).with_help_if(Some(help)));
    }
    if has_other_options(arguments) {
        let message = "`--ask hangs` finds the cheapest fences with which nobody waits for ever";
        let help = "besides FILE, copies, values and `--model`, what goes with it is `--ignore-timeouts`, `--cost`, `--only`, `--never`, \
                    `--diff`, `--apply`, `--certificate`, `--sarif` and `--report`"
            .to_owned();
        return Err(InputError::file(name, message).with_help_if(Some(help)));
    }
    options_under(model_with_buffers(arguments, name)?, arguments, loaded, limits)
}

/// What to change against hangs by a language, and how.
pub(in crate::cli) fn language_hang_options(
    arguments: &FencesArguments,
    axioms: Axioms,
    loaded: &Loaded,
    limits: &Limits,
) -> Result<FenceOptions, InputError> {
    let name = loaded.program.source.name.as_str();
    if has_other_options(arguments) || arguments.with.is_some() || arguments.has_costs() {
        let message = "`--ask hangs` finds the fewest places to change, and then the weakest changes, with which nobody \
                       waits for ever";
        let help = "besides FILE, copies and values, what goes with a language is `--ignore-timeouts`, `--only`, \
                    `--never`, `--diff`, `--apply`, `--certificate`, `--sarif` and `--report`"
            .to_owned();
        return Err(InputError::file(name, message).with_help_if(Some(help)));
    }
    if let Some(objection) = LanguageRobustness::objection(&loaded.about(), axioms) {
        return Err(InputError::from((loaded.program.source.clone(), vec![objection])));
    }
    arguments.fence_options(loaded, limits)
}

/// Whether an option is given that only fences for robustness or properties of threads have.
fn has_other_options(arguments: &FencesArguments) -> bool {
    let FencesArguments { redundant, all, nets, no_slice, .. } = *arguments;
    let is_method = arguments.objective.is_some() || arguments.method.is_some() || arguments.bound.is_some();
    redundant || all || nets || no_slice || is_method
}

/// Refuses what is not for events and tasks.
fn check_options_for_events(arguments: &FencesArguments, name: &str) -> Result<(), InputError> {
    if !has_other_options(arguments) && arguments.ask == Ask::Robustness && arguments.model().is_none() {
        return Ok(());
    }
    let message = "for a program with events or tasks, `palisade fences` finds the cheapest fences for robustness against TSO alone";
    let help =
        "besides FILE, `--cost`, `--with`, `--only`, `--never`, `--diff`, `--apply`, `--certificate`, `--sarif` and `--report` go with it"
            .to_owned();
    Err(InputError::file(name, message).with_help_if(Some(help)))
}
