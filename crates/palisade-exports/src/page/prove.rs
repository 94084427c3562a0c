//! The page of `palisade prove`.

use super::body::{confirmation_words, evidence, warnings};
use super::lanes::lanes;
use super::scene::scene_table;
use super::source::{Mark, Marked};
use super::{News, Page, line_link, paragraph, table};
use palisade_engine::properties::{Answer, Proof};
use palisade_model::text::escaped;
use palisade_report::documents::{self, PropertyVerdictWord, ProveDocument};
use palisade_report::properties::model_name;
use palisade_report::prove::{Context, PropertyVerdict, computation, task_computation, why_open};
use palisade_report::scene::Scene;
use palisade_report::subject::program_words;

/// The page of a proof, from its document.
pub fn prove_page(document: &ProveDocument<'_>, proof: &Proof, context: &Context<'_>) -> String {
    let model = model_name(proof.model);
    let (news, verdict) = match document.verdict {
        PropertyVerdictWord::Holds => (News::Good, format!("holds under {model}")),
        PropertyVerdictWord::Violated => (News::Bad, format!("violated under {model}")),
        PropertyVerdictWord::Unknown => (News::Open, format!("not decided under {model}")),
    };
    let mut page = Page::new(context.file, news, verdict);
    page.fact("program", &context.written.name);
    page.fact("for", program_words(context.written, context.changed));
    page.fact("time", format!("{:.3} s", context.seconds));
    let mut marked = Marked::new(&context.written.source);
    for property in document.properties.iter().filter(|it| it.verdict == PropertyVerdictWord::Violated) {
        if let Some(line) = property.line {
            marked.mark(line, Mark::Violated, "");
        }
    }
    page.doubt_if_rejected(document.evidence.as_ref());
    page.section("Source", &marked.html());
    page.section("Properties", &property_witnesses(proof, context));
    page.section("Warnings", &warnings(&document.warnings));
    let command = format!("palisade prove --model {} {}", model.to_lowercase(), context.file);
    page.section(
        "Evidence",
        &evidence(document.certificates, confirmation_words(document.evidence.as_ref()), &command),
    );
    page.finish(&documents::text(document))
}

/// The properties with their answers, and the computations that reach them.
pub(super) fn property_witnesses(proof: &Proof, context: &Context<'_>) -> String {
    let properties = context.properties();
    let row = |answer: &palisade_engine::properties::TargetAnswer| {
        let (word, class) = match PropertyVerdict::of(answer, context.question) {
            PropertyVerdict::Holds => ("holds", "good"),
            PropertyVerdict::Violated => ("violated", "bad"),
            PropertyVerdict::Unknown => ("unknown", "open"),
        };
        let how = match &answer.answer {
            Answer::Open(why) => why_open(answer.rung, *why),
            Answer::Holds(_) => format!("by {}", answer.rung.name()),
            Answer::Violated(_) if answer.under_sc == Some(true) => "under SC already".to_owned(),
            Answer::Violated(_) if answer.under_sc == Some(false) => "not under SC".to_owned(),
            Answer::Violated(_) => String::new(),
        };
        let line = properties.line(answer.target).map(line_link).unwrap_or_default();
        vec![
            format!("<code>{}</code>", escaped(properties.text(answer.target))),
            line,
            format!("<span class=\"word {class}\">{word}</span>"),
            escaped(how),
        ]
    };
    let rows: Vec<Vec<String>> = proof.answers.iter().map(row).collect();
    let mut out = table(&["property", "", "answer", ""], &rows);
    for violation in proof.violations() {
        out.push_str(&format!("<h3>How <code>{}</code> is reached</h3>\n", escaped(properties.text(violation.target))));
        if let Some(shown) = task_computation(context, violation) {
            out.push_str(&scene_table(&Scene::of_computation(&shown)));
            continue;
        }
        if context.program.is_parameterized() {
            let counts = context.program.threads.iter().zip(violation.instance.counts());
            let counts: Vec<String> = counts.map(|(thread, count)| format!("{} × {count}", thread.name)).collect();
            out.push_str(&paragraph(format!("With {}.", counts.join(", "))));
        }
        out.push_str(&lanes(&computation(context.program, violation)));
    }
    out
}
