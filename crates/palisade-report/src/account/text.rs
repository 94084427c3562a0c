//! Accounts as text: a report, and a line where many files are asked about.

use super::{Account, Note, Shown, Standing, Told};
use crate::claim;
use crate::context::domain_line;
use crate::subject::program_words;
use crate::tso::instance_words;
use palisade_model::program::Program;
use std::collections::BTreeSet;
use std::fmt::Write;

/// As many places of machine code at which the same holds have a line each.
const FEW: usize = 3;

/// How much a report says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extent {
    /// How much of what few people want to know.
    pub verbosity: u8,
    /// Every computation in full, and not that of the most serious answer alone.
    pub all: bool,
}

/// For which copies and values all questions about a program are asked.
fn subject(told: &Told<'_>) -> String {
    let program = told.context.program;
    if program.is_event_driven() { instance_words(program) } else { program_words(program, told.context.changed) }
}

/// The report for people in one line, for many files; the brackets say for which copies and values
/// it is.
pub fn line(told: &Told<'_>) -> String {
    let mut out = format!("{}: {}", told.context.file, told.headline());
    if let Some(worst) = told.most_serious().filter(|account| account.standing() != Standing::Holds) {
        let about = if worst.about.is_empty() { String::new() } else { format!("{}: ", worst.about) };
        let _ = match (worst.shown(), worst.reason()) {
            (Some(shown), _) if about.is_empty() => write!(out, ", {}", short(shown, told.context.program)),
            (_, Some(reason)) => write!(out, ", {about}{reason}"),
            _ => write!(out, ", {}", worst.about),
        };
    }
    for account in &told.accounts {
        for note in account.notes.iter().filter(|note| note.verbosity == 0 && note.heading == "unreached") {
            let _ = write!(out, ", unreached {}", note.words);
        }
    }
    if let Some(words) = open_hangs(told) {
        let _ = write!(out, ", hangs {}", words.split_once(": ").map_or(words, |(words, _)| words));
    }
    // What does not hold on all machines is said in one line as well.
    for note in told.accounts.iter().flat_map(|account| &account.notes) {
        let is_whole = note.words.starts_with("holds on x86, ARMv8, RISC-V and POWER");
        if note.heading == "claim" || note.heading == "machines" && !is_whole {
            let _ = write!(out, ", {}: {}", note.heading, note.words);
        }
    }
    if let Some(claim) = claim::words(told.context.program).filter(|_| !told.is_of_language()) {
        let _ = write!(out, ", {claim}");
    }
    if let Some(compilations) = told.context.compilations {
        let _ = write!(out, ", {}", compilations.words());
    }
    let _ = writeln!(out, " [{}]", subject(told));
    out
}

/// Why an account of a program that waits leaves open whether anybody waits for ever, in the words
/// of its note; nothing where it does not.
pub fn open_hangs<'t>(told: &'t Told<'_>) -> Option<&'t str> {
    let mut notes = told.accounts.iter().flat_map(|account| &account.notes);
    notes.find(|note| note.verbosity == 0 && note.heading == "hangs").map(|note| note.words.as_str())
}

/// What a computation shows, without the word before it, and with how many copies.
fn short(shown: &Shown<'_>, program: &Program) -> String {
    let headline = shown.headline.split_once(": ").map_or(shown.headline.as_str(), |(_, words)| words);
    let copies: u64 = shown.instance.iter().map(|(_, count)| count).sum();
    let what = if program.is_event_driven() { "event" } else { "thread" };
    format!("{headline}, with {}", crate::counted(usize::try_from(copies).unwrap_or(usize::MAX), what))
}

