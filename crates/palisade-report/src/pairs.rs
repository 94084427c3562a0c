//! The result of `palisade fences --ask properties --objective pairs` as text.

use super::context::Context;
use super::counted;
use super::models::model_name;
use super::place::label_words;
use super::property_fences::property_name;
use super::subject::program_words;
use palisade_engine::properties::placement::pairs::{Pair, PairOptions, PairPlacement, PairsPlaced};
use palisade_model::program::Program;
use std::fmt::Write;

/// What was found.
#[derive(Clone, Copy, Debug)]
pub struct Result<'a> {
    /// Whether bans help, and which; or why that is not known.
    pub placed: std::result::Result<&'a PairsPlaced, &'a str>,
    /// What was asked.
    pub options: &'a PairOptions,
}

/// The report for people.
pub fn text(result: &Result<'_>, context: &Context<'_>, verbosity: u8) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}: {}", context.file, headline(result.placed));
    let _ = writeln!(out, "  for      the properties under {}", model_name(result.options.model));
    let _ = writeln!(out, "  program  {}", program_words(context.program, context.changed));
    match result.placed {
        Ok(PairsPlaced::Valid(placement)) => placement_text(&mut out, placement, result, context.program, verbosity),
        Ok(PairsPlaced::NoBanHelps(run)) => {
            let _ = writeln!(out, "  violated {}", property_name(context.program, run.target));
        }
        Err(_) => {}
    }
    out
}

/// Whether bans help, and how many.
pub fn headline(placed: std::result::Result<&PairsPlaced, &str>) -> String {
    let placement = match placed {
        Ok(PairsPlaced::Valid(placement)) => placement,
        Ok(PairsPlaced::NoBanHelps(_)) => return "no ban helps: violated without any reordering".to_owned(),
        Err(why) => return format!("not known: {why}"),
    };
    let count = counted(placement.bans.len(), "pair");
    match (placement.is_proved, placement.bans.is_empty()) {
        (true, true) => "no pair need be banned".to_owned(),
        (true, false) => format!("{count} to ban, no fewer do"),
        (false, _) => {
            let bound = placement.bounds.last().copied().unwrap_or(0);
            format!("{count} to ban, as far as runs with {} reordered show", counted(bound, "pair"))
        }
    }
}

fn placement_text(out: &mut String, placement: &PairPlacement, result: &Result<'_>, program: &Program, verbosity: u8) {
    for pair in &placement.bans {
        let _ = writeln!(out, "  ban      {}", words(program, *pair));
    }
    for culprits in &placement.culprits {
        let words: Vec<String> = culprits.iter().map(|pair| short(program, *pair)).collect();
        let _ = writeln!(out, "  culprits {}", words.join(" with "));
    }
    for set in placement.alternatives.iter().filter(|_| placement.alternatives.len() > 1) {
        let words: Vec<String> = set.iter().map(|pair| short(program, *pair)).collect();
        let _ = writeln!(out, "  hits     {}", words.join(", "));
    }
    let bounds: Vec<String> = placement.bounds.iter().map(ToString::to_string).collect();
    let bounds = if bounds.is_empty() { String::new() } else { format!(", bounds {}", bounds.join(", ")) };
    let _ = writeln!(
        out,
        "  method   {}: {} about {}{bounds}",
        result.options.method.name(),
        queries(placement.queries),
        counted(placement.candidates.len(), "candidate")
    );
    if verbosity > 0 {
        let _ = writeln!(out, "  explored {} where no run is left", counted(placement.states, "state"));
    }
}

/// A number of queries.
pub fn queries(count: usize) -> String {
    if count == 1 { "1 query".to_owned() } else { format!("{count} queries") }
}

/// `t1 announce (line 9) before look (line 11)`.
pub fn words(program: &Program, pair: Pair) -> String {
    let thread = program.thread(pair.thread);
    let access = thread.instruction(pair.access);
    let access = program.at(thread.label(access.source), access.span);
    format!("{} before{access}", program.place(pair.thread, pair.store))
}

/// `t1 announce → look`.
fn short(program: &Program, pair: Pair) -> String {
    let thread = program.thread(pair.thread);
    let label = |id| label_words(program, thread.label(thread.instruction(id).source));
    format!("{} {} → {}", thread.name, label(pair.store), label(pair.access))
}
