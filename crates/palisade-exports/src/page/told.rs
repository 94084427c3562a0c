//! The page about a program: its answers, the source with what matters marked, the computation of
//! each that has one.

use super::body::{Written, confirmation_words, evidence, warnings};
use super::cycle::cycle;
use super::lanes::lanes;
use super::scene::scene_table;
use super::source::Marked;
use super::{News, Page, line_link, paragraph, section, table, worded};
use palisade_model::text::escaped;
use palisade_report::account::{Account, CheckDocument, Run, Shown, Standing, Told};
use palisade_report::documents::{self, AttackAnswer, ConfirmationDocument, EvidenceVerdict, OutcomeWord};
use palisade_report::subject::program_words;
use palisade_report::tso::instance_words;

/// The page of what there is to tell about a file. The command is what asks the same again.
pub fn told_page(told: &Told<'_>, command: &str) -> String {
    let context = &told.context;
    let program = context.program;
    let news = match told.standing() {
        Standing::Holds if told.often().is_some() => News::Neutral,
        Standing::Holds if program.accepted.is_empty() => News::Good,
        Standing::Violated => News::Bad,
        Standing::Holds | Standing::Unknown => News::Open,
    };
    let mut page = Page::new(context.file, news, told.headline());
    page.fact("program", &program.name);
    let is_of_events = program.is_event_driven();
    page.fact("for", if is_of_events { instance_words(program) } else { program_words(program, context.changed) });
    if !told.is_of_language() {
        page.claim(program);
    }
    if let Some(compilations) = context.compilations {
        page.fact("source", compilations.words());
    }
    for note in told.accounts.iter().flat_map(|account| &account.notes).filter(|note| note.verbosity == 0) {
        page.fact(note.heading, &note.words);
    }
    page.fact("time", format!("{:.3} s", context.seconds));
    let document = CheckDocument::new(told);
    let checked = worst(told.accounts.iter().filter_map(|account| account.evidence.as_ref()));
    page.doubt_if_rejected(checked);
    let mut marked = Marked::new(&program.source);
    for (line, mark, words) in told.accounts.iter().flat_map(|account| &account.marks) {
        marked.mark(*line, *mark, words.as_str());
    }
    let mut sections = section("Answers", &answers(told));
    for account in &told.accounts {
        let Some(shown) = account.shown() else { continue };
        sections.push_str(&section(&format!("How it happens: {}", happened(account)), &story(shown)));
        if let Some(found) = shown.cycle.as_ref().filter(|cycle| !cycle.nodes.is_empty()) {
            let why = "These accesses come before each other in a circle, so no interleaving explains what the threads have read.";
            let content = paragraph(why) + &cycle(found);
            sections.push_str(&section("Why no interleaving explains it", &content));
        }
    }
    page.beside(&marked, &sections);
    for account in told.accounts.iter().filter(|account| !account.attacks.is_empty()) {
        page.section("Attacks", &attacks(&account.attacks));
    }
    page.section("Warnings", &warnings(&document.warnings));
    let is_open = told.accounts.iter().all(|account| account.standing() == Standing::Unknown);
    let written = if is_open { Written::Nowhere } else { Written::Folder };
    page.section("Evidence", &evidence(document.certificates, confirmation_words(checked), command, written));
    page.finish(&documents::text(&document))
}

/// What has happened: a property by its name and its thread, all else by the verdict.
fn happened(account: &Account<'_>) -> String {
    if account.about.is_empty() {
        return account.verdict.clone();
    }
    let thread = account.label.map_or(String::new(), |(thread, _)| format!(", {thread}"));
    format!("{}{thread}", account.question)
}

/// How the evidence fared: of several answers the worst.
fn worst<'a>(all: impl Iterator<Item = &'a ConfirmationDocument>) -> Option<&'a ConfirmationDocument> {
    let rank = |checked: &&ConfirmationDocument| match checked.verdict {
        EvidenceVerdict::Accepted => 0,
        EvidenceVerdict::Unknown => 1,
        EvidenceVerdict::Rejected => 2,
    };
    all.max_by_key(rank)
}

