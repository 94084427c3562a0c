//! `palisade fences --model c11`: the fewest and weakest changes of orderings, and fences, that
//! make a program robust against a language.

use super::arguments::FencesArguments;
use super::changes::{Wanted, changes_of_text, untaken};
use super::checks::Guarded;
use super::repaired::{Proofs, write_back, write_proofs};
use super::robustness::rejected;
use crate::cli::asked::question;
use crate::cli::outcome::Outcome;
use crate::cli::outputs::OutputOptions;
use crate::cli::words::Ask;
use crate::cli::{Exit, Loaded, SharedOptions};
use crate::evidence::Evidence;
use crate::fences::{LanguageRepair, LanguageRepaired, language_offer, repair_language, with_measures};
use crate::limits::Limits;
use crate::questions::LanguageRobustness;
use crate::report::documents::FencesDocument;
use crate::report::findings::language_findings;
use crate::report::language_fences as report;
use crate::report::page::language_page;
use crate::semantics::graphs::Axioms;
use crate::syntax::{Format, InputError};
use std::time::Instant;

/// Answers `palisade fences` for robustness against a language: the exit status.
pub(super) fn answer(
    arguments: &FencesArguments,
    axioms: Axioms,
    shared: &SharedOptions,
    loaded: &Loaded,
    limits: &Limits,
) -> Result<Outcome, InputError> {
    let begin = Instant::now();
    let program = &loaded.program;
    check_options(arguments, &program.source.name)?;
    if let Some(objection) = LanguageRobustness::objection(&loaded.about(), axioms) {
        return Err(InputError::from((program.source.clone(), vec![objection])));
    }
    let (mut options, wanted) = (arguments.fence_options(loaded, limits)?, arguments.repair_options(loaded));
    let (withheld, kept) = untaken(&arguments.file, loaded, || language_offer(program, axioms, &options));
    options.withheld = withheld;
    // A text in C has other places than those that it keeps.
    let kept = if loaded.format == Format::Machine { kept } else { Vec::new() };
    let found = match repair_language(program, axioms, &options, &wanted, &Guarded { file: &arguments.file }) {
        Ok(found) => found,
        Err(error) => return rejected(&error, &arguments.file, loaded),
    };
    let measures = found.measures();
    let (proposal, no_text) = changes_of_text(&Wanted::of(arguments), loaded, &measures, found.text.as_ref())?;
    let certificates = match &arguments.certificate {
        Some(folder) => write_proofs(folder, arguments, loaded, proofs(loaded, &found))?,
        None => Vec::new(),
    };
    let text = found.repaired_text().filter(|_| found.certificate.is_some());
    let written = write_back(&arguments.file, loaded, text.filter(|_| arguments.apply))?;
    let context = loaded.context(&arguments.file, begin, &certificates);
    let notes = match &found.repair {
        LanguageRepair::Valid(_) => LanguageRobustness::notes(&with_measures(program, &measures), axioms),
        LanguageRepair::Impossible(_) | LanguageRepair::Unknown(_) => Vec::new(),
    };
    let result = report::Result {
        found: &found,
        notes: &notes,
        axioms,
        all: arguments.all,
        no_diff: no_text.as_deref(),
        proposal: proposal.as_ref(),
        kept: &kept,
        written,
    };
    let exit = match &found.repair {
        // Asked to write, and not sure enough to.
        LanguageRepair::Valid(measures) if arguments.apply && !measures.is_empty() && written.is_none() => {
            Exit::Unknown
        }
        LanguageRepair::Valid(_) => Exit::Holds,
        LanguageRepair::Impossible(_) => Exit::Fails,
        LanguageRepair::Unknown(_) => Exit::Unknown,
    };
    let report = || match &found.repair {
        LanguageRepair::Valid(..) if arguments.diff => result.diff().to_owned(),
        _ => report::text(&result, &context, shared.verbose),
    };
    let document = || FencesDocument::for_language(&result, &context);
    let find = || language_findings(&result, &context, loaded.format);
    let page = || language_page(&document(), &result, &context, &question(&arguments.file));
    let mut outcome = Outcome::new(exit, shared, document, report);
    outcome.spoken.answer = OutputOptions::from(&arguments.sarif).answer(find, page);
    outcome.text = text.map(|text| text.text().to_owned());
    outcome.proposal = proposal;
    Ok(outcome)
}

/// The evidence for a repair.
fn proofs<'a>(loaded: &Loaded, found: &'a LanguageRepaired) -> Proofs<'a> {
    let mut proofs = Proofs::default();
    match (&found.text, &found.certificate) {
        (Some(Ok(text)), Some(certificate)) => {
            let subject = loaded.subject_of(&text.program);
            proofs.text = Some((text, Evidence::LanguageRobust(subject, certificate.clone())));
        }
        (None, Some(certificate)) => {
            proofs.unchanged = Some(Evidence::LanguageRobust(loaded.subject(), certificate.clone()));
        }
        _ => {}
    }
    let is_changed = found.text.is_some() || !matches!(found.repair, LanguageRepair::Valid(_));
    proofs.repairs.extend(found.shown.as_ref().filter(|_| is_changed).map(|shown| ("repair", &shown.evidence)));
    proofs
}

/// Refuses what is not for languages.
fn check_options(arguments: &FencesArguments, name: &str) -> Result<(), InputError> {
    let FencesArguments { redundant, nets, no_slice, .. } = *arguments;
    let is_other = redundant
        || nets
        || no_slice
        || arguments.ask != Ask::Robustness
        || arguments.objective.is_some()
        || arguments.method.is_some()
        || arguments.bound.is_some()
        || arguments.with.is_some()
        || arguments.has_costs();
    if !is_other {
        return Ok(());
    }
    let message =
        "against a language, `palisade fences` finds the fewest places to change, and then the weakest changes";
    let help = "besides FILE, `--only`, `--never`, `--all`, `--diff`, `--apply`, `--certificate`, `--values` and \
                files go with it; `palisade orderings` says which orderings can be weaker"
        .to_owned();
    Err(InputError::file(name, message).with_help_if(Some(help)))
}
