//! Tests for x86, written in C: those of the corpus and random ones.

use super::{answers, c_text, holds, is_robust, read, table_text, test};
use crate::environment::{corpus, sample};
use palisade::program::{Action, Expression, Program, Thread};
use palisade::semantics::Model;
use palisade::semantics::random::Randomness;
use palisade::syntax::litmus::LitmusTest;
use std::fmt::Write;

/// The C for a thread without branches, of moves, fences and exchanges; nothing if it has anything
/// else.
fn thread_in_c(program: &Program, thread: &Thread, kind: &str) -> Option<String> {
    let mut body = String::new();
    for register in &thread.registers {
        let _ = write!(body, "{kind} {} = {};", register.name, register.initial);
    }
    let mut at = thread.initial;
    let mut left = thread.instructions.len();
    let place = |address: &Expression| match address {
        Expression::Address { id, .. } => Some(program.addresses.get(id.index())?.name.clone()),
        _ => None,
    };
    let value = |value: &Expression| match value {
        Expression::Constant(value) => Some(value.to_string()),
        Expression::Register(register) => Some(thread.registers.get(register.index())?.name.clone()),
        _ => None,
    };
    while left > 0 {
        let mut here = thread.instructions.iter().filter(|it| it.source == at);
        let instruction = here.next()?;
        if here.next().is_some() {
            return None;
        }
        match &instruction.action {
            Action::Load { register, address } => {
                let register = &thread.registers[register.index()].name;
                let _ = write!(body, "{register} = atomic_load_explicit({}, memory_order_acquire);", place(address)?);
            }
            Action::Store { address, value: stored } => {
                let (place, stored) = (place(address)?, value(stored)?);
                let _ = write!(body, "atomic_store_explicit({place}, {stored}, memory_order_release);");
            }
            Action::Assign { register, value: assigned } => {
                let _ = write!(body, "{} = {};", thread.registers[register.index()].name, value(assigned)?);
            }
            Action::Rmw { register, address, new } => {
                let result = register.map(|register| format!("{} = ", thread.registers[register.index()].name));
                let (place, new) = (place(address)?, value(new)?);
                let _ = write!(body, "{}atomic_exchange({place}, {new});", result.unwrap_or_default());
            }
            Action::Fence => body.push_str("atomic_thread_fence(memory_order_seq_cst);"),
            Action::Nop => body.push(';'),
            _ => return None,
        }
        at = instruction.target;
        left -= 1;
    }
    Some(body)
}

/// A test in the X86 syntax as one in C; nothing if C has no such form for it here.
fn in_c(test: &LitmusTest) -> Option<String> {
    let text = &test.program.source.text;
    let word = ["exists", "forall"].into_iter().find_map(|word| text.find(word))?;
    let negated = text[..word].trim_end().ends_with('~');
    let start = if negated { text[..word].rfind('~')? } else { word };
    let kind = if text.trim_start().starts_with("X86_64") { "long" } else { "int" };
    let names: Vec<&str> = test.program.addresses.iter().map(|address| address.name.as_str()).collect();
    let mut out = format!("C {}\n{{ ", test.name);
    for address in &test.program.addresses {
        let value = test.program.initial_memory.get(&address.address).copied().unwrap_or(0);
        let _ = write!(out, "{} = {value}; ", address.name);
    }
    out.push_str("}\n");
    let parameters: Vec<String> = names.iter().map(|name| format!("_Atomic {kind}* {name}")).collect();
    for (number, thread) in test.program.threads.iter().enumerate() {
        let body = thread_in_c(&test.program, thread, kind)?;
        let _ = writeln!(out, "P{number} ({}) {{ {body} }}", parameters.join(", "));
    }
    Some(out + &text[start..])
}

/// Public x86 tests of moves, fences and exchanges, written in C: the same verdict, and the same
/// answers.
#[needs::variable("PALISADE_CORPUS")]
#[test]
fn tests_of_the_corpus_in_c() {
    let root = corpus().join("litmus");
    let table = std::fs::read_to_string(root.join("expected.tsv")).expect("the corpus has a table");
    let mut compared = 0;
    let rows = table.lines().skip(1).filter_map(|line| line.split_once('\t')).step_by(4).collect();
    for (name, verdict) in sample(rows, 2) {
        let x86 = test(&std::fs::read_to_string(root.join(name)).expect("the test is there"));
        if x86.program.threads.len() > 4 {
            continue;
        }
        // Conditions may call registers by other names.
        let Some(Ok(c)) = in_c(&x86).map(|text| read(&text)) else { continue };
        assert_eq!(is_robust(&c), verdict.trim() == "ROBUST", "{name}");
        for model in [Model::Sc, Model::Tso] {
            assert_eq!(holds(&c, model), holds(&x86, model), "{name}");
        }
        compared += 1;
    }
    assert!(compared > 50, "{compared}");
}

/// Random small programs, written in C and in the X86 syntax: the same verdict, and the same
/// answers.
#[test]
fn random_programs_are_as_their_twins() {
    let mut randomness = Randomness::new(26);
    let mut robust = [0; 2];
    for _ in 0..400 {
        let (mut bodies, mut columns) = (Vec::new(), Vec::new());
        for _ in 0..2 {
            let mut body = String::from("int r0 = 0; int r1 = 0; ");
            let mut column = Vec::new();
            for step in 0..2 + randomness.below(2) {
                let place = ["x", "y"][randomness.below(2)];
                let value = 1 + randomness.below(2);
                let register = [("r0", "EAX"), ("r1", "EBX")][step % 2];
                match randomness.below(if step == 0 { 5 } else { 8 }) {
                    0..=2 => {
                        let _ = write!(body, "WRITE_ONCE(*{place}, {value}); ");
                        column.push(format!("MOV [{place}],${value}"));
                    }
                    3..=5 => {
                        let _ = write!(body, "{} = smp_load_acquire({place}); ", register.0);
                        column.push(format!("MOV {},[{place}]", register.1));
                    }
                    6 => {
                        body.push_str("smp_mb(); ");
                        column.push("MFENCE".to_owned());
                    }
                    _ => {
                        let _ = write!(body, "{} = xchg_release({place}, {value}); ", register.0);
                        column.push(format!("MOV {},${value}", register.1));
                        column.push(format!("XCHG [{place}],{}", register.1));
                    }
                }
            }
            bodies.push(body);
            columns.push(column);
        }
        let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
        let columns: Vec<Vec<&str>> =
            columns.iter().map(|column| column.iter().map(String::as_str).collect()).collect();
        let columns: Vec<&[&str]> = columns.iter().map(Vec::as_slice).collect();
        let of_c = format!("exists (0:r0={0} /\\ 1:r0={0} /\\ x={1})", randomness.below(2), randomness.below(3));
        let of_x86 = of_c.replace("r0", "EAX");
        let c = test(&c_text("int", &bodies, &of_c));
        let twin = answers(&c);
        assert_eq!(twin, answers(&test(&table_text(&columns, &of_x86))), "{bodies:?}");
        robust[usize::from(twin.0)] += 1;
    }
    assert!(robust.iter().all(|count| *count > 10), "{robust:?}");
}
