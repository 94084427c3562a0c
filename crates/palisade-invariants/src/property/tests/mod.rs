//! The checker of properties against an oracle that knows nothing of settling, slices or
//! reductions: all states of the step relation of [`Machine`], on random small programs with
//! properties in them.

mod evidence;
mod examples;
mod finals;
mod relation;
mod values;

use super::local::{Memory, Threads};
use super::ranges::Range;
use super::reductions::{dead_delays, silent_addresses};
use super::slice::{Observed, sliced_program};
use super::steps::{Configuration, Control};
use super::values::Bounds;
use super::{Buffering, Goal, Known, goal};
use crate::tokens::initial_tokens;
use crate::{CheckFailure, Obligation};
use hashbrown::HashSet;
use palisade_evidence::BufferInvariant;
use palisade_model::program::{
    Action, BinaryOperator, Expression, Instruction, InstructionId, Label, LabelId, Liveness, Program, RegisterId,
    Span, Thread, ThreadId, UnaryOperator, Value,
};
use palisade_semantics::random::{Randomness, Shape, program};
use palisade_semantics::{Effect, Event, Instance, Machine, Model, Question, State, StepKind, Target};
use std::collections::BTreeSet;

const MODELS: [Model; 3] = [Model::Sc, Model::Tso, Model::Pso];

/// The step relations, each with the model that it is about.
const RELATIONS: [(Model, Buffering); 4] = [
    (Model::Sc, Buffering::Nothing),
    (Model::Tso, Buffering::Fifo),
    (Model::Pso, Buffering::PerAddress),
    (Model::Tso, Buffering::Lagging),
];

/// How many states the oracle visits at most.
const MOST_STATES: usize = 4000;

/// The program without a slice that writes to no address that the rest may read.
fn sliced(
    program: &Program,
    slice: &[Vec<InstructionId>],
    targets: &[Target],
    observed: &Observed,
    bounds: Option<&Bounds>,
) -> Result<Program, CheckFailure> {
    sliced_program(program, slice, targets, observed, bounds, true).map(|(sliced, _)| sliced)
}

/// So many random programs, ten times as many where the full tests are asked for.
fn seeds(few: u64) -> std::ops::Range<u64> {
    0..if std::env::var_os("PALISADE_FULL_TESTS").is_some() { 10 * few } else { few }
}

/// Shapes of programs in turn: in which buffers matter, with sections, with addresses that depend
/// on registers, with choices.
fn shapes() -> [Shape; 4] {
    let small = Shape { copies: 2, labels: 6, total_labels: 9, ..Shape::default() };
    [
        Shape { fences: 3, rmws: 4, sections: 0, overtaken: 80, ..small.clone() },
        Shape { sections: 60, overtaken: 60, ..small.clone() },
        Shape { indirect: 40, rmws: 20, copies: 3, total_labels: 8, ..small.clone() },
        Shape { domains: 70, choices: 15, branches: 30, ..small },
    ]
}

/// A random program with properties: of every other seed one of all kinds of instructions with
/// properties put into it, of the others one in which delays matter.
fn with_properties(seed: u64, fails: bool) -> Program {
    let shapes = shapes();
    let mut random = Randomness::new(seed ^ 0x5eed);
    let mut program = program(seed / 2, &shapes[usize::try_from(seed / 2 % 4).expect("small")]);
    if seed % 2 == 1 {
        delaying(&mut program, &mut random);
        return program;
    }
    for thread in &mut program.threads {
        for _ in 0..=random.below(2) {
            let at = random.below(thread.instructions.len());
            let is_fence = random.percent(25);
            let action = if is_fence { Action::StoreFence } else { Action::Ensure(condition(&mut random)) };
            insert_after(thread, at, action);
        }
        if random.percent(80) {
            let last = thread.instructions.len() - 1;
            insert_after(thread, last, Action::Ensure(condition(&mut random)));
        }
        if fails && random.percent(20) {
            let at = random.below(thread.instructions.len());
            let source = thread.instructions[at].source;
            let target = LabelId::from_index(0);
            thread.instructions.push(Instruction::new(source, target, Action::Fail, Span::default()));
        }
    }
    program
}

