//! The result of `palisade fences` against a language as text.

mod document;

use crate::account::{Shown as Violation, copies_line};
use crate::context::{Context, domain_line};
use crate::counted;
use crate::fences::measure_words;
use crate::graph::GraphWords;
use crate::place::place;
use palisade_engine::fences::{LanguageRepair, LanguageRepaired};
use palisade_model::program::{Measure, Program};
use palisade_semantics::graphs::Axioms;
use std::fmt::Write;

/// A repair with what the command line made of it.
#[derive(Clone, Copy, Debug)]
pub struct Result<'a> {
    /// The repair.
    pub found: &'a LanguageRepaired,
    /// The language.
    pub axioms: Axioms,
    /// Why the text itself is not changed.
    pub no_diff: Option<&'a str>,
    /// The file that the repaired text was written to.
    pub written: Option<&'a str>,
}

impl<'a> Result<'a> {
    /// The changes in the text; nothing where there are none.
    pub fn diff(&self) -> &'a str {
        self.found.repaired_text().map_or("", |text| &text.diff)
    }

    /// Whether `verify` has accepted the evidence for every claim.
    pub fn is_shown(&self) -> bool {
        self.found.shown.as_ref().is_some_and(|shown| shown.is_complete)
    }
}

/// The report for people.
pub fn text(result: &Result<'_>, context: &Context<'_>, verbosity: u8) -> String {
    let (program, found, name) = (context.program, result.found, result.axioms.name());
    let headline = match &found.repair {
        LanguageRepair::Valid(measures) if measures.is_empty() => {
            format!("robust against {name}: nothing has to be changed")
        }
        LanguageRepair::Valid(measures) => {
            let least = if result.is_shown() { ", no fewer and none weaker" } else { "" };
            format!("{} for robustness against {name}{least}", counted(measures.len(), "change"))
        }
        LanguageRepair::Impossible(_) => format!("nothing that is permitted makes it robust against {name}"),
        LanguageRepair::Unknown(reason) => format!("changes for robustness against {name} are unknown: {reason}"),
    };
    let mut out = format!("{}: {headline}\n", context.file);
    out.push_str(&copies_line(program));
    out.push_str(&domain_line(program));
    if let LanguageRepair::Valid(changes) = &found.repair {
        for own in changes {
            let _ = writeln!(out, "  change   {}", change(program, own.measure));
            if let Some((violation, stated)) = &own.returns {
                let _ = writeln!(out, "           without it {}", GraphWords::of(stated, violation).words);
            }
        }
    }
    if verbosity > 0 {
        let (forms, configurations) = (counted(found.searches, "form"), counted(found.configurations, "configuration"));
        let _ = writeln!(out, "  searched {forms} of the program, {configurations}, in {:.3} s", context.seconds);
        for row in &found.rows {
            let names: Vec<String> = row.measures.iter().map(|measure| change(program, *measure)).collect();
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
        let _ = write!(out, "\n{}", result.diff());
    }
    out
}

/// What a change is, in words.
fn change(program: &Program, measure: Measure) -> String {
    match measure {
        Measure::Ordered { thread, access, failing, ordering } => {
            let fails = if failing { " on failure" } else { "" };
            format!("{ordering}{fails} at {}", place(program, thread, access))
        }
        measure => format!("fence(seq_cst) before {}", measure_words(program, measure)),
    }
}
