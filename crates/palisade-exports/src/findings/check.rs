//! The findings of `palisade check`: robustness, the properties that break, labels that nobody reaches.

use super::{Answer, Finding, Kind, Region, Rule, flow, prove, warnings};
use palisade_engine::robustness::{Check, Verdict};
use palisade_model::text::Position;
use palisade_report::breaks::Breaks;
use palisade_report::check::text;
use palisade_report::context::{Context, place};
use palisade_report::documents::{LabelPlace, ViolationDocument};
use palisade_report::subject::program_words;

/// The question that robustness answers.
pub(super) const ROBUST: &str = "robust against x86-TSO";

/// What a check found.
pub fn check_findings(check: &Check<'_>, context: &Context<'_>, breaks: Option<&Breaks<'_>>) -> Answer {
    let program = context.program;
    let mut findings = vec![robustness(check, context).answering(ROBUST)];
    if let Some(breaks) = breaks
        && let Some(proof) = breaks.proof
    {
        findings.extend(prove::violations(proof, &breaks.context));
    }
    let unreached = check.unreached.as_deref().unwrap_or_default();
    findings.extend(LabelPlace::all(program, unreached).into_iter().map(|label| {
        let message = format!("no interleaving reaches `{}` of `{}`", label.label, label.thread);
        Finding::new(Rule::Unreached, Kind::Fail, message).at(line(label.line))
    }));
    findings.extend(warnings(program, context.warnings));
    Answer::new(context.file, context.seconds, findings, text(check, context, breaks, 0))
}

fn robustness(check: &Check<'_>, context: &Context<'_>) -> Finding {
    let program = context.program;
    let subject = program_words(program, context.changed);
    if let Verdict::Unknown(reason) = check.verdict {
        return Finding::new(Rule::NotRobust, Kind::Open, format!("not decided: {reason} [{subject}]"));
    }
    let Some(violation) = &check.violation else {
        return Finding::new(Rule::NotRobust, Kind::Pass, format!("robust against x86-TSO [{subject}]"));
    };
    let attack = violation.attack;
    let message = format!(
        "the store at {} is delayed past the load at {}, and no interleaving explains what the threads then read [{subject}]",
        place(program, attack.thread, attack.store),
        place(program, attack.thread, attack.load),
    );
    let load = Region::instruction(program, attack.thread, attack.load);
    Finding {
        related: vec![(load, "the load that overtakes the store".to_owned())],
        steps: flow(program, &ViolationDocument::new(program, violation).steps),
        ..Finding::new(Rule::NotRobust, Kind::Fail, message)
    }
    .at(Region::instruction(program, attack.thread, attack.store))
}

/// A line of which nothing closer is known.
pub fn line(line: usize) -> Region {
    Region::point(Position { line, column: 1 })
}
