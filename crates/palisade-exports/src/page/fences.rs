//! The page of `palisade fences`.

use super::body::{evidence_for_claims, warnings};
use super::source::Marked;
use super::{News, Page, line_link, paragraph, table};
use palisade_model::text::escaped;
use palisade_report::account::Mark;
use palisade_report::alternatives;
use palisade_report::context::Context;
use palisade_report::documents::{
    self, AttackPlace, FencesDocument, FencesVerdictWord, InstructionPlace, MeasurePlace, MeasureWord, ProofDocument,
    RedundancyDocument,
};
use palisade_report::fences::{Result, not_asked};
use palisade_report::subject::program_words;
use palisade_report::widths;

/// The page of a repair, from its document.
pub fn fences_page(document: &FencesDocument<'_>, result: &Result<'_>, context: &Context<'_>, command: &str) -> String {
    let program = context.program;
    let fences = document.fences.as_deref();
    let (news, verdict) = match (fences, document.optimal) {
        (Some([]), _) if document.header.verdict == FencesVerdictWord::Robust => {
            (News::Good, "robust as it is".to_owned())
        }
        (Some([]) | None, _) => (News::Open, "no valid set of fences is known".to_owned()),
        (Some(fences), true) => (News::Good, format!("{} needed, none cheaper", counted(fences.len()))),
        (Some(fences), false) => (News::Open, format!("{} suffice; fewer may", counted(fences.len()))),
    };
    let (news, verdict) = match &document.impossible {
        Some(_) => (News::Bad, "no valid set under the restrictions".to_owned()),
        None => (news, verdict),
    };
    let mut page = Page::new(context.file, news, verdict);
    page.fact("program", &program.name);
    page.fact("for", program_words(program, context.changed));
    if let Some(cost) = document.cost {
        page.fact("cost", document.exact_cost.clone().unwrap_or_else(|| cost.to_string()));
    }
    if let Some(reason) = &document.header.reason {
        page.fact("reason", reason);
    }
    if let Some((kind, words)) = result.found.certificate.as_ref().and_then(|own| widths::known(program, own)) {
        page.fact(kind, words);
    }
    page.claim(program);
    if let (News::Good, Some([]), Some(what)) = (page.news, fences, not_asked(program)) {
        page.fact("not asked here", what);
    }
    page.fact("time", format!("{:.3} s", context.seconds));
    let source = marked(document, context, "mfence");
    page.section(source.title(), &source.html());
    page.section("Fences", &placed(document));
    if let Some(attack) = &document.impossible {
        let words = format!("Whatever is changed, {} stays feasible.", attack_words(*attack));
        page.section("Why there is none", &paragraph(words));
    }
    page.section(
        "Why nothing cheaper will do",
        &document.proof.as_ref().map(|proof| bound(proof, document.exact_cost.as_deref())).unwrap_or_default(),
    );
    page.section("Fences that are there already", &document.redundant.as_ref().map(redundant).unwrap_or_default());
    page.section("The change", &document.diff.map(diff).unwrap_or_default());
    page.section("Warnings", &warnings(&document.warnings));
    let incomplete = "A limit was reached, or values grow, before every claim had evidence that was checked.";
    let found = evidence_for_claims(document.evidence, incomplete, document.certificates, command);
    page.section("Evidence", &found);
    page.finish(&documents::text(document))
}

fn counted(count: usize) -> String {
    if count == 1 { "1 change".to_owned() } else { format!("{count} changes") }
}

/// The source with the changes marked; fences by their name in its language.
pub(super) fn marked<'a>(document: &FencesDocument<'_>, context: &Context<'a>, fence: &str) -> Marked<'a> {
    let mut marked = Marked::new(&context.program.source);
    for placed in document.fences.iter().flatten() {
        let words = match placed.measure.kind {
            MeasureWord::Fence => format!("{fence} before this"),
            MeasureWord::Sfence => "sfence before this".to_owned(),
            MeasureWord::Xchg => "an xchg in its place".to_owned(),
            MeasureWord::Ordering => format!("{} here", placed.measure.ordering.unwrap_or("an ordering")),
        };
        marked.mark(placed.measure.line, Mark::Fence, words);
        if let Some(attack) = placed.returns {
            marked.mark(attack.store.line, Mark::Delayed, format!("else delayed past line {}", attack.load.line));
        }
    }
    if let Some(RedundancyDocument::Judged { largest, .. }) = &document.redundant {
        for fence in largest {
            marked.mark(fence.line, Mark::Redundant, "");
        }
    }
    marked
}

