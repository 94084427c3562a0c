//! The pages of `palisade check --criterion trf` and `palisade fences --criterion trf`.

use super::body::{confirmation_words, evidence, warnings};
use super::fences::place as measure_place;
use super::lanes::lanes;
use super::source::{Mark, Marked};
use super::{News, Page, paragraph, table};
use palisade_engine::fences::Measure;
use palisade_engine::properties::races::{Race, RaceFences, RaceVerdict, Races, implies_robustness};
use palisade_model::limits::StopReason;
use palisade_model::program::Program;
use palisade_model::text::escaped;
use palisade_report::context::{Context, place};
use palisade_report::counted;
use palisade_report::documents::{self, MeasurePlace, RaceFencesDocument, RacesDocument};
use palisade_report::races::{Corners, SECTIONS, computation, instance_words};
use palisade_report::subject::program_words;

/// The page of a check for triangular races, from its document.
pub fn race_page(document: &RacesDocument<'_>, races: &Races, context: &Context<'_>) -> String {
    let program = context.program;
    let (news, verdict) = match &races.verdict {
        RaceVerdict::Free(_) if implies_robustness(program) => {
            (News::Good, "free of triangular races, and robust for that")
        }
        RaceVerdict::Free(_) => (News::Good, "free of triangular races"),
        RaceVerdict::Racy(_) => (News::Bad, "has a triangular race"),
        RaceVerdict::Unknown(_) => (News::Open, "not decided"),
    };
    let mut page = Page::new(context.file, news, verdict);
    page.fact("program", &program.name);
    page.fact("for", program_words(program, context.changed));
    if let Some(reason) = &document.header.reason {
        page.fact("reason", reason);
    }
    if matches!(races.verdict, RaceVerdict::Free(_)) && !implies_robustness(program) {
        page.fact("note", SECTIONS);
    }
    page.fact("explored", counted(races.states, "configuration"));
    page.fact("time", format!("{:.3} s", context.seconds));
    page.doubt_if_rejected(document.evidence.as_ref());
    let mut source = Marked::new(&program.source);
    if let RaceVerdict::Racy(race) = &races.verdict {
        mark(&mut source, program, race);
    }
    page.section("Source", &source.html());
    if let RaceVerdict::Racy(race) = &races.verdict {
        page.section("The race", &shown(program, race));
    }
    page.section("Warnings", &warnings(&document.warnings));
    let command = format!("palisade check --criterion trf {}", context.file);
    let checked = confirmation_words(document.evidence.as_ref());
    page.section("Evidence", &evidence(document.certificates, checked, &command));
    page.finish(&documents::text(document))
}

/// The page of fences against triangular races, from its document.
pub fn race_fences_page(
    document: &RaceFencesDocument<'_>,
    found: Result<&RaceFences, StopReason>,
    context: &Context<'_>,
) -> String {
    let program = context.program;
    let (news, verdict) = match found {
        Ok(fences) if fences.measures.is_empty() => (News::Good, "free of triangular races as it is".to_owned()),
        Ok(fences) => {
            let count = counted(fences.measures.len(), "fence");
            (News::Good, format!("{count} against all triangular races, none cheaper"))
        }
        Err(_) => (News::Open, "no valid set of fences is known".to_owned()),
    };
    let mut page = Page::new(context.file, news, verdict);
    page.fact("program", &program.name);
    page.fact("for", program_words(program, context.changed));
    if let Some(cost) = &document.cost {
        page.fact("cost", cost);
    }
    if let Some(reason) = &document.reason {
        page.fact("reason", reason);
    }
    page.fact("time", format!("{:.3} s", context.seconds));
    let mut source = Marked::new(&program.source);
    if let Ok(fences) = found {
        for measure in &fences.measures {
            source.mark(measure.line(program), Mark::Fence, "mfence here");
        }
    }
    page.section("Source", &source.html());
    if let Ok(fences) = found {
        page.section("Fences", &measures(program, &fences.measures));
        page.section("Why nothing cheaper will do", &rows(program, fences));
        let words = "The checker, which shares no code with the search, accepted the proof that the program with these fences has no triangular race.";
        page.section("Evidence", &paragraph(words));
    }
    page.finish(&documents::text(document))
}

fn mark(source: &mut Marked<'_>, program: &Program, race: &Race) {
    let corners = Corners::of(race);
    let line =
        |thread, instruction| program.source.position(program.thread(thread).instruction(instruction).span.start).line;
    source.mark(line(corners.threads.0, corners.store), Mark::Earlier, "store before the load");
    source.mark(line(corners.threads.0, corners.load), Mark::Later, "load of the race");
    source.mark(line(corners.threads.1, corners.racing), Mark::Racing, "");
}

/// The race in a sentence, and its computation.
fn shown(program: &Program, race: &Race) -> String {
    let corners = Corners::of(race);
    let words = format!(
        "The load at {} comes after the store at {} without a fence, and races with the store at {}.",
        place(program, corners.threads.0, corners.load),
        place(program, corners.threads.0, corners.store),
        place(program, corners.threads.1, corners.racing),
    );
    let instance = instance_words(program, race).map_or_else(String::new, |words| paragraph(format!("With {words}.")));
    paragraph(words) + &instance + &lanes(&computation(program, race))
}

fn measures(program: &Program, measures: &[Measure]) -> String {
    let rows: Vec<Vec<String>> =
        measures.iter().map(|measure| vec![measure_place(MeasurePlace::new(program, *measure))]).collect();
    if rows.is_empty() { String::new() } else { table(&["fence"], &rows) }
}

/// The races, each with the fences that stop it.
fn rows(program: &Program, fences: &RaceFences) -> String {
    let row = |(row, race): &(Vec<Measure>, Race)| {
        let one_of: Vec<String> =
            row.iter().map(|measure| measure_place(MeasurePlace::new(program, *measure))).collect();
        let corners = Corners::of(race);
        let load = place(program, corners.threads.0, corners.load);
        vec![one_of.join(" or "), escaped(format!("the load at {load}"))]
    };
    let rows: Vec<Vec<String>> = fences.rows.iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let words = "Each row has a race that remains unless one of its fences stands; no cheaper set has one of each.";
    paragraph(words) + &table(&["one of", "otherwise races"], &rows)
}
