//! Computations of event-driven programs, for people.

use super::interleaving::line_of;
use super::scene::Scene;
use palisade_evidence::TaskWitness;
use palisade_model::program::{Action, Copies, Program, Value};
use palisade_semantics::Model;
use palisade_semantics::tasks::{InvocationId, TaskEffect, TaskMachine, TaskState, TaskStep, Worker, is_out_of_order};
use palisade_verify::check_task_witness;
use std::collections::BTreeMap;

/// How often events may occur, how many copies of threads run, and what posts do to buffers.
pub fn instance_words(program: &Program) -> String {
    let counted = program.threads.iter().filter(|it| !it.is_task() && !it.is_left_out());
    let counts: Vec<String> = counted.map(|it| format!("{} × {}", it.name, it.copies)).collect();
    format!("{}; posts {}", counts.join(", "), program.posts.word())
}

/// How often each event occurs, and how many copies of each thread run, in a violation.
pub fn with_words(program: &Program, witness: &TaskWitness) -> String {
    let counts = program.threads.iter().zip(&witness.instance).filter(|(it, count)| !it.is_task() && **count > 0);
    counts.map(|(it, count)| format!("{} × {count}", it.name)).collect::<Vec<_>>().join(", ")
}

/// One step that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownStep {
    /// Its number, from 1.
    pub number: usize,
    /// The thread: `main`, or the name of its only invocation.
    pub thread: String,
    /// The invocation that takes it.
    pub invocation: String,
    /// The line of the instruction, from 1; nothing where an event occurs, an invocation begins, or
    /// a store reaches memory.
    pub line: Option<usize>,
    /// What it does.
    pub action: String,
    /// Whether it is a store that reaches memory later.
    pub is_delayed: bool,
    /// Whether it is on the cycle of the happens-before relation.
    pub on_cycle: bool,
}

/// A computation under TSO that has been replayed.
#[derive(Clone, Debug)]
pub struct Computation {
    /// The steps that others see, and the stores that reach memory late.
    pub steps: Vec<ShownStep>,
    /// A cycle of the happens-before relation, by numbers of steps shown.
    pub cycle: Vec<usize>,
    /// Whether the main thread takes a task before one that was posted to it earlier; nothing where
    /// it takes no posted tasks.
    pub is_out_of_order: Option<bool>,
}

impl Computation {
    /// Replays a witness; nothing if it is none.
    pub fn of(program: &Program, witness: &TaskWitness) -> Option<Self> {
        let cycle = check_task_witness(program, witness).ok()?.steps;
        let mut instance = program.clone();
        let counts = instance.threads.iter_mut().zip(&witness.instance);
        counts.for_each(|(template, count)| template.copies = Copies::Exactly(*count));
        Self::replay(&instance, &witness.steps, Model::Tso, &cycle)
    }

    /// Replays the steps of an instance, some of which are on a cycle; nothing if one of them
    /// cannot be taken.
    pub fn replay(program: &Program, all: &[TaskStep], model: Model, cycle: &[usize]) -> Option<Self> {
        let machine = TaskMachine::new(program, model);
        let mut state = machine.initial_state();
        let mut seen: Vec<(usize, Option<InvocationId>, TaskEffect)> = Vec::new();
        for (index, step) in all.iter().enumerate() {
            let (created, main) = (state.invocations().len(), state.on_main());
            let effect = machine.apply(&mut state, *step).ok()?;
            let owner = match *step {
                TaskStep::Occur { .. } => Some(created),
                TaskStep::FlushMain => main,
                TaskStep::Begin { invocation }
                | TaskStep::Return { invocation }
                | TaskStep::Flush { invocation }
                | TaskStep::Execute { invocation, .. } => Some(invocation),
            };
            seen.push((index, owner, effect));
        }
        let names = names(program, &state);
        let is_at_once =
            |index: usize| is_flush(all.get(index + 1)) && matches!(seen[index].2, TaskEffect::Issue { .. });
        let mut steps = Vec::new();
        let mut numbers = BTreeMap::new();
        for (index, owner, effect) in &seen {
            let step = all[*index];
            let is_shown = match step {
                TaskStep::Occur { .. } => true,
                TaskStep::Begin { invocation } => {
                    state.invocations()[invocation].worker == Worker::Main || cycle.contains(index)
                }
                TaskStep::Return { .. } => false,
                TaskStep::Flush { .. } | TaskStep::FlushMain => *index == 0 || !is_at_once(*index - 1),
                TaskStep::Execute { .. } => *effect != TaskEffect::Local,
            };
            if !is_shown {
                continue;
            }
            let number = steps.len() + 1;
            numbers.insert(*index, number);
            let on_main = owner.is_none_or(|owner| state.invocations()[owner].worker == Worker::Main);
            let invocation = owner.map_or_else(|| "main".to_owned(), |owner| names[owner].clone());
            let words = words(program, &state, &names, (step, *owner), *effect, is_at_once(*index));
            let thread = if on_main { "main".to_owned() } else { invocation.clone() };
            let is_delayed = matches!(effect, TaskEffect::Issue { .. }) && !is_at_once(*index);
            let (line, on_cycle) = (line_of(program, &state, step), cycle.contains(index));
            steps.push(ShownStep { number, thread, invocation, line, action: words, is_delayed, on_cycle });
        }
        let cycle = cycle.iter().map(|step| numbers.get(step).copied()).collect::<Option<Vec<_>>>()?;
        let takes_tasks = all.iter().any(|step| {
            matches!(step, TaskStep::Begin { invocation } if state.invocations()[*invocation].worker == Worker::Main)
        });
        let is_out_of_order = takes_tasks.then(|| is_out_of_order(&state, all));
        Some(Self { steps, cycle, is_out_of_order })
    }