/// Two threads of stores, fences of both kinds and exchanges, and then loads. One that loads 0 last
/// counts itself in with a locked instruction and must be the first; or the registers must not have
/// some values.
fn delaying(program: &mut Program, random: &mut Randomness) {
    program.threads.truncate(1);
    program.initial_memory.clear();
    program.domain = None;
    let template = program.threads[0].clone();
    let address = |index: usize| Expression::Constant(Value::try_from(1 + index).expect("small"));
    let register = RegisterId::from_index;
    program.threads.clear();
    let both_enter = random.percent(60);
    for own in 0..2 {
        let mut actions = Vec::new();
        for _ in 0..=random.below(3) {
            let value = Expression::Constant([1, 1, 1, 1, 0, 2][random.below(6)]);
            let to = address(if random.percent(85) { own } else { random.below(3) });
            actions.push(match random.below(20) {
                0..14 => Action::Store { address: to, value },
                14..16 => Action::StoreFence,
                16 => Action::Fence,
                17 => Action::Rmw { register: None, address: to, new: value },
                18 => Action::Load { register: register(0), address: to },
                _ => Action::Cas {
                    register: Some(register(1)),
                    address: to,
                    expected: Expression::Constant(0),
                    new: value,
                },
            });
        }
        if random.percent(40) {
            actions.push(Action::Load { register: register(1), address: address(random.below(3)) });
        }
        let from = address(if random.percent(85) { 1 - own } else { random.below(3) });
        actions.push(Action::Load { register: register(0), address: from });
        if random.percent(10) {
            actions.insert(0, Action::Lock);
            actions.insert(2 + random.below(actions.len() - 1), Action::Unlock);
        }
        if both_enter {
            let is_zero =
                Expression::binary(BinaryOperator::Equal, Expression::Register(register(0)), Expression::Constant(0));
            let one_more = Expression::binary(BinaryOperator::Add, Expression::Old, Expression::Constant(1));
            actions.push(Action::Assume(is_zero));
            actions.push(Action::Rmw { register: Some(register(1)), address: Expression::Constant(4), new: one_more });
            let is_first = Expression::unary(UnaryOperator::Not, Expression::Register(register(1)));
            actions.push(Action::Ensure(is_first));
        } else {
            actions.push(Action::Ensure(condition(random)));
        }
        let mut thread = template.clone();
        thread.name = format!("d{own}");
        thread.labels.clear();
        thread.instructions.clear();
        for index in 0..=actions.len() {
            thread.labels.push(Label::new(format!("l{index}"), Span::default()));
        }
        for (index, action) in actions.into_iter().enumerate() {
            let (source, target) = (LabelId::from_index(index), LabelId::from_index(index + 1));
            thread.instructions.push(Instruction::new(source, target, action, Span::default()));
        }
        program.threads.push(thread);
    }
}

/// `r1 <> a`, or not both `r1 = a` and `r2 = b`.
fn condition(random: &mut Randomness) -> Expression {
    let mut differs = |register: usize| {
        let value = Expression::Constant([0, 1, 2][random.below(3)]);
        let register = Expression::Register(RegisterId::from_index(register));
        Expression::binary(BinaryOperator::NotEqual, register, value)
    };
    let (one, other) = (differs(0), differs(1));
    if random.percent(40) { one } else { Expression::binary(BinaryOperator::Or, one, other) }
}

/// Puts an instruction behind another one.
fn insert_after(thread: &mut Thread, at: usize, action: Action) {
    let fresh = LabelId::from_index(thread.labels.len());
    thread.labels.push(Label::new(format!("n{}", thread.labels.len()), Span::default()));
    let target = std::mem::replace(&mut thread.instructions[at].target, fresh);
    thread.instructions.push(Instruction::new(fresh, target, action, Span::default()));
}

/// The program's targets.
fn all_targets(program: &Program) -> Vec<Target> {
    super::targets(program, None).collect()
}

/// All states of an instance, and what is violated in them; nothing when there are too many.
fn all_states(program: &Program, model: Model) -> Option<(HashSet<State>, BTreeSet<Target>)> {
    let instance = Instance::of(program).expect("random programs fix their copies");
    all_states_of(&Machine::new(program, &instance, model))
}