/// The report for people.
pub fn report(told: &Told<'_>, extent: Extent) -> String {
    let context = &told.context;
    let program = context.program;
    let mut out = format!("{}: {}\n", context.file, told.headline());
    out.push_str(&copies_line(program));
    out.push_str(&domain_line(program));
    if !told.is_of_language() {
        out.push_str(&claim::lines(program, extent.verbosity));
    }
    if let Some(compilations) = context.compilations {
        let _ = writeln!(out, "  source   {}", compilations.words());
    }
    let (mut folded, mut helped) = (BTreeSet::new(), BTreeSet::new());
    for alike in told.accounts.chunk_by(|one, other| are_alike(one, other, extent.verbosity)) {
        let account = &alike[0];
        let places = if extent.all { 0 } else { places_that_hold(told, account, extent.verbosity) };
        if places > FEW {
            if folded.insert((account.heading, account.phrase.as_str())) {
                let _ = writeln!(out, "  {:<8} at {places} places: {}", account.heading, account.phrase);
            }
            continue;
        }
        // A single answer about the whole program stands in the first line.
        if !told.is_one() {
            let about = if account.about.is_empty() { String::new() } else { format!("{}: ", about(alike)) };
            let _ = writeln!(out, "  {:<8} {about}{}", account.heading, account.phrase);
        } else if let Some(reason) = account.reason()
            && !account.notes.iter().any(|note| note.heading == "reason")
        {
            let _ = writeln!(out, "  reason   {reason}");
        }
        let is_said = |note: &&Note| match told.is_one() {
            true => note.verbosity <= extent.verbosity,
            false => is_more(note, account, extent.verbosity),
        };
        for note in account.notes.iter().filter(is_said) {
            // What helps several questions that are open is said once.
            let helps = account.standing() == Standing::Unknown && matches!(note.heading, "help" | "note");
            if !helps || helped.insert(&note.words) {
                let _ = writeln!(out, "  {:<8} {}", note.heading, note.words);
            }
        }
    }
    if extent.verbosity > 0 {
        let explored: usize = told.accounts.iter().map(|account| account.explored).sum();
        let _ = writeln!(out, "  explored {} in {:.3} s", crate::counted(explored, "configuration"), context.seconds);
    }
    for path in context.certificates {
        let _ = writeln!(out, "  evidence {path}");
    }
    let worst = told.most_serious().filter(|_| !extent.all);
    let is_told = |account: &&Account<'_>| worst.is_none_or(|worst| std::ptr::eq(*account, worst));
    let mut more = 0;
    for account in &told.accounts {
        let Some(shown) = account.shown() else { continue };
        // What was asked for is shown where nothing worse is.
        if is_told(&account) || (worst.is_some_and(|worst| worst.standing() != Standing::Violated)) {
            out.push('\n');
            out.push_str(&shown.text(extent.verbosity));
        } else {
            more += usize::from(account.standing() == Standing::Violated);
        }
    }
    if more > 0 {
        let _ = writeln!(out, "\n(`--all` shows {})", crate::counted(more, "more violation"));
    }
    out
}

/// Whether a note is said, and says more than the answer's own line.
fn is_more(note: &Note, account: &Account<'_>, verbosity: u8) -> bool {
    note.verbosity <= verbosity && (verbosity > 0 || !account.phrase.contains(&note.words))
}

/// At how many places of machine code the same holds that holds at one, if nothing else is to be
/// said of them. Most such places come of instructions, and nobody has written what is asked there.
fn places_that_hold(told: &Told<'_>, one: &Account<'_>, verbosity: u8) -> usize {
    let is_alike = |other: &&Account<'_>| {
        (other.heading, &other.phrase, other.standing()) == (one.heading, &one.phrase, Standing::Holds)
            && !other.about.is_empty()
            && !other.notes.iter().any(|note| is_more(note, other, verbosity))
    };
    let is_told_whole = verbosity > 0 || !told.context.program.source.is_listing || !is_alike(&one);
    if is_told_whole { 0 } else { told.accounts.iter().filter(is_alike).count() }
}

/// Whether two answers are the same about one line of several threads, which one line of the report
/// says.
fn are_alike(one: &Account<'_>, other: &Account<'_>, verbosity: u8) -> bool {
    let parts = |account: &Account<'_>| account.about.split_once(' ').map(|(_, place)| place.to_owned());
    (one.heading, &one.phrase, one.line) == (other.heading, &other.phrase, other.line)
        && one.line.is_some()
        && [one, other].iter().all(|account| account.notes.iter().all(|note| note.verbosity > verbosity))
        && parts(one).is_some_and(|place| place.starts_with('(') && Some(place) == parts(other))
}

/// What answers that are alike are about: `left, right (line 9)`.
fn about(alike: &[Account<'_>]) -> String {
    let names: Vec<&str> = alike.iter().filter_map(|account| account.about.split(' ').next()).collect();
    let place = alike[0].about.split_once(' ').map(|(_, place)| format!(" {place}")).unwrap_or_default();
    format!("{}{place}", names.join(", "))
}

impl Shown<'_> {
    /// The computation with what it shows.
    pub fn text(&self, verbosity: u8) -> String {
        let mut out = format!("{}\n", self.headline);
        let lines = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        out.push_str(&lines(&self.above));
        out.push_str(&self.run.text(verbosity));
        out.push_str(&lines(&self.below));
        if let Some(cycle) = &self.cycle {
            out.push_str(&cycle.lines());
        }
        out
    }
}

/// The line about the copies of threads, or how often events may occur.
pub fn copies_line(program: &Program) -> String {
    if program.is_event_driven() {
        return format!("  events   {}\n", instance_words(program));
    }
    let copies: Vec<String> =
        program.threads.iter().map(|thread| format!("{} × {}", thread.name, thread.copies)).collect();
    format!("  threads  {}\n", copies.join(", "))
}
