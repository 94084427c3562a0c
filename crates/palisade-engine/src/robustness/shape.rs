//! The shape of a violation: a straight-line program whose one asked-for outcome is the violating
//! trace.
//!
//! Every access of the computation becomes an instruction of its thread copy, control flow and
//! computation of values disappear. The k-th store to an address, in store order, stores k; a load
//! asks for the number of the store it read from, 0 for the initial memory. Where an address has
//! three stores or more, one more thread reads them in order, so that outcome and trace determine
//! each other. A locked read-modify-write is an exchange, a failing `cas` a load behind a fence.
//! That the outcome is a TSO outcome and no SC outcome is checked by enumeration before the shape
//! is given out.

use super::witness::Violation;
use palisade_model::limits::Limits;
use palisade_model::program::{
    Action, AddressName, Copies, Expression, Instruction, Label, LabelId, Posts, Program, Register, RegisterId, Role,
    Span, Thread, ThreadId, Value,
};
use palisade_semantics::{
    AccessId, AccessKind, Condition, Constant, Effect, Instance, LOOP_CAPACITY, Location, Model, NodeId, Observable,
    Proposition, Quantifier, Trace, final_states,
};
use std::collections::BTreeMap;

/// One instruction of a straight-line thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeAction {
    /// A load that must read the given value.
    Load {
        /// The address, as a position in [`Shape::addresses`].
        address: usize,
        /// The value of the outcome.
        expected: Value,
    },
    /// A store.
    Store {
        /// The address.
        address: usize,
        /// The value.
        value: Value,
    },
    /// A locked exchange that must read the given value.
    Exchange {
        /// The address.
        address: usize,
        /// The value stored.
        value: Value,
        /// The value of the outcome.
        expected: Value,
    },
    /// `mfence`.
    Fence,
}

/// A thread of a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeThread {
    /// Whose accesses these are.
    pub name: String,
    /// Its instructions.
    pub actions: Vec<ShapeAction>,
}

/// A straight-line program with an outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The program's name.
    pub name: String,
    /// The names of the addresses; all hold 0 at first.
    pub addresses: Vec<String>,
    /// The threads, observers last.
    pub threads: Vec<ShapeThread>,
    /// The values of the addresses at the end, for those that are stored to.
    pub finals: Vec<(usize, Value)>,
}

/// Why a violation has no shape.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// A locked section with several accesses is one action that no single instruction has.
    #[error("`{thread}` has a locked section with several accesses, which no x86 instruction does at once")]
    Section {
        /// The thread copy.
        thread: String,
    },
    /// The enumeration did not come to an end within the limits.
    #[error("the outcome could not be confirmed by enumeration within the limits")]
    Unconfirmed,
    /// The outcome is not what it should be.
    #[error("the outcome is {0}")]
    WrongOutcome(&'static str),
}

impl Shape {
    /// The shape of a violation of a program.
    pub fn of(program: &Program, violation: &Violation) -> Result<Self, ShapeError> {
        let trace = &violation.replay.trace;
        let addresses = accessed(trace);
        let copies = &violation.acting;
        let mut threads = Vec::new();
        for (position, copy) in copies.iter().enumerate() {
            let name = violation.instance.copy_name(program, *copy);
            let effects: Vec<Effect> = violation
                .replay
                .events
                .iter()
                .filter(|event| event.step.copy == *copy)
                .map(|event| event.effect)
                .collect();
            let actions = actions(trace, position, &effects, &addresses)
                .ok_or_else(|| ShapeError::Section { thread: name.clone() })?;
            if actions.iter().any(|action| *action != ShapeAction::Fence) {
                threads.push(ShapeThread { name, actions });
            }
        }
        let mut finals = Vec::new();
        for (index, address) in addresses.iter().enumerate() {
            let stores = trace.stores(*address).len();
            let last = Value::try_from(stores).expect("traces are short");
            if stores > 0 {
                finals.push((index, last));
            }
            if stores > 2 {
                let actions = (1..last).map(|expected| ShapeAction::Load { address: index, expected }).collect();
                threads.push(ShapeThread { name: format!("observer of {}", program.address_name(*address)), actions });
            }
        }
        let addresses = addresses.iter().map(|address| identifier(&program.address_name(*address))).collect();
        Ok(Self { name: identifier(&program.name), addresses, threads, finals })
    }

