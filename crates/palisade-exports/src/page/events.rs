//! The page of `palisade check` about a program of events and tasks.

use super::body::{confirmation_words, evidence, warnings};
use super::scene::scene_table;
use super::source::{Mark, Marked};
use super::{News, Page, paragraph};
use palisade_concurrency::{ConcurrencyCheck, ConcurrencyVerdict};
use palisade_engine::robustness::TaskCheck;
use palisade_report::concurrency as atomicity;
use palisade_report::context::Context;
use palisade_report::documents::{self, EventCheckDocument, VerdictWord};
use palisade_report::interleaving::Interleaving;
use palisade_report::scene::Scene;
use palisade_report::tso::{self, Computation};

/// The page of the checks that were asked for, from their document.
pub fn event_page(
    document: &EventCheckDocument<'_>,
    (concurrency, against_tso): (Option<&ConcurrencyCheck>, Option<&TaskCheck>),
    context: &Context<'_>,
) -> String {
    let program = context.program;
    let news = match document.header.verdict {
        VerdictWord::Robust => News::Good,
        VerdictWord::NotRobust => News::Bad,
        VerdictWord::Unknown => News::Open,
    };
    let words = concurrency.map(|check| atomicity::verdict_words(&check.verdict)).into_iter();
    let words: Vec<&str> = words.chain(against_tso.map(|check| tso::verdict_words(&check.verdict))).collect();
    let mut page = Page::new(context.file, news, words.join("; "));
    page.fact("program", &program.name);
    page.fact("for", tso::instance_words(program));
    if let Some(reason) = &document.header.reason {
        page.fact("reason", reason);
    }
    page.fact("time", format!("{:.3} s", context.seconds));
    page.doubt_if_rejected(document.evidence.as_ref());
    page.doubt_if_rejected(document.tso.as_ref().and_then(|answer| answer.evidence.as_ref()));
    let computation = against_tso.and_then(|check| Computation::of(program, check.witness.as_ref()?));
    page.section("Source", &marked(computation.as_ref(), context).html());
    if let Some(check) = concurrency {
        page.section("Concurrency", &interleaving(check, context));
    }
    if let (Some(shown), Some(witness)) = (&computation, against_tso.and_then(|check| check.witness.as_ref())) {
        let with = paragraph(format!("With {}.", tso::with_words(program, witness)));
        page.section("TSO", &(with + &scene_table(&Scene::of_computation(shown))));
    }
    page.section("Warnings", &warnings(&document.warnings));
    let checked = document.evidence.as_ref().or(document.tso.as_ref().and_then(|answer| answer.evidence.as_ref()));
    let command = format!("palisade check {}", context.file);
    page.section("Evidence", &evidence(document.certificates, confirmation_words(checked), &command));
    page.finish(&documents::text(document))
}

/// The interleaving that no serial run explains; nothing where there is none.
fn interleaving(check: &ConcurrencyCheck, context: &Context<'_>) -> String {
    let ConcurrencyVerdict::NotRobust(violation) = &check.verdict else { return String::new() };
    let shown = Interleaving::of(context.program, &violation.witness);
    shown.map_or_else(String::new, |shown| scene_table(&Scene::of_interleaving(&shown)) + &paragraph(shown.queue()))
}

/// The source with the accesses on the cycle under TSO: the stores, and the loads.
fn marked<'a>(computation: Option<&Computation>, context: &Context<'a>) -> Marked<'a> {
    let mut marked = Marked::new(&context.program.source);
    for step in computation.iter().flat_map(|shown| &shown.steps) {
        if let (Some(line), true) = (step.line, step.is_delayed) {
            marked.mark(line, Mark::Delayed, "");
        }
    }
    marked
}
