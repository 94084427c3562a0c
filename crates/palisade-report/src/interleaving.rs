//! Interleavings of events and tasks, for people: who does what, and which conflicts have no serial
//! order.

use palisade_evidence::{ConcurrencyReason, ConcurrencyWitness};
use palisade_model::program::{Action, Program};
use palisade_semantics::Model;
use palisade_semantics::tasks::{InvocationId, TaskEffect, TaskMachine, TaskState, TaskStep, Worker, is_out_of_order};
use std::collections::BTreeMap;

/// One step that others see: an event that occurs, an access, a post.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenStep {
    /// Its number among all steps, from 0.
    pub step: usize,
    /// The number under which it is shown, from 1.
    pub number: usize,
    /// The invocation, by name.
    pub invocation: String,
    /// Whether it runs on the main thread.
    pub on_main: bool,
    /// The label of the instruction; nothing where an event occurs.
    pub label: Option<String>,
    /// The line of the instruction, from 1.
    pub line: Option<usize>,
    /// What it does.
    pub action: String,
    /// The address accessed, by name.
    pub address: Option<String>,
}

/// An interleaving that has been replayed.
#[derive(Clone, Debug)]
pub struct Interleaving {
    /// The steps that others see.
    pub steps: Vec<SeenStep>,
    /// The conflicts that the reason names, by numbers of steps shown: the earlier access and the
    /// later one.
    pub conflicts: Vec<(usize, usize)>,
    /// The last state, and the names of all invocations in it.
    names: Vec<String>,
    /// The occurrence of an event that each invocation belongs to, by the name of its handler.
    events: Vec<String>,
    /// For each step shown, its invocation.
    owners: Vec<InvocationId>,
    /// Whether the reason is a cycle of events.
    pub is_cycle: bool,
    /// Whether the main thread takes a task before one that was posted to it earlier.
    pub is_out_of_order: bool,
}

impl Interleaving {
    /// Replays a witness; nothing if it is no interleaving of the program.
    pub fn of(program: &Program, witness: &ConcurrencyWitness) -> Option<Self> {
        let machine = TaskMachine::new(program, Model::Sc);
        let mut state = machine.initial_state();
        let mut seen: Vec<(usize, InvocationId, TaskStep, TaskEffect)> = Vec::new();
        for (number, step) in witness.steps.iter().enumerate() {
            let created = state.invocations().len();
            let effect = machine.apply(&mut state, *step).ok()?;
            match *step {
                TaskStep::Occur { .. } => seen.push((number, created, *step, effect)),
                TaskStep::Execute { invocation, .. } if effect != TaskEffect::Local => {
                    seen.push((number, invocation, *step, effect));
                }
                _ => {}
            }
        }
        let is_out_of_order = is_out_of_order(&state, &witness.steps);
        let names = names(program, &state);
        let events = events(&state, &names);
        let shown = (1..).zip(&seen).map(|(shown, (step, owner, taken, effect))| SeenStep {
            step: *step,
            number: shown,
            invocation: names[*owner].clone(),
            on_main: state.invocations()[*owner].worker == Worker::Main,
            label: label(program, &state, *owner, *taken),
            line: line_of(program, &state, *taken),
            action: action(program, &state, &names, *owner, *taken, *effect),
            address: address(*effect).map(|address| program.address_name(address)),
        });
        let steps: Vec<SeenStep> = shown.collect();
        let number = |step: usize| steps.iter().find(|seen| seen.step == step).map(|seen| seen.number);
        let (pairs, is_cycle) = match &witness.reason {
            ConcurrencyReason::Serializability(edges) => (edges.clone(), true),
            ConcurrencyReason::Determinism(first, second) => (vec![(*first, *second)], false),
        };
        let conflicts = pairs.into_iter().map(|(first, second)| Some((number(first)?, number(second)?)));
        let conflicts = conflicts.collect::<Option<Vec<_>>>()?;
        let owners = seen.iter().map(|(_, owner, ..)| *owner).collect();
        Some(Self { steps, conflicts, names, events, owners, is_cycle, is_out_of_order })
    }

    /// In which order the main thread has taken tasks from its queue.
    pub fn queue(&self) -> &'static str {
        queue_words(self.is_out_of_order)
    }

    /// Why the interleaving has no serial permutation, in a sentence.
    pub fn reason(&self) -> String {
        let at = |number: usize| &self.steps[number - 1];
        let address = |number: usize| at(number).address.clone().unwrap_or_default();
        let owner = |number: usize| self.owners[number - 1];
        if self.is_cycle {
            let edge = |(first, second): &(usize, usize)| {
                let (from, to) = (&self.events[owner(*first)], &self.events[owner(*second)]);
                format!("{from} → {to} ({}: {first} before {second})", address(*first))
            };
            let edges: Vec<String> = self.conflicts.iter().map(edge).collect();
            return format!("cycle: {}", edges.join(", "));
        }
        let (first, second) = self.conflicts[0];
        let (late, early) = (&self.names[owner(first)], &self.names[owner(second)]);
        format!(
            "backward: {late} accesses {} before {early} ({first} before {second}), and comes after it in the serial run",
            address(first)
        )
    }
}