/// All states of a machine, and what is violated in them; nothing when there are too many, or a
/// step has no value.
fn all_states_of(machine: &Machine<'_>) -> Option<(HashSet<State>, BTreeSet<Target>)> {
    let mut waiting = vec![machine.initial_state()];
    let mut seen: HashSet<State> = waiting.iter().cloned().collect();
    let mut violated = BTreeSet::new();
    while let Some(state) = waiting.pop() {
        let mut events = Vec::new();
        for position in 0..machine.copies().len() {
            machine.events(&state, position, &mut events).ok()?;
        }
        for event in events {
            violated.extend(violation(&event));
            let next = machine.successor(&state, &event);
            if seen.insert(next.clone()) {
                waiting.push(next);
            }
        }
        if seen.len() > MOST_STATES {
            return None;
        }
    }
    Some((seen, violated))
}

/// The target that an event reaches.
fn violation(event: &Event) -> Option<Target> {
    match (event.step.kind, event.effect) {
        (StepKind::Execute { instruction, .. }, Effect::Violation | Effect::Failure) => {
            Some(Target::Instruction { thread: event.step.copy.thread, instruction })
        }
        _ => None,
    }
}

/// Every register live at every label.
fn everything_live(program: &Program) -> Vec<Vec<Vec<RegisterId>>> {
    let of = |thread: &Thread| {
        let all: Vec<RegisterId> = (0..thread.registers.len()).map(RegisterId::from_index).collect();
        vec![all; thread.labels.len()]
    };
    program.threads.iter().map(of).collect()
}

/// The registers that are live at each label.
fn least_live(program: &Program) -> Vec<Vec<Vec<RegisterId>>> {
    let of = |thread: &Thread| {
        let liveness = Liveness::of(thread);
        (0..thread.labels.len()).map(|label| liveness.at(LabelId::from_index(label)).collect()).collect()
    };
    program.threads.iter().map(of).collect()
}

/// Every address at which the checker lets silent stores be left out.
fn most_silent(program: &Program, buffering: Buffering) -> Vec<Value> {
    (1..5).filter(|address| silent_addresses(program, buffering, None, &[*address]).is_ok()).collect()
}

/// What the checker's own steps reach from the initial configurations: nothing to object to, or its
/// objection. Nothing when there are too many configurations.
fn reach(
    program: &Program,
    buffering: Buffering,
    goal: &Goal<'_>,
    live: Vec<Vec<Vec<RegisterId>>>,
    silent: Vec<Value>,
) -> Option<Result<HashSet<Configuration>, CheckFailure>> {
    let invariant = BufferInvariant { live, silent, ..BufferInvariant::default() };
    let addresses = silent_addresses(program, buffering, None, &invariant.silent).expect("they are silent");
    let reductions = (dead_delays(program, buffering), addresses);
    let known = Known { bounds: None, written: &Range::default(), counts: false };
    let mut threads = Threads::new(program, buffering, goal, &invariant, reductions, known).expect("well formed");
    let control = Control { memory: threads.memories.number(Memory::new()), locked: false };
    let initial = match initial_tokens(program, |thread| threads.initial_states(thread)) {
        Ok(initial) => initial,
        Err(failure) => return Some(Err(failure)),
    };
    let mut waiting: Vec<Configuration> = initial.into_iter().map(|tokens| Configuration { control, tokens }).collect();
    let mut seen: HashSet<Configuration> = waiting.iter().cloned().collect();
    while let Some(configuration) = waiting.pop() {
        if let Some(question) = goal.question
            && let Err(failure) = super::finals::check_no_final_state(&threads, question, &configuration)
        {
            return Some(Err(failure));
        }
        let successors = match threads.successors(&configuration) {
            Ok(successors) => successors,
            Err(failure) => return Some(Err(failure)),
        };
        for successor in successors {
            if seen.insert(successor.configuration.clone()) {
                waiting.push(successor.configuration);
            }
        }
        if seen.len() > MOST_STATES {
            return None;
        }
    }
    Some(Ok(seen))
}

/// Whether the checker's steps reach one of the targets.
fn is_reached(
    program: &Program,
    buffering: Buffering,
    targets: &[Target],
    live: Vec<Vec<Vec<RegisterId>>>,
    silent: Vec<Value>,
) -> Option<bool> {
    let goal = goal(program, None, targets).expect("targets of the program");
    match reach(program, buffering, &goal, live, silent)? {
        Ok(_) => Some(false),
        Err(failure) => {
            assert_eq!(failure.obligation, Obligation::Safe, "{failure}");
            Some(true)
        }
    }
}
