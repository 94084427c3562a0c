//! Is a program robust? Store buffering, built in code, for one copy of each thread and for any
//! number of copies.
//!
//! `cargo run --example check`

use palisade::program::{
    Action, AddressId, AddressName, Copies, Expression, Instruction, Label, LabelId, Posts, Program, Register,
    RegisterId, Role, SourceText, Span, Thread, Value,
};
use palisade::robustness::{CheckOptions, Verdict, check};
use std::collections::BTreeMap;

const ADDRESSES: [&str; 2] = ["x", "y"];

fn main() {
    let mut program = store_buffering();
    for copies in [Copies::Exactly(1), Copies::Any] {
        for thread in &mut program.threads {
            thread.copies = copies;
        }
        let checked = check(&program, &CheckOptions::default()).expect("no value grows, nothing is divided");
        assert_eq!(checked.verdict, Verdict::NotRobust);
        let violation = checked.violation.expect("a program that is not robust has a violation");
        println!("{copies} of each: not robust, shown in {} steps", violation.steps.len());
    }
}

/// `x ← 1; r ← y ∥ y ← 1; r ← x`.
fn store_buffering() -> Program {
    let addresses = ADDRESSES.iter().zip(1..).map(|(name, address)| AddressName {
        name: (*name).to_owned(),
        address,
        length: 1,
        span: Span::default(),
    });
    Program {
        name: "StoreBuffering".to_owned(),
        domain: None,
        addresses: addresses.collect(),
        initial_memory: BTreeMap::new(),
        threads: vec![thread("t1", 0, 1), thread("t2", 1, 0)],
        never: Vec::new(),
        finally: Vec::new(),
        accepted: Vec::new(),
        posts: Posts::default(),
        source: SourceText::new("", ""),
    }
}

/// A thread that stores 1 to one address and then loads from the other.
fn thread(name: &str, stored: usize, loaded: usize) -> Thread {
    let actions = [
        Action::Store { address: address(stored), value: Expression::Constant(1) },
        Action::Load { register: RegisterId::from_index(0), address: address(loaded) },
    ];
    let label = |name: &str| Label::new(name, Span::default());
    let instruction = |(index, action)| {
        Instruction::new(LabelId::from_index(index), LabelId::from_index(index + 1), action, Span::default())
    };
    Thread {
        name: name.to_owned(),
        span: Span::default(),
        role: Role::Thread,
        copies: Copies::Exactly(1),
        is_daemon: false,
        registers: vec![Register { name: "r".to_owned(), initial: 0, is_initialised: false, span: Span::default() }],
        labels: ["store", "load", "end"].map(label).to_vec(),
        initial: LabelId::from_index(0),
        instructions: actions.into_iter().enumerate().map(instruction).collect(),
    }
}

/// The number of an address, as an expression.
fn address(index: usize) -> Expression {
    let value = Value::try_from(index + 1).expect("there are two addresses");
    Expression::Address { id: AddressId::from_index(index), value }
}
