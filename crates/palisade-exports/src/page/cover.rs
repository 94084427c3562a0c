//! The page of `palisade cover`.

use super::body::{Written, confirmation_words, evidence};
use super::{News, Page, paragraph, section, table};
use palisade_coverability::{Answer, Outcome, ReachAnswer, ReachOutcome};
use palisade_evidence::{NetRun, RunStep};
use palisade_model::net::{Count, Formula, Net, Quantifier, Target};
use palisade_model::text::escaped;
use palisade_report::conditions::condition_words;
use palisade_report::cover::{Context, proof_words, size};
use palisade_report::documents::{self, CoverDocument, CoverVerdict};

/// Targets and steps beyond so many fold.
const SHOWN: usize = 20;

/// Steps beyond so many are left to the evidence.
const MOST: usize = 2_000;

/// The page of an answer about coverability, from its document. The command asks the same again.
pub fn cover_page(document: &CoverDocument<'_>, answer: &Answer, context: &Context<'_>, command: &str) -> String {
    let run = match &answer.outcome {
        Outcome::Coverable(run) => Some(run),
        _ => None,
    };
    let heading = match context.quantifier {
        Some(Quantifier::Always) => "Targets: what the formula forbids",
        _ => "Targets",
    };
    let asked = section(heading, &targets(&context.problem.net, &context.problem.query.targets));
    page(document, (&asked, run), context, command)
}

/// The page of an answer about reachability, from its document. The command asks the same again.
pub fn reach_page(
    document: &CoverDocument<'_>,
    answer: &ReachAnswer,
    goal: &Formula,
    context: &Context<'_>,
    command: &str,
) -> String {
    let mut asked = section("Is a marking reached in which", &goal_text(&context.problem.net, goal));
    let run = match &answer.outcome {
        ReachOutcome::Reachable(run) => Some(run),
        ReachOutcome::Unreachable(proof) => {
            asked += &section("Proved unreachable by", &paragraph(proof_words(proof)));
            None
        }
        ReachOutcome::Unknown(_) => None,
    };
    page(document, (&asked, run), context, command)
}

/// The page of an answer about a net: its question as markup, and the run that was found.
fn page(
    document: &CoverDocument<'_>,
    (asked, run): (&str, Option<&NetRun>),
    context: &Context<'_>,
    command: &str,
) -> String {
    let net = &context.problem.net;
    let (news, verdict) = match document.verdict {
        CoverVerdict::Coverable => (News::Bad, "coverable"),
        CoverVerdict::Uncoverable => (News::Good, "uncoverable"),
        CoverVerdict::Reachable => (News::Bad, "reachable"),
        CoverVerdict::Unreachable => (News::Good, "unreachable"),
        CoverVerdict::Unknown => (News::Open, "unknown"),
    };
    let mut page = Page::new(context.file, news, verdict);
    page.fact("net", size(net));
    if let Some(query) = context.query {
        let property = context.property.map_or(String::new(), |property| format!(", property {property}"));
        page.fact("question", format!("{query}{property}"));
    }
    if let (Some(quantifier), Some(holds)) =
        (context.quantifier, document.formula.as_ref().and_then(|formula| formula.holds))
    {
        let holds = if holds { "holds" } else { "does not hold" };
        page.fact("formula", format!("{} {holds}", quantifier.name()));
    }
    if let Some(reason) = &document.reason {
        page.fact("reason", reason);
    }
    page.fact("strategy", document.strategy);
    page.fact("time", format!("{:.3} s", context.seconds));
    page.doubt_if_rejected(document.evidence.as_ref());
    page.append(asked);
    if let Some(run) = run {
        page.section("A run that comes there", &run_text(net, run));
    }
    let certificates: Vec<String> = context.certificate.iter().map(|path| (*path).to_owned()).collect();
    let words = confirmation_words(document.evidence.as_ref());
    let written = if document.verdict == CoverVerdict::Unknown { Written::Nowhere } else { Written::File };
    page.section("Evidence", &evidence(&certificates, words, command, written));
    page.finish(&documents::text(document))
}

/// Conditions that are longer fold.
const LONG: usize = 2_000;

/// The condition of a question of reachability.
fn goal_text(net: &Net, goal: &Formula) -> String {
    let words = condition_words(net, goal);
    let text = format!("<p><code>{}</code></p>\n", escaped(&words));
    if words.len() > LONG {
        format!("<details><summary>a condition of {} letters</summary>\n{text}</details>\n", words.chars().count())
    } else {
        text
    }
}

fn targets(net: &Net, targets: &[Target]) -> String {
    let row = |target: &Target| {
        let demand = |(place, count): &(palisade_model::net::PlaceId, Count)| {
            format!("<code>{}</code> ≥ {count}", escaped(&net.places[place.index()].name))
        };
        let demands: Vec<String> = target.demands.iter().map(demand).collect();
        vec![if demands.is_empty() { "every marking".to_owned() } else { demands.join(" and ") }]
    };
    let shown: Vec<Vec<String>> = targets.iter().take(SHOWN).map(row).collect();
    let more = targets.len().saturating_sub(SHOWN);
    let rest = if more > 0 { paragraph(format!("and {more} more")) } else { String::new() };
    if shown.is_empty() {
        paragraph("There are none.")
    } else {
        table(&["one of these is to be covered"], &shown) + &rest
    }
}

/// The steps of a run, the first ones open.
fn run_text(net: &Net, run: &NetRun) -> String {
    let mut out = String::new();
    if !run.initial_choice.is_empty() {
        let chosen =
            run.initial_choice.iter().map(|(place, count)| format!("{} = {count}", net.places[place.index()].name));
        out.push_str(&paragraph(format!("Start with {}.", chosen.collect::<Vec<_>>().join(", "))));
    }
    let mut items = Vec::new();
    steps(net, &run.firings, 0, &mut items);
    let list = |items: &[String], start: usize| format!("<ol start=\"{start}\">\n{}</ol>\n", items.concat());
    let (first, rest) = items.split_at(items.len().min(SHOWN));
    if items.is_empty() {
        out.push_str(&paragraph("The initial marking is one."));
    } else {
        out.push_str(&list(first, 1));
    }
    if !rest.is_empty() {
        let shown = &rest[..rest.len().min(MOST)];
        out.push_str(&format!(
            "<details><summary>{} more steps</summary>\n{}</details>\n",
            rest.len(),
            list(shown, SHOWN + 1)
        ));
    }
    out
}

/// Steps as items of a list; repeated ones stand further right.
fn steps(net: &Net, run: &[(RunStep, Count)], depth: usize, items: &mut Vec<String>) {
    for (step, times) in run {
        let often = if *times == Count::ONE { String::new() } else { format!(" × {times}") };
        match step {
            RunStep::Fire(id) => {
                let name = escaped(&net.transitions[id.index()].name);
                items.push(format!("<li style=\"margin-left:{depth}em\"><code>{name}</code>{often}</li>\n"));
            }
            RunStep::Sequence(inner) => {
                items.push(format!("<li style=\"margin-left:{depth}em\">{times} times in a row:</li>\n"));
                steps(net, inner, depth + 2, items);
            }
        }
    }
}
