//! Programs built in memory for tests.

#![allow(dead_code, reason = "each test file uses some of it")]

use palisade::program::{
    Action, AddressId, AddressName, Copies, Expression, Instruction, Label, LabelId, Posts, Program, Register,
    RegisterId, Role, SourceText, Span, Thread, Value,
};
use std::collections::BTreeMap;

/// Addresses by name.
pub(crate) const X: Value = 1;
pub(crate) const Y: Value = 2;
pub(crate) const Z: Value = 3;

/// The address `value` as an expression.
pub(crate) fn at(value: Value) -> Expression {
    Expression::Address { id: AddressId::from_index(usize::try_from(value - 1).expect("a named address")), value }
}

/// The register with so many before it.
pub(crate) fn register(index: usize) -> RegisterId {
    RegisterId::from_index(index)
}

/// `mem[address] <- value`.
pub(crate) fn store(address: Value, value: Value) -> Action {
    Action::Store { address: at(address), value: Expression::Constant(value) }
}

/// `r <- mem[address]`.
pub(crate) fn load(index: usize, address: Value) -> Action {
    Action::Load { register: register(index), address: at(address) }
}

/// `r <- xchg(mem[address], value)`.
pub(crate) fn exchange(index: usize, address: Value, value: Value) -> Action {
    Action::Rmw { register: Some(register(index)), address: at(address), new: Expression::Constant(value) }
}

/// `r <- cas(mem[address], expected, new)`.
pub(crate) fn cas(index: usize, address: Value, expected: Value, new: Value) -> Action {
    let (expected, new) = (Expression::Constant(expected), Expression::Constant(new));
    Action::Cas { register: Some(register(index)), address: at(address), expected, new }
}

/// `source: action; goto target`.
pub(crate) fn instruction(source: usize, action: Action, target: usize) -> Instruction {
    let (source, target) = (LabelId::from_index(source), LabelId::from_index(target));
    Instruction::new(source, target, action, Span::default())
}

/// A thread with four registers that runs through its actions.
pub(crate) fn straight(actions: impl IntoIterator<Item = Action>) -> Thread {
    thread(actions.into_iter().enumerate().map(|(label, action)| instruction(label, action, label + 1)))
}

/// A thread with four registers that starts at label 0.
pub(crate) fn thread(instructions: impl IntoIterator<Item = Instruction>) -> Thread {
    let instructions: Vec<Instruction> = instructions.into_iter().collect();
    let last = instructions.iter().map(|it| it.source.index().max(it.target.index())).max().unwrap_or(0);
    let name = |prefix: &str, index: usize| format!("{prefix}{index}");
    Thread {
        name: String::new(),
        span: Span::default(),
        role: Role::Thread,
        copies: Copies::Exactly(1),
        is_daemon: false,
        registers: (0..4)
            .map(|index| Register { name: name("r", index), initial: 0, is_initialised: false, span: Span::default() })
            .collect(),
        labels: (0..=last).map(|index| Label::new(name("l", index), Span::default())).collect(),
        initial: LabelId::from_index(0),
        instructions,
    }
}

/// A program over `x`, `y`, `z` without a domain.
pub(crate) fn program(threads: impl IntoIterator<Item = Thread>) -> Program {
    let address = |(index, name): (usize, &str)| AddressName {
        name: name.to_owned(),
        address: Value::try_from(index + 1).expect("few addresses"),
        length: 1,
        span: Span::default(),
    };
    let mut threads: Vec<Thread> = threads.into_iter().collect();
    for (index, thread) in threads.iter_mut().enumerate() {
        thread.name = format!("t{index}");
    }
    Program {
        name: "test".to_owned(),
        domain: None,
        addresses: ["x", "y", "z"].into_iter().enumerate().map(address).collect(),
        initial_memory: BTreeMap::new(),
        threads,
        never: Vec::new(),
        finally: Vec::new(),
        accepted: Vec::new(),
        posts: Posts::default(),
        source: SourceText::new("", ""),
    }
}
