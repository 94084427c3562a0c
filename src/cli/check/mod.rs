//! `palisade check`: is the program robust?

mod answered;
mod arguments;
mod compilations;
mod events;
mod progress;
mod pso;
mod races;
mod tso;
mod two_threads;

pub(super) use arguments::{Against, CheckArguments, Criterion, only_tso};
use arguments::{AttackRange, EventMethod, asks_about_pso};

use super::batch::{Batch, Extent, Spoken, answer_all};
use super::breaks::{self, AskedProperties};
use super::confirm::{Confirmation, evidence_check};
use super::evidence_files::{unwritten, write_document};
use super::queue::QueueChoice;
use super::{Exit, Loaded, SharedOptions, print_input_error};
use crate::evidence::Evidence;
use crate::limits::Limits;
use crate::report::breaks::Breaks;
use crate::report::check as report;
use crate::report::context::{Context, fault_error};
use crate::report::documents::{self, CheckDocument};
use crate::report::findings::check_findings;
use crate::report::page::check_page;
use crate::robustness::{
    AttackOutcome, Check, CheckOptions, Observer, Silent, Verdict, certificate, check_observed, check_part,
    witness_evidence,
};
use crate::syntax::{Format, InputError, no_attack_can_start};
pub(super) use events::admit;
use events::check_events;
use progress::Progress;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;
use two_threads::check_two_threads;

/// What the names of files with evidence about a part of the attacks end in, before `.json`.
pub(super) const PART: &str = "part";

/// What answers about one program.
type CheckFile = fn(&CheckArguments, &SharedOptions, &str, Extent) -> Result<Spoken, InputError>;

/// Runs `palisade check`.
pub(super) fn run(arguments: &CheckArguments, shared: &SharedOptions) -> Exit {
    let is_about_attacks =
        arguments.attacks.is_some() || arguments.all || arguments.no_prune || arguments.nets || arguments.one_query;
    if arguments.criterion == Criterion::Trf && (is_about_attacks || arguments.against.is_some()) {
        let message = "triangular races know no attacks, pruning or nets, and nothing that they are robust against";
        let help = "leave `--all`, `--attacks`, `--no-prune`, `--nets`, `--one-query` and `--against` out".to_owned();
        return print_input_error(&InputError::file("--criterion trf", message).with_help_if(Some(help)), shared);
    }
    let is_about_pso = match asks_about_pso(arguments.model)
        .and_then(|is_so| if is_so { pso::only_about_pso(arguments).map(|()| true) } else { Ok(false) })
    {
        Ok(is_so) => is_so,
        Err(error) => return print_input_error(&error, shared),
    };
    let (check_file, words) = match arguments.criterion {
        _ if is_about_pso => (pso::check_file as CheckFile, ("robust against PSO", "not robust against PSO")),
        Criterion::Robustness => (check_file as CheckFile, ("robust", "not robust")),
        Criterion::Trf => (races::check_file as CheckFile, ("race-free", "with a triangular race")),
    };
    let answer = |file: &str, extent: Extent| {
        check_file(arguments, shared, file, extent).unwrap_or_else(|error| Spoken::refused(file, &error, shared))
    };
    let batch = Batch {
        command: "check",
        files: &arguments.files,
        from: arguments.program.from,
        words,
        outputs: &arguments.outputs,
    };
    answer_all(&batch, shared, answer)
}

fn check_file(
    arguments: &CheckArguments,
    shared: &SharedOptions,
    file: &str,
    extent: Extent,
) -> Result<Spoken, InputError> {
    let begin = Instant::now();
    let limits = shared.limits();
    let mut loaded = arguments.program.read_any_within(file, &limits)?;
    if let Some(EventMethod::TwoThreads) = arguments.method {
        return check_two_threads(arguments, shared, file, &loaded);
    }
    admit(&loaded.program, arguments.against)?;
    if loaded.program.is_event_driven() && arguments.attacks.is_some() {
        return Err(InputError::file(file, "programs of events have no attacks to choose among"));
    }
    if arguments.queue != QueueChoice::default() && !loaded.program.is_event_driven() {
        return Err(InputError::file(file, "`--queue` is about events and tasks, and the program has threads alone"));
    }
    if loaded.program.is_event_driven() {
        return check_events(arguments, shared, file, &loaded, extent.brief);
    }
    let options = check_options(arguments, &limits);
    let observed = extent.is_only_one.then(|| Progress::new(&loaded.program, shared));
    let observer: &dyn Observer = observed.as_ref().map_or(&Silent, |progress| progress);
    let (checked, part) = match &arguments.attacks {
        Some(AttackRange(range)) => {
            let found = check_part(&loaded.program, range.clone(), &options, observer);
            found.map_or_else(|fault| (Err(fault), None), |part| (Ok(part.check), part.evidence))
        }
        None => (check_observed(&loaded.program, &options, observer), None),
    };
    let mut checked = checked.map_err(|fault| fault_error(&loaded.program, &fault))?;
    if is_fenceless_for_no_reason(&loaded, &checked) {
        loaded.warnings.push(no_attack_can_start(&loaded.program));
    }
    let confirmation = Confirmation::of(file, arguments.verify, &limits, || evidence_check(&loaded.program, &checked));
    if let Some(reason) = confirmation.as_ref().and_then(Confirmation::stopped) {
        checked.verdict = Verdict::Unknown(reason);
        checked.violation = None;
    }
    let asking = || breaks::ask(file, &loaded, arguments.verify, arguments.values, &limits);
    let asks = checked.verdict == Verdict::NotRobust && !arguments.no_properties;
    let asked = if asks { asking() } else { None };
    let mut certificates = Vec::new();
    if let Some(folder) = &arguments.certificate {
        let written = match part {
            Some(part) => write_document(folder, file, PART, &Evidence::Robust(loaded.subject(), part)).map(Some),
            None => write_evidence(folder, file, &loaded, &checked),
        };
        let written = written.map_err(|error| unwritten(folder, &error))?;
        certificates.extend(written.map(|path| path.display().to_string()));
        if let Some(asked) = &asked {
            certificates.extend(asked.write_evidence(folder, file, &loaded)?);
        }
    }
    let (compilations, alarm) = compilations::of(arguments, file, &loaded, &checked, &options, &mut certificates)?;
    let context = Context { compilations: compilations.as_ref(), ..loaded.context(file, begin, &certificates) };
    let mut spoken = spoken(&loaded, &checked, &context, asked.as_ref(), confirmation.as_ref(), shared, extent.brief);
    if let Some(alarm) = alarm {
        spoken.remarks.push_str(&alarm);
        spoken.exit = Exit::Rejected;
    }
    if arguments.outputs.are_any() {
        let breaks = asked.as_ref().map(|asked| asked.breaks(&context, loaded.question.as_ref()));
        let mut answer = check_findings(&checked, &context, breaks.as_ref());
        if arguments.outputs.asks_for_a_page() {
            let document = document(&checked, &context, breaks.as_ref(), asked.as_ref(), confirmation.as_ref());
            answer.page = Some(check_page(&document, checked.violation.as_ref(), &context, breaks.as_ref()));
        }
        spoken.add_answer(answer);
    }
    Ok(spoken)
}

