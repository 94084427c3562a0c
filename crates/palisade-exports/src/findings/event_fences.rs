//! The findings of `palisade fences` about programs of events and tasks.

use super::fences::{ROBUST, taking};
use super::told::scene_flow;
use super::{Answer, Finding, Kind, Rule, warnings};
use palisade_engine::fences::EventRepair;
use palisade_report::context::Context;
use palisade_report::event_fences::{Result, text};
use palisade_report::scene::Scene;
use palisade_report::tso::{Computation, instance_words};
use palisade_syntax::Format;

/// What a repair of a program of events and tasks found.
pub fn event_fence_findings(result: &Result<'_>, context: &Context<'_>, format: Format) -> Answer {
    let program = context.program;
    let subject = instance_words(program);
    let about = |kind: Kind, message: String| {
        Finding::new(Rule::MISSING_FENCE, kind, format!("{message} [{subject}]")).answering(ROBUST)
    };
    let mut findings = match &result.found.repair {
        EventRepair::Valid(measures, _) if measures.is_empty() => {
            vec![about(Kind::Pass, "robust against TSO: no fence is needed".to_owned())]
        }
        EventRepair::Valid(measures, _) => {
            let count = measures.len();
            let missing = measures.iter().zip(1..).map(|((measure, cost), number)| {
                taking((program, format), *measure, (number, count), &format!(", cost {cost}"))
            });
            let mut missing: Vec<Finding> = missing.collect();
            missing[0].question = Some(ROBUST.to_owned());
            missing
        }
        EventRepair::Impossible(witness) => {
            let mut finding = about(Kind::Fail, "nothing that is permitted makes it robust against TSO".to_owned());
            let computation = Computation::of(program, witness);
            finding.steps = computation.map_or_else(Vec::new, |shown| scene_flow(&Scene::of_computation(&shown)));
            vec![finding]
        }
        EventRepair::Unknown(reason) => {
            vec![about(Kind::Open, format!("fences for robustness against TSO are unknown: {reason}"))]
        }
    };
    findings.extend(warnings(program, context.warnings));
    Answer::new(context.file, context.seconds, findings, text(result, context, 0))
}
