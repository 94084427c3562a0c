//! What `palisade simulate` found, in sentences, with the computations that show it.

use super::counters::{number, turned_classes};
use super::{Simulation, growing};
use crate::counted;
use crate::models::model_name;
use crate::place::claim_text;
use palisade_model::limits::StopReason;
use palisade_model::program::{Action, InstructionId, ThreadId};
use palisade_semantics::{Computation, CopyId, Counting, Machine};
use std::collections::BTreeSet;
use std::fmt::Write;

/// How many final states a report lists unless the user wants all.
pub(super) const LISTED: usize = 40;

/// The report.
pub(super) fn text(simulation: &Simulation<'_>, all: bool) -> String {
    let mut out = String::new();
    let stated = properties(simulation);
    let word = match simulation.holds() {
        false => "fails",
        true if stated.is_none() => "final states",
        true if simulation.outcome.rows.is_empty() && !simulation.program.finally.is_empty() => "nothing ends",
        true => "holds",
    };
    let _ = writeln!(out, "{}: {word} under {}", simulation.file, model(simulation));
    let threads = simulation.program.thread_ids();
    let copies: Vec<String> =
        threads.map(|(id, thread)| format!("{} × {}", thread.name, simulation.instance.count(id))).collect();
    let _ = writeln!(out, "  threads  {}", copies.join(", "));
    out.push_str(&counters(simulation));
    if simulation.program.has_sleepers() {
        out.push_str("  sleepers go on at any time here: `palisade check` says who waits for ever\n");
    } else if simulation.program.says_waits() && simulation.finals.stuck.is_empty() {
        out.push_str(
            "  a run in which somebody waits for ever has no final state: `palisade check` says if there is one\n",
        );
    }
    let nothing = "  The program states no property: it has no `ensure`, no `fail` and no `never`.\n";
    out.push_str(stated.as_deref().unwrap_or(nothing));
    final_states(simulation, all, &mut out);
    computations(simulation, all, &mut out);
    out
}

/// What the search found before it reached a limit: what fails, and how.
pub(super) fn until(simulation: &Simulation<'_>, reason: StopReason) -> String {
    let word = if simulation.has_failed() { "fails" } else { "unknown" };
    let mut out = format!("{}: {word} under {}: {reason}\n", simulation.file, model(simulation));
    let states = counted(simulation.finals.explored, "state");
    out.push_str(&counters(simulation));
    if let Some(growth) = &simulation.finals.growth {
        let _ = writeln!(out, "  {}.", growing(growth).describe(simulation.program));
    }
    let found = if simulation.has_failed() { "what is shown was found among them" } else { "nothing fails in them" };
    let _ = writeln!(out, "  {states} explored; {found}.");
    for (claim, line) in simulation.broken() {
        let _ = writeln!(out, "  `{claim}` (line {line}) fails in the end.");
    }
    computations(simulation, false, &mut out);
    out
}

/// A line for each class of counters up to whose turns states are told apart.
pub(super) fn counters(simulation: &Simulation<'_>) -> String {
    let line = |class: super::TurnedClass| {
        let names: Vec<String> = class.addresses.iter().map(|name| format!("`{name}`")).collect();
        let number = number(simulation, &class);
        format!("  counters {}: states that differ by {number} added to all count as one\n", names.join(", "))
    };
    turned_classes(simulation).into_iter().map(line).collect()
}

