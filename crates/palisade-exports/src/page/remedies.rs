//! The page of `palisade fences` where remedies are sought round by round: for robustness of events
//! and tasks, and against hangs.

use super::body::{Written, evidence, warnings};
use super::fences::{diff, marked, place};
use super::lanes::lanes;
use super::scene::scene_table;
use super::{News, Page, paragraph, table};
use palisade_engine::fences::Remedy;
use palisade_evidence::RowWitness;
use palisade_report::context::Context;
use palisade_report::documents::{self, EvidenceWord, FencesDocument, MeasurePlace};
use palisade_report::remedies::{Replayed, Result, subject};
use palisade_report::scene::Scene;
use palisade_report::tso::Computation;

/// The page of a remedy, from its document.
pub fn remedy_page(document: &FencesDocument<'_>, result: &Result<'_>, context: &Context<'_>, command: &str) -> String {
    let (news, verdict) = headline(result);
    let mut page = Page::new(context.file, news, verdict);
    page.fact("program", &context.program.name);
    page.fact("for", subject(context));
    if let Some(cost) = &document.exact_cost {
        page.fact("cost", cost);
    }
    if let Some(reason) = &document.header.reason {
        page.fact("reason", reason);
    }
    page.fact("time", format!("{:.3} s", context.seconds));
    page.section("Source", &marked(document, context).html());
    page.section("Changes", &changes(document));
    page.section("Why none helps", &violation(result, context));
    page.section("Why nothing cheaper will do", &rows(result, context));
    page.section("The change", &document.diff.map(diff).unwrap_or_default());
    page.section("Warnings", &warnings(&document.warnings));
    let checked = match document.evidence {
        Some(EvidenceWord::Accepted) => {
            "The checker, which shares no code with the search, accepted the evidence for every claim on this page."
        }
        Some(EvidenceWord::Incomplete) => "A limit was reached before every claim had evidence that was checked.",
        None => "There is no evidence for this answer.",
    };
    page.section("Evidence", &evidence(document.certificates, checked, command, Written::Folder));
    page.finish(&documents::text(document))
}

fn headline(result: &Result<'_>) -> (News, String) {
    match &result.found.remedy {
        Remedy::Valid(measures, _) => match measures.len() {
            0 => (News::Good, format!("{} as it is", result.wanted())),
            1 => (News::Good, "1 change needed, none cheaper".to_owned()),
            count => (News::Good, format!("{count} changes needed, none cheaper")),
        },
        Remedy::Impossible(_) if result.is_for_robustness() => {
            (News::Bad, "no valid set under the restrictions".to_owned())
        }
        Remedy::Impossible(_) => (News::Bad, result.headline()),
        Remedy::Unknown(_) => (News::Open, "no valid set of changes is known".to_owned()),
    }
}

/// The changes of the set, each with its cost.
fn changes(document: &FencesDocument<'_>) -> String {
    let placed = document.fences.iter().flatten();
    let rows: Vec<Vec<String>> = placed.map(|placed| vec![place(placed.measure), placed.cost.to_string()]).collect();
    if rows.is_empty() { String::new() } else { table(&["change", "cost"], &rows) }
}

/// The computation that nothing stops; nothing where something does.
fn violation(result: &Result<'_>, context: &Context<'_>) -> String {
    let Remedy::Impossible(shown) = &result.found.remedy else { return String::new() };
    match &**shown {
        (_, RowWitness::Tasks(witness)) => {
            let shown = Computation::of(context.program, witness);
            shown.map_or_else(String::new, |shown| scene_table(&Scene::of_computation(&shown)))
        }
        (program, RowWitness::Stuck(witness)) => lanes(&Replayed::of(program, witness).report()),
        _ => String::new(),
    }
}

/// The sets of changes of which one is needed.
fn rows(result: &Result<'_>, context: &Context<'_>) -> String {
    let row = |(row, _): &(Vec<palisade_engine::fences::Measure>, _)| {
        let one_of: Vec<String> =
            row.iter().map(|measure| place(MeasurePlace::new(context.program, *measure))).collect();
        vec![one_of.join(" or ")]
    };
    let rows: Vec<Vec<String>> = result.found.rows.iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let words = "Each row has a violation that remains unless one of its changes is made, whatever else is changed; no cheaper set has one of each.";
    paragraph(words) + &table(&["one of"], &rows)
}
