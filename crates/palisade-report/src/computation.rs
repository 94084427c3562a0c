//! A computation for people, a row per step with a column per thread copy and per store buffer.

use super::place::{label_words, source_line, stated};
use super::source_place;
use super::wording::WIDEST;
use palisade_engine::properties::Violation;
use palisade_model::program::{Action, Instruction, Operation, Ordering, Program, Queue, Value};
use palisade_semantics::graphs::{Axioms, access};
use palisade_semantics::{
    BufferedStore, CopyId, Effect, Event, Instance, Machine, Model, State, Step, StepKind, ThreadState,
};
use palisade_syntax::litmus::FAR_ADDRESS;
use std::collections::BTreeSet;
use std::fmt::Write;

/// How many stores of a long buffer are shown at either end.
const SHOWN_OF_BUFFERS: usize = 4;

/// What is said of a computation without steps.
pub const NO_STEP: &str = "no step: it is so from the beginning";

/// A computation of an instance, replayed.
#[derive(Clone, Debug)]
pub struct ComputationReport<'a> {
    /// The program.
    pub program: &'a Program,
    /// The instance.
    pub instance: &'a Instance,
    /// The copies that states list, in their order; all that take steps are among them.
    pub copies: Vec<CopyId>,
    /// The steps with their effects.
    pub events: &'a [Event],
    /// What the computation is to show besides.
    pub marks: Marks,
    /// Whose steps these are.
    machine: Machine<'a>,
    /// The addresses that tell what watches joint control states who stands where.
    watched: BTreeSet<Value>,
    /// For each copy what its buffer holds behind each of its own steps, by the number of all.
    buffers: Vec<Vec<(usize, Vec<String>)>>,
    /// What is shown of each step.
    views: Vec<View>,
}

/// What is shown of a step that the states say.
#[derive(Clone, Debug)]
struct View {
    /// Whether it is the issue of a store that reaches memory in the next one.
    is_flushed_at_once: bool,
    /// The address at which it sleeps or wakes.
    queue: Option<Value>,
}

/// What a computation is to show besides its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// Nothing.
    Nothing,
    /// Which stores wait in a buffer.
    Delayed,
    /// Which orderings a language gives to accesses and fences.
    Orderings(Axioms),
}

impl Marks {
    /// What a computation under a memory model is to show.
    pub fn of(model: Model) -> Self {
        if model.has_buffers() { Self::Delayed } else { Self::Nothing }
    }
}

impl<'a> ComputationReport<'a> {
    /// The computation that violates a property.
    pub fn of_property(program: &'a Program, violation: &'a Violation) -> Self {
        Self::new(violation.machine(program), &violation.instance, &violation.events, Marks::of(violation.model))
    }

    /// Steps of a machine from its initial state, each of which it can take.
    pub fn new(machine: Machine<'a>, instance: &'a Instance, events: &'a [Event], marks: Marks) -> Self {
        let program = machine.program();
        let watches = program.threads.iter().filter(|thread| thread.is_watch());
        let loads = watches.flat_map(|thread| &thread.instructions).filter_map(|own| own.action.address());
        let watched: BTreeSet<Value> = loads.filter_map(|own| own.evaluate_address(&[]).ok()).collect();
        let own = |event: &Event| machine.position(event.step.copy).expect("steps are taken by copies");
        let (mut views, mut buffers) = (Vec::with_capacity(events.len()), vec![Vec::new(); machine.copies().len()]);
        let mut steps: usize = 0;
        machine.walk(events, |state| {
            if let Some(before) = steps.checked_sub(1).map(|before| own(&events[before])) {
                buffers[before].push((steps, buffer_entries(program, &watched, &state.threads()[before])));
            }
            if let Some(event) = events.get(steps) {
                views.push(View::of(&machine, &state.threads()[own(event)], event, events.get(steps + 1)));
            }
            steps += 1;
        });
        let copies = machine.copies().to_vec();
        Self { program, instance, copies, events, marks, machine, watched, buffers, views }
    }

    /// Shows the initial state and the one after each step.
    pub fn each_state(&self, see: impl FnMut(&State)) {
        self.machine.walk(self.events, see);
    }

