//! The finding of `palisade check --model pso`: robustness against PSO.

use super::{Answer, Finding, Kind, Region, Rule, flow, warnings};
use palisade_engine::robustness::{PsoCheck, Verdict};
use palisade_report::context::Context;
use palisade_report::documents::ViolationDocument;
use palisade_report::pso::{delay_words, text, verdict_words};
use palisade_report::subject::program_words;

/// The question that robustness against PSO answers.
const ROBUST: &str = "robust against PSO";

/// What a check against PSO found.
pub fn pso_findings(check: &PsoCheck, context: &Context<'_>) -> Answer {
    let mut findings = vec![robustness(check, context).answering(ROBUST)];
    findings.extend(warnings(context.program, context.warnings));
    Answer::new(context.file, context.seconds, findings, text(check, context, 0))
}

fn robustness(check: &PsoCheck, context: &Context<'_>) -> Finding {
    let program = context.program;
    let subject = program_words(program, context.changed);
    let words = verdict_words(&check.verdict);
    if let Verdict::Unknown(reason) = check.verdict {
        return Finding::new(Rule::NotRobust, Kind::Open, format!("{words}: {reason} [{subject}]"));
    }
    let Some(violation) = &check.violation else {
        return Finding::new(Rule::NotRobust, Kind::Pass, format!("{words} [{subject}]"));
    };
    let attack = violation.attack;
    let message = format!(
        "{words}: {}, and no interleaving explains what the threads then read [{subject}]",
        delay_words(program, violation)
    );
    let access = Region::instruction(program, attack.thread, attack.load);
    Finding {
        related: vec![(access, "the access that overtakes the store".to_owned())],
        steps: flow(program, &ViolationDocument::new(program, violation).steps),
        ..Finding::new(Rule::NotRobust, Kind::Fail, message)
    }
    .at(Region::instruction(program, attack.thread, attack.store))
}
