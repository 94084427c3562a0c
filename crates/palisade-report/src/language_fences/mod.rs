//! The result of `palisade fences` against a language as text.

mod document;

use crate::account::{Shown as Violation, copies_line};
use crate::claim::Claim;
use crate::context::{Context, domain_line};
use crate::counted;
use crate::fences::{change_words, not_asked};
use crate::graph::GraphWords;
use crate::proposal::{KeptPlace, PROPOSED, Proposal, kept_lines};
use palisade_engine::fences::{Growth, LanguageRepair, LanguageRepaired};
use palisade_model::limits::StopReason;
use palisade_model::program::Program;
use palisade_semantics::graphs::Axioms;
use std::fmt::Write;

/// A repair with what the command line made of it.
#[derive(Clone, Copy, Debug)]
pub struct Result<'a> {
    /// The repair.
    pub found: &'a LanguageRepaired,
    /// The language.
    pub axioms: Axioms,
    /// Whether all sets that cost as little are asked for.
    pub all: bool,
    /// Why the text itself is not changed.
    pub no_diff: Option<&'a str>,
    /// Of machine code, the changes of its sources.
    pub proposal: Option<&'a Proposal>,
    /// The places of the sources that were not considered.
    pub kept: &'a [KeptPlace],
    /// What the answer says besides, each with its heading.
    pub notes: &'a [(&'static str, String)],
    /// The file that the repaired text was written to.
    pub written: Option<&'a str>,
}

impl<'a> Result<'a> {
    /// The changes in the text; nothing where there are none.
    pub fn diff(&self) -> &'a str {
        let proposed = self.proposal.map(|proposal| proposal.diff.as_str());
        proposed.or_else(|| self.found.repaired_text().map(|text| text.diff.as_str())).unwrap_or_default()
    }

    /// Whether `verify` has accepted the evidence for every claim.
    pub fn is_shown(&self) -> bool {
        self.found.shown.as_ref().is_some_and(|shown| shown.is_complete)
    }
}

/// The report for people.
pub fn text(result: &Result<'_>, context: &Context<'_>, verbosity: u8) -> String {
    let (program, found) = (context.program, result.found);
    let mut out = format!("{}: {}\n", context.file, headline(result));
    out.push_str(&copies_line(program));
    out.push_str(&domain_line(program));
    out.push_str(&note_lines(program, result.notes, verbosity));
    if not_asked(program).is_some() {
        let _ = writeln!(out, "  not asked here: what is stated, and who waits for ever (`palisade check`)");
    }
    if let LanguageRepair::Valid(changes) = &found.repair {
        for own in changes {
            let _ = writeln!(out, "  change   {}", change_words(program, own.measure));
            if let Some((violation, stated)) = &own.returns {
                let _ = writeln!(out, "           without it {}", GraphWords::of(stated, violation).words);
            }
        }
    }
    if result.all && !found.alternatives.is_empty() {
        let more = if found.alternatives_complete { "" } else { " known; there may be more" };
        let _ = writeln!(out, "  optima   {}{more}", found.alternatives.len());
        for set in &found.alternatives {
            let names: Vec<String> = set.iter().map(|measure| change_words(program, *measure)).collect();
            let _ =
                writeln!(out, "           {}", if names.is_empty() { "nothing".to_owned() } else { names.join(", ") });
        }
    }
    if let (LanguageRepair::Unknown(_), Some(growth)) = (&found.repair, &found.growth) {
        let _ = writeln!(out, "  help     {}", growth.advice);
    }
    out.push_str(&kept_lines(result.kept));
    if verbosity > 0 {
        let (forms, configurations) = (counted(found.searches, "form"), counted(found.configurations, "configuration"));
        let _ = writeln!(out, "  searched {forms} of the program, {configurations}, in {:.3} s", context.seconds);
        for row in &found.rows {
            let names: Vec<String> = row.measures.iter().map(|measure| change_words(program, *measure)).collect();
            let _ = writeln!(out, "  one of   {}", names.join(", "));
        }
    }
    if found.shown.is_some() {
        let words = if result.is_shown() { "verified" } else { "verified, but not that nothing is less" };
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
    if let LanguageRepair::Impossible(row) = &found.repair {
        let _ = write!(out, "\n{}", Violation::of_graph(&row.stated, &row.violation).text(verbosity));
    }
    if result.written.is_none() && !result.diff().is_empty() {
        if result.proposal.is_some() {
            out.push_str(PROPOSED);
        }
        let _ = write!(out, "\n{}", result.diff());
    }
    out
}

/// Why there is no answer: what grows, if that is why.
pub(crate) fn why_unknown(reason: StopReason, growth: Option<&Growth>) -> String {
    let growth = growth.filter(|_| reason == StopReason::Inconclusive);
    growth.map_or_else(|| reason.to_string(), |growth| growth.what.clone())
}

/// The claim of an answer about the language of machine code, and what it says besides, line by
/// line.
pub(crate) fn note_lines(program: &Program, notes: &[(&str, String)], verbosity: u8) -> String {
    let claim = Claim::of(program).map_or_else(String::new, |claim| claim.lines(verbosity));
    notes.iter().fold(claim, |lines, (heading, words)| lines + &format!("  {heading:<8} {words}\n"))
}

/// What was found, in a sentence.
pub fn headline(result: &Result<'_>) -> String {
    let (found, name) = (result.found, result.axioms.name());
    match &found.repair {
        LanguageRepair::Valid(measures) if measures.is_empty() => {
            format!("robust against {name}: nothing has to be changed")
        }
        LanguageRepair::Valid(measures) => {
            let least = if result.is_shown() { ", no fewer and none weaker" } else { "" };
            format!("{} for robustness against {name}{least}", counted(measures.len(), "change"))
        }
        LanguageRepair::Impossible(_) => format!("nothing that is permitted makes it robust against {name}"),
        LanguageRepair::Unknown(reason) => {
            let why = why_unknown(*reason, found.growth.as_ref());
            format!("changes for robustness against {name} are unknown: {why}")
        }
    }
}
