//! The page of `palisade cover` about many questions: a row for each.

use super::body::{Written, evidence};
use super::{News, Page, table};
use palisade_model::text::escaped;
use palisade_report::contest::AnsweredProperty;
use palisade_report::counted;
use palisade_report::documents::{self, ContestDocument, ContestQuestion};

/// The page of the answers about a net, from their document. The command asks the same again.
pub fn contest_page(document: &ContestDocument<'_>, answers: &[AnsweredProperty<'_>], command: &str) -> String {
    let known = answers.iter().filter(|answer| answer.is_known()).count();
    let news = if known == answers.len() { News::Good } else { News::Open };
    let mut page = Page::new(document.header.file, news, format!("{known} of {} answered", answers.len()));
    let statistics = &document.statistics;
    let (places, transitions) = (counted(statistics.places as u64, "place"), statistics.transitions as u64);
    page.fact("net", format!("{places}, {}", counted(transitions, "transition")));
    if !document.query.is_empty() {
        page.fact("question", document.query);
    }
    page.fact("time", format!("{:.3} s", statistics.seconds));
    let rows: Vec<Vec<String>> = answers.iter().map(row).collect();
    page.section("Answers", &table(&["question", "answer", "by"], &rows));
    let questions = || document.properties.iter().flat_map(|property| property.every_question());
    let certificates: Vec<String> =
        questions().filter_map(|question| question.certificate).map(str::to_owned).collect();
    page.section("Evidence", &evidence(&certificates, &checked_words(questions()), command, Written::Folder));
    page.finish(&documents::text(document))
}

fn row(answer: &AnsweredProperty<'_>) -> Vec<String> {
    let value = match answer.word() {
        Some(word) => format!("<b>{}</b>", escaped(word)),
        None => escaped(format!("not decided: {}", answer.reason().unwrap_or_default())),
    };
    let by =
        if answer.is_known() { answer.techniques().join(", ").to_lowercase().replace('_', " ") } else { String::new() };
    vec![format!("<code>{}</code>", escaped(&answer.property.id)), value, escaped(by)]
}

/// How the evidence fared, in a sentence.
fn checked_words<'a>(questions: impl Iterator<Item = &'a ContestQuestion<'a>>) -> String {
    let (mut accepted, mut rejected) = (0, 0);
    for question in questions {
        match question.accepted {
            Some(true) => accepted += 1,
            Some(false) => rejected += 1,
            None => {}
        }
    }
    match (accepted, rejected) {
        (0, 0) => "The evidence was not checked in this run.".to_owned(),
        (_, 0) => format!("The checker, which shares no code with the search, accepted {}.", pieces(accepted)),
        _ => format!("The checker REJECTED {}. These answers were taken back.", pieces(rejected)),
    }
}

fn pieces(count: u64) -> String {
    match count {
        1 => "one piece of evidence".to_owned(),
        _ => format!("{count} pieces of evidence"),
    }
}