/// How to check a program.
pub(super) fn check_options(arguments: &CheckArguments, limits: &Limits) -> CheckOptions {
    CheckOptions {
        all: arguments.all,
        prune: !arguments.no_prune,
        nets: arguments.nets,
        one_query: arguments.one_query,
        values: arguments.values,
        counters: !arguments.no_counters,
        limits: limits.clone(),
        ..CheckOptions::default()
    }
}

/// Whether control flow alone makes a program robust that has nothing to make it so. Fences and locked instructions are there to rule
/// attacks out, and many litmus tests are written to show just that.
fn is_fenceless_for_no_reason(loaded: &Loaded, checked: &Check<'_>) -> bool {
    let pruned = checked.verdict == Verdict::Robust
        && checked.attacks.iter().all(|attack| attack.outcome == AttackOutcome::Pruned);
    let mut all = loaded.program.threads.iter().flat_map(|thread| &thread.instructions);
    let is_written = !matches!(loaded.format, Format::Litmus | Format::Machine);
    pruned && is_written && !all.any(|instruction| instruction.action.drains_buffer())
}

fn spoken(
    loaded: &Loaded,
    checked: &Check<'_>,
    context: &Context<'_>,
    asked: Option<&AskedProperties>,
    confirmation: Option<&Confirmation>,
    shared: &SharedOptions,
    brief: bool,
) -> Spoken {
    let mut exit = Exit::from(&checked.verdict);
    let mut remarks = loaded.warnings_text(shared);
    for confirmation in confirmation.into_iter().chain(asked.and_then(AskedProperties::confirmation)) {
        confirmation.say_if_rejected(context.file, &mut exit, &mut remarks);
    }
    let breaks = asked.map(|asked| asked.breaks(context, loaded.question.as_ref()));
    if shared.json {
        let document = document(checked, context, breaks.as_ref(), asked, confirmation);
        return Spoken::new(exit, String::new(), remarks).with_document(documents::text(&document));
    }
    let report = if brief {
        report::line(checked, context, breaks.as_ref())
    } else {
        report::text(checked, context, breaks.as_ref(), shared.verbose)
    };
    Spoken::new(exit, report, remarks)
}

/// The document of a check, with how its evidence fared.
fn document<'a>(
    checked: &'a Check<'_>,
    context: &Context<'a>,
    breaks: Option<&Breaks<'a>>,
    asked: Option<&AskedProperties>,
    confirmation: Option<&Confirmation>,
) -> CheckDocument<'a> {
    let mut document = CheckDocument::new(checked, context, breaks);
    if let (Some(claim), Some(compilations)) = (&mut document.header.claim, context.compilations) {
        claim.source = Some(compilations.into());
    }
    document.evidence = confirmation.map(Confirmation::document);
    if let (Some(properties), Some(asked)) = (&mut document.properties, asked) {
        properties.evidence = asked.confirmation().map(Confirmation::document);
    }
    document
}

/// Writes the certificate or the witness into the folder; its path, unless the verdict is unknown.
pub(super) fn write_evidence(
    folder: &Path,
    file: &str,
    loaded: &Loaded,
    checked: &Check<'_>,
) -> io::Result<Option<PathBuf>> {
    let (evidence, suffix) = if let Some(violation) = &checked.violation {
        (Evidence::NotRobust(loaded.subject(), witness_evidence(violation)), "violation")
    } else if let Some(certificate) = certificate(&loaded.program, checked) {
        (Evidence::Robust(loaded.subject(), certificate), "robust")
    } else {
        return Ok(None);
    };
    write_document(folder, file, suffix, &evidence).map(Some)
}
