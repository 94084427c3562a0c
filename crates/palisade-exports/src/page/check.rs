//! The page of `palisade check`.

use super::body::{confirmation_words, evidence, warnings};
use super::cycle::cycle;
use super::lanes::lanes;
use super::prove::property_witnesses;
use super::source::{Mark, Marked};
use super::{News, Page, line_link, paragraph, table};
use palisade_engine::robustness::Violation;
use palisade_model::text::escaped;
use palisade_report::breaks::Breaks;
use palisade_report::context::Context;
use palisade_report::documents::{self, CheckDocument, OutcomeWord, PropertyVerdictWord, VerdictWord};
use palisade_report::subject::program_words;
use palisade_report::violation::computation;

/// The page of a check, from its document.
pub fn check_page(
    document: &CheckDocument<'_>,
    violation: Option<&Violation>,
    context: &Context<'_>,
    breaks: Option<&Breaks<'_>>,
) -> String {
    let program = context.program;
    let (news, verdict) = match document.header.verdict {
        VerdictWord::Robust if !program.accepted.is_empty() => {
            (News::Open, "robust against x86-TSO but for accepted delays")
        }
        VerdictWord::Robust => (News::Good, "robust against x86-TSO"),
        VerdictWord::NotRobust => (News::Bad, "not robust against x86-TSO"),
        VerdictWord::Unknown => (News::Open, "not decided"),
    };
    let mut page = Page::new(context.file, news, verdict);
    page.fact("program", &program.name);
    page.fact("for", program_words(program, context.changed));
    if let Some(reason) = &document.header.reason {
        page.fact("reason", reason);
    }
    if let Some(breaks) = breaks {
        let (word, words) = breaks.words(false);
        page.fact(word, words);
    }
    for note in [&document.note, &document.only_under_tso].into_iter().flatten() {
        page.fact("note", note);
    }
    page.fact("time", format!("{:.3} s", context.seconds));
    page.doubt_if_rejected(document.evidence.as_ref());
    page.section("Source", &marked(document, context).html());
    if let Some(violation) = violation {
        page.section("How it happens", &story(document, context, violation));
        let why = "These accesses come before each other in a circle, so no interleaving explains what the threads have read.";
        let cycle = paragraph(why) + &cycle(program, violation);
        page.section("Why no interleaving explains it", &cycle);
    }
    if let (Some(breaks), Some(_)) = (breaks, &document.properties)
        && let Some(proof) = breaks.proof
    {
        page.section("Properties under TSO", &property_witnesses(proof, &breaks.context));
    }
    page.section("Attacks", &attacks(document));
    page.section("Warnings", &warnings(&document.warnings));
    let command = format!("palisade check {}", context.file);
    page.section(
        "Evidence",
        &evidence(document.certificates, confirmation_words(document.evidence.as_ref()), &command),
    );
    page.finish(&documents::text(document))
}

/// The source with the attack that is shown, the properties that break and the labels that nobody reaches.
fn marked<'a>(document: &CheckDocument<'_>, context: &Context<'a>) -> Marked<'a> {
    let mut marked = Marked::new(&context.program.source);
    for attack in document.attacks.iter().filter(|attack| attack.outcome == OutcomeWord::Feasible) {
        let (store, load) = (attack.place.store, attack.place.load);
        marked.mark(store.line, Mark::Delayed, format!("delayed past line {}", load.line));
        marked.mark(load.line, Mark::Overtaking, format!("overtakes line {}", store.line));
    }
    let properties = document.properties.iter().flat_map(|properties| &properties.properties);
    for property in properties.filter(|property| property.verdict == PropertyVerdictWord::Violated) {
        if let Some(line) = property.line {
            marked.mark(line, Mark::Violated, "");
        }
    }
    for label in document.unreached.iter().flatten() {
        marked.mark(label.line, Mark::Unreached, format!("{} is not reached", label.label));
    }
    marked
}

/// The computation, and what it takes.
fn story(document: &CheckDocument<'_>, context: &Context<'_>, violation: &Violation) -> String {
    let mut out = String::new();
    if let Some(witness) = &document.witness {
        let counts: Vec<String> =
            witness.instance.iter().map(|(thread, count)| format!("{thread} × {count}")).collect();
        let smallest = if witness.instance_minimal { "; no smaller instance has a violation" } else { "" };
        let shortest = if witness.shortest {
            "No computation shows it in fewer steps."
        } else {
            "There may be a shorter computation."
        };
        out.push_str(&paragraph(format!(
            "With {}{smallest}. {} delays its stores. {shortest}",
            counts.join(", "),
            witness.attacker
        )));
    }
    out.push_str(&lanes(&computation(context.program, violation)));
    out
}

/// The attacks with their answers.
fn attacks(document: &CheckDocument<'_>) -> String {
    let row = |attack: &documents::AttackAnswer<'_>| {
        let (word, class) = match attack.outcome {
            OutcomeWord::Feasible => ("feasible", "bad"),
            OutcomeWord::Infeasible => ("infeasible", "good"),
            OutcomeWord::Pruned => ("ruled out by control flow", "good"),
            OutcomeWord::Unknown => ("unknown", "open"),
            OutcomeWord::NotAsked => ("not asked", "open"),
        };
        let place = |place: documents::InstructionPlace<'_>| {
            format!("<code>{}</code> <small>{}</small>", escaped(place.label), line_link(place.line))
        };
        vec![
            attack.id.to_string(),
            escaped(attack.place.thread),
            place(attack.place.store),
            place(attack.place.load),
            format!("<span class=\"word {class}\">{word}</span>"),
        ]
    };
    let rows: Vec<Vec<String>> = document.attacks.iter().map(row).collect();
    if rows.is_empty() {
        return paragraph("No store of this program can be delayed past a load.");
    }
    let table = table(&["", "thread", "store", "delayed past", "answer"], &rows);
    let count = document.attacks.len();
    format!(
        "<details{}><summary>{count} attacks: a store that is delayed past a load</summary>\n{table}</details>\n",
        if count <= 12 { " open" } else { "" }
    )
}
