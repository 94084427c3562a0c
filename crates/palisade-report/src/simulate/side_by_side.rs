//! What each of several models reaches, side by side.

use super::Simulation;
use super::sentences::{LISTED, counters, is_temporary, model, name};
use crate::counted;
use palisade_semantics::Counting;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The final states of all models, in order, each with whether a model reaches it. The columns are
/// the same for all models.
pub fn reached_by<'s>(simulations: &'s [Simulation<'_>]) -> BTreeMap<(usize, &'s [String]), Vec<bool>> {
    let weakest = simulations.last().map_or(&[][..], |last| &last.outcome.rows[..]);
    let places: BTreeMap<&[String], usize> = weakest.iter().map(Vec::as_slice).zip(0..).collect();
    let mut reached: BTreeMap<(usize, &[String]), Vec<bool>> = BTreeMap::new();
    for (index, simulation) in simulations.iter().enumerate() {
        for row in &simulation.outcome.rows {
            // A bound on buffers may keep the weakest model from what a stronger one reaches; such
            // states come last.
            let place = places.get(row.as_slice()).copied().unwrap_or(usize::MAX);
            reached.entry((place, row)).or_insert_with(|| vec![false; simulations.len()])[index] = true;
        }
    }
    reached
}

/// The table, and below it what each model says of the condition and the properties. Of very many
/// final states the first ones are listed, or all.
pub fn text(simulations: &[Simulation<'_>], all: bool) -> String {
    let names: Vec<&str> = simulations.iter().map(model).collect();
    let first = &simulations[0];
    let mut out = String::new();
    let _ = writeln!(out, "{}: final states under {}", first.file, names.join(", "));
    out.push_str(&counters(simulations.last().unwrap_or(first)));
    let whole = reached_by(simulations);
    let mut shown = columns(first, all, false);
    if differ(&whole, &shown) {
        shown = columns(first, all, true);
    }
    let reached = projected(&whole, &shown);
    let listed = if all { reached.len() } else { LISTED };
    let padded = |words: Vec<&str>| words.iter().map(|word| format!("{word:<3}  ")).collect::<String>();
    if reached.is_empty() {
        let _ = writeln!(out, "  No computation brings every thread to its end.");
    } else {
        let _ = writeln!(out, "  {}state", padded(names));
    }
    for (row, by) in reached.iter().take(listed) {
        let marks = padded(by.iter().map(|is_reached| if *is_reached { "yes" } else { "-" }).collect());
        let columns = shown.iter().map(|column| named(first, &first.outcome.columns[*column]));
        let cells = columns.zip(row).map(|(column, value)| format!("{column} = {value}"));
        let _ = writeln!(out, "  {marks}{}", cells.collect::<Vec<_>>().join(", "));
    }
    if reached.len() > listed {
        let _ = writeln!(out, "  … and {} more; -v lists all", reached.len() - listed);
    }
    if shown.len() < first.outcome.columns.len() && !reached.is_empty() {
        out.push_str("  (without registers; -v shows them)\n");
    }
    for (index, simulation) in simulations.iter().enumerate() {
        said(simulation, reached.iter().filter(|(_, by)| by[index]).count(), &mut out);
    }
    out
}

/// The columns that are shown: memory first, then registers. Of a program that asks nothing of
/// registers these are left out, unless all is to be shown, or the models differ in them.
fn columns(simulation: &Simulation<'_>, all: bool, with_registers: bool) -> Vec<usize> {
    let is_register = |column: &usize| simulation.outcome.columns[*column].contains(':');
    let columns = 0..simulation.outcome.columns.len();
    let is_shown = |column: &usize| all || !is_temporary(simulation, &simulation.outcome.columns[*column]);
    let (registers, mut shown): (Vec<usize>, Vec<usize>) = columns.filter(is_shown).partition(is_register);
    let is_asked = simulation.program.source.is_litmus || simulation.question.condition.is_some();
    if all || with_registers || is_asked || shown.is_empty() {
        shown.extend(registers);
    }
    shown
}

/// Whether models that reach states which look alike in some columns do not reach the same of them.
fn differ(whole: &BTreeMap<(usize, &[String]), Vec<bool>>, shown: &[usize]) -> bool {
    let rows: BTreeMap<Vec<&str>, Vec<bool>> = projected(whole, shown).into_iter().collect();
    whole.iter().any(|((_, row), by)| rows.get(&visible(row, shown)) != Some(by))
}

/// Some columns of a state.
fn visible<'s>(row: &'s [String], shown: &[usize]) -> Vec<&'s str> {
    shown.iter().map(|column| row[*column].as_str()).collect()
}

/// The states by some of their columns, in order, each with the models that reach one of those that
/// look so.
fn projected<'s>(
    reached: &BTreeMap<(usize, &'s [String]), Vec<bool>>,
    shown: &[usize],
) -> Vec<(Vec<&'s str>, Vec<bool>)> {
    let mut places: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
    let mut rows: Vec<(Vec<&str>, Vec<bool>)> = Vec::new();
    for ((_, row), by) in reached {
        let visible = visible(row, shown);
        let place = *places.entry(visible.clone()).or_insert(rows.len());
        match rows.get_mut(place) {
            Some((_, known)) => known.iter_mut().zip(by).for_each(|(known, by)| *known |= by),
            None => rows.push((visible, by.clone())),
        }
    }
    rows
}

/// The name of a column: as herd has it in litmus tests.
fn named(simulation: &Simulation<'_>, column: &str) -> String {
    if simulation.program.source.is_litmus { column.to_owned() } else { name(simulation, column) }
}

/// What one model says, of whose final states so many look different in the table.
fn said(simulation: &Simulation<'_>, different: usize, out: &mut String) {
    let outcome = &simulation.outcome;
    let what = match simulation.counting {
        Counting::Rows => "final state",
        Counting::Executions => "execution",
    };
    let total = match (simulation.counting, &simulation.question.condition) {
        (Counting::Rows, None) => different,
        _ => usize::try_from(outcome.satisfying + outcome.others).unwrap_or(usize::MAX),
    };
    let _ = write!(out, "  {:<3}  {}", model(simulation), counted(total, what));
    if let Some(condition) = &simulation.question.condition {
        let word = if outcome.holds { "holds" } else { "does not hold" };
        let _ = write!(out, "; {condition} {word}: {} of {total}", outcome.satisfying);
    }
    if !simulation.finals.stuck.is_empty() {
        let _ = write!(out, "; threads are stuck in {}", counted(simulation.finals.stuck.len(), "other state"));
    }
    if simulation.bounded {
        let _ = write!(out, "; a bound may have left some out");
    }
    for (copy, instruction) in simulation.finals.violations.keys() {
        let property = simulation.property(*copy, *instruction);
        let place = simulation.place(*copy, *instruction);
        let _ = write!(out, "\n       `{property}` at {place} fails");
    }
    for index in simulation.finals.joint.keys() {
        let _ = write!(out, "\n       `{}` fails", simulation.joint(&simulation.program.never[*index]));
    }
    for (claim, line) in simulation.broken() {
        let _ = write!(out, "\n       `{claim}` (line {line}) fails in the end");
    }
    out.push('\n');
}