    /// The shape as a program: registers `r0`, `r1`, … of each thread receive its loads in order.
    pub fn program(&self) -> Program {
        let address = |index: usize| Expression::Constant(Value::try_from(index + 1).expect("few addresses"));
        let threads = self
            .threads
            .iter()
            .enumerate()
            .map(|(number, thread)| {
                let mut registers = Vec::new();
                let mut next_register = || {
                    let id = RegisterId::from_index(registers.len());
                    registers.push(Register {
                        name: format!("r{}", registers.len()),
                        initial: 0,
                        is_initialised: false,
                        span: Span::default(),
                    });
                    id
                };
                let mut instructions = Vec::new();
                for (index, action) in thread.actions.iter().enumerate() {
                    let action = match *action {
                        ShapeAction::Load { address: at, .. } => {
                            Action::Load { register: next_register(), address: address(at) }
                        }
                        ShapeAction::Store { address: at, value } => {
                            Action::Store { address: address(at), value: Expression::Constant(value) }
                        }
                        ShapeAction::Exchange { address: at, value, .. } => Action::Rmw {
                            register: Some(next_register()),
                            address: address(at),
                            new: Expression::Constant(value),
                        },
                        ShapeAction::Fence => Action::Fence,
                    };
                    instructions.push(Instruction::new(
                        LabelId::from_index(index),
                        LabelId::from_index(index + 1),
                        action,
                        Span::default(),
                    ));
                }
                let label = |index| Label::new(format!("l{index}"), Span::default());
                Thread {
                    name: format!("P{number}"),
                    span: Span::default(),
                    role: Role::Thread,
                    copies: Copies::Exactly(1),
                    is_daemon: false,
                    registers,
                    labels: (0..=instructions.len()).map(label).collect(),
                    initial: LabelId::from_index(0),
                    instructions,
                }
            })
            .collect();
        let addresses = self
            .addresses
            .iter()
            .enumerate()
            .map(|(index, name)| AddressName {
                name: name.clone(),
                address: Value::try_from(index + 1).expect("few addresses"),
                length: 1,
                span: Span::default(),
            })
            .collect();
        Program {
            name: self.name.clone(),
            domain: None,
            addresses,
            initial_memory: BTreeMap::new(),
            threads,
            never: Vec::new(),
            finally: Vec::new(),
            accepted: Vec::new(),
            posts: Posts::default(),
            source: std::sync::Arc::default(),
        }
    }

    /// The outcome as an `exists` condition on the final states of [`program`](Self::program).
    pub fn condition(&self) -> Condition {
        let equals = |observable, name: String, value: Value| {
            let constant = Constant { value, text: value.to_string() };
            Proposition::Equals(Location::whole(observable, name), constant)
        };
        let mut parts = Vec::new();
        for (number, thread) in self.threads.iter().enumerate() {
            let loads = thread.actions.iter().filter_map(|action| match action {
                ShapeAction::Load { expected, .. } | ShapeAction::Exchange { expected, .. } => Some(*expected),
                _ => None,
            });
            for (register, expected) in loads.enumerate() {
                let observable = Observable::Register {
                    thread: ThreadId::from_index(number),
                    register: RegisterId::from_index(register),
                };
                parts.push(equals(observable, format!("{number}:r{register}"), expected));
            }
        }
        for (address, value) in &self.finals {
            let observable = Observable::Address(Value::try_from(address + 1).expect("few addresses"));
            parts.push(equals(observable, self.addresses[*address].clone(), *value));
        }
        Condition { quantifier: Quantifier::Exists, proposition: Proposition::And(parts) }
    }

