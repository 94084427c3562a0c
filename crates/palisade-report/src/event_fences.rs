//! The result of `palisade fences` for a program of events and tasks as text.

use super::context::Context;
use super::counted;
use super::fences::measure_words;
use super::scene::Scene;
use super::tso::{Computation, instance_words};
use palisade_engine::fences::{EventRepair, EventRepaired};
use palisade_evidence::TaskWitness;
use palisade_model::program::Program;
use std::fmt::Write;

/// A repair with what the command line made of it.
#[derive(Clone, Copy, Debug)]
pub struct Result<'a> {
    /// The repair.
    pub found: &'a EventRepaired,
    /// Why the text itself is not changed.
    pub no_diff: Option<&'a str>,
    /// The file that the repaired text was written to.
    pub written: Option<&'a str>,
}

impl<'a> Result<'a> {
    /// The changes in the text; nothing where there are none.
    pub fn diff(&self) -> &'a str {
        self.found.text.as_ref().and_then(|text| text.as_ref().ok()).map_or("", |text| &text.diff)
    }

    /// Whether `verify` has accepted the evidence for every claim.
    pub fn is_shown(&self) -> bool {
        self.found.shown.as_ref().is_some_and(|shown| shown.is_complete)
    }
}

/// The report for people.
pub fn text(result: &Result<'_>, context: &Context<'_>, verbosity: u8) -> String {
    let (program, found) = (context.program, result.found);
    let mut out = String::new();
    let headline = match &found.repair {
        EventRepair::Valid(measures, _) if measures.is_empty() => "robust against TSO: no fence is needed".to_owned(),
        EventRepair::Valid(measures, cost) => {
            let count = counted(measures.len(), "change");
            format!("{count} for robustness against TSO, cost {cost}, none cheaper")
        }
        EventRepair::Impossible(_) => "nothing that is permitted makes it robust against TSO".to_owned(),
        EventRepair::Unknown(reason) => format!("fences for robustness against TSO are unknown: {reason}"),
    };
    let _ = writeln!(out, "{}: {headline}", context.file);
    let _ = writeln!(out, "  events   {}", instance_words(program));
    if let EventRepair::Valid(measures, _) = &found.repair {
        for (measure, _) in measures {
            let back = found.row_of(*measure).map_or(String::new(), |row| format!(", without it {}", back(found, row)));
            let _ = writeln!(out, "  change   {}{back}", measure_words(program, *measure));
        }
        if !measures.is_empty() {
            let rows = counted(found.rows.len(), "violation");
            let _ = writeln!(out, "  proof    {rows}, of each of which every repair stops one step at least");
        }
    }
    if verbosity > 0 {
        let searches = counted(found.searches, "program");
        let _ = writeln!(out, "  searched {searches} in {:.3} s", context.seconds);
        for (row, _) in &found.rows {
            let names: Vec<String> = row.iter().map(|measure| measure.name(program)).collect();
            let _ = writeln!(out, "  row      {}", names.join(", "));
        }
    }
    if found.shown.is_some() {
        let _ = writeln!(
            out,
            "  evidence {}",
            if result.is_shown() { "verified" } else { "not verified: a limit was reached" }
        );
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
    if let EventRepair::Impossible(witness) = &found.repair {
        out.push_str(&violation(program, witness));
    }
    if result.written.is_none() && !result.diff().is_empty() {
        let _ = write!(out, "\n{}", result.diff());
    }
    out
}

/// `violation 2 comes back`.
fn back(found: &EventRepaired, row: usize) -> String {
    if found.rows.len() == 1 { "it is not robust".to_owned() } else { format!("violation {} comes back", row + 1) }
}

/// A violation that nothing stops, as a table.
fn violation(program: &Program, witness: &TaskWitness) -> String {
    Computation::of(program, witness).map_or_else(String::new, |shown| Scene::of_computation(&shown).text())
}