/// All questions with their answers.
fn answers(told: &Told<'_>) -> String {
    let row = |account: &Account<'_>| {
        let class = match account.standing() {
            Standing::Holds if account.often.is_some() => "neutral",
            Standing::Holds => "good",
            Standing::Violated => "bad",
            Standing::Unknown => "open",
        };
        let word = account.word();
        // The line has a column of its own, and so has the word.
        let said = account.line.map_or(String::new(), |line| format!(" (line {line})"));
        let phrase = account.phrase.strip_prefix(word).unwrap_or(&account.phrase);
        let thread = account.label.map_or(String::new(), |(thread, _)| format!("{} ", escaped(thread)));
        vec![
            worded(account.question.replacen(&said, "", 1)),
            account.line.map(|line| thread + &line_link(line)).unwrap_or_default(),
            format!("<span class=\"word {class}\">{word}</span>"),
            worded(phrase.trim_start_matches([',', ' '])),
        ]
    };
    let rows: Vec<Vec<String>> = told.accounts.iter().map(row).collect();
    if rows.is_empty() { paragraph(told.nothing) } else { table(&["question", "", "answer", ""], &rows) }
}

/// A computation, and what it takes.
pub(super) fn story(shown: &Shown<'_>) -> String {
    let counts: Vec<String> = shown.instance.iter().map(|(name, count)| format!("{name} × {count}")).collect();
    let smallest = if shown.instance_minimal == Some(true) { "; no smaller instance has one" } else { "" };
    let delays = shown.attacker.as_ref().map_or(String::new(), |attacker| format!(" {attacker} delays its stores."));
    let shortest = if shown.shortest { " No computation shows it in fewer steps." } else { "" };
    let mut out = paragraph(&shown.headline);
    out.push_str(&paragraph(format!("With {}{smallest}.{delays}{shortest}", counts.join(", "))));
    // The sentence before has said how many copies there are.
    let above = shown.above.iter().filter(|line| !line.starts_with("instance: "));
    above.for_each(|line| out.push_str(&paragraph(line)));
    match &shown.run {
        Run::Threads(computation) => {
            out.push_str(&lanes(computation));
            if shown.cycle.is_none() {
                shown.below.iter().for_each(|line| out.push_str(&paragraph(line.trim())));
            }
        }
        Run::Graph(graph) => {
            out.push_str(&lanes(&graph.computation));
            out.push_str(&paragraph("Edges between threads, by steps (init is an initial value):"));
            graph.lines().iter().for_each(|line| out.push_str(&paragraph(line)));
        }
        Run::Events(scene) => {
            out.push_str(&scene_table(scene));
            shown.below.iter().for_each(|line| out.push_str(&paragraph(line.trim())));
        }
    }
    out
}

/// The attacks with their answers.
fn attacks(attacks: &[AttackAnswer<'_>]) -> String {
    let row = |attack: &AttackAnswer<'_>| {
        let class = match attack.outcome {
            OutcomeWord::Feasible => "bad",
            OutcomeWord::Infeasible | OutcomeWord::Pruned => "good",
            OutcomeWord::Unknown | OutcomeWord::NotAsked => "open",
        };
        let words = attack.outcome.words();
        let place = |place: documents::InstructionPlace<'_>| {
            let name = place.name.map(|name| format!("<code>{}</code> ", escaped(name))).unwrap_or_default();
            format!("{name}<small>{}</small>", line_link(place.line))
        };
        vec![
            attack.id.to_string(),
            escaped(attack.place.thread),
            place(attack.place.store),
            place(attack.place.load),
            format!("<span class=\"word {class}\">{words}</span>"),
        ]
    };
    let rows: Vec<Vec<String>> = attacks.iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let table = table(&["", "thread", "store", "delayed past", "answer"], &rows);
    let count = attacks.len();
    format!(
        "<details{}><summary>{count} attacks: a store that is delayed past a load</summary>\n{table}</details>\n",
        if count <= 12 { " open" } else { "" }
    )
}
