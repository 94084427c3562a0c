//! The findings of fences against triangular races.

use super::fences::taking;
use super::{Answer, Finding, Kind, Rule, warnings};
use palisade_engine::properties::races::RaceFences;
use palisade_model::limits::StopReason;
use palisade_report::context::Context;
use palisade_report::races::fences_text;
use palisade_report::subject::program_words;
use palisade_syntax::Format;

/// The question about races.
const RACE_FREE: &str = "free of triangular races";

/// The fences that stop all triangular races, each with the change of the text.
pub fn race_fence_findings(found: Result<&RaceFences, StopReason>, context: &Context<'_>, format: Format) -> Answer {
    let program = context.program;
    let subject = program_words(program, context.changed);
    let about = |kind: Kind, words: &str| Finding::new(Rule::MISSING_FENCE, kind, format!("{words} [{subject}]"));
    let mut findings = match found {
        Ok(fences) if fences.measures.is_empty() => vec![about(Kind::Pass, "no triangular race")],
        Ok(fences) => {
            let count = fences.measures.len();
            let measures = fences.measures.iter().zip(1..);
            measures
                .map(|(measure, number)| {
                    taking((program, format), *measure, (number, count), " against triangular races")
                })
                .collect()
        }
        Err(reason) => vec![about(Kind::Open, &format!("no valid set of fences is known: {reason}"))],
    };
    findings[0].question = Some(RACE_FREE.to_owned());
    findings.extend(warnings(program, context.warnings));
    Answer::new(context.file, context.seconds, findings, fences_text(found, context, 0))
}