    /// The steps as a table, with the lines of the text that they execute. A store that reaches
    /// memory in the very next step takes one row. What threads do in their registers is left out,
    /// unless much is to be said.
    pub fn table(&self, verbosity: u8) -> String {
        if self.events.is_empty() {
            return format!("  {NO_STEP}\n");
        }
        let acting: Vec<CopyId> = self.acting_copies();
        let rows = self.numbered();
        let is_left_out = |index: usize| !self.is_of_the_text(index) || self.is_folded(index) && verbosity == 0;
        let shown: Vec<(usize, usize)> = rows.iter().copied().filter(|(index, _)| !is_left_out(*index)).collect();
        let is_used = |position: &usize| shown.iter().any(|(index, _)| !self.buffer(index + 1, *position).is_empty());
        let buffers: Vec<usize> = (0..self.copies.len()).filter(is_used).collect();
        let name = |copy| self.instance.copy_name(self.program, copy);
        let mut header = vec![String::new()];
        header.extend(acting.iter().map(|copy| name(*copy)));
        header.extend(buffers.iter().map(|position| format!("buffer of {}", name(self.copies[*position]))));
        let lines: Vec<String> = shown.iter().map(|(index, _)| self.line(*index).unwrap_or_default()).collect();
        let has_lines = lines.iter().any(|line| !line.is_empty());
        header.extend(has_lines.then(|| "line".to_owned()));
        let mut table = vec![header];
        for ((index, number), line) in shown.iter().zip(lines) {
            let event = &self.events[*index];
            let mut row = vec![number.to_string()];
            for copy in &acting {
                row.push(if *copy == event.step.copy { self.cell(*index) } else { String::new() });
            }
            row.extend(buffers.iter().map(|position| self.buffer(index + 1, *position).join(", ")));
            row.extend(has_lines.then_some(line));
            table.push(row);
        }
        let mut out = aligned(&table) + &self.sources();
        if verbosity > 0 {
            out.push_str(&self.instructions());
        } else if !self.program.source.is_listing && rows.iter().any(|(index, _)| self.is_folded(*index)) {
            out.push_str("  (steps in registers are left out: `-v` shows them)\n");
        }
        out
    }

    /// The steps with their numbers, from 1. A store that reaches memory in the very next step is
    /// one step, that in which it does.
    pub fn numbered(&self) -> Vec<(usize, usize)> {
        (0..self.events.len()).filter(|index| !self.flushed_at_once(*index)).zip(1..).collect()
    }

    /// The line that a step executes, as it is written.
    fn line(&self, index: usize) -> Option<String> {
        let (_, step) = self.issue_of(index);
        source_line(self.program, self.program.thread(step.copy.thread), step.kind.instruction()?)
    }

    /// The issue of a store that reaches memory at once, in place of its flush; other steps
    /// themselves.
    pub fn issue_of(&self, index: usize) -> (usize, Step) {
        let index = index.checked_sub(1).filter(|before| self.flushed_at_once(*before)).unwrap_or(index);
        (index, self.events[index].step)
    }

