//! Programs written as litmus tests and read back are the same programs: same verdicts, same final
//! states.

use crate::checked::check;
use palisade::limits::Limits;
use palisade::program::{Program, SourceText, ThreadId};
use palisade::robustness::{CheckOptions, Verdict};
use palisade::semantics::random::{self, Shape};
use palisade::semantics::{CopyId, Instance, LOOP_CAPACITY, Model, final_states};
use palisade::syntax::litmus::{self, FinalValue, Request};
use palisade::syntax::{self, Format, render};
use std::collections::BTreeSet;

fn read(text: &str, format: Format) -> Program {
    let source = SourceText::new("t", text);
    match syntax::read(source.clone(), format) {
        Ok(parsed) => parsed.program,
        Err(errors) => {
            panic!("{text}\n{}", errors.iter().map(|error| render(error, &source, false)).collect::<String>())
        }
    }
}

fn is_robust(program: &Program) -> Option<bool> {
    match check(program, &CheckOptions::default()).ok()?.verdict {
        Verdict::Robust => Some(true),
        Verdict::NotRobust => Some(false),
        Verdict::Unknown(_) => None,
    }
}

/// The memory in the final states in which all threads came to their end, as sets of values by the
/// locations' names.
fn final_memories(program: &Program, model: Model) -> BTreeSet<Vec<(String, i64)>> {
    let instance = Instance::of(program).expect("fixed copies");
    let found = final_states(program, &instance, model, LOOP_CAPACITY, &Limits::none()).expect("values exist");
    found
        .completed
        .iter()
        .map(|state| {
            let mut cells: Vec<_> = state
                .nonzero_memory()
                .iter()
                .map(|(address, value)| (program.address_name(*address), *value))
                .collect();
            cells.sort();
            cells
        })
        .collect()
}

fn assert_same(original: &Program, text: &str) {
    let again = read(text, Format::Litmus);
    assert_eq!(is_robust(original), is_robust(&again), "{text}");
    for model in [Model::Sc, Model::Tso] {
        assert_eq!(final_memories(original, model), final_memories(&again, model), "{model:?}\n{text}");
    }
}

fn written(program: &Program) -> String {
    litmus::write(program, Request::Everything).unwrap_or_else(|errors| panic!("{errors:?}")).text
}

const MUTEX: &str = "program mutex
initial data = 5
thread t [2] regs r, s init a begin
  a: r <- cas(mem[l], 0, 1);
  b: assert r != 0; goto a;
  b: assert r = 0; goto c;
  c: s <- mem[data];
  d: s <- s - r + 2;
  e: mem[data] <- s + s;
  f: mem[l] <- 0;
end
thread u regs old, new init a begin
  a: old <- xchg(mem[flag], 3);
  b: new <- fetch_add(mem[flag], old + 1);
  c: mem[seen] <- new;
end
";

#[test]
fn instructions_survive() {
    let program = read(MUTEX, Format::Native);
    let text = written(&program);
    for expected in
        ["lock cmpxchgq (l),%r14", "xchgq %rax,(flag)", "lock xaddq %rbx,(flag)", "uint64_t data=5;", "jne L0_0"]
    {
        assert!(text.contains(expected), "{expected} in\n{text}");
    }
    assert_same(&program, &text);
}

#[test]
fn a_condition_is_a_parameter() {
    let text = "program SB
thread p regs r init a begin a: mem[x] <- 1; b: r <- mem[y]; end
thread q regs r init a begin a: mem[y] <- 1; b: r <- mem[x]; end";
    let program = read(text, Format::Native);
    let register = program.threads[0].register_named("r").expect("declared");
    let copy = |thread| CopyId { thread: ThreadId::from_index(thread), copy: 0 };
    let values = [
        FinalValue::Register { copy: copy(0), register, value: 0 },
        FinalValue::Register { copy: copy(1), register, value: 0 },
        FinalValue::Memory { address: 1, value: 1 },
    ];
    let text = litmus::write(&program, Request::Exists(&values)).expect("expressible").text;
    assert!(text.ends_with("exists (0:rax=0 /\\ 1:rax=0 /\\ [x]=1)\n"), "{text}");
    let again = litmus::read(SourceText::new("t", text.clone())).expect("what was written is read");
    for (model, reached) in [(Model::Sc, false), (Model::Tso, true)] {
        let instance = Instance::of(&again.program).expect("one copy each");
        let states = final_states(&again.program, &instance, model, LOOP_CAPACITY, &Limits::none()).expect("values");
        let counting = palisade::semantics::Counting::Rows;
        let answer = again.question.answer(&again.program, &instance, &states.completed, counting);
        assert_eq!(answer.holds, reached, "{text}");
    }
}

#[test]
fn what_cannot_be_said_is_refused() {
    for (body, said) in [
        ("thread t regs r init a begin a: r <- mem[r]; end", "computed"),
        ("thread t regs r init a begin a: lock; b: unlock; end", "locked section"),
        ("thread t [*] regs r init a begin a: r <- mem[x]; end", "any number of copies"),
        ("thread t regs r init a begin a: r <- mem[x]; goto b; a: r <- mem[y]; goto b; end", "free choice"),
        ("thread t regs r init a begin a: r <- r * r; b: mem[x] <- r; end", "arithmetic"),
        ("thread t regs r init a begin a: r <- x; b: mem[x] <- r; end", "address as a value"),
    ] {
        let program = read(&format!("program t\naddress x, y\n{body}\n"), Format::Native);
        let errors = litmus::write(&program, Request::Everything).expect_err(body);
        assert!(errors.iter().any(|error| error.message.contains(said)), "{body}: {errors:?}");
    }
}

#[test]
fn random_programs_survive() {
    let shape = Shape { sections: 0, ..Shape::default() };
    let mut same = 0;
    for seed in 0..400 {
        let program = random::program(seed, &shape);
        let Ok(test) = litmus::write(&program, Request::Everything) else { continue };
        assert_same(&program, &test.text);
        same += 1;
    }
    assert!(same >= 30, "{same} of 400 could be written");
}
