//! The page of `palisade orderings`: which orderings can be weaker, and what happens with those
//! that cannot.

use super::body::{evidence_for_claims, warnings};
use super::cycle::cycle;
use super::fences::diff;
use super::source::Marked;
use super::told::story;
use super::{News, Page, line_link, paragraph, section, table, worded};
use palisade_engine::fences::{Needed, OrderedPlace, Orderings};
use palisade_model::program::Program;
use palisade_model::text::escaped;
use palisade_report::account::{Mark, Shown};
use palisade_report::context::Context;
use palisade_report::documents;
use palisade_report::graph::GraphWords;
use palisade_report::orderings::{
    OrderingsDocument, Result, StatedProperty, code, headline, line, may_be, reasons_shown, weaker, word,
};
use palisade_report::subject::program_words;

/// The page about the orderings of a program. The command is what asks the same again.
pub fn orderings_page(result: &Result<'_>, context: &Context<'_>, command: &str) -> String {
    let (program, found) = (context.program, result.found);
    let is_violated = result.properties.iter().any(|property| property.holds == Some(false));
    let news = match &found.orderings {
        Orderings::NotRobust(_) => News::Bad,
        Orderings::Weakest(_) if is_violated => News::Bad,
        Orderings::Weakest(_) => News::Good,
        Orderings::Unknown(_) => News::Open,
    };
    let document = OrderingsDocument::new(result, context);
    let mut page = Page::new(context.file, news, headline(found));
    page.fact("program", &program.name);
    page.fact("for", program_words(program, context.changed));
    page.claim_of_language(program);
    result.notes.iter().for_each(|(heading, words)| page.fact(heading, words));
    page.fact("time", format!("{:.3} s", context.seconds));
    let mut sections = section("Properties under SC", &properties(result.properties));
    sections.push_str(&section("Orderings", &places(program, result.places())));
    sections.push_str(&section("With weaker orderings", &violations(program, result.places())));
    if let Orderings::NotRobust(row) = &found.orderings {
        sections.push_str(&section("How it happens", &graph(&Shown::of_graph(&row.stated, &row.violation))));
    }
    page.beside(&marked(program, result.places()), &sections);
    page.section("Not judged", &kept(result));
    page.section("The change", &diff(result.diff()));
    page.section("Warnings", &warnings(&document.warnings));
    let incomplete = "Not every claim on this page has evidence that was checked.";
    let found = evidence_for_claims(document.evidence, incomplete, document.certificates, command);
    page.section("Evidence", &found);
    page.finish(&documents::text(&document))
}

/// The source, with what can be weaker and what cannot.
fn marked<'a>(program: &'a Program, places: &[OrderedPlace]) -> Marked<'a> {
    let mut marked = Marked::new(&program.source);
    for place in places {
        let (mark, words) = if place.together == place.stated {
            (Mark::Needed, format!("{} is needed", word(place, place.stated)))
        } else {
            (Mark::Weaker, may_be(place))
        };
        let fails = if place.failing { ", when it fails" } else { "" };
        marked.mark(line(program, place), mark, format!("{words}{fails}"));
    }
    marked
}

/// What the program states, under interleavings.
fn properties(properties: &[StatedProperty]) -> String {
    let row = |property: &StatedProperty| {
        let (class, answer) = match (property.often, property.holds) {
            (Some(often), _) => ("neutral", often),
            (None, Some(true)) => ("good", "holds"),
            (None, Some(false)) => ("bad", "violated"),
            (None, None) => ("open", "unknown"),
        };
        vec![
            format!("<code>{}</code> {}", property.heading, escaped(&property.about)),
            format!("<span class=\"word {class}\">{answer}</span>"),
            worded(&property.phrase),
        ]
    };
    let rows: Vec<Vec<String>> = properties.iter().map(row).collect();
    if rows.is_empty() { String::new() } else { table(&["property", "answer", ""], &rows) }
}

/// The orderings, one place a row.
fn places(program: &Program, places: &[OrderedPlace]) -> String {
    let row = |place: &OrderedPlace| {
        let class = if place.together == place.stated { "open" } else { "good" };
        vec![
            line_link(line(program, place)),
            format!("<code>{}</code>", escaped(code(program, place))),
            word(place, place.stated).to_owned(),
            weaker(place),
            format!("<span class=\"word {class}\">{}</span>", word(place, place.together)),
        ]
    };
    let rows: Vec<Vec<String>> = places.iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let words = "Alone: the weakest ordering while all others stay as they are. Together: the weakest orderings of all \
                 at once.";
    paragraph(words) + &table(&["", "access or fence", "ordering", "alone", "together"], &rows)
}

/// What each weaker ordering leads to.
fn violations(program: &Program, places: &[OrderedPlace]) -> String {
    let story = |(place, needed): (&OrderedPlace, &Needed)| {
        let at = line_link(line(program, place));
        let fails = if place.failing { " on failure" } else { "" };
        let is_alone = place.needed_alone.iter().any(|other| other.ordering == needed.ordering);
        let besides = if is_alone { "" } else { ", besides the others" };
        let words = escaped(GraphWords::of(&needed.stated, &needed.violation).words);
        let known = if needed.violation.is_admitted { "" } else { " (not shown: the axioms in full do not admit it)" };
        let told = graph(&Shown::of_graph(&needed.stated, &needed.violation));
        let ordering = word(place, needed.ordering);
        format!("<details><summary>{at}, {ordering}{fails}{besides}: {words}{known}</summary>\n{told}</details>\n")
    };
    reasons_shown(places).map(story).collect()
}

/// An execution graph as lanes, with its cycle.
fn graph(shown: &Shown<'_>) -> String {
    let found = shown.cycle.as_ref().filter(|cycle| !cycle.nodes.is_empty());
    story(shown) + &found.map(cycle).unwrap_or_default()
}

/// The places of the sources that were not judged.
fn kept(result: &Result<'_>) -> String {
    let rows: Vec<Vec<String>> =
        result.kept.iter().map(|kept| vec![escaped(&kept.place), escaped(&kept.reason)]).collect();
    if rows.is_empty() { String::new() } else { table(&["place", "why it was not judged"], &rows) }
}