/// The changes of the set.
pub(super) fn placed(document: &FencesDocument<'_>) -> String {
    let row = |placed: &documents::PlacedMeasure<'_>| {
        let returns = placed.returns.map(|attack| format!("the delay of {} comes back", attack_words(attack)));
        let needed = match (&placed.violates, placed.needed) {
            (Some(property), _) => format!("<code>{}</code> needs it", escaped(&property.property)),
            (None, Some(true)) => "needed".to_owned(),
            (None, Some(false)) => "for robustness alone".to_owned(),
            (None, None) => String::new(),
        };
        vec![place(placed.measure), placed.cost.to_string(), escaped(returns.unwrap_or_default()), needed]
    };
    let rows: Vec<Vec<String>> = document.fences.iter().flatten().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    table(&["change", "cost", "without it", "properties"], &rows)
}

/// The lower bound with its rows.
fn bound(proof: &ProofDocument<'_>, cost: Option<&str>) -> String {
    let row = |row: &documents::RowDocument<'_>| {
        let one_of: Vec<String> = row.one_of.iter().map(|measure| place(*measure)).collect();
        vec![escaped(&row.weight), escaped(attack_words(row.attack)), alternatives(one_of)]
    };
    let rows: Vec<Vec<String>> = proof.rows.iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let words = format!(
        "Every valid set costs at least {}. Each row is an attack that is feasible unless one of its changes \
         is made. A change costs at least what the rows that it serves weigh together.",
        proof.bound
    );
    let gap = if proof.branchings > 0 && cost != Some(proof.bound.as_str()) {
        paragraph(format!(
            "An exact search closes what is left between this bound and the cost, in {} branchings.",
            proof.branchings
        ))
    } else {
        String::new()
    };
    paragraph(words) + &table(&["weight", "attack", "one of"], &rows) + &gap
}

fn redundant(found: &RedundancyDocument<'_>) -> String {
    match found {
        RedundancyDocument::Unjudged { reason } => paragraph(format!("They were not judged: {reason}")),
        RedundancyDocument::Judged { fences, largest, .. } => {
            let row = |fence: &documents::JudgedFence<'_>| {
                let (word, class) = if fence.redundant { ("can go alone", "good") } else { ("needed", "open") };
                let returns =
                    fence.returns.map(|attack| format!("without it, the delay of {} comes back", attack_words(attack)));
                let word = format!("<span class=\"word {class}\">{word}</span>");
                vec![place(fence.measure), word, escaped(returns.unwrap_or_default())]
            };
            let rows: Vec<Vec<String>> = fences.iter().map(row).collect();
            let names: Vec<String> = largest.iter().map(|measure| place(*measure)).collect();
            let together = if names.is_empty() {
                String::new()
            } else {
                format!("<p>These can go together: {}.</p>\n", names.join(", "))
            };
            table(&["fence", "", ""], &rows) + &together
        }
    }
}

/// A change of the text, line by line.
pub(super) fn diff(text: &str) -> String {
    let line = |line: &str| {
        let class = match line.as_bytes().first() {
            Some(b'+') => "added",
            Some(b'-') => "removed",
            _ => "context",
        };
        format!("<div class=\"{class}\">{}</div>", escaped(if line.is_empty() { " " } else { line }))
    };
    let lines: String = text.lines().map(line).collect();
    if lines.is_empty() { lines } else { format!("<pre class=\"diff\">{lines}</pre>\n") }
}

fn word(kind: MeasureWord) -> &'static str {
    match kind {
        MeasureWord::Fence => "mfence",
        MeasureWord::Sfence => "sfence",
        MeasureWord::Xchg => "xchg",
        MeasureWord::Ordering => "ordering",
    }
}

pub(super) fn place(measure: MeasurePlace<'_>) -> String {
    let name = measure.name.map_or_else(String::new, |name| format!(" {name}"));
    format!(
        "<code>{}</code> at <code>{}{}</code> <small>{}</small>",
        word(measure.kind),
        escaped(measure.thread),
        escaped(name),
        line_link(measure.line)
    )
}

fn attack_words(attack: AttackPlace<'_>) -> String {
    let place = |place: InstructionPlace<'_>| {
        let name = place.name.map_or_else(String::new, |name| format!("{name} "));
        format!("{name}(line {})", place.line)
    };
    format!("the store of {} at {} past the load at {}", attack.thread, place(attack.store), place(attack.load))
}