    /// Of machine code, what stands in the sources where the steps come from, once for each place.
    fn sources(&self) -> String {
        let mut places: Vec<[String; 2]> = Vec::new();
        for instruction in self.executed() {
            let origin = self.program.source.origin(instruction.span);
            if let (Some(origin), Some(words)) = (origin, source_place::words(self.program, instruction.span)) {
                let place = [origin.place.clone(), words];
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        }
        let width = places.iter().map(|[place, _]| place.chars().count()).max().unwrap_or(0).min(WIDEST);
        let lines = places.iter().map(|[place, words]| format!("  {place:<width$}  {words}\n"));
        lines.collect()
    }

    /// Of machine code, the instructions of the steps with their addresses.
    pub fn instructions(&self) -> String {
        if !self.program.source.is_listing {
            return String::new();
        }
        let line = |instruction: &Instruction| self.program.source.slice(instruction.span);
        self.executed().map(|instruction| format!("  {}\n", line(instruction))).collect()
    }

    /// The instructions of the steps that the table shows, in order.
    fn executed(&self) -> impl Iterator<Item = &Instruction> {
        (0..self.events.len()).filter(|index| !self.is_folded(*index)).filter_map(|index| {
            let step = self.events[index].step;
            match step.kind {
                StepKind::Execute { instruction, .. } | StepKind::Crowd { instruction, .. } => {
                    Some(self.program.thread(step.copy.thread).instruction(instruction))
                }
                StepKind::Flush | StepKind::FlushAddress(_) => None,
            }
        })
    }

    /// The copies of the text's threads that take steps, in the instance's order.
    pub fn acting_copies(&self) -> Vec<CopyId> {
        let acts = |copy: &CopyId| {
            let has_step = self.events.iter().any(|event| event.step.copy == *copy);
            has_step && !self.program.thread(copy.thread).is_watch()
        };
        self.copies.iter().copied().filter(acts).collect()
    }

    /// Whether a step is no more than a thread's own: what it does in its registers is not what a
    /// person looks for first.
    pub fn is_folded(&self, index: usize) -> bool {
        matches!(self.events[index].effect, Effect::Local { .. })
    }

    /// Whether a step is one of the text's threads, not of what watches joint control states.
    pub fn is_of_the_text(&self, index: usize) -> bool {
        let (_, step) = self.issue_of(index);
        let is_watched = |address| self.is_watched(address);
        let flushes_own = matches!(step.kind, StepKind::Flush | StepKind::FlushAddress(_))
            && matches!(self.events[index].effect, Effect::Store { address, .. } if is_watched(address));
        !self.program.thread(step.copy.thread).is_watch() && !flushes_own
    }

    /// Whether an address is one that tells what watches joint control states who stands where.
    pub fn is_watched(&self, address: Value) -> bool {
        self.watched.contains(&address)
    }

    /// Whether a step is the issue of a store that reaches memory in the next one.
    pub(super) fn flushed_at_once(&self, index: usize) -> bool {
        self.views[index].is_flushed_at_once
    }

    /// What the buffer of the copy at a position holds after so many steps, oldest first; of a long
    /// one both ends.
    pub fn buffer(&self, steps: usize, position: usize) -> &[String] {
        let known = &self.buffers[position];
        let before = known.partition_point(|(behind, _)| *behind <= steps);
        before.checked_sub(1).map_or(&[], |last| &known[last].1)
    }

    /// A step in its column: what it does, behind the name that the text has for its place.
    fn cell(&self, index: usize) -> String {
        let name = self.name(index).filter(|_| self.standing(index).is_none());
        let name = name.map_or_else(String::new, |name| format!("{name}: "));
        let mark = if self.marks == Marks::Delayed && self.is_delayed(index) { " (delayed)" } else { "" };
        format!("{name}{}{mark}", self.text(index))
    }

    /// The name that the text has for the place of a step, if it has one.
    pub fn name(&self, index: usize) -> Option<&'a str> {
        let (_, step) = self.issue_of(index);
        let thread = self.program.thread(step.copy.thread);
        thread.label(thread.instruction(step.kind.instruction()?).source).written()
    }

    /// Whether other steps come between the issue of a store and its reaching memory.
    pub fn is_delayed(&self, index: usize) -> bool {
        matches!(self.events[index].effect, Effect::Issue { address, .. } if !self.is_watched(address))
            && !self.flushed_at_once(index)
    }

    /// What a step does, in a few words.
    pub fn text(&self, index: usize) -> String {
        let Event { step, effect } = &self.events[index];
        let thread = self.program.thread(step.copy.thread);
        let register = |id: palisade_model::program::RegisterId| thread.registers[id.index()].name.as_str();
        let name = |address: Value| address_text(self.program, address);
        let number = |value: Value| value_text(self.program, value);
        let condition = || self.condition(index).unwrap_or_default();
        if let Some(text) = self.standing(index).or_else(|| self.sleeping(index)) {
            return text;
        }
        let stated =
            |else_: &str| self.ordering(index).map_or_else(|| else_.to_owned(), |ordering| format!(" ({ordering})"));
        match *effect {
            Effect::Load { register: into, address, value, early } => {
                let source = if early { " from its buffer" } else { "" };
                let (into, address, value) = (register(into), name(address), number(value));
                // Registers that the reader made have names that no text has.
                let into = if into.contains('\'') { "reads".to_owned() } else { format!("{into} ←") };
                format!("{into} {address} = {value}{source}{}", stated(""))
            }
            Effect::Issue { address, value } => format!("{} ← {} into its buffer", name(address), number(value)),
            Effect::Store { address, value } => format!("{} ← {}{}", name(address), number(value), stated("")),
            Effect::Rmw { address, old, new, .. } => match new {
                Some(new) => {
                    let (old, new, marks) = (number(old), number(new), stated(" locked"));
                    format!("{} {old} ⇒ {new}{marks}{}", name(address), crowd_text(step.kind))
                }
                None => format!("{} = {}{}, nothing stored", name(address), number(old), stated(" locked")),
            },
            Effect::Fence => self.ordering(index).map_or_else(|| "mfence".into(), |own| format!("fence({own})")),
            Effect::StoreFence => "sfence".into(),
            Effect::Lock => "lock".into(),
            Effect::Unlock => "unlock".into(),
            Effect::Local { written: Some((into, value)) } => format!("{} ← {}", register(into), number(value)),
            Effect::Local { written: None } => match (self.kind(index), self.way(index)) {
                ("nop", _) => "nop".into(),
                (_, Some(holds)) => format!("{}: {}", condition(), if holds { "yes" } else { "no" }),
                _ => self.stated(index).map_or_else(String::new, |(word, condition)| format!("{word} {condition}")),
            },
            Effect::Violation => format!("violates `ensure {}`", condition()),
            Effect::Failure => "fails".into(),
        }
    }

