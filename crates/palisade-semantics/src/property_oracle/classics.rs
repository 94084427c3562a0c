//! The classic litmus tests with their known verdicts under SC, TSO and PSO.
//!
//! Threads are separated by `|`, instructions by spaces: `x=1` stores, `a=x` loads into the
//! register `a`, `x<1` and `a=x<1` exchange, `mf`, `sf`, `lk` and `ul` are `mfence`, `sfence`,
//! `lock` and `unlock`. The outcome gives final values of registers and addresses.

use super::{Effort, reached};
use crate::{Instance, Machine, Model, State};
use palisade_model::program::{
    Action, Copies, Expression, Instruction, Label, LabelId, Posts, Program, Register, RegisterId, Role, SourceText,
    Span, Thread, Value,
};
use std::collections::BTreeMap;

const ADDRESSES: &str = "xyzw";

fn address(name: &str) -> Value {
    Value::try_from(ADDRESSES.find(name).expect("an address")).expect("few addresses") + 1
}

fn register(name: &str) -> RegisterId {
    RegisterId::from_index("abcdefgh".find(name).expect("a register"))
}

fn action(text: &str) -> Action {
    let at = |name: &str| Expression::Constant(address(name));
    let constant = |text: &str| Expression::Constant(text.parse().expect("a number"));
    match text {
        "mf" => return Action::Fence,
        "sf" => return Action::StoreFence,
        "lk" => return Action::Lock,
        "ul" => return Action::Unlock,
        _ => {}
    }
    let (into, rest) = match text.split_once('=') {
        Some((into, rest)) if !ADDRESSES.contains(into) => (Some(register(into)), rest),
        _ => (None, text),
    };
    match (rest.split_once('<'), rest.split_once('=')) {
        (Some((name, value)), _) => Action::Rmw { register: into, address: at(name), new: constant(value) },
        (None, Some((name, value))) => Action::Store { address: at(name), value: constant(value) },
        (None, None) => Action::Load { register: into.expect("a load has a register"), address: at(rest) },
    }
}

/// The program of a test; every thread has all registers.
pub(super) fn program(text: &str) -> Program {
    let thread = |(number, text): (usize, &str)| {
        let actions: Vec<Action> = text.split_whitespace().map(action).collect();
        let label = |index: usize| Label::new(format!("l{index}"), Span::default());
        let register =
            |name: char| Register { name: name.to_string(), initial: 0, is_initialised: false, span: Span::default() };
        Thread {
            name: format!("t{number}"),
            span: Span::default(),
            role: Role::Thread,
            copies: Copies::Exactly(1),
            is_daemon: false,
            registers: ('a'..='h').map(register).collect(),
            labels: (0..=actions.len()).map(label).collect(),
            initial: LabelId::from_index(0),
            instructions: (0..)
                .zip(actions)
                .map(|(index, action)| {
                    Instruction::new(
                        LabelId::from_index(index),
                        LabelId::from_index(index + 1),
                        action,
                        Span::default(),
                    )
                })
                .collect(),
        }
    };
    Program {
        name: "classic".to_owned(),
        domain: None,
        addresses: Vec::new(),
        initial_memory: BTreeMap::new(),
        threads: text.split('|').enumerate().map(thread).collect(),
        never: Vec::new(),
        finally: Vec::new(),
        accepted: Vec::new(),
        posts: Posts::default(),
        source: SourceText::new("", ""),
    }
}

/// Whether a final state has the values of an outcome. Only one thread writes a register, so the
/// others have 0 there.
fn has(state: &State, outcome: &str) -> bool {
    outcome.split_whitespace().all(|part| {
        let (name, value) = part.split_once('=').expect("a value");
        let value: Value = value.parse().expect("a number");
        if ADDRESSES.contains(name) {
            return state.memory(address(name)) == value;
        }
        let read = state.threads().iter().map(|thread| thread.registers[register(name).index()]);
        read.sum::<Value>() == value
    })
}

