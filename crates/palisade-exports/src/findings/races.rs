//! The findings of `palisade check --criterion trf` and `palisade fences --criterion trf`.

use super::fences::taking;
use super::{Answer, Finding, Kind, Region, Rule, flow, warnings};
use palisade_engine::properties::races::{RaceFences, RaceVerdict, Races};
use palisade_model::limits::StopReason;
use palisade_report::context::{Context, place};
use palisade_report::documents::steps;
use palisade_report::races::{Corners, computation, fences_text, text};
use palisade_report::subject::program_words;
use palisade_syntax::Format;

/// The question about races.
const RACE_FREE: &str = "free of triangular races";

/// What a check for triangular races found.
pub fn race_findings(races: &Races, context: &Context<'_>) -> Answer {
    let mut findings = vec![finding(races, context).answering(RACE_FREE)];
    findings.extend(warnings(context.program, context.warnings));
    Answer::new(context.file, context.seconds, findings, text(races, context, 0))
}

fn finding(races: &Races, context: &Context<'_>) -> Finding {
    let program = context.program;
    let subject = program_words(program, context.changed);
    let race = match &races.verdict {
        RaceVerdict::Free(_) => {
            return Finding::new(Rule::TriangularRace, Kind::Pass, format!("no triangular race [{subject}]"));
        }
        RaceVerdict::Unknown(reason) => {
            return Finding::new(Rule::TriangularRace, Kind::Open, format!("not decided: {reason} [{subject}]"));
        }
        RaceVerdict::Racy(race) => race,
    };
    let corners = Corners::of(race);
    let message = format!(
        "the load at {} comes after the store at {} without a fence and races with the store at {} [{subject}]",
        place(program, corners.threads.0, corners.load),
        place(program, corners.threads.0, corners.store),
        place(program, corners.threads.1, corners.racing),
    );
    let region = |thread, instruction| Region::instruction(program, thread, instruction);
    Finding {
        related: vec![
            (region(corners.threads.0, corners.store), "the store before it".to_owned()),
            (region(corners.threads.1, corners.racing), "the store that it races with".to_owned()),
        ],
        steps: flow(program, &steps(&computation(program, race))),
        ..Finding::new(Rule::TriangularRace, Kind::Fail, message)
    }
    .at(region(corners.threads.0, corners.load))
}

/// The fences that stop all triangular races, each with the change of the text.
pub fn race_fence_findings(found: Result<&RaceFences, StopReason>, context: &Context<'_>, format: Format) -> Answer {
    let program = context.program;
    let subject = program_words(program, context.changed);
    let about = |kind: Kind, words: &str| Finding::new(Rule::MissingFence, kind, format!("{words} [{subject}]"));
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
