//! The page of `palisade check --model pso`.

use super::body::{confirmation_words, evidence, warnings};
use super::cycle::cycle;
use super::lanes::lanes;
use super::source::{Mark, Marked};
use super::{News, Page, paragraph};
use palisade_engine::robustness::{PsoCheck, Verdict, Violation};
use palisade_model::program::{InstructionId, Program};
use palisade_report::context::Context;
use palisade_report::counted;
use palisade_report::documents::{self, PsoCheckDocument};
use palisade_report::pso::{delay_words, verdict_words};
use palisade_report::subject::program_words;
use palisade_report::violation::computation;

/// The page of a check against PSO, from its document.
pub fn pso_page(document: &PsoCheckDocument<'_>, checked: &PsoCheck, context: &Context<'_>) -> String {
    let program = context.program;
    let news = match checked.verdict {
        Verdict::Robust => News::Good,
        Verdict::NotRobust => News::Bad,
        Verdict::Unknown(_) => News::Open,
    };
    let mut page = Page::new(context.file, news, verdict_words(&checked.verdict));
    page.fact("program", &program.name);
    page.fact("for", program_words(program, context.changed));
    if let Some(reason) = &document.header.reason {
        page.fact("reason", reason);
    }
    page.fact("explored", counted(checked.configurations, "configuration"));
    page.fact("time", format!("{:.3} s", context.seconds));
    page.doubt_if_rejected(document.evidence.as_ref());
    let mut source = Marked::new(&program.source);
    if let Some(violation) = &checked.violation {
        mark(&mut source, program, violation);
    }
    page.section("Source", &source.html());
    if let Some(violation) = &checked.violation {
        page.section("How it happens", &story(program, violation));
        let why = "These accesses come before each other in a circle, so no interleaving explains what the threads have read.";
        page.section("Why no interleaving explains it", &(paragraph(why) + &cycle(program, violation)));
    }
    page.section("Warnings", &warnings(&document.warnings));
    let command = format!("palisade check --model pso {}", context.file);
    let checked = confirmation_words(document.evidence.as_ref());
    page.section("Evidence", &evidence(document.certificates, checked, &command));
    page.finish(&documents::text(document))
}

/// Marks the store that is delayed and the access that it is delayed past.
fn mark(source: &mut Marked<'_>, program: &Program, violation: &Violation) {
    let attack = violation.attack;
    let line = |instruction: InstructionId| {
        program.source.position(program.thread(attack.thread).instruction(instruction).span.start).line
    };
    let (store, access) = (line(attack.store), line(attack.load));
    source.mark(store, Mark::Delayed, format!("delayed past line {access}"));
    source.mark(access, Mark::Overtaking, format!("overtakes line {store}"));
}

/// The violation in a sentence, and its computation.
fn story(program: &Program, violation: &Violation) -> String {
    let counts: Vec<String> = program
        .threads
        .iter()
        .zip(violation.instance.counts())
        .map(|(thread, count)| format!("{} × {count}", thread.name))
        .collect();
    let smallest = if violation.instance_minimal { "; no smaller instance has a violation" } else { "" };
    let words = format!("With {}{smallest}, {}.", counts.join(", "), delay_words(program, violation));
    paragraph(words) + &lanes(&computation(program, violation))
}
