//! The result of `palisade orderings` as text.

mod document;

pub use document::{
    NeededOrderingDocument, OrderingPlace, OrderingsDocument, OrderingsVerdict, StatedPropertyDocument,
};

use crate::account::{Shown as Violation, copies_line};
use crate::context::{Context, domain_line};
use crate::counted;
use crate::fences::hangs_are_meant;
use crate::graph::GraphWords;
use crate::language_fences::{note_lines, why_unknown};
use crate::proposal::{KeptPlace, PROPOSED, Proposal, kept_lines};
use crate::source_place;
use palisade_engine::fences::{Needed, OrderedPlace, Orderings, OrderingsShown};
use palisade_model::program::{Ordering, Program};
use std::fmt::Write;

/// What is found about the orderings of a program, with what the command line made of it.
#[derive(Clone, Copy, Debug)]
pub struct Result<'a> {
    /// What is found.
    pub found: &'a OrderingsShown,
    /// The properties that the program states, under interleavings.
    pub properties: &'a [StatedProperty],
    /// Whether all violations are shown in full.
    pub graphs: bool,
    /// Why the text itself is not changed.
    pub no_diff: Option<&'a str>,
    /// Of machine code, the changes of its sources.
    pub proposal: Option<&'a Proposal>,
    /// The places of the sources that were not judged.
    pub kept: &'a [KeptPlace],
    /// What the answer says besides, each with its heading.
    pub notes: &'a [(&'static str, String)],
    /// The file that the weakened text was written to.
    pub written: Option<&'a str>,
}

/// A property that the program states.
#[derive(Clone, Debug)]
pub struct StatedProperty {
    /// Where it stands.
    pub about: String,
    /// The heading of its line.
    pub heading: &'static str,
    /// Whether it holds for interleavings; nothing where that is not known.
    pub holds: Option<bool>,
    /// How an `exists` is answered, which claims nothing.
    pub often: Option<&'static str>,
    /// What is known of it.
    pub phrase: String,
}

impl<'a> Result<'a> {
    /// The changes in the text; nothing where there are none.
    pub fn diff(&self) -> &'a str {
        let text = || self.found.text.as_ref().and_then(|text| text.as_ref().ok()).map(|text| text.diff.as_str());
        self.proposal.map(|proposal| proposal.diff.as_str()).or_else(text).unwrap_or_default()
    }

    /// Whether `verify` has accepted the evidence for every claim.
    pub fn is_shown(&self) -> bool {
        self.found.shown.as_ref().is_some_and(|shown| shown.is_complete)
    }

    /// The places whose orderings were judged; none where the program is not robust.
    pub fn places(&self) -> &'a [OrderedPlace] {
        match &self.found.orderings {
            Orderings::Weakest(places) => places,
            Orderings::NotRobust(_) | Orderings::Unknown(_) => &[],
        }
    }
}

/// The report for people.
pub fn text(result: &Result<'_>, context: &Context<'_>, verbosity: u8) -> String {
    let (program, found) = (context.program, result.found);
    let mut out = format!("{}: {}\n", context.file, headline(found));
    out.push_str(&copies_line(program));
    out.push_str(&domain_line(program));
    out.push_str(&note_lines(program, result.notes, verbosity));
    for property in result.properties {
        let _ = writeln!(out, "  {:<8} {}, under SC: {}", property.heading, property.about, property.phrase);
    }
    if hangs_are_meant(program) {
        let _ = writeln!(out, "  not asked here: who waits for ever, and `finally` (`palisade check --model c11`)");
    }
    if let Orderings::Weakest(places) = &found.orderings {
        out.push_str(&table(program, places));
        out.push_str(&consequences(program, places));
    }
    if let (Orderings::Unknown(_), Some(growth)) = (&found.orderings, &found.growth) {
        let _ = writeln!(out, "  help     {}", growth.advice);
    }
    out.push_str(&kept_lines(result.kept));
    if verbosity > 0 {
        let (searches, rows) = (counted(found.searches, "form"), counted(found.rows.len(), "violation"));
        let configurations = counted(found.configurations, "configuration");
        let _ = writeln!(
            out,
            "  searched {searches} of the program, {configurations}, in {:.3} s; {rows} decide",
            context.seconds
        );
    }
    if found.shown.is_some() {
        let words =
            if result.is_shown() { "verified" } else { "verified, but for orderings whose violation is not shown" };
        let _ = writeln!(out, "  evidence {words}");
    }
    if let Some(why) = result.no_diff {
        let _ = writeln!(out, "  text     unchanged: {why}");
    }
    for path in context.certificates {
        let _ = writeln!(out, "  evidence {path}");
    }
    if let Some(path) = result.written {
        let _ = writeln!(out, "  written  {path}");
    }
    match &found.orderings {
        Orderings::NotRobust(row) => {
            let _ = write!(out, "\n{}", Violation::of_graph(&row.stated, &row.violation).text(verbosity));
        }
        Orderings::Weakest(places) if result.graphs => {
            for (place, needed) in reasons_shown(places) {
                let _ = write!(out, "\n{}:\n{}", what(program, place, needed), graph(needed, verbosity));
            }
        }
        Orderings::Weakest(_) | Orderings::Unknown(_) => {}
    }
    if result.written.is_none() && !result.diff().is_empty() {
        if result.proposal.is_some() {
            out.push_str(PROPOSED);
        }
        let _ = write!(out, "\n{}", result.diff());
    }
    out
}