    /// What a step does to sleepers, in a few words.
    fn sleeping(&self, index: usize) -> Option<String> {
        let Event { step, effect } = &self.events[index];
        let instruction = self.program.thread(step.copy.thread).instruction(step.kind.instruction()?);
        let queue = instruction.queue()?;
        let address = self.views[index].queue?;
        let name = |address: Value| address_text(self.program, address);
        Some(match (queue, *effect, step.kind) {
            (Queue::Sleep { .. }, Effect::Rmw { address: own, new: Some(_), .. }, _) if own == address => {
                format!("sleeps at {}", name(address))
            }
            (Queue::Sleep { .. }, Effect::Rmw { address: own, new: Some(new), .. }, _) => {
                format!("{} ← {new} and sleeps at {}", name(own), name(address))
            }
            (Queue::Sleep { .. }, Effect::Rmw { old, new: None, .. }, _) => {
                format!("{} = {old}, does not sleep", name(address))
            }
            (Queue::Sleep { .. }, ..) => "goes on for no reason".to_owned(),
            (Queue::Wake { all: true, .. }, ..) => format!("wakes all at {}", name(address)),
            (Queue::Wake { .. }, _, StepKind::Execute { chosen: Some(woken), .. }) => {
                let woken = usize::try_from(woken).ok().and_then(|woken| self.copies.get(woken))?;
                format!("wakes {} at {}", self.instance.copy_name(self.program, *woken), name(address))
            }
            (Queue::Wake { .. }, ..) => format!("wakes one at {}, if any sleeps there", name(address)),
        })
    }

    /// The instruction of a step; none where a store reaches memory.
    fn action(&self, index: usize) -> Option<&Action> {
        let step = self.events[index].step;
        let instruction = step.kind.instruction()?;
        Some(&self.program.thread(step.copy.thread).instruction(instruction).action)
    }

    /// The condition of an `assert`, an `ensure` or a branch, as it is written.
    pub(super) fn condition(&self, index: usize) -> Option<String> {
        self.stated(index).map(|(_, condition)| condition)
    }

    /// The same behind the word that states it.
    fn stated(&self, index: usize) -> Option<(&'static str, String)> {
        let step = self.events[index].step;
        stated(self.program, step.copy.thread, step.kind.instruction()?)
    }

    /// Which way of a condition a step takes: whether it holds.
    fn way(&self, index: usize) -> Option<bool> {
        let step = self.events[index].step;
        self.program.thread(step.copy.thread).branch(step.kind.instruction()?)
    }

    /// That a copy stays where it stands, in a few words: it is one of those that must not stand
    /// there together.
    fn standing(&self, index: usize) -> Option<String> {
        let (_, step) = self.issue_of(index);
        let (thread, instruction) = (self.program.thread(step.copy.thread), step.kind.instruction()?);
        let is_freeze = thread.is_freeze(instruction);
        is_freeze.then(|| {
            format!("stands at {}", label_words(self.program, thread.label(thread.instruction(instruction).source)))
        })
    }

    /// Whether a step says that a copy stays where it stands.
    pub fn stands(&self, index: usize) -> bool {
        self.standing(index).is_some()
    }

    /// How a language orders the access or the fence of a step, where that is to be shown.
    pub fn ordering(&self, index: usize) -> Option<Ordering> {
        let Marks::Orderings(axioms) = self.marks else { return None };
        let Event { step, effect } = &self.events[index];
        let instruction = self.program.thread(step.copy.thread).instruction(step.kind.instruction()?);
        if let Some(Operation::Fence { ordering }) = instruction.operation() {
            return Some(ordering);
        }
        let stores = matches!(effect, Effect::Store { .. } | Effect::Rmw { new: Some(_), .. });
        access(axioms, instruction, stores).map(|(_, ordering)| ordering)
    }

