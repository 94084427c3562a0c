//! An execution as herd shows it: its events by thread, and the relations between them.

use super::computation::address_text;
use super::relations::{direct_edges, edge_name, letter, name};
use super::wording::WIDEST;
use palisade_model::program::{InstructionId, Program, ThreadId};
use palisade_semantics::{CopyId, Edge, Instance, NodeId, Relation, Trace, shortest_cycle};
use std::fmt::Write;

/// An execution to be shown.
#[derive(Clone, Debug)]
pub struct Execution<'a> {
    /// The program.
    pub program: &'a Program,
    /// The instance whose execution it is.
    pub instance: &'a Instance,
    /// Its number among those shown, from 1, and how many there are of its kind.
    pub number: (usize, usize),
    /// Whether its final state satisfies the condition's proposition; nothing where there is no
    /// condition.
    pub satisfies: Option<bool>,
    /// What happened.
    pub trace: Trace,
}

/// An event: an access, or the accesses of a locked instruction or section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its place in the trace.
    pub node: NodeId,
    /// `a`, `b`, …
    pub letter: String,
    /// `W[x]=1`; the accesses of a locked instruction side by side.
    pub text: String,
    /// The line of its instruction.
    pub line: usize,
}

/// A relation between two events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// Where it starts and ends.
    pub edge: Edge,
    /// Its name: that of its relation.
    pub name: &'static str,
    /// Whether it is on the cycle.
    pub on_cycle: bool,
}

impl Execution<'_> {
    /// What the picture is about.
    pub fn title(&self) -> String {
        let (number, count) = self.number;
        let satisfies = match self.satisfies {
            Some(true) => ", which satisfies the condition",
            Some(false) => ", which does not satisfy the condition",
            None => "",
        };
        format!("{}: execution {number} of {count}{satisfies}", self.program.name)
    }

    /// The copies, by their positions.
    fn copies(&self) -> Vec<CopyId> {
        self.instance.copies().collect()
    }

    /// The events of each copy that has some, with its name.
    pub fn events(&self) -> Vec<(String, Vec<Event>)> {
        let mut number = 0;
        let mut columns = Vec::new();
        for (position, (copy, nodes)) in self.copies().into_iter().zip(self.trace.threads()).enumerate() {
            let events = (0..nodes.len()).map(|index| {
                number += 1;
                self.event(NodeId { position, index }, copy.thread, number - 1)
            });
            let events: Vec<Event> = events.collect();
            if !events.is_empty() {
                columns.push((self.instance.copy_name(self.program, copy), events));
            }
        }
        columns
    }

    fn event(&self, node: NodeId, thread: ThreadId, number: usize) -> Event {
        let found = self.trace.node(node);
        let accesses: Vec<String> = found
            .accesses
            .iter()
            .map(|access| {
                format!("{}[{}]={}", letter(access.kind), address_text(self.program, access.address), access.value)
            })
            .collect();
        Event { node, letter: letters(number), text: accesses.join(" "), line: self.line(thread, found.instruction) }
    }

    fn line(&self, thread: ThreadId, instruction: InstructionId) -> usize {
        self.program.source.position(self.program.thread(thread).instruction(instruction).span.start).line
    }

    /// A cycle of the relations, which shows that no interleaving does this.
    pub fn cycle(&self) -> Option<Vec<Edge>> {
        shortest_cycle(&self.trace)
    }

    /// The relations between neighbours, and those on the cycle.
    pub fn arrows(&self) -> Vec<Arrow> {
        let cycle = self.cycle().unwrap_or_default();
        let on_cycle =
            |from, to, relation| cycle.iter().any(|edge| (edge.from, edge.to, edge.relation) == (from, to, relation));
        let mut edges = direct_edges(&self.trace);
        edges.extend(cycle.iter().map(|edge| (edge.from, edge.to, edge.relation)));
        let arrow = |(from, to, relation)| Arrow {
            edge: Edge { from, to, relation, address: None },
            name: name(relation),
            on_cycle: on_cycle(from, to, relation),
        };
        edges.into_iter().map(arrow).collect()
    }

    /// The names of a cycle's edges: `PodWR`, `Fre`, …
    pub fn cycle_names(&self, cycle: &[Edge]) -> Vec<String> {
        cycle.iter().map(|edge| edge_name(self.program, &self.trace, edge)).collect()
    }

    /// The execution in words.
    pub fn text(&self) -> String {
        let columns = self.events();
        let letter = |node: NodeId| {
            let event = columns.iter().flat_map(|(_, events)| events).find(|event| event.node == node);
            event.map_or_else(String::new, |event| event.letter.clone())
        };
        let mut out = format!("{}\n", self.title());
        let width = columns.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).clamp(4, WIDEST);
        for (copy, events) in &columns {
            let shown: Vec<String> =
                events.iter().map(|event| format!("{}: {} (line {})", event.letter, event.text, event.line)).collect();
            let _ = writeln!(out, "  {copy:<width$}  {}", shown.join(", "));
        }
        let arrows = self.arrows();
        for relation in [Relation::ProgramOrder, Relation::Source, Relation::StoreOrder, Relation::Conflict] {
            let of_relation = arrows.iter().filter(|arrow| arrow.edge.relation == relation);
            let shown: Vec<String> =
                of_relation.map(|arrow| format!("{} → {}", letter(arrow.edge.from), letter(arrow.edge.to))).collect();
            if !shown.is_empty() {
                let _ = writeln!(out, "  {:<width$}  {}", name(relation), shown.join(", "));
            }
        }
        match self.cycle() {
            Some(cycle) => {
                let way: Vec<String> = cycle.iter().map(|edge| letter(edge.from)).collect();
                let first = way.first().cloned().unwrap_or_default();
                let _ = writeln!(
                    out,
                    "  no interleaving does this: {} → {first} ({})",
                    way.join(" → "),
                    self.cycle_names(&cycle).join(" ")
                );
            }
            None => out.push_str("  an interleaving does this\n"),
        }
        out
    }
}

/// `a`, …, `z`, `a1`, …
fn letters(number: usize) -> String {
    let letter = char::from(b'a' + u8::try_from(number % 26).expect("one of 26"));
    if number < 26 { letter.to_string() } else { format!("{letter}{}", number / 26) }
}
