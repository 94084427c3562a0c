//! The findings of `palisade fences --ask properties --objective pairs`: pairs of statements that
//! must not be reordered.

use super::{Answer, Finding, Kind, Region, Rule, warnings};
use palisade_engine::properties::placement::pairs::{Pair, PairPlacement, PairsPlaced};
use palisade_report::context::Context;
use palisade_report::models::model_name;
use palisade_report::pairs::{Result, headline, text, words};
use palisade_report::subject::program_words;

/// What a placement of bans found.
pub fn pair_findings(result: &Result<'_>, context: &Context<'_>) -> Answer {
    let program = context.program;
    let model = model_name(result.options.model);
    let about = |rule: &'static Rule, kind: Kind| {
        let subject = program_words(program, context.changed);
        Finding::new(rule, kind, format!("{} [{subject}]", headline(result.placed)))
    };
    let mut findings = match result.placed {
        Ok(PairsPlaced::Valid(placement)) if placement.bans.is_empty() => {
            let kind = if placement.is_proved { Kind::Pass } else { Kind::Open };
            vec![about(Rule::MISSING_FENCE, kind)]
        }
        Ok(PairsPlaced::Valid(placement)) => bans(placement, context),
        Ok(PairsPlaced::NoBanHelps(_)) => vec![about(Rule::PROPERTY_VIOLATED, Kind::Fail)],
        Err(_) => vec![about(Rule::MISSING_FENCE, Kind::Open)],
    };
    findings[0].question = Some(format!("keeps its properties under {model} as it is"));
    findings.extend(warnings(program, context.warnings));
    Answer::new(context.file, context.seconds, findings, text(result, context, 0))
}

fn bans(placement: &PairPlacement, context: &Context<'_>) -> Vec<Finding> {
    let program = context.program;
    let proved = if placement.is_proved { "" } else { ", as far as was looked" };
    let finding = |pair: &Pair| {
        let message = format!("{} must stay in order{proved}", words(program, *pair));
        let region = |instruction| Region::instruction(program, pair.thread, instruction);
        Finding {
            related: vec![(region(pair.access), "the access that must not overtake it".to_owned())],
            ..Finding::new(Rule::MISSING_FENCE, Kind::Fail, message)
        }
        .at(region(pair.store))
    };
    placement.bans.iter().map(finding).collect()
}
