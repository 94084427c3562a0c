//! The page of `palisade fences` where remedies are sought round by round: for robustness of events
//! and tasks, and against hangs.

use super::body::{evidence_for_claims, warnings};
use super::fences::{diff, marked, place};
use super::lanes::lanes;
use super::scene::scene_table;
use super::{News, Page, paragraph, table, worded};
use palisade_engine::fences::Remedy;
use palisade_evidence::RowWitness;
use palisade_report::alternatives;
use palisade_report::context::Context;
use palisade_report::documents::{self, FencesDocument, MeasurePlace, PlacedMeasure};
use palisade_report::remedies::{Replayed, Result, WITH_ALL, subject};
use palisade_report::scene::Scene;
use palisade_report::tso::Computation;

/// The page of a remedy, from its document.
pub fn remedy_page(document: &FencesDocument<'_>, result: &Result<'_>, context: &Context<'_>, command: &str) -> String {
    let (news, verdict) = headline(result);
    let is_of_language = result.found.claim.language().is_some();
    let mut page = Page::new(context.file, news, verdict);
    page.fact("program", &context.program.name);
    page.fact("for", subject(context));
    if let Some(cost) = &document.exact_cost {
        page.fact("cost", cost);
    }
    if let Some(reason) = &document.header.reason {
        page.fact("reason", reason);
    }
    let fence = if is_of_language { "fence(seq_cst)" } else { "mfence" };
    if is_of_language {
        page.claim_of_language(context.program);
    } else {
        page.claim(context.program);
    }
    page.fact("time", format!("{:.3} s", context.seconds));
    let source = marked(document, context, fence);
    page.section(source.title(), &source.html());
    page.section("Changes", &changes(document, result));
    page.section("Why none helps", &violation(result, context));
    page.section("Why nothing cheaper will do", &rows(result, context));
    page.section("The change", &document.diff.map(diff).unwrap_or_default());
    page.section("Warnings", &warnings(&document.warnings));
    let incomplete = "A limit was reached before every claim had evidence that was checked.";
    let found = evidence_for_claims(document.evidence, incomplete, document.certificates, command);
    page.section("Evidence", &found);
    page.finish(&documents::text(document))
}

fn headline(result: &Result<'_>) -> (News, String) {
    match &result.found.remedy {
        Remedy::Valid(measures, _) if measures.is_empty() => (News::Good, format!("{} as it is", result.wanted())),
        Remedy::Valid(..) => (News::Good, result.headline()),
        Remedy::Impossible(_) if result.is_for_robustness() => {
            (News::Bad, "no valid set under the restrictions".to_owned())
        }
        Remedy::Impossible(_) => (News::Bad, result.headline()),
        Remedy::Unknown(_) => (News::Open, "no valid set of changes is known".to_owned()),
    }
}

/// The changes of the set, each with its cost.
fn changes(document: &FencesDocument<'_>, result: &Result<'_>) -> String {
    let otherwise = |measure| result.found.row_of(measure).map_or(String::new(), |_| worded(result.otherwise()));
    let without: Vec<String> = result.found.measures().into_iter().map(otherwise).collect();
    let placed = document.fences.iter().flatten().zip(without);
    let row =
        |(placed, without): (&PlacedMeasure<'_>, String)| vec![place(placed.measure), placed.cost.to_string(), without];
    let rows: Vec<Vec<String>> = placed.map(row).collect();
    if rows.is_empty() { String::new() } else { table(&["change", "cost", "without it"], &rows) }
}

/// The computation that nothing stops; nothing where something does.
fn violation(result: &Result<'_>, context: &Context<'_>) -> String {
    let Remedy::Impossible(shown) = &result.found.remedy else { return String::new() };
    let shown = match &**shown {
        (_, RowWitness::Tasks(witness)) => {
            let shown = Computation::of(context.program, witness);
            shown.map_or_else(String::new, |shown| scene_table(&Scene::of_computation(&shown)))
        }
        (program, RowWitness::Stuck(witness)) => lanes(&Replayed::of(program, witness).report()),
        _ => return String::new(),
    };
    paragraph(WITH_ALL) + &shown
}

/// The sets of changes of which one is needed.
fn rows(result: &Result<'_>, context: &Context<'_>) -> String {
    let row = |(row, _): &(Vec<palisade_engine::fences::Measure>, _)| {
        let one_of: Vec<String> =
            row.iter().map(|measure| place(MeasurePlace::new(context.program, *measure))).collect();
        vec![alternatives(one_of)]
    };
    let rows: Vec<Vec<String>> = result.found.rows.iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let words = "Each row has a violation that remains unless one of its changes is made, whatever else is changed; no cheaper set has one of each.";
    paragraph(words) + &table(&["one of"], &rows)
}