/// Each with its outcome, and whether SC, TSO and PSO allow it.
const CLASSICS: &[(&str, &str, &str, [u8; 3])] = &[
    ("SB", "x=1 a=y | y=1 b=x", "a=0 b=0", [0, 1, 1]),
    ("SB+mfences", "x=1 mf a=y | y=1 mf b=x", "a=0 b=0", [0, 0, 0]),
    ("SB+mfence+po", "x=1 mf a=y | y=1 b=x", "a=0 b=0", [0, 1, 1]),
    ("SB+sfences", "x=1 sf a=y | y=1 sf b=x", "a=0 b=0", [0, 1, 1]),
    ("SB+xchgs", "x<1 a=y | y<1 b=x", "a=0 b=0", [0, 0, 0]),
    ("SB+xchgs elsewhere", "x=1 z<1 a=y | y=1 w<1 b=x", "a=0 b=0", [0, 0, 0]),
    ("SB+xchg+po", "x<1 a=y | y=1 b=x", "a=0 b=0", [0, 1, 1]),
    ("SB+sections", "x=1 lk ul a=y | y=1 lk ul b=x", "a=0 b=0", [0, 0, 0]),
    ("SB in sections", "lk x=1 a=y ul | lk y=1 b=x ul", "a=0 b=0", [0, 0, 0]),
    ("3.SB", "x=1 a=y | y=1 b=z | z=1 c=x", "a=0 b=0 c=0", [0, 1, 1]),
    ("MP", "x=1 y=1 | a=y b=x", "a=1 b=0", [0, 0, 1]),
    ("MP+sfence", "x=1 sf y=1 | a=y b=x", "a=1 b=0", [0, 0, 0]),
    ("MP+sfence early", "sf x=1 y=1 | a=y b=x", "a=1 b=0", [0, 0, 1]),
    ("MP+sfence late", "x=1 y=1 sf | a=y b=x", "a=1 b=0", [0, 0, 1]),
    ("MP+mfence", "x=1 mf y=1 | a=y b=x", "a=1 b=0", [0, 0, 0]),
    ("MP+po+sfence", "x=1 y=1 | a=y sf b=x", "a=1 b=0", [0, 0, 1]),
    ("MP+po+mfence", "x=1 y=1 | a=y mf b=x", "a=1 b=0", [0, 0, 1]),
    ("MP+xchg", "x=1 y<1 | a=y b=x", "a=1 b=0", [0, 0, 0]),
    ("MP+xchg first", "x<1 y=1 | a=y b=x", "a=1 b=0", [0, 0, 0]),
    ("MP+section", "x=1 lk ul y=1 | a=y b=x", "a=1 b=0", [0, 0, 0]),
    ("MP in a section", "lk x=1 y=1 ul | a=y b=x", "a=1 b=0", [0, 0, 0]),
    ("MP with own load", "x=1 y=1 c=x | a=y b=x", "a=1 b=0 c=1", [0, 0, 1]),
    ("MP past a drain", "x=1 y=1 mf z=1 | a=z b=x", "a=1 b=0", [0, 0, 0]),
    ("MP past a full drain", "x=1 y=1 z<1 | a=z b=y", "a=1 b=0", [0, 0, 0]),
    ("MP two behind", "x=1 sf y=1 z=1 | a=z b=y", "a=1 b=0", [0, 0, 1]),
    ("MP around", "x=1 sf y=1 z=1 | a=z b=x", "a=1 b=0", [0, 0, 0]),
    ("MP before", "x=1 y=1 sf z=1 | a=y b=x", "a=1 b=0", [0, 0, 1]),
    ("MP two sfences", "x=1 sf sf y=1 sf z=1 | a=z b=x", "a=1 b=0", [0, 0, 0]),
    ("MP one address between", "x=1 y=1 x=2 | a=y b=x", "a=1 b=0", [0, 0, 1]),
    ("MP newer first", "x=1 x=2 | a=x b=x", "a=2 b=1", [0, 0, 0]),
    ("LB", "a=x y=1 | b=y x=1", "a=1 b=1", [0, 0, 0]),
    ("S", "x=2 y=1 | a=y x=1", "a=1 x=2", [0, 0, 1]),
    ("S+sfence", "x=2 sf y=1 | a=y x=1", "a=1 x=2", [0, 0, 0]),
    ("R", "x=1 y=1 | y=2 a=x", "a=0 y=2", [0, 1, 1]),
    ("R+po+mfence", "x=1 y=1 | y=2 mf a=x", "a=0 y=2", [0, 0, 1]),
    ("R+sfence+po", "x=1 sf y=1 | y=2 a=x", "a=0 y=2", [0, 1, 1]),
    ("R+sfence+mfence", "x=1 sf y=1 | y=2 mf a=x", "a=0 y=2", [0, 0, 0]),
    ("2+2W", "x=1 y=2 | y=1 x=2", "x=1 y=1", [0, 0, 1]),
    ("2+2W+po+sfence", "x=1 y=2 | y=1 sf x=2", "x=1 y=1", [0, 0, 1]),
    ("2+2W+sfences", "x=1 sf y=2 | y=1 sf x=2", "x=1 y=1", [0, 0, 0]),
    ("IRIW", "x=1 | y=1 | a=x b=y | c=y d=x", "a=1 b=0 c=1 d=0", [0, 0, 0]),
    ("WRC", "x=1 | a=x y=1 | b=y c=x", "a=1 b=1 c=0", [0, 0, 0]),
    ("RWC", "x=1 | a=x b=y | y=1 c=x", "a=1 b=0 c=0", [0, 1, 1]),
    ("RWC+mfence", "x=1 | a=x b=y | y=1 mf c=x", "a=1 b=0 c=0", [0, 0, 0]),
    ("W+RWC", "x=1 y=1 | a=y b=z | z=1 c=x", "a=1 b=0 c=0", [0, 1, 1]),
    ("W+RWC+po+po+mfence", "x=1 y=1 | a=y b=z | z=1 mf c=x", "a=1 b=0 c=0", [0, 0, 1]),
    ("W+RWC+sfence+po+mfence", "x=1 sf y=1 | a=y b=z | z=1 mf c=x", "a=1 b=0 c=0", [0, 0, 0]),
    ("ISA2", "x=1 y=1 | a=y z=1 | b=z c=x", "a=1 b=1 c=0", [0, 0, 1]),
    ("ISA2+sfence", "x=1 sf y=1 | a=y z=1 | b=z c=x", "a=1 b=1 c=0", [0, 0, 0]),
    ("Z6.3", "x=1 y=1 | y=2 z=1 | a=z b=x", "a=1 b=0 y=2", [0, 0, 1]),
    ("CoRR", "x=1 | a=x b=x", "a=1 b=0", [0, 0, 0]),
    ("CoRR2", "x=1 | x=2 | a=x b=x | c=x d=x", "a=1 b=2 c=2 d=1", [0, 0, 0]),
    ("CoWW", "x=1 x=2", "x=1", [0, 0, 0]),
    ("CoWR", "x=1 a=x | x=2", "a=2 x=1", [0, 0, 0]),
    ("CoRW", "a=x x=1 | x=2", "a=2 x=2", [0, 0, 0]),
    ("own store", "x=1 a=x", "a=0", [0, 0, 0]),
    ("own newest store", "x=1 x=2 a=x", "a=1", [0, 0, 0]),
    ("n4", "a=x x=1 b=x | c=x x=2 d=x", "a=2 b=1 c=1 d=2", [0, 0, 0]),
    ("n5", "x=1 a=x | x=2 b=x", "a=2 b=1", [0, 0, 0]),
    ("n6", "x=1 a=x b=y | y=2 x=2", "a=1 b=0 x=1", [0, 1, 1]),
    ("n6+mfence", "x=1 mf a=x b=y | y=2 x=2", "a=1 b=0 x=1", [0, 0, 1]),
    ("n6+mfence+sfence", "x=1 mf a=x b=y | y=2 sf x=2", "a=1 b=0 x=1", [0, 0, 0]),
    ("SB+rfis", "x=1 a=x b=y | y=1 c=y d=x", "a=1 b=0 c=1 d=0", [0, 1, 1]),
    ("SB+rfis+mfences", "x=1 a=x mf b=y | y=1 c=y mf d=x", "a=1 b=0 c=1 d=0", [0, 0, 0]),
    ("exchanges", "a=x<1 | b=x<2", "a=2 b=1", [0, 0, 0]),
];

