//! A violation for people: a column per thread, the store buffer, the happens-before cycle in words.

use super::check::place;
use crate::program::{Program, Value};
use crate::robustness::Violation;
use crate::semantics::{AccessKind, Effect, Event, NodeId, Relation, StepKind};
use std::fmt::Write;

/// The computation as a table, with the cycle below it.
pub fn text(program: &Program, violation: &Violation) -> String {
    let mut out = String::new();
    let attack = violation.attack;
    let _ = writeln!(
        out,
        "violation: the store at {} is delayed past the load at {}",
        place(program, attack.thread, attack.store),
        place(program, attack.thread, attack.load),
    );
    if program.is_parameterized() {
        let counts: Vec<String> = program
            .threads
            .iter()
            .zip(violation.instance.counts())
            .map(|(thread, count)| format!("{} × {count}", thread.name))
            .collect();
        let minimal = if violation.instance_minimal { " (no smaller instance has one)" } else { "" };
        let _ = writeln!(out, "instance: {}{minimal}", counts.join(", "));
    }
    let acting = &violation.acting;
    let mut header = vec![String::new()];
    header.extend(acting.iter().map(|copy| violation.instance.copy_name(program, *copy)));
    header.push(format!("buffer of {}", violation.instance.copy_name(program, violation.attacker)));
    let attacker = violation.attacker_position();
    let mut rows = vec![header];
    for (index, event) in violation.replay.events.iter().enumerate() {
        // A store that is flushed at once is shown once, at the flush.
        let next = violation.replay.events.get(index + 1);
        let flushed_at_once = matches!(event.effect, Effect::Issue { .. })
            && next.is_some_and(|next| next.step.copy == event.step.copy && next.step.kind == StepKind::Flush)
            && (event.step.copy != violation.attacker || index < violation.issue);
        if flushed_at_once {
            continue;
        }
        let mut row = vec![format!("{}", index + 1)];
        for copy in acting {
            row.push(if *copy == event.step.copy { describe(program, violation, index, event) } else { String::new() });
        }
        let buffer: Vec<String> = violation.replay.states[index + 1].threads()[attacker]
            .buffer
            .iter()
            .map(|(address, value)| format!("{} = {value}", address_text(program, *address)))
            .collect();
        row.push(buffer.join(", "));
        rows.push(row);
    }
    let widths: Vec<usize> = (0..rows[0].len())
        .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
        .collect();
    for (number, row) in rows.iter().enumerate() {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let _ = writeln!(out, "  {}", cells.join(" │ ").trim_end());
        if number == 0 {
            let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
            let _ = writeln!(out, "  {}", rules.join("─┼─"));
        }
    }
    let _ = writeln!(out, "happens-before cycle:");
    for edge in &violation.cycle {
        let address = edge.address.map(|address| address_text(program, address)).unwrap_or_default();
        let why = match edge.relation {
            Relation::ProgramOrder => "comes before it in program order".to_owned(),
            Relation::StoreOrder => format!("reaches `{address}` before it"),
            Relation::Source => format!("is where its `{address}` comes from"),
            Relation::Conflict => format!("reads `{address}` before it is overwritten by it"),
        };
        let _ = writeln!(
            out,
            "  {} → {}: the first {why} ({})",
            node(program, violation, edge.from),
            node(program, violation, edge.to),
            edge.relation.name()
        );
    }
    out
}

/// Whether the step issues a store that stays buffered over ld_A.
pub(super) fn is_delayed_issue(violation: &Violation, index: usize) -> bool {
    let event = &violation.replay.events[index];
    index >= violation.issue && event.step.copy == violation.attacker && matches!(event.effect, Effect::Issue { .. })
}

fn describe(program: &Program, violation: &Violation, index: usize, event: &Event) -> String {
    let thread = program.thread(event.step.copy.thread);
    let label = match event.step.kind {
        StepKind::Execute { instruction, .. } => {
            format!("{}: ", thread.label(thread.instruction(instruction).source).name)
        }
        // Shown for a store flushed at once: the label of its issue, just before.
        StepKind::Flush if event.step.copy != violation.attacker || index < violation.issue => {
            match violation.replay.events.get(index.wrapping_sub(1)).map(|before| before.step.kind) {
                Some(StepKind::Execute { instruction, .. }) => {
                    format!("{}: ", thread.label(thread.instruction(instruction).source).name)
                }
                _ => String::new(),
            }
        }
        StepKind::Flush => String::new(),
    };
    let mark = if is_delayed_issue(violation, index) { " (delayed)" } else { "" };
    format!("{label}{}{mark}", effect(program, event))
}

/// An effect in a few words.
pub(super) fn effect(program: &Program, event: &Event) -> String {
    let thread = program.thread(event.step.copy.thread);
    let register = |id: crate::program::RegisterId| thread.registers[id.index()].name.as_str();
    let name = |address: Value| address_text(program, address);
    match event.effect {
        Effect::Load { register: into, address, value, early } => {
            let source = if early { " from its buffer" } else { "" };
            format!("{} ← {} = {value}{source}", register(into), name(address))
        }
        Effect::Issue { address, value } => format!("{} ← {value} into its buffer", name(address)),
        Effect::Store { address, value } => format!("{} ← {value}", name(address)),
        Effect::Rmw { address, old, new, .. } => match new {
            Some(new) => format!("{} {old} ⇒ {new} locked", name(address)),
            None => format!("{} = {old} locked, no store", name(address)),
        },
        Effect::Fence => "mfence".into(),
        Effect::Lock => "lock".into(),
        Effect::Unlock => "unlock".into(),
        Effect::Local { written: Some((into, value)) } => format!("{} ← {value}", register(into)),
        Effect::Local { written: None } => "goes on".into(),
        Effect::Violation => "violates `ensure`".into(),
        Effect::Failure => "fails".into(),
    }
}

/// An address for people: its name, or `mem[7]`.
pub fn address_text(program: &Program, address: Value) -> String {
    let name = program.address_name(address);
    if name.starts_with(|c: char| c == '-' || c.is_ascii_digit()) { format!("mem[{name}]") } else { name }
}

/// A node of the trace: `t1 l0: store x = 1`.
pub(super) fn node(program: &Program, violation: &Violation, id: NodeId) -> String {
    let copy = violation.acting[id.position];
    format!("{} {}", violation.instance.copy_name(program, copy), node_text(program, violation, id))
}

/// A node of the trace without its thread: `l0: store x = 1`.
pub fn node_text(program: &Program, violation: &Violation, id: NodeId) -> String {
    let copy = violation.acting[id.position];
    let thread = program.thread(copy.thread);
    let node = violation.replay.trace.node(id);
    let label = &thread.label(thread.instruction(node.instruction).source).name;
    let accesses: Vec<String> = node
        .accesses
        .iter()
        .map(|access| {
            let kind = match access.kind {
                AccessKind::Load(_) => "load",
                AccessKind::Store => "store",
            };
            format!("{kind} {} = {}", address_text(program, access.address), access.value)
        })
        .collect();
    format!("{label}: {}", accesses.join(", "))
}
