//! The pages of `palisade check --ask races` and `palisade fences --ask races`.

use super::fences::place as measure_place;
use super::source::Marked;
use super::{News, Page, paragraph, table};
use palisade_engine::fences::Measure;
use palisade_engine::properties::races::{Race, RaceFences};
use palisade_model::limits::StopReason;
use palisade_model::program::Program;
use palisade_model::text::escaped;
use palisade_report::account::Mark;
use palisade_report::context::Context;
use palisade_report::documents::{self, MeasurePlace, RaceFencesDocument};
use palisade_report::races::Corners;
use palisade_report::subject::program_words;
use palisade_report::{alternatives, counted};

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
    page.claim(program);
    page.fact("time", format!("{:.3} s", context.seconds));
    let mut source = Marked::new(&program.source);
    if let Ok(fences) = found {
        for measure in &fences.measures {
            source.mark(measure.line(program), Mark::Fence, "mfence before this");
        }
    }
    page.section(source.title(), &source.html());
    if let Ok(fences) = found {
        page.section("Fences", &measures(program, &fences.measures));
        page.section("Why nothing cheaper will do", &rows(program, fences));
        let words = "The checker, which shares no code with the search, accepted the proof that the program with these fences has no triangular race.";
        page.section("Evidence", &paragraph(words));
    }
    page.finish(&documents::text(document))
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
        let load = program.place(corners.threads.0, corners.load);
        vec![alternatives(one_of), escaped(format!("the load at {load}"))]
    };
    let rows: Vec<Vec<String>> = fences.rows.iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let words = "Each row has a race that remains unless one of its fences stands; no cheaper set has one of each.";
    paragraph(words) + &table(&["one of", "otherwise races"], &rows)
}
