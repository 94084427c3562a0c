//! The findings of `palisade fences --ask properties`: fences that the properties need, each with
//! the change of the text.

use super::fences::taking;
use super::told::flow;
use super::{Answer, Finding, Kind, Region, Rule, warnings};
use palisade_engine::fences::{Cost, Measure};
use palisade_engine::properties::placement::{Placed, PropertyPlacement};
use palisade_report::computation::ComputationReport;
use palisade_report::context::Context;
use palisade_report::models::model_name;
use palisade_report::properties::Properties;
use palisade_report::property_fences::{Result, property_name, text};
use palisade_report::subject::program_words;
use palisade_syntax::Format;

/// What a placement for properties found.
pub fn property_fence_findings(result: &Result<'_>, context: &Context<'_>, format: Format) -> Answer {
    let program = context.program;
    let (model, subject) = (model_name(result.model), program_words(program, context.changed));
    let properties = Properties { program, question: None };
    let place = |target| properties.span(target).map(|span| Region::of(&program.source, span));
    let steps_of = |program, violation| flow(program, &ComputationReport::of_property(program, violation));
    let mut findings = match &result.found.placed {
        Placed::Valid(placement) => placed(placement, result, context, format),
        Placed::NoFenceHelps(violation) => {
            let name = property_name(program, violation.target);
            let message = format!("no fence helps: {name} is violated under SC [{subject}]");
            let mut finding = Finding::new(Rule::PROPERTY_VIOLATED, Kind::Fail, message);
            finding.place = place(violation.target);
            finding.steps = steps_of(&result.found.watched, violation);
            vec![finding]
        }
        Placed::Impossible(impossible) => {
            let name = property_name(program, impossible.run.target);
            let message = format!("whatever is changed, {name} is violated under {model} [{subject}]");
            let mut finding = Finding::new(Rule::PROPERTY_VIOLATED, Kind::Fail, message);
            finding.place = place(impossible.run.target);
            let shown = impossible.violation.as_ref();
            finding.steps = shown.map(|violation| steps_of(&impossible.program, violation)).unwrap_or_default();
            vec![finding]
        }
    };
    findings[0].question = Some(format!("keeps its properties under {model} as it is"));
    findings.extend(warnings(program, context.warnings));
    Answer::new(context.file, context.seconds, findings, text(result, context, 0))
}

/// The measures of a set, each with the change of the text that takes it alone.
fn placed(placement: &PropertyPlacement, result: &Result<'_>, context: &Context<'_>, format: Format) -> Vec<Finding> {
    let program = context.program;
    let (model, subject) = (model_name(result.model), program_words(program, context.changed));
    if placement.measures.is_empty() {
        let (kind, words) = match &placement.open {
            None => (Kind::Pass, format!("the properties hold under {model} as they are")),
            Some(_) => (Kind::Open, format!("whether the properties hold under {model} is open")),
        };
        return vec![Finding::new(Rule::MISSING_FENCE, kind, format!("{words} [{subject}]"))];
    }
    let count = placement.measures.len();
    let finding = |((measure, cost), number): (&(Measure, Cost), usize)| {
        let without = placement.row_of(*measure).map_or(String::new(), |row| {
            format!("; without it, {} is violated under {model}", property_name(program, row.run.target))
        });
        taking((program, format), *measure, (number, count), &format!(", cost {cost}{without}"))
    };
    placement.measures.iter().zip(1..).map(finding).collect()
}