    /// The computation as a table with a column for each thread, and the cycle below.
    pub fn text(&self) -> String {
        Scene::of_computation(self).text()
    }

    /// The cycle, as numbers of steps.
    pub fn reason(&self) -> String {
        let numbers: Vec<String> = self.cycle.iter().chain(self.cycle.first()).map(usize::to_string).collect();
        format!("cycle: {}", numbers.join(" → "))
    }
}

fn is_flush(step: Option<&TaskStep>) -> bool {
    matches!(step, Some(TaskStep::Flush { .. } | TaskStep::FlushMain))
}

/// What invocations are called: `onText#0` for the first occurrence of an event,
/// `search of onText#0` for a task, `t#0` for a thread's copy.
fn names(program: &Program, state: &TaskState) -> Vec<String> {
    let mut roots: BTreeMap<(bool, u32), String> = BTreeMap::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut names = Vec::new();
    for invocation in state.invocations() {
        let template = &program.thread(invocation.template).name;
        let key = (invocation.is_of_thread, invocation.path[0]);
        let base = match roots.get(&key) {
            Some(root) if invocation.path.len() > 1 => format!("{template} of {root}"),
            _ => template.clone(),
        };
        let count = counts.entry(base.clone()).or_default();
        let name = match (invocation.path.len(), *count) {
            (1, count) => format!("{base}#{count}"),
            (_, 0) => base,
            (_, count) => format!("{base} ({})", count + 1),
        };
        *count += 1;
        if invocation.path.len() == 1 {
            roots.insert(key, name.clone());
        }
        names.push(name);
    }
    names
}

/// What a step does, in words.
fn words(
    program: &Program,
    state: &TaskState,
    names: &[String],
    (step, owner): (TaskStep, Option<InvocationId>),
    effect: TaskEffect,
    at_once: bool,
) -> String {
    let at = |address: Value| program.address_name(address);
    let name = |owner: Option<InvocationId>| owner.map_or("main", |owner| names[owner].as_str());
    match (step, effect) {
        (TaskStep::Occur { .. }, TaskEffect::Read { address, value, .. }) => {
            format!("{} occurs, as {} = {value}", name(owner), at(address))
        }
        (TaskStep::Occur { .. }, _) => format!("{} occurs", name(owner)),
        (TaskStep::Begin { .. }, _) => format!("{} begins", name(owner)),
        (TaskStep::Execute { .. }, TaskEffect::Write { address, value }) => format!("{} ← {value}", at(address)),
        (_, TaskEffect::Write { address, value }) => format!("{} ← {value} reaches memory", at(address)),
        (_, TaskEffect::Issue { address, value }) if at_once => format!("{} ← {value}", at(address)),
        (_, TaskEffect::Issue { address, value }) => format!("{} ← {value} (delayed)", at(address)),
        (_, TaskEffect::Read { address, value, .. }) => {
            format!("{} ← {} = {value}", register(program, state, step).unwrap_or("_"), at(address))
        }
        (_, TaskEffect::Update { address, old, new: Some(new) }) => format!("{} = {old} ← {new}, locked", at(address)),
        (_, TaskEffect::Update { address, old, new: None }) => format!("{} = {old}, locked and unchanged", at(address)),
        (_, TaskEffect::Post { invocation }) => format!("posts {}", names[invocation]),
        (_, TaskEffect::Lock) => "lock".to_owned(),
        (_, TaskEffect::Unlock) => "unlock".to_owned(),
        (_, TaskEffect::Violation) => "violates a property".to_owned(),
        (_, TaskEffect::Local) => "goes on".to_owned(),
    }
}

/// The register that an instruction writes.
fn register<'p>(program: &'p Program, state: &TaskState, step: TaskStep) -> Option<&'p str> {
    let TaskStep::Execute { invocation, instruction, .. } = step else { return None };
    let thread = program.thread(state.invocations()[invocation].template);
    let action: &Action = &thread.instruction(instruction).action;
    action.written_register().map(|register| thread.registers[register.index()].name.as_str())
}

impl Scene {
    /// A computation under TSO and a cycle of its happens-before relation.
    pub fn of_computation(shown: &Computation) -> Self {
        let mut scene = Self::empty(if shown.cycle.is_empty() { String::new() } else { shown.reason() });
        for step in &shown.steps {
            scene.add(&step.thread, &step.invocation, step.line, step.action.clone());
        }
        scene.is_out_of_order = shown.is_out_of_order;
        let next = shown.cycle.iter().cycle().skip(1);
        scene.order = shown.cycle.iter().zip(next).map(|(from, to)| (from - 1, to - 1)).collect();
        scene
    }
}
