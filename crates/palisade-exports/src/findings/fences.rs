//! The findings of `palisade fences`: fences to add and fences that can go, each with the change of
//! the text.

use super::place::without_fence;
use super::{Answer, Finding, Fix, Kind, Region, Rule, warnings};
use palisade_engine::fences::{Measure, Placement, Redundancy, Repair, RepairedText};
use palisade_engine::robustness::Attack;
use palisade_model::program::{Action, Program};
use palisade_model::text::{SourceText, Span};
use palisade_report::context::Context;
use palisade_report::documents::VerdictWord;
use palisade_report::fences::{Result, kind, measure_words, text};
use palisade_report::subject::program_words;
use palisade_report::verdict::before_the_repair;
use palisade_syntax::{self, Format};
use std::collections::BTreeMap;

/// The question that a repair answers.
pub(super) const ROBUST: &str = "robust against x86-TSO as it is";

/// In sets of more measures than this the findings come without the change that takes one alone:
/// each reads the text once more.
const MOST_CHANGES: usize = 200;

/// What a repair found.
pub fn fence_findings(result: &Result<'_>, context: &Context<'_>, format: Format) -> Answer {
    let program = context.program;
    let subject = program_words(program, context.changed);
    let open = |message: String| Finding::new(Rule::MISSING_FENCE, Kind::Open, message);
    let mut findings = match &result.found.repair {
        Repair::Valid(placement) if placement.measures.is_empty() => vec![match before_the_repair(placement) {
            VerdictWord::Robust => {
                let message = format!("robust against x86-TSO as it is [{subject}]");
                Finding::new(Rule::MISSING_FENCE, Kind::Pass, message)
            }
            _ => open(format!("no valid set of fences is known [{subject}]")),
        }],
        Repair::Valid(placement) => missing(program, format, placement),
        Repair::Impossible(attack) => {
            let message = format!("whatever is changed, {} stays feasible", attack_words(program, *attack));
            vec![Finding::new(Rule::MISSING_FENCE, Kind::Fail, message).at(store_of(program, *attack))]
        }
        Repair::Unknown { reason, .. } => {
            vec![open(format!("no valid set of fences is known: {} [{subject}]", reason.describe(program)))]
        }
    };
    findings[0].question = Some(ROBUST.to_owned());
    if let Some(Ok(redundancy)) = &result.found.redundancy {
        findings.extend(removable(program, format, redundancy));
    }
    findings.extend(warnings(program, context.warnings));
    Answer::new(context.file, context.seconds, findings, text(result, context, 0))
}

/// The measures of a set, each with the change of the text that takes it alone.
fn missing(program: &Program, format: Format, placement: &Placement) -> Vec<Finding> {
    let count = placement.measures.len();
    let measures = placement.measures.iter().zip(1..).map(|((measure, cost), number)| {
        let returning = placement.returning.iter().find(|returning| returning.measure == *measure);
        let without = returning.map_or(String::new(), |returning| {
            format!("; without it, {} stays feasible", attack_words(program, returning.attack))
        });
        Finding {
            related: returning
                .map(|it| (store_of(program, it.attack), "the store that is delayed".to_owned()))
                .into_iter()
                .collect(),
            ..taking((program, format), *measure, (number, count), &format!(", cost {cost}{without}"))
        }
    });
    measures.collect()
}

/// A measure that is to be taken, one of so many, with more words and the change of the text that
/// takes it alone.
pub(super) fn taking(
    (program, format): (&Program, Format),
    measure: Measure,
    (number, count): (usize, usize),
    more: &str,
) -> Finding {
    let message = format!("{} {number} of {count}: {}{more}", kind(measure), measure_words(program, measure));
    let finding = Finding::new(Rule::MISSING_FENCE, Kind::Fail, message).at(region(program, measure));
    let fix = if count <= MOST_CHANGES { taken(program, format, measure) } else { None };
    Finding { fix, ..finding }
}

/// The change of the text that takes a measure.
fn taken(program: &Program, format: Format, measure: Measure) -> Option<Fix> {
    let text = RepairedText::new(program, &format, &[measure], &program.source.name).ok()?;
    let message = format!("Take the {} at {}", kind(measure), measure_words(program, measure));
    Fix::between(&program.source, text.text(), message)
}

/// The fences that can go together. Copies of one text go together or not at all.
fn removable(program: &Program, format: Format, redundancy: &Redundancy) -> Vec<Finding> {
    let mut written: BTreeMap<Span, Vec<Measure>> = BTreeMap::new();
    for (fence, _) in &redundancy.fences {
        written.entry(fence.span(program)).or_default().push(*fence);
    }
    let can_go = |fences: &Vec<Measure>| fences.iter().all(|fence| redundancy.removable.contains(fence));
    let finding = |(span, fences): (Span, Vec<Measure>)| {
        let message = format!(
            "the fence at {} can go: every attack that it rules out, others rule out, too",
            measure_words(program, fences[0])
        );
        let mut finding =
            Finding::new(Rule::REDUNDANT_FENCE, Kind::Fail, message).at(Region::of(&program.source, span));
        finding.fix = removed(program, format, span);
        finding
    };
    written.into_iter().filter(|(_, fences)| can_go(fences)).map(finding).collect()
}

/// The change of the text that takes a fence away, if the text read again has one fence text less.
fn removed(program: &Program, format: Format, span: Span) -> Option<Fix> {
    let text = without_fence(program, format, span)?;
    let read = palisade_syntax::parse(SourceText::new(program.source.name.clone(), text.clone()), format).ok()?.program;
    let fences = |program: &Program| -> Vec<usize> {
        let is_fence = |thread: &palisade_model::program::Thread| {
            thread.instructions.iter().filter(|instruction| instruction.action == Action::Fence).count()
        };
        program.threads.iter().map(is_fence).collect()
    };
    let at_span = |thread: &palisade_model::program::Thread| {
        let here = thread.instructions.iter().filter(|it| it.action == Action::Fence && it.span == span);
        here.count()
    };
    let gone: Vec<usize> = program.threads.iter().map(at_span).collect();
    let expected: Vec<usize> = fences(program).iter().zip(&gone).map(|(all, gone)| all - gone).collect();
    if fences(&read) != expected {
        return None;
    }
    Fix::between(&program.source, &text, "Take the fence away")
}

/// Where a measure stands in the text.
fn region(program: &Program, measure: Measure) -> Region {
    Region::of(&program.source, measure.span(program))
}

fn store_of(program: &Program, attack: Attack) -> Region {
    Region::instruction(program, attack.thread, attack.store)
}

fn attack_words(program: &Program, attack: Attack) -> String {
    let (store, load) = (program.place(attack.thread, attack.store), program.place(attack.thread, attack.load));
    format!("the store at {store} past the load at {load}")
}