/// In which order the main thread takes tasks.
pub fn queue_words(is_out_of_order: bool) -> &'static str {
    if is_out_of_order {
        "queue: the main thread takes a task before one that was posted earlier"
    } else {
        "queue: first in, first out is enough"
    }
}

/// What an invocation is called: `onText#0` for the first occurrence of an event,
/// `search of onText#0` for a task.
fn names(program: &Program, state: &TaskState) -> Vec<String> {
    let mut occurrences: BTreeMap<u32, usize> = BTreeMap::new();
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    let mut names: Vec<String> = Vec::new();
    for (number, invocation) in state.invocations().iter().enumerate() {
        let template = &program.thread(invocation.template).name;
        let event = invocation.path[0];
        if invocation.path.len() == 1 {
            let count = counts.entry(invocation.template.index()).or_default();
            occurrences.insert(event, number);
            names.push(format!("{template}#{count}"));
            *count += 1;
            continue;
        }
        let handler = occurrences.get(&event).map_or(String::new(), |handler| names[*handler].clone());
        let name = format!("{template} of {handler}");
        let again = used.entry(name.clone()).or_default();
        *again += 1;
        names.push(if *again == 1 { name } else { format!("{name} ({again})") });
    }
    names
}

/// The name of the handler of the event that each invocation belongs to.
fn events(state: &TaskState, names: &[String]) -> Vec<String> {
    let handler = |event: u32| {
        let position = state.invocations().iter().position(|it| it.path.len() == 1 && it.path[0] == event);
        position.map_or(String::new(), |position| names[position].clone())
    };
    state.invocations().iter().map(|invocation| handler(invocation.path[0])).collect()
}

/// The line of the instruction that a step executes, from 1.
pub(super) fn line_of(program: &Program, state: &TaskState, step: TaskStep) -> Option<usize> {
    let TaskStep::Execute { invocation, instruction, .. } = step else { return None };
    let thread = program.thread(state.invocations()[invocation].template);
    Some(program.source.position(thread.instruction(instruction).span.start).line)
}

fn label(program: &Program, state: &TaskState, owner: InvocationId, step: TaskStep) -> Option<String> {
    let TaskStep::Execute { instruction, .. } = step else { return None };
    let thread = program.thread(state.invocations()[owner].template);
    Some(thread.label(thread.instruction(instruction).source).name.to_string())
}

fn address(effect: TaskEffect) -> Option<i64> {
    match effect {
        TaskEffect::Read { address, .. }
        | TaskEffect::Issue { address, .. }
        | TaskEffect::Write { address, .. }
        | TaskEffect::Update { address, .. } => Some(address),
        _ => None,
    }
}

/// What a step does, in words.
fn action(
    program: &Program,
    state: &TaskState,
    names: &[String],
    owner: InvocationId,
    step: TaskStep,
    effect: TaskEffect,
) -> String {
    let thread = program.thread(state.invocations()[owner].template);
    let written = match step {
        TaskStep::Execute { instruction, .. } => {
            let action: &Action = &thread.instruction(instruction).action;
            action.written_register().map(|register| thread.registers[register.index()].name.as_str())
        }
        _ => None,
    };
    let at = |address: i64| program.address_name(address);
    match effect {
        TaskEffect::Read { address, value, .. } => match (written, step) {
            (Some(register), _) => format!("{register} ← {} = {value}", at(address)),
            (None, _) => format!("occurs, as {} = {value}", at(address)),
        },
        TaskEffect::Write { address, value } | TaskEffect::Issue { address, value } => {
            format!("{} ← {value}", at(address))
        }
        TaskEffect::Update { address, old, new: Some(new) } => format!("{} = {old} ← {new}, locked", at(address)),
        TaskEffect::Update { address, old, new: None } => format!("{} = {old}, locked and unchanged", at(address)),
        TaskEffect::Post { invocation } => format!("posts {}", names[invocation]),
        TaskEffect::Lock => "lock".to_owned(),
        TaskEffect::Unlock => "unlock".to_owned(),
        TaskEffect::Violation => "violates a property".to_owned(),
        TaskEffect::Local => "occurs".to_owned(),
    }
}
