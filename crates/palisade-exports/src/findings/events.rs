//! The findings of `palisade check` about programs of events.

use super::{Answer, Finding, Kind, Rule, check, task_flow, warnings};
use palisade_concurrency::{ConcurrencyCheck, ConcurrencyVerdict};
use palisade_engine::robustness::{TaskCheck, Verdict};
use palisade_report::context::Context;
use palisade_report::tso::Computation;
use palisade_report::{concurrency, tso};

/// What a check against concurrency found.
pub fn concurrency_finding(checked: &ConcurrencyCheck, context: &Context<'_>) -> Finding {
    let kind = match checked.verdict {
        ConcurrencyVerdict::Robust(_) => Kind::Pass,
        ConcurrencyVerdict::NotRobust(_) => Kind::Fail,
        ConcurrencyVerdict::Unknown(_) | ConcurrencyVerdict::TooManyPending(_) => Kind::Open,
    };
    let words = concurrency::verdict_words(&checked.verdict);
    let reason = concurrency::unknown_reason(checked, context.program);
    let message = reason.map_or_else(|| words.to_owned(), |reason| format!("{words}: {reason}"));
    let subject = concurrency::instance_words(context.program);
    Finding::new(Rule::NotAtomic, kind, format!("{message} [{subject}]")).answering("robust against concurrency")
}

/// What a check against TSO found.
pub fn tasks_finding(checked: &TaskCheck, context: &Context<'_>) -> Finding {
    let words = tso::verdict_words(&checked.verdict);
    let (kind, message) = match checked.verdict {
        Verdict::Robust => (Kind::Pass, words.to_owned()),
        Verdict::NotRobust => (Kind::Fail, words.to_owned()),
        Verdict::Unknown(reason) => (Kind::Open, format!("{words}: {reason}")),
    };
    let subject = tso::instance_words(context.program);
    let mut finding = Finding::new(Rule::NotRobust, kind, format!("{message} [{subject}]")).answering(check::ROBUST);
    let computation = checked.witness.as_ref().and_then(|witness| Computation::of(context.program, witness));
    finding.steps = computation.map_or_else(Vec::new, |shown| task_flow(&shown));
    finding
}

/// The findings about a program of events, with the report for people.
pub fn event_answer(findings: Vec<Finding>, report: String, context: &Context<'_>) -> Answer {
    let mut findings = findings;
    findings.extend(warnings(context.program, context.warnings));
    Answer::new(context.file, context.seconds, findings, report)
}