    /// Checks by enumeration that the outcome is one of TSO and none of SC.
    pub fn confirm(&self, limits: &Limits) -> Result<(), ShapeError> {
        let program = self.program();
        let instance = Instance::of(&program).expect("every thread is there once");
        let proposition = self.condition().proposition;
        let has_outcome = |model| -> Result<bool, ShapeError> {
            let states =
                final_states(&program, &instance, model, LOOP_CAPACITY, limits).map_err(|_| ShapeError::Unconfirmed)?;
            Ok(states.completed.iter().any(|state| {
                proposition.holds(&|observable| match observable {
                    Observable::Register { thread, register } => {
                        state.threads()[thread.index()].registers[register.index()]
                    }
                    Observable::Address(address) => state.memory(address),
                })
            }))
        };
        if !has_outcome(Model::Tso)? {
            return Err(ShapeError::WrongOutcome("not possible under TSO"));
        }
        if has_outcome(Model::Sc)? {
            return Err(ShapeError::WrongOutcome("possible under SC"));
        }
        Ok(())
    }
}

/// The addresses of a trace, ascending.
fn accessed(trace: &Trace) -> Vec<Value> {
    let mut addresses: Vec<Value> =
        trace.threads().iter().flatten().flat_map(|node| node.accesses.iter().map(|access| access.address)).collect();
    addresses.sort_unstable();
    addresses.dedup();
    addresses
}

/// The instructions of one copy; nothing when it has a section that is no single instruction.
fn actions(trace: &Trace, position: usize, effects: &[Effect], addresses: &[Value]) -> Option<Vec<ShapeAction>> {
    let number = |address: Value| addresses.binary_search(&address).expect("accessed addresses are listed");
    let rank = |id: AccessId| {
        let access = trace.access(id);
        let order = trace.stores(access.address);
        let place = order.iter().position(|store| *store == id).expect("stores are in the store order");
        Value::try_from(place + 1).expect("traces are short")
    };
    let mut accesses = trace.threads()[position].iter().enumerate().flat_map(|(index, node)| {
        (0..node.accesses.len()).map(move |access| AccessId { node: NodeId { position, index }, access })
    });
    let mut next = || accesses.next().expect("every access has its place in the trace");
    let source = |id: AccessId| match trace.access(id).kind {
        AccessKind::Load(source) => source.map_or(0, rank),
        AccessKind::Store => unreachable!("a load"),
    };
    let mut actions = Vec::new();
    // The accesses of an open section.
    let mut section: Option<Vec<ShapeAction>> = None;
    for effect in effects {
        let action = match *effect {
            Effect::Load { address, .. } => ShapeAction::Load { address: number(address), expected: source(next()) },
            // Under TSO a store has its place in program order when it is issued.
            Effect::Issue { address, .. } => ShapeAction::Store { address: number(address), value: rank(next()) },
            Effect::Rmw { address, new: Some(_), .. } => {
                let expected = source(next());
                ShapeAction::Exchange { address: number(address), value: rank(next()), expected }
            }
            Effect::Rmw { address, new: None, .. } => {
                let load = ShapeAction::Load { address: number(address), expected: source(next()) };
                actions.push(ShapeAction::Fence);
                load
            }
            Effect::Fence => ShapeAction::Fence,
            Effect::Lock => {
                section = Some(Vec::new());
                continue;
            }
            Effect::Unlock => {
                actions.extend(single(&section.take()?)?);
                continue;
            }
            _ => continue,
        };
        match &mut section {
            Some(section) => section.push(action),
            None => actions.push(action),
        }
    }
    if let Some(section) = section {
        actions.extend(single(&section)?);
    }
    Some(actions)
}

/// A section as instructions that do the same at once.
fn single(section: &[ShapeAction]) -> Option<Vec<ShapeAction>> {
    let memory: Vec<ShapeAction> = section.iter().copied().filter(|action| *action != ShapeAction::Fence).collect();
    match memory[..] {
        [] => Some(vec![ShapeAction::Fence]),
        [exchange @ ShapeAction::Exchange { .. }] => Some(vec![exchange]),
        [access] => Some(vec![ShapeAction::Fence, access, ShapeAction::Fence]),
        [ShapeAction::Load { address, expected }, ShapeAction::Store { address: stored, value }]
            if address == stored =>
        {
            Some(vec![ShapeAction::Exchange { address, value, expected }])
        }
        _ => None,
    }
}

/// A name that every reader of litmus tests takes.
fn identifier(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    let plain = plain.trim_end_matches('_').to_owned();
    if plain.starts_with(|c: char| c.is_ascii_alphabetic()) { plain } else { format!("a{plain}") }
}
