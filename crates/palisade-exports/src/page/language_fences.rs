//! The page of `palisade fences` against a language: changes of orderings and fences, and why each
//! is needed.

use super::body::{evidence_for_claims, warnings};
use super::fences::{diff, marked};
use super::told::story;
use super::{News, Page, line_link, paragraph, table};
use palisade_engine::fences::{LanguageChange, LanguageRepair, Measure};
use palisade_model::text::escaped;
use palisade_report::account::Shown;
use palisade_report::alternatives;
use palisade_report::context::Context;
use palisade_report::documents::{self, FencesDocument};
use palisade_report::fences::{change_words, not_asked};
use palisade_report::graph::GraphWords;
use palisade_report::language_fences::{Result, headline};
use palisade_report::subject::program_words;

/// The page of a repair against a language, from its document.
pub fn language_page(
    document: &FencesDocument<'_>,
    result: &Result<'_>,
    context: &Context<'_>,
    command: &str,
) -> String {
    let news = match &result.found.repair {
        LanguageRepair::Valid(_) => News::Good,
        LanguageRepair::Impossible(_) => News::Bad,
        LanguageRepair::Unknown(_) => News::Open,
    };
    let mut page = Page::new(context.file, news, headline(result));
    page.fact("program", &context.program.name);
    page.fact("for", program_words(context.program, context.changed));
    page.claim_of_language(context.program);
    result.notes.iter().for_each(|(heading, words)| page.fact(heading, words));
    if not_asked(context.program).is_some() {
        page.fact("not asked here", "what is stated, and who waits for ever (`palisade check`)");
    }
    page.fact("time", format!("{:.3} s", context.seconds));
    let source = marked(document, context, "fence(seq_cst)");
    page.section(source.title(), &source.html());
    page.section("Changes", &changes(result, context));
    if let LanguageRepair::Impossible(row) = &result.found.repair {
        page.section("Why none helps", &story(&Shown::of_graph(&row.stated, &row.violation)));
    }
    page.section("As little changed in other ways", &others(result, context));
    page.section("Why nothing less will do", &rows(result, context));
    page.section("Kept", &kept(result));
    page.section("The change", &document.diff.map(diff).unwrap_or_default());
    page.section("Warnings", &warnings(&document.warnings));
    let incomplete = "Not every claim on this page has evidence that was checked.";
    let found = evidence_for_claims(document.evidence, incomplete, document.certificates, command);
    page.section("Evidence", &found);
    page.finish(&documents::text(document))
}

/// The changes, each with what happens without it.
fn changes(result: &Result<'_>, context: &Context<'_>) -> String {
    let LanguageRepair::Valid(changes) = &result.found.repair else { return String::new() };
    let row = |own: &LanguageChange| {
        let without = own.returns.as_ref().map(|(violation, stated)| GraphWords::of(stated, violation).words);
        let line = line_link(own.measure.line(context.program));
        vec![escaped(change_words(context.program, own.measure)), line, escaped(without.unwrap_or_default())]
    };
    let rows: Vec<Vec<String>> = changes.iter().map(row).collect();
    if rows.is_empty() { String::new() } else { table(&["change", "", "without it"], &rows) }
}

/// The other sets of changes that cost as little, where they are asked for.
fn others(result: &Result<'_>, context: &Context<'_>) -> String {
    let set = |set: &Vec<Measure>| {
        let names: Vec<String> = set.iter().map(|own| escaped(change_words(context.program, *own))).collect();
        vec![names.join(", ")]
    };
    let rows: Vec<Vec<String>> = result.found.alternatives.iter().skip(1).map(set).collect();
    let more = if result.found.alternatives_complete { "" } else { "There may be more. " };
    if rows.is_empty() {
        String::new()
    } else {
        paragraph(format!("{more}Each is shown valid.")) + &table(&["changes"], &rows)
    }
}

/// The sets of changes of which one is needed.
fn rows(result: &Result<'_>, context: &Context<'_>) -> String {
    let one_of = |measures: &[Measure]| {
        let names: Vec<String> = measures.iter().map(|own| escaped(change_words(context.program, *own))).collect();
        vec![alternatives(names)]
    };
    let rows: Vec<Vec<String>> = result.found.rows.iter().map(|row| one_of(&row.measures)).collect();
    if rows.is_empty() {
        return String::new();
    }
    let words = "Each row has a violation that remains unless one of its changes is made, whatever else is changed.";
    paragraph(words) + &table(&["one of"], &rows)
}

/// The places of the sources that were not considered.
fn kept(result: &Result<'_>) -> String {
    let rows: Vec<Vec<String>> =
        result.kept.iter().map(|kept| vec![escaped(&kept.place), escaped(&kept.reason)]).collect();
    if rows.is_empty() { String::new() } else { table(&["place", "why no change was considered"], &rows) }
}
