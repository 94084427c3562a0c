//! A violation for people: a column per thread, the store buffer, the happens-before cycle in words.

use super::computation::{ComputationReport, address_text};
use super::context::{instance_line, place};
use super::relations::edge_name;
use palisade_engine::robustness::Violation;
use palisade_model::program::Program;
use palisade_semantics::{AccessKind, Edge, NodeId, Relation, Replay};
use std::fmt::Write;

/// The computation as a table, with the cycle below it.
pub fn text(program: &Program, violation: &Violation, verbosity: u8) -> String {
    let mut out = String::new();
    let attack = violation.attack;
    let _ = writeln!(
        out,
        "violation: the store at {} is delayed past the load at {}",
        place(program, attack.thread, attack.store),
        place(program, attack.thread, attack.load),
    );
    out.push_str(&instance_line(program, &violation.instance, violation.instance_minimal));
    let computation = computation(program, violation);
    out.push_str(&computation.table());
    if verbosity > 0 {
        out.push_str(&computation.instructions());
    }
    if !violation.shortest {
        let _ = writeln!(out, "  (the search for a shorter computation was cut off)");
    }
    out.push_str(&cycle_lines(program, violation));
    out
}

/// The happens-before cycle, an edge on each line.
pub(super) fn cycle_lines(program: &Program, violation: &Violation) -> String {
    let mut out = String::from("happens-before cycle:\n");
    for edge in &violation.cycle {
        let _ = writeln!(
            out,
            "  {} → {}: the first {} ({})",
            node(program, violation, edge.from),
            node(program, violation, edge.to),
            why(program, edge),
            edge_name(program, &violation.replay.trace, edge)
        );
    }
    out
}

/// What an edge says of the first of its accesses.
pub fn why(program: &Program, edge: &Edge) -> String {
    let address = edge.address.map(|address| address_text(program, address)).unwrap_or_default();
    match edge.relation {
        Relation::ProgramOrder => "comes before it in program order".to_owned(),
        Relation::StoreOrder => format!("reaches `{address}` before it"),
        Relation::Source => format!("is where its `{address}` comes from"),
        Relation::Conflict => format!("reads `{address}` before it is overwritten by it"),
    }
}

/// The computation of a violation.
pub fn computation<'a>(program: &'a Program, violation: &'a Violation) -> ComputationReport<'a> {
    let Replay { events, states, .. } = &violation.replay;
    let (instance, copies) = (&violation.instance, violation.acting.clone());
    ComputationReport { program, instance, copies, events, states, marks_delayed: true }
}

/// A node of the trace: `t1 l0: store x = 1`.
pub fn node(program: &Program, violation: &Violation, id: NodeId) -> String {
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