/// The name of its memory model.
pub(super) fn model(simulation: &Simulation<'_>) -> &'static str {
    model_name(simulation.model)
}

/// Each property, and whether it holds; nothing where none is stated.
fn properties(simulation: &Simulation<'_>) -> Option<String> {
    let mut out = String::new();
    let failing: BTreeSet<(ThreadId, InstructionId)> =
        simulation.finals.violations.keys().map(|(copy, instruction)| (copy.thread, *instruction)).collect();
    let mut stated = false;
    for (id, thread) in simulation.program.thread_ids().filter(|(id, _)| simulation.instance.count(*id) > 0) {
        for (instruction, it) in thread.instruction_ids() {
            if !matches!(it.action, Action::Ensure(_) | Action::Fail) {
                continue;
            }
            stated = true;
            let copy = CopyId { thread: id, copy: 0 };
            let outcome = match (&it.action, failing.contains(&(id, instruction))) {
                (Action::Fail, true) => "is reached",
                (Action::Fail, false) => "is never reached",
                (_, true) => "fails",
                (_, false) => "holds",
            };
            let place = simulation.program.place(id, instruction);
            let property = simulation.property(copy, instruction);
            let _ = writeln!(out, "  `{property}` at {place} {outcome}.");
        }
    }
    for (index, joint) in simulation.program.never.iter().enumerate() {
        stated = true;
        let outcome = if simulation.finals.joint.contains_key(&index) { "fails" } else { "holds" };
        let (text, line) = (simulation.joint(joint), simulation.joint_line(joint));
        let _ = writeln!(out, "  `{text}` (line {line}) {outcome}.");
    }
    for claim in &simulation.program.finally {
        stated = true;
        let outcome = match simulation.ends_against(claim) {
            _ if simulation.outcome.rows.is_empty() => "was asked of none, as nothing comes to an end",
            0 => "holds in the end",
            _ => "fails in the end",
        };
        let line = simulation.program.source.position(claim.span.start).line;
        let text = claim_text(simulation.program, claim);
        let _ = writeln!(out, "  `{text}` (line {line}) {outcome}.");
    }
    stated.then_some(out)
}

/// How many final states there are, and which.
fn final_states(simulation: &Simulation<'_>, all: bool, out: &mut String) {
    if simulation.bounded && simulation.counting == Counting::Rows {
        let stores = counted(simulation.buffer, "store");
        let _ =
            writeln!(out, "  Buffers hold {stores}, and some were full: with larger ones there may be more to see.");
    } else if simulation.bounded {
        let _ = writeln!(
            out,
            "  Threads were stopped after as many instructions as they may execute: there may be more to see."
        );
    }
    let outcome = &simulation.outcome;
    if outcome.rows.is_empty() {
        let _ = writeln!(out, "  No computation brings every thread to its end.");
    } else {
        let found = match simulation.counting {
            Counting::Rows => String::new(),
            Counting::Executions => format!("{} end in ", counted(outcome.satisfying + outcome.others, "execution")),
        };
        let shown = written(simulation, all);
        let mut seen = BTreeSet::new();
        let visible = |row: &'_ Vec<String>| shown.iter().map(|column| row[*column].clone()).collect::<Vec<_>>();
        let rows: Vec<Vec<String>> = outcome.rows.iter().map(visible).filter(|row| seen.insert(row.clone())).collect();
        let count = counted(rows.len(), "final state");
        let _ = writeln!(out, "  {found}{count} in which every thread has come to its end:");
        let names: Vec<String> = shown.iter().map(|column| name(simulation, &outcome.columns[*column])).collect();
        let listed = if all { usize::MAX } else { LISTED };
        for row in rows.iter().take(listed) {
            let cells: Vec<String> = names.iter().zip(row).map(|(name, value)| format!("{name} = {value}")).collect();
            let _ =
                writeln!(out, "    {}", if cells.is_empty() { "(nothing to see)".into() } else { cells.join(", ") });
        }
        if rows.len() > listed {
            let _ = writeln!(out, "    … and {} more (`-v` lists all)", rows.len() - listed);
        }
    }
    for class in turned_classes(simulation).iter().filter(|_| !outcome.rows.is_empty()) {
        let written = class.columns.iter().filter(|column| all || !is_temporary(simulation, column));
        let names: Vec<String> = written.map(|column| name(simulation, column)).collect();
        let number = number(simulation, class);
        let _ = writeln!(
            out,
            "  Each stands for all that come of it by {number} added to {}; at least one of these is reached.",
            names.join(", ")
        );
    }
    let stuck = simulation.finals.stuck.len();
    if stuck > 0 {
        let _ = writeln!(out, "  {} in which some thread is stuck.", counted(stuck, "final state"));
    }
}

/// The columns that are shown: memory first, then registers, without those that the text does not
/// have, unless all is to be said.
fn written(simulation: &Simulation<'_>, all: bool) -> Vec<usize> {
    let columns = &simulation.outcome.columns;
    let mut shown: Vec<usize> =
        (0..columns.len()).filter(|column| all || !is_temporary(simulation, &columns[*column])).collect();
    shown.sort_by_key(|column| columns[*column].contains(':'));
    shown
}

/// Whether the column is of a register that a reader made, to hold what a statement loads.
pub(super) fn is_temporary(simulation: &Simulation<'_>, column: &str) -> bool {
    let Some((number, name)) = column.split_once(':') else { return false };
    let thread = number.parse().ok().and_then(|number| owner(simulation, number));
    let program = simulation.program;
    let register = thread.and_then(|thread| program.thread(thread).registers.iter().find(|own| own.name == name));
    name.contains('\'') && register.is_some_and(|own| program.source.slice(own.span) != name)
}

/// The thread whose copy has a number in the names of columns.
fn owner(simulation: &Simulation<'_>, number: usize) -> Option<ThreadId> {
    if is_single(simulation) {
        return (number < simulation.program.threads.len()).then(|| ThreadId::from_index(number));
    }
    simulation.instance.copies().nth(number).map(|copy| copy.thread)
}

/// Whether no thread has several copies.
fn is_single(simulation: &Simulation<'_>) -> bool {
    simulation.instance.counts().iter().all(|count| *count <= 1)
}

/// The name of a column for people: `t1.r` for a register, `x` or `mem[7]` for memory.
pub(super) fn name(simulation: &Simulation<'_>, column: &str) -> String {
    if let Some(cell) = column.strip_prefix('[').and_then(|cell| cell.strip_suffix(']')) {
        let is_number = cell.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        return if is_number { format!("mem{column}") } else { cell.to_owned() };
    }
    let Some((number, register)) = column.split_once(':') else { return column.to_owned() };
    let Ok(number) = number.parse::<usize>() else { return column.to_owned() };
    let owner = match simulation.instance.copies().nth(number) {
        _ if is_single(simulation) => simulation.program.threads.get(number).map(|thread| thread.name.clone()),
        copy => copy.map(|copy| simulation.instance.copy_name(simulation.program, copy)),
    };
    owner.map_or_else(|| column.to_owned(), |owner| format!("{owner}.{register}"))
}

/// A computation for each property that fails, by one copy, and one that gets stuck: all its steps,
/// where all is to be said.
fn computations(simulation: &Simulation<'_>, all: bool, out: &mut String) {
    let mut shown = BTreeSet::new();
    for ((copy, instruction), computation) in &simulation.finals.violations {
        if shown.insert((copy.thread, *instruction)) {
            let place = simulation.place(*copy, *instruction);
            let property = simulation.property(*copy, *instruction);
            let _ = writeln!(out, "\nviolation: `{property}` at {place}");
            table(simulation, computation, all, out);
        }
    }
    for (index, computation) in &simulation.finals.joint {
        let joint = &simulation.program.never[*index];
        let (text, line) = (simulation.joint(joint), simulation.joint_line(joint));
        let _ = writeln!(out, "\nviolation: `{text}` (line {line})");
        table(simulation, computation, all, out);
    }
    if let Some(computation) = &simulation.finals.to_stuck {
        let _ = writeln!(out, "\nstuck: {}", waiting(simulation, computation).join(", "));
        table(simulation, computation, all, out);
    }
}

fn table(simulation: &Simulation<'_>, computation: &Computation, all: bool, out: &mut String) {
    out.push_str(&simulation.shown(computation).table(u8::from(all)));
    if !computation.shortest {
        let _ = writeln!(out, "  (there may be a shorter one)");
    }
}

/// The copies that have not come to their end when a computation gets stuck, and where they wait.
fn waiting(simulation: &Simulation<'_>, computation: &Computation) -> Vec<String> {
    let machine = Machine::new(simulation.program, simulation.instance, simulation.model);
    let state = &computation.last;
    let copies = simulation.instance.copies().enumerate();
    let waits = copies.filter_map(|(position, copy)| {
        let name = simulation.instance.copy_name(simulation.program, copy);
        let instruction = machine.instructions_at(state, position).first();
        let buffered = !state.threads()[position].buffer.is_empty();
        match instruction {
            Some(instruction) => Some(format!("{} waits for ever", simulation.place(copy, *instruction))),
            None if buffered => Some(format!("the stores of {name} never reach memory")),
            None => None,
        }
    });
    waits.collect()
}