#[test]
fn verdicts_are_the_known_ones() {
    for (name, text, outcome, allowed) in CLASSICS {
        let program = program(text);
        let instance = Instance::of(&program).expect("one copy each");
        for (model, allowed) in [Model::Sc, Model::Tso, Model::Pso].into_iter().zip(allowed) {
            let found = reached(&program, &instance, None, model, Effort::default()).expect("values exist");
            assert!(found.closed);
            let is_reached = found.completed.iter().any(|state| has(state, outcome));
            assert_eq!(u8::from(is_reached), *allowed, "{name} under {model:?}");
        }
    }
}

/// The rule that needs no buffer: a store passes older ones to other addresses and no mark, and a
/// load takes its own newest store.
#[test]
fn flushes_are_refused_behind_older_stores_and_marks() {
    use crate::{Refusal, Step, StepKind};
    let program = program("x=1 y=1 sf x=2 z=1");
    let instance = Instance::of(&program).expect("one copy");
    let machine = Machine::new(&program, &instance, Model::Pso);
    let copy = machine.copies()[0];
    let mut state = machine.initial_state();
    for instruction in program.threads[0].instruction_ids().map(|(id, _)| id) {
        let step = Step { copy, kind: StepKind::Execute { instruction, chosen: None } };
        let event = machine.event(&state, step).expect("issues wait for nothing");
        machine.take(&mut state, &event);
    }
    let flush = |address| Step { copy, kind: StepKind::FlushAddress(address) };
    assert_eq!(machine.event(&state, flush(3)), Err(Refusal::BehindMark));
    assert_eq!(machine.event(&state, flush(4)), Err(Refusal::BufferEmpty));
    assert_eq!(machine.event(&state, Step { copy, kind: StepKind::Flush }), Err(Refusal::FlushesByAddress));
    let first = machine.event(&state, flush(1)).expect("x=1 is before the mark");
    machine.take(&mut state, &first);
    assert_eq!(state.memory(1), 1);
    assert_eq!(machine.event(&state, flush(1)), Err(Refusal::BehindMark));
    let second = machine.event(&state, flush(2)).expect("y=1 is before the mark");
    machine.take(&mut state, &second);
    assert_eq!(state.threads()[0].flushable_addresses().as_slice(), [1, 3]);
    assert!(state.threads()[0].marks.is_empty());
    let sc = Machine::new(&program, &instance, Model::Tso);
    assert_eq!(sc.event(&state, flush(1)), Err(Refusal::FlushesInOrder));
}
