//! `palisade check` of a program with events: is it robust against concurrency?

use super::batch::Spoken;
use super::check::{CheckArguments, unwritten, write_document};
use super::confirm::{Confirmation, concurrency_check};
use super::{Exit, Loaded, SharedOptions};
use crate::concurrency::{ConcurrencyCheck, ConcurrencyOptions, ConcurrencyVerdict, check};
use crate::evidence::Evidence;
use crate::program::{Copies, Program};
use crate::report::documents::{self, EventCheckDocument};
use crate::report::{check as check_report, concurrency as report};
use crate::syntax::{Diagnostic, InputError, threads_only};
use clap::ValueEnum;
use std::time::Instant;

/// What a program is to be robust against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Against {
    /// The interleaving of events and tasks.
    Concurrency,
    /// The memory model TSO.
    Tso,
}

/// Refuses a program that the question asked is not about.
pub(super) fn admit(program: &Program, against: Option<Against>) -> Result<(), InputError> {
    let refused = |errors| Err(InputError::from((program.source.clone(), errors)));
    match against {
        Some(Against::Tso) => {
            let help = "`--against concurrency` takes programs with events";
            threads_only(program, "robustness against TSO", help).or_else(refused)
        }
        None if !program.is_event_driven() => Ok(()),
        None | Some(Against::Concurrency) => about_events(program).or_else(|error| refused(vec![error])),
    }
}

/// Robustness against concurrency is about programs of events alone.
fn about_events(program: &Program) -> Result<(), Diagnostic> {
    if let Some(thread) = program.threads.iter().find(|thread| thread.is_thread() && !thread.is_left_out()) {
        let message =
            format!("robustness against concurrency is about events, and the thread `{}` belongs to none", thread.name);
        let help =
            format!("leave it out: `--threads {}=0`; or make it the handler of an event that occurs once", thread.name);
        return Err(Diagnostic::error(message, thread.span).with_help(help));
    }
    if program.events().all(|(_, event)| event.copies == Copies::Exactly(0)) {
        let span = program.threads.first().map(|thread| thread.span).unwrap_or_default();
        let message = "robustness against concurrency is about events, and the program has none";
        return Err(Diagnostic::error(message, span));
    }
    Ok(())
}

/// Checks a program with events against concurrency.
pub(super) fn check_events(
    arguments: &CheckArguments,
    shared: &SharedOptions,
    file: &str,
    loaded: &Loaded,
    brief: bool,
) -> Result<Spoken, InputError> {
    let begin = Instant::now();
    let limits = shared.limits();
    let options = ConcurrencyOptions { values: arguments.values, pending: arguments.pending, limits: limits.clone() };
    let mut checked =
        check(&loaded.program, &options).map_err(|fault| check_report::fault_error(&loaded.program, &fault))?;
    let confirmation =
        Confirmation::of(file, arguments.verify, &limits, || concurrency_check(&loaded.program, &checked.verdict));
    if let Some(reason) = confirmation.as_ref().and_then(Confirmation::stopped) {
        checked.verdict = ConcurrencyVerdict::Unknown(reason);
    }
    let mut exit = match checked.verdict {
        ConcurrencyVerdict::Robust(_) => Exit::Holds,
        ConcurrencyVerdict::NotRobust(_) => Exit::Fails,
        ConcurrencyVerdict::Unknown(_) | ConcurrencyVerdict::TooManyPending(_) => Exit::Unknown,
    };
    let mut certificates = Vec::new();
    if let (Some(folder), Some((evidence, suffix))) = (&arguments.certificate, evidence(loaded, &checked)) {
        let path = write_document(folder, file, suffix, &evidence).map_err(|error| unwritten(folder, &error))?;
        certificates.push(path.display().to_string());
    }
    let context = check_report::Context {
        file,
        program: &loaded.program,
        warnings: &loaded.warnings,
        seconds: begin.elapsed().as_secs_f64(),
        certificates: &certificates,
        changed: &loaded.changed,
    };
    let mut remarks = loaded.warnings_text(shared);
    if let Some(alarm) = confirmation.as_ref().and_then(|confirmation| confirmation.alarm(file)) {
        remarks.push_str(&alarm);
        exit = Exit::Rejected;
    }
    if shared.json {
        let mut document = EventCheckDocument::new(&checked, &context);
        document.evidence = confirmation.as_ref().map(Confirmation::document);
        return Ok(Spoken { exit, report: String::new(), remarks, document: Some(documents::text(&document)) });
    }
    let report =
        if brief { report::line(&checked, &context) } else { report::text(&checked, &context, shared.verbose) };
    Ok(Spoken { exit, report, remarks, document: None })
}

/// The evidence of a verdict, with a word for its file.
fn evidence(loaded: &Loaded, checked: &ConcurrencyCheck) -> Option<(Evidence, &'static str)> {
    match &checked.verdict {
        ConcurrencyVerdict::Robust(certificate) => {
            Some((Evidence::ConcurrencyRobust(loaded.subject(), certificate.clone()), "concurrency-robust"))
        }
        ConcurrencyVerdict::NotRobust(violation) => {
            let evidence = Evidence::NotConcurrencyRobust(loaded.subject(), violation.witness.clone());
            Some((evidence, "concurrency-violation"))
        }
        ConcurrencyVerdict::Unknown(_) | ConcurrencyVerdict::TooManyPending(_) => None,
    }
}
