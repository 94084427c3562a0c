//! `palisade check` of a program with events: is it robust against concurrency, and against TSO?

use super::answered::{Answered, write};
use super::arguments::{Against, CheckArguments};
use super::tso::against_tso;
use crate::cli::batch::Spoken;
use crate::cli::confirm::{Confirmation, concurrency_check};
use crate::cli::queue::put_in_order;
use crate::cli::{Exit, Loaded, SharedOptions};
use crate::concurrency::{ConcurrencyCheck, ConcurrencyOptions, ConcurrencyVerdict, check};
use crate::evidence::Evidence;
use crate::program::{Copies, Program};
use crate::report::context::{Context, fault_error};
use crate::report::documents::{self, EventCheckDocument};
use crate::report::findings::{concurrency_finding, event_answer, tasks_finding};
use crate::report::page::event_page;
use crate::report::{concurrency as report, tso};
use crate::syntax::{Diagnostic, InputError};
use std::time::Instant;

/// Refuses a program that the question asked is not about.
pub(in crate::cli) fn admit(program: &Program, against: Option<Against>) -> Result<(), InputError> {
    let refused = |errors| Err(InputError::from((program.source.clone(), errors)));
    match against {
        Some(Against::Tso) => Ok(()),
        None if program.events().next().is_none() => Ok(()),
        None | Some(Against::Concurrency) => about_events(program).or_else(|error| refused(vec![error])),
    }
}

/// Robustness against concurrency is about programs of events alone.
fn about_events(program: &Program) -> Result<(), Diagnostic> {
    if let Some(thread) = program.threads.iter().find(|thread| thread.is_thread() && !thread.is_left_out()) {
        let message =
            format!("robustness against concurrency is about events, and the thread `{}` belongs to none", thread.name);
        let help = format!(
            "leave it out: `--threads {}=0`; or make it the handler of an event that occurs once; or ask `--against tso` alone",
            thread.name
        );
        return Err(Diagnostic::error(message, thread.span).with_help(help));
    }
    if program.events().all(|(_, event)| event.copies == Copies::Exactly(0)) {
        let span = program.threads.first().map(|thread| thread.span).unwrap_or_default();
        let message = "robustness against concurrency is about events, and the program has none";
        return Err(Diagnostic::error(message, span));
    }
    Ok(())
}

/// Checks a program with events against what the options say, or against concurrency and TSO.
pub(super) fn check_events(
    arguments: &CheckArguments,
    shared: &SharedOptions,
    file: &str,
    loaded: &Loaded,
    brief: bool,
) -> Result<Spoken, InputError> {
    if arguments.certificate.is_some() {
        loaded.posts_as_in_text()?;
    }
    // Threads that start threads are asked about TSO alone: nothing of them belongs to an event.
    let has_events = loaded.program.events().next().is_some();
    let against = arguments.against.or((!has_events).then_some(Against::Tso));
    let asks = |what: Against| against.is_none_or(|against| against == what);
    let ask_concurrency = || against_concurrency(arguments, shared, file, loaded);
    let concurrency = asks(Against::Concurrency).then(ask_concurrency).transpose()?;
    let tso = asks(Against::Tso).then(|| against_tso(arguments, shared, file, loaded)).transpose()?;
    let first = concurrency.as_ref().map(|it| (it.exit, it.confirmation.as_ref(), &it.certificates, it.seconds));
    let second = tso.as_ref().map(|it| (it.exit, it.confirmation.as_ref(), &it.certificates, it.seconds));
    let mut exit = Exit::Holds;
    let mut remarks = loaded.warnings_text(shared);
    for (answer, confirmation, ..) in first.iter().chain(&second) {
        exit = exit.worst(*answer);
        if let Some(alarm) = confirmation.and_then(|confirmation| confirmation.alarm(file)) {
            remarks.push_str(&alarm);
            exit = exit.worst(Exit::Rejected);
        }
    }
    let context = |certificates, seconds| {
        let (program, warnings, changed) = (&loaded.program, &loaded.warnings, &loaded.changed);
        Context { file, program, warnings, seconds, certificates, changed, compilations: None }
    };
    let checked = (concurrency.as_ref().map(|it| &it.checked), tso.as_ref().map(|it| &it.checked));
    let all = first.iter().chain(&second);
    let certificates: Vec<String> = all.clone().flat_map(|it| it.2.iter().cloned()).collect();
    let both = context(&certificates, all.map(|it| it.3).sum());
    let document = || {
        let confirmed = |it: &Confirmation| it.document();
        let mut document = EventCheckDocument::new(checked, &both);
        document.evidence = first.and_then(|it| it.1).map(confirmed);
        if let Some(answer) = &mut document.tso {
            answer.evidence = second.and_then(|it| it.1).map(confirmed);
        }
        document
    };
    let with_answer = |mut spoken: Spoken| {
        if arguments.outputs.are_any() {
            let mut findings = Vec::new();
            findings.extend(checked.0.map(|checked| concurrency_finding(checked, &both)));
            findings.extend(checked.1.map(|checked| tasks_finding(checked, &both)));
            let mut report = checked.0.map_or(String::new(), |checked| report::text(checked, &both, 0));
            report += &checked.1.map_or(String::new(), |checked| tso::text(checked, &both, 0));
            let mut answer = event_answer(findings, report, &both);
            answer.page = arguments.outputs.asks_for_a_page().then(|| event_page(&document(), checked, &both));
            spoken.add_answer(answer);
        }
        spoken
    };
    if shared.json {
        let spoken = Spoken::new(exit, String::new(), remarks).with_document(documents::text(&document()));
        return Ok(with_answer(spoken));
    }
    let mut report = String::new();
    if let Some(Answered { checked, certificates, seconds, .. }) = &concurrency {
        let context = context(certificates, *seconds);
        report +=
            &if brief { report::line(checked, &context) } else { report::text(checked, &context, shared.verbose) };
    }
    if let Some(Answered { checked, certificates, seconds, .. }) = &tso {
        let context = context(certificates, *seconds);
        report += &if brief { tso::line(checked, &context) } else { tso::text(checked, &context, shared.verbose) };
    }
    Ok(with_answer(Spoken::new(exit, report, remarks)))
}

/// Checks a program with events against concurrency.
fn against_concurrency(
    arguments: &CheckArguments,
    shared: &SharedOptions,
    file: &str,
    loaded: &Loaded,
) -> Result<Answered<ConcurrencyCheck>, InputError> {
    let begin = Instant::now();
    let limits = shared.limits();
    let options = ConcurrencyOptions { values: arguments.values, pending: arguments.pending, limits: limits.clone() };
    let mut checked = check(&loaded.program, &options).map_err(|fault| fault_error(&loaded.program, &fault))?;
    put_in_order(&mut checked, &loaded.program, arguments.queue, &limits);
    let confirmation =
        Confirmation::of(file, arguments.verify, &limits, || concurrency_check(&loaded.program, &checked.verdict));
    if let Some(reason) = confirmation.as_ref().and_then(Confirmation::stopped) {
        checked.verdict = ConcurrencyVerdict::Unknown(reason);
    }
    let exit = match checked.verdict {
        ConcurrencyVerdict::Robust(_) => Exit::Holds,
        ConcurrencyVerdict::NotRobust(_) => Exit::Fails,
        ConcurrencyVerdict::Unknown(_) | ConcurrencyVerdict::TooManyPending(_) => Exit::Unknown,
    };
    let certificates = write(arguments, file, evidence(loaded, &checked))?;
    Ok(Answered { checked, exit, confirmation, certificates, seconds: begin.elapsed().as_secs_f64() })
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