    /// One word for what a step is.
    pub fn kind(&self, index: usize) -> &'static str {
        match self.action(index) {
            None => "flush",
            Some(Action::Load { .. }) => "load",
            Some(Action::Store { .. }) => "store",
            Some(Action::Cas { .. } | Action::Rmw { .. }) => "update",
            Some(Action::Fence | Action::StoreFence) => "fence",
            Some(Action::Lock) => "lock",
            Some(Action::Unlock) => "unlock",
            Some(Action::Assign { .. } | Action::Havoc { .. }) => "assign",
            Some(Action::Assume(_)) => "assert",
            Some(Action::Ensure(_)) => "ensure",
            Some(Action::Nop) => "nop",
            Some(Action::Fail) => "fail",
            Some(Action::Post { .. }) => "post",
        }
    }
}

impl View {
    /// What is shown of a step of a copy in the state before it, with the step behind.
    fn of(machine: &Machine<'_>, thread: &ThreadState, event: &Event, next: Option<&Event>) -> Self {
        let instruction = event.step.kind.instruction();
        let instruction = instruction.map(|id| machine.program().thread(event.step.copy.thread).instruction(id));
        let queue = instruction.and_then(Instruction::queue);
        let takes_it = |address: Value, next: &Event| match next.step.kind {
            StepKind::Flush => thread.buffer.is_empty(),
            StepKind::FlushAddress(flushed) => {
                flushed == address && thread.buffer.iter().all(|store| store.0 != address)
            }
            StepKind::Execute { .. } | StepKind::Crowd { .. } => false,
        };
        let is_flushed_at_once = match (event.effect, next.filter(|next| next.step.copy == event.step.copy)) {
            (Effect::Issue { address, .. }, Some(next)) => takes_it(address, next),
            _ => false,
        };
        Self {
            is_flushed_at_once,
            queue: queue.and_then(|queue| queue.address().evaluate_address(&thread.registers).ok()),
        }
    }
}

/// What a thread's buffer holds, oldest first; of a long one both ends.
fn buffer_entries(program: &Program, watched: &BTreeSet<Value>, thread: &ThreadState) -> Vec<String> {
    let ThreadState { buffer, marks, .. } = thread;
    // Stores with their addresses, and store fences between them.
    let entries = || {
        (0..=buffer.len()).flat_map(|before| {
            let mark = marks.positions().contains(&before).then_some(None);
            let store = buffer.get(before).filter(|entry| !watched.contains(&entry.0));
            [mark, store.map(|entry| Some(*entry))].into_iter().flatten()
        })
    };
    let text = |entry: Option<BufferedStore>| match entry {
        Some((address, value)) => format!("{} = {}", address_text(program, address), value_text(program, value)),
        None => "sfence".to_owned(),
    };
    let count = if watched.is_empty() { buffer.len() + marks.positions().len() } else { entries().count() };
    let left_out = count.saturating_sub(2 * SHOWN_OF_BUFFERS);
    if left_out < 2 {
        return entries().map(text).collect();
    }
    let mut newest: Vec<String> = entries().rev().take(SHOWN_OF_BUFFERS).map(text).collect();
    newest.reverse();
    let oldest = entries().take(SHOWN_OF_BUFFERS).map(text);
    oldest.chain([format!("… {left_out} more …")]).chain(newest).collect()
}

/// How many other copies take a crowd's step.
pub fn crowd_text(kind: StepKind) -> String {
    match kind {
        StepKind::Crowd { copies, .. } => format!(", by {copies} copies in turn"),
        _ => String::new(),
    }
}

/// Rows of cells as a table, the first of them its header.
fn aligned(rows: &[Vec<String>]) -> String {
    let mut out = String::new();
    let widths: Vec<usize> = (0..rows[0].len())
        .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0).min(WIDEST))
        .collect();
    for (number, row) in rows.iter().enumerate() {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let _ = writeln!(out, "  {}", cells.join(" │ ").trim_end());
        if number == 0 {
            let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
            let _ = writeln!(out, "  {}", rules.join("─┼─"));
        }
    }
    out
}

/// A value for people: a number, or `&x` in a litmus test whose locations have numbers that are far
/// from others.
pub fn value_text(program: &Program, value: Value) -> String {
    let is_far = program.source.is_litmus && value >= FAR_ADDRESS;
    let name = Some(program.address_name(value)).filter(|name| is_far && *name != value.to_string());
    name.map_or_else(|| value.to_string(), |name| format!("&{name}"))
}

/// An address for people: its name, or `mem[7]`.
pub fn address_text(program: &Program, address: Value) -> String {
    let name = program.address_name(address);
    if name.starts_with(|c: char| c == '-' || c.is_ascii_digit()) { format!("mem[{name}]") } else { name }
}
