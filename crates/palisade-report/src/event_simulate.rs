//! The final states of a program of events and tasks as text.

use super::counted;
use super::tso::{Computation, instance_words};
use palisade_model::program::{Action, InstructionId, Program, ThreadId, Value};
use palisade_semantics::tasks::{TaskFinalStates, TaskModel, TaskStep};
use palisade_syntax::expression_text;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// What was simulated, and what came out.
#[derive(Clone, Copy, Debug)]
pub struct EventSimulation<'s> {
    /// The file.
    pub file: &'s str,
    /// The program.
    pub program: &'s Program,
    /// How events and tasks are executed.
    pub model: TaskModel,
    /// What was found.
    pub found: &'s TaskFinalStates,
    /// How long it took.
    pub seconds: f64,
}

/// Final states that are listed for people unless all are asked for.
const LISTED: usize = 32;

impl<'s> EventSimulation<'s> {
    /// The addresses that the final states list: the named ones, and those that do not hold 0
    /// somewhere.
    pub fn addresses(&self) -> BTreeSet<Value> {
        let named = self.program.addresses.iter().flat_map(|name| {
            let length = Value::from(name.length.min(64));
            name.address..name.address.saturating_add(length)
        });
        named.chain(self.found.completed.iter().flat_map(|memory| memory.keys().copied())).collect()
    }

    /// A final state by the names of the addresses.
    pub fn named(&self, memory: &BTreeMap<Value, Value>) -> Vec<(String, Value)> {
        let value = |address: &Value| memory.get(address).copied().unwrap_or(0);
        self.addresses().iter().map(|address| (self.program.address_name(*address), value(address))).collect()
    }

    /// A property as the language writes it.
    pub fn property(&self, (template, instruction): (ThreadId, InstructionId)) -> String {
        match &self.program.thread(template).instruction(instruction).action {
            Action::Ensure(condition) => format!("ensure {}", expression_text(self.program, template, condition)),
            _ => "fail".to_owned(),
        }
    }

    /// Where an instruction stands: event or task, label, line.
    pub fn place(&self, (template, instruction): (ThreadId, InstructionId)) -> (&'s str, &'s str, usize) {
        let thread = self.program.thread(template);
        let own = thread.instruction(instruction);
        (&thread.name, &thread.label(own.source).name, self.program.source.position(own.span.start).line)
    }

    /// A computation, to be shown.
    pub fn shown(&self, steps: &[TaskStep]) -> Option<Computation> {
        Computation::replay(self.program, steps, self.model.memory(), &[])
    }

    fn table(&self, steps: &[TaskStep]) -> String {
        self.shown(steps).map_or_else(String::new, |shown| shown.text())
    }

    /// The report for people.
    pub fn text(&self, all: bool) -> String {
        let Self { file, program, model, found, .. } = self;
        let mut out = String::new();
        let states = counted(found.completed.len(), "final state");
        let _ = writeln!(out, "{file}: {states} under {}", model.word());
        let _ = writeln!(out, "  events   {}", instance_words(program));
        let listed = if all { usize::MAX } else { LISTED };
        for memory in found.completed.iter().take(listed) {
            let cells: Vec<String> =
                self.named(memory).iter().map(|(name, value)| format!("{name} = {value}")).collect();
            let _ = writeln!(out, "  state    {}", cells.join(", "));
        }
        if let Some(more) = found.completed.len().checked_sub(listed).filter(|more| *more > 0) {
            let _ = writeln!(out, "  and      {more} more; `-v` lists all");
        }
        if let Some(steps) = &found.to_stuck {
            let _ = writeln!(out, "  stuck    in {}, for instance after", counted(found.stuck, "configuration"));
            out.push_str(&self.table(steps));
        }
        for (place, steps) in &found.violations {
            let (thread, label, line) = self.place(*place);
            let _ = writeln!(out, "  violated {thread} {label} (line {line}): {}", self.property(*place));
            out.push_str(&self.table(steps));
        }
        out
    }
}
