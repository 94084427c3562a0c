//! A violation for people: a column per thread, the store buffer, the happens-before cycle in
//! words.

use super::computation::{ComputationReport, Marks, address_text, value_text};
use super::context::instance_line;
use super::place::{brief, short_words};
use super::relations::edge_name;
use palisade_engine::robustness::Violation;
use palisade_model::program::{Label, Program};
use palisade_semantics::{AccessKind, Edge, Machine, NodeId};
use std::fmt::Write;

/// The computation as a table, with the cycle below it.
pub fn text(program: &Program, violation: &Violation, verbosity: u8) -> String {
    let mut out = String::new();
    let attack = violation.attack;
    let _ = writeln!(
        out,
        "violation: the store at {} is delayed past the load at {}",
        program.place(attack.thread, attack.store),
        program.place(attack.thread, attack.load),
    );
    out.push_str(&instance_line(program, &violation.instance, violation.instance_minimal));
    let computation = computation(program, violation);
    out.push_str(&computation.table(verbosity));
    if !violation.shortest {
        let _ = writeln!(out, "  (the search for a shorter computation was cut off)");
    }
    out.push_str("happens-before cycle:\n");
    for edge in &violation.cycle {
        let _ = writeln!(out, "  {}", edge_text(program, violation, edge, |_| String::new()));
    }
    out
}

/// An edge of the cycle in words, each access behind what `front` gives:
/// `left (line 6) writes x = 1 before right (line 9) reads y = 0 (po)`.
pub fn edge_text(program: &Program, violation: &Violation, edge: &Edge, front: impl Fn(NodeId) -> String) -> String {
    let side = |id| format!("{}{}", front(id), deed(program, violation, id));
    let name = edge_name(program, &violation.replay.trace, edge);
    format!("{} before {} ({name})", side(edge.from), side(edge.to))
}

/// What a copy does at a node of the trace: `left (line 6) writes x = 1`.
fn deed(program: &Program, violation: &Violation, id: NodeId) -> String {
    let copy = violation.instance.copy_name(program, violation.acting[id.position]);
    let accesses = violation.replay.trace.node(id).accesses.iter().map(|access| {
        let verb = if matches!(access.kind, AccessKind::Load(_)) { "reads" } else { "writes" };
        format!("{verb} {} = {}", address_text(program, access.address), value_text(program, access.value))
    });
    let accesses: Vec<String> = accesses.collect();
    format!("{copy} {} {}", brief(program, label(program, violation, id)), accesses.join(" and "))
}

/// The label at which a node of the trace stands.
fn label<'a>(program: &'a Program, violation: &Violation, id: NodeId) -> &'a Label {
    let thread = program.thread(violation.acting[id.position].thread);
    let instruction = violation.replay.trace.node(id).instruction;
    thread.label(thread.instruction(instruction).source)
}

/// The computation of a violation.
pub fn computation<'a>(program: &'a Program, violation: &'a Violation) -> ComputationReport<'a> {
    let machine = Machine::of_copies(program, violation.acting.clone(), violation.replay.model);
    ComputationReport::new(machine, &violation.instance, &violation.replay.events, Marks::Delayed)
}

/// A node of the trace: `t1 l0: store x = 1`.
pub fn node(program: &Program, violation: &Violation, id: NodeId) -> String {
    let copy = violation.acting[id.position];
    format!("{} {}", violation.instance.copy_name(program, copy), node_text(program, violation, id))
}

/// A node of the trace without its thread: `l0: store x = 1`.
pub fn node_text(program: &Program, violation: &Violation, id: NodeId) -> String {
    let node = violation.replay.trace.node(id);
    let accesses: Vec<String> = node
        .accesses
        .iter()
        .map(|access| {
            let kind = match access.kind {
                AccessKind::Load(_) => "load",
                AccessKind::Store => "store",
            };
            format!("{kind} {} = {}", address_text(program, access.address), value_text(program, access.value))
        })
        .collect();
    format!("{}: {}", short_words(program, label(program, violation, id)), accesses.join(", "))
}