/// What was found, in a sentence.
pub fn headline(found: &OrderingsShown) -> String {
    match &found.orderings {
        Orderings::NotRobust(_) => "not robust against C11 with its own orderings".to_owned(),
        Orderings::Unknown(reason) => {
            format!("robustness against C11 is unknown: {}", why_unknown(*reason, found.growth.as_ref()))
        }
        Orderings::Weakest(places) if places.is_empty() => {
            "robust against C11, and no ordering is to be weakened".to_owned()
        }
        Orderings::Weakest(places) => {
            let count = places.iter().filter(|place| place.together != place.stated).count();
            let all = places.len();
            match count {
                0 if places.iter().any(OrderedPlace::is_weakened) => {
                    format!("robust against C11, and none of its {all} orderings can be weaker without another one")
                }
                0 => format!("robust against C11, and none of its {} can be weaker", counted(all, "ordering")),
                _ => format!("robust against C11, and {count} of its {} can be weaker", counted(all, "ordering")),
            }
        }
    }
}

/// An ordering in a word; a relaxed fence is none.
pub fn word(place: &OrderedPlace, ordering: Ordering) -> &'static str {
    if place.is_fence && ordering == Ordering::Relaxed { "none" } else { ordering.word() }
}

/// What a place can be where all are as weak as possible, in words.
pub fn may_be(place: &OrderedPlace) -> String {
    match word(place, place.together) {
        "none" => "can go".to_owned(),
        ordering => format!("can be {ordering}"),
    }
}

/// The text of an access, on one line; of machine code, that of its source.
pub fn code(program: &Program, place: &OrderedPlace) -> String {
    let span = program.thread(place.thread).instruction(place.access).span;
    let own = source_place::words(program, span).unwrap_or_else(|| program.source.slice(span).to_owned());
    let own = own.split_whitespace().collect::<Vec<_>>().join(" ");
    let own = own.trim_end_matches(';');
    if place.failing { format!("{own}, when it fails") } else { own.to_owned() }
}

/// The line that an access stands on, from 1.
pub fn line(program: &Program, place: &OrderedPlace) -> usize {
    program.source.position(program.thread(place.thread).instruction(place.access).span.start).line
}

/// Where an access stands: its line, or its place in the sources of machine code.
fn at(program: &Program, place: &OrderedPlace) -> String {
    let span = program.thread(place.thread).instruction(place.access).span;
    program.source.origin(span).map_or_else(|| line(program, place).to_string(), |origin| origin.place.clone())
}

/// The orderings, one place a line.
fn table(program: &Program, places: &[OrderedPlace]) -> String {
    let first = if program.source.is_listing { "place" } else { "line" };
    let mut rows = vec![[first, "ordering", "alone", "together", ""].map(str::to_owned)];
    for place in places {
        rows.push([
            at(program, place),
            word(place, place.stated).to_owned(),
            weaker(place),
            word(place, place.together).to_owned(),
            code(program, place),
        ]);
    }
    if rows.len() == 1 {
        return String::new();
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 4] = std::array::from_fn(width);
    let mut out = String::new();
    for [at, stated, alone, together, code] in &rows {
        let [first, second, third, fourth] = widths;
        let row = format!("  {at:>first$}  {stated:<second$}  {alone:<third$}  {together:<fourth$}  {code}");
        let _ = writeln!(out, "{}", row.trim_end());
    }
    out
}

/// The weakest orderings that a place may have alone, in words.
pub fn weaker(place: &OrderedPlace) -> String {
    let alone: Vec<&str> = place.alone.iter().map(|ordering| word(place, *ordering)).collect();
    let open = if place.open.is_empty() { "" } else { " or less" };
    format!("{}{open}", alone.join(" or "))
}

/// Why a place is no weaker than it is together with the others, or where it can be as weak as may
/// be alone.
pub fn reasons(place: &OrderedPlace) -> impl Iterator<Item = &Needed> {
    let alone = place.needed_alone.iter().filter(|needed| place.together.is_at_least(needed.ordering));
    let forbidden: Vec<Ordering> = place.needed_alone.iter().map(|needed| needed.ordering).collect();
    alone.chain(place.needed.iter().filter(move |needed| !forbidden.contains(&needed.ordering)))
}

/// All places with what is shown of them.
pub fn reasons_shown(places: &[OrderedPlace]) -> impl Iterator<Item = (&OrderedPlace, &Needed)> {
    places.iter().flat_map(|place| reasons(place).map(move |needed| (place, needed)))
}

/// `line 18, relaxed`.
fn what(program: &Program, place: &OrderedPlace, needed: &Needed) -> String {
    let is_alone = place.needed_alone.iter().any(|other| other.ordering == needed.ordering);
    let fails = if place.failing { " on failure" } else { "" };
    let besides = if is_alone { "" } else { ", besides the others" };
    let line = if program.source.is_listing { "" } else { "line " };
    format!("{line}{}, {}{fails}{besides}", at(program, place), word(place, needed.ordering))
}

/// What the weaker orderings lead to.
fn consequences(program: &Program, places: &[OrderedPlace]) -> String {
    let mut out = String::new();
    for (place, needed) in reasons_shown(places) {
        if out.is_empty() {
            out.push_str("with weaker orderings:\n");
        }
        let words = GraphWords::of(&needed.stated, &needed.violation).words;
        let known = if needed.violation.is_admitted { "" } else { " (not shown: the axioms in full do not admit it)" };
        let _ = writeln!(out, "  {}: {words}{known}", what(program, place, needed));
    }
    out
}

/// A violation in full.
fn graph(needed: &Needed, verbosity: u8) -> String {
    Violation::of_graph(&needed.stated, &needed.violation).text(verbosity)
}
