//! The page of `palisade fences --ask properties`.

use super::body::{Written, evidence, warnings};
use super::fences::{diff, marked, place, placed};
use super::lanes::lanes;
use super::{News, Page, line_link, paragraph, table};
use palisade_engine::properties::placement::Placed;
use palisade_model::text::escaped;
use palisade_report::account::Mark;
use palisade_report::alternatives;
use palisade_report::computation::ComputationReport;
use palisade_report::context::Context;
use palisade_report::documents::{self, EvidenceWord, FencesDocument, FencesVerdictWord};
use palisade_report::models::model_name;
use palisade_report::property_fences::{Result, nothing_needed};
use palisade_report::subject::program_words;

/// The page of fences for properties, from its document.
pub fn property_fences_page(
    document: &FencesDocument<'_>,
    result: &Result<'_>,
    context: &Context<'_>,
    command: &str,
) -> String {
    let program = context.program;
    let (news, verdict) = headline(document, result);
    let mut page = Page::new(context.file, news, verdict);
    page.fact("program", &program.name);
    page.fact("for", format!("the properties under {}", model_name(result.model)));
    page.fact("of", program_words(program, context.changed));
    if let Some(cost) = &document.exact_cost {
        page.fact("cost", cost);
    }
    if let Some(reason) = &document.header.reason {
        page.fact("reason", reason);
    }
    page.claim(program);
    page.fact("time", format!("{:.3} s", context.seconds));
    let mut source = marked(document, context, "mfence");
    let violated = document.properties.as_ref().and_then(|properties| properties.violated.as_ref());
    if let Some(line) = violated.and_then(|property| property.line) {
        source.mark(line, Mark::Violated, "");
    }
    page.section(source.title(), &source.html());
    page.section("Fences", &placed(document));
    page.section("Why none helps", &violation(result));
    page.section("Why nothing cheaper will do", &rows(document));
    page.section("That they are enough", &proofs(document));
    page.section("Fences that are there already", &needed(document));
    page.section("The change", &document.diff.map(diff).unwrap_or_default());
    page.section("Warnings", &warnings(&document.warnings));
    let checked = match document.evidence {
        Some(EvidenceWord::Accepted) => {
            "The checker, which shares no code with the search, accepted the evidence for every claim on this page."
        }
        Some(EvidenceWord::Incomplete) => "A limit was reached before every claim had evidence that was checked.",
        None => "The computation above is the evidence.",
    };
    page.section("Evidence", &evidence(document.certificates, checked, command, Written::Folder));
    page.finish(&documents::text(document))
}

fn headline(document: &FencesDocument<'_>, result: &Result<'_>) -> (News, String) {
    let placement = match &result.found.placed {
        Placed::Valid(placement) => placement,
        Placed::NoFenceHelps(_) => return (News::Bad, "no fence helps: violated under SC".to_owned()),
        Placed::Impossible(_) => return (News::Bad, "no valid set under the restrictions".to_owned()),
    };
    let changes = match placement.measures.len() {
        1 => "1 change".to_owned(),
        count => format!("{count} changes"),
    };
    match (&placement.open, placement.measures.is_empty()) {
        (None, true) if document.header.verdict == FencesVerdictWord::Holds => {
            (News::Good, nothing_needed(&result.found.program).to_owned())
        }
        (None, _) => (News::Good, format!("{changes} needed, none cheaper")),
        (Some(_), _) => (News::Open, format!("{changes} known to be needed; whether they are enough is open")),
    }
}

/// The computation that shows that a property is violated whatever is changed.
fn violation(result: &Result<'_>) -> String {
    match &result.found.placed {
        Placed::Valid(_) => String::new(),
        Placed::NoFenceHelps(violation) => lanes(&ComputationReport::of_property(&result.found.watched, violation)),
        Placed::Impossible(impossible) => match &impossible.violation {
            Some(violation) => lanes(&ComputationReport::of_property(&impossible.program, violation)),
            None => paragraph("No computation was found within the effort; a slice of the program has one."),
        },
    }
}

/// The sets of changes of which one is needed, with the property that is violated without them.
fn rows(document: &FencesDocument<'_>) -> String {
    let Some(properties) = document.properties.as_ref().filter(|properties| !properties.rows.is_empty()) else {
        return String::new();
    };
    let row = |row: &documents::PropertyRowDocument<'_>| {
        let one_of: Vec<String> = row.measures.iter().map(|measure| place(*measure)).collect();
        vec![alternatives(one_of), property(&row.property)]
    };
    let rows: Vec<Vec<String>> = properties.rows.iter().map(row).collect();
    let bound = properties.lower_bound.as_deref().unwrap_or("0");
    let words = format!(
        "Every valid set costs at least {bound}: without all changes of a row its property is violated, whatever else is changed."
    );
    paragraph(words) + &table(&["one of", "violated otherwise"], &rows)
}

/// The proofs for the changed program.
fn proofs(document: &FencesDocument<'_>) -> String {
    let proved = document.properties.as_ref().and_then(|properties| properties.proved.as_ref());
    let row = |proof: &documents::ProvedDocument<'_>| {
        let buffer = proof.buffer.map_or_else(String::new, |stores| format!("buffers of {stores} stores"));
        vec![property(&proof.property), escaped(proof.by), buffer, format!("{} configurations", proof.states)]
    };
    let rows: Vec<Vec<String>> = proved.into_iter().flatten().map(row).collect();
    if rows.is_empty() { String::new() } else { table(&["property", "proved by", "", ""], &rows) }
}

fn needed(document: &FencesDocument<'_>) -> String {
    let needed = document.properties.as_ref().and_then(|properties| properties.needed.as_ref());
    let row = |fence: &documents::NeededDocument<'_>| {
        let (word, class) = if fence.needed { ("needed", "open") } else { ("can go", "good") };
        let violated = fence.violates.as_ref().map(|it| format!("without it, {} is violated", property(it)));
        let word = format!("<span class=\"word {class}\">{word}</span>");
        vec![place(fence.measure), word, violated.unwrap_or_default()]
    };
    let rows: Vec<Vec<String>> = needed.into_iter().flatten().map(row).collect();
    if rows.is_empty() { String::new() } else { table(&["fence", "", ""], &rows) }
}

/// A property with a link to its line.
fn property(property: &documents::PropertyPlace<'_>) -> String {
    let line = property.line.map(|line| format!(" <small>{}</small>", line_link(line))).unwrap_or_default();
    format!("<code>{}</code>{line}", escaped(&property.property))
}
