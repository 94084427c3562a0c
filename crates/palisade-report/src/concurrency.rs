//! The result of `palisade check --against concurrency` as text.

use super::context::{Context, domain_line};
use super::counted;
use super::interleaving::Interleaving;
use palisade_concurrency::{ConcurrencyCheck, ConcurrencyVerdict, ConcurrencyViolation};
use palisade_evidence::ConcurrencyReason;
use palisade_model::program::Program;
use std::fmt::Write;

/// How often events may occur, and the domain.
pub fn instance_words(program: &Program) -> String {
    let events = program.events().map(|(_, event)| format!("{} × {}", event.name, event.copies));
    events.collect::<Vec<_>>().join(", ")
}

/// The verdict in words.
pub fn verdict_words(verdict: &ConcurrencyVerdict) -> &'static str {
    match verdict {
        ConcurrencyVerdict::Robust(_) => "robust against concurrency",
        ConcurrencyVerdict::NotRobust(_) => "not robust against concurrency",
        ConcurrencyVerdict::Unknown(_) | ConcurrencyVerdict::TooManyPending(_) => {
            "robustness against concurrency is unknown"
        }
    }
}

/// Why there is no verdict.
pub fn unknown_reason(check: &ConcurrencyCheck, program: &Program) -> Option<String> {
    match &check.verdict {
        ConcurrencyVerdict::Robust(_) | ConcurrencyVerdict::NotRobust(_) => None,
        ConcurrencyVerdict::Unknown(reason) => Some(reason.to_string()),
        ConcurrencyVerdict::TooManyPending(task) => {
            Some(format!("ever more tasks are pending at once, most of them `{}`", program.thread(*task).name))
        }
    }
}

/// The report for people in one line, for many programs.
pub fn line(check: &ConcurrencyCheck, context: &Context<'_>) -> String {
    let reason = unknown_reason(check, context.program).map_or(String::new(), |reason| format!(", {reason}"));
    let words = verdict_words(&check.verdict);
    format!("{}: {words}{reason} [{}]\n", context.file, instance_words(context.program))
}

/// The report for people.
pub fn text(check: &ConcurrencyCheck, context: &Context<'_>, verbosity: u8) -> String {
    let program = context.program;
    let mut out = String::new();
    let _ = writeln!(out, "{}: {}", context.file, verdict_words(&check.verdict));
    let _ = writeln!(out, "  events   {}", instance_words(program));
    out.push_str(&domain_line(program));
    if let Some(reason) = unknown_reason(check, program) {
        let _ = writeln!(out, "  reason   {reason}");
    }
    if verbosity > 0 {
        let _ = writeln!(out, "  explored {} in {:.3} s", counted(check.states, "state"), context.seconds);
    }
    if let ConcurrencyVerdict::NotRobust(violation) = &check.verdict {
        let _ = writeln!(out, "  because  {}", reason_words(&violation.witness.reason));
        let _ = writeln!(out, "  with     {}", with_words(program, violation));
        if let Some(interleaving) = Interleaving::of(program, &violation.witness) {
            out.push_str(&interleaving.text());
        }
    }
    for path in context.certificates {
        let _ = writeln!(out, "  evidence {path}");
    }
    out
}

/// The kind of a violation in words.
pub fn reason_words(reason: &ConcurrencyReason) -> &'static str {
    match reason {
        ConcurrencyReason::Serializability(_) => "events cannot be seen as atomic (serializability)",
        ConcurrencyReason::Determinism(..) => {
            "the tasks of an event cannot be seen as run one after the other (determinism)"
        }
    }
}

/// How often each event occurs in a violation.
pub fn with_words(program: &Program, violation: &ConcurrencyViolation) -> String {
    let with = violation.instance.iter().filter(|(_, count)| *count > 0);
    with.map(|(id, count)| format!("{} × {count}", program.thread(*id).name)).collect::<Vec<_>>().join(", ")
}
