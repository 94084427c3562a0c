//! The findings of `palisade fences` where remedies are sought round by round: for robustness of
//! events and tasks, and against hangs.

use super::fences::{ROBUST, taking};
use super::told::{flow, scene_flow};
use super::{Answer, Finding, Kind, Rule, warnings};
use palisade_engine::fences::Remedy;
use palisade_evidence::RowWitness;
use palisade_report::context::Context;
use palisade_report::remedies::{Replayed, Result, subject, text};
use palisade_report::scene::Scene;
use palisade_report::tso::Computation;
use palisade_syntax::Format;

/// What the search for a remedy found.
pub fn remedy_findings(result: &Result<'_>, context: &Context<'_>, format: Format) -> Answer {
    let program = context.program;
    let (headline, subject) = (result.headline(), subject(context));
    let question = if result.is_for_robustness() { ROBUST.to_owned() } else { format!("{} as it is", result.wanted()) };
    let about = |rule, kind: Kind| Finding::new(rule, kind, format!("{headline} [{subject}]"));
    let mut findings = match &result.found.remedy {
        Remedy::Valid(measures, _) if measures.is_empty() => vec![about(Rule::MISSING_FENCE, Kind::Pass)],
        Remedy::Valid(measures, _) => {
            let count = measures.len();
            let missing = measures.iter().zip(1..).map(|((measure, cost), number)| {
                taking((program, format), *measure, (number, count), &format!(", cost {cost}"))
            });
            missing.collect()
        }
        Remedy::Impossible(shown) => {
            let (rule, steps) = match &**shown {
                (_, RowWitness::Tasks(witness)) => {
                    let computation = Computation::of(program, witness);
                    let steps = computation.map(|shown| scene_flow(&Scene::of_computation(&shown)));
                    (Rule::MISSING_FENCE, steps.unwrap_or_default())
                }
                (program, RowWitness::Stuck(witness)) => {
                    (Rule::HANG, flow(program, &Replayed::of(program, witness).report()))
                }
                _ => (Rule::MISSING_FENCE, Vec::new()),
            };
            let mut finding = about(rule, Kind::Fail);
            finding.steps = steps;
            vec![finding]
        }
        Remedy::Unknown(_) => vec![about(Rule::MISSING_FENCE, Kind::Open)],
    };
    findings[0].question = Some(question);
    findings.extend(warnings(program, context.warnings));
    Answer::new(context.file, context.seconds, findings, text(result, context, 0))
}
