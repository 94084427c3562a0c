//! SC, TSO and PSO from outside: litmus tests and programs with known verdicts, `sfence` in texts,
//! `simulate --model pso`.

use crate::documents;
use crate::environment::corpus;
use crate::piped::palisade_reading;
use palisade::limits::Limits;
use palisade::program::{Action, SourceText};
use palisade::semantics::property_oracle::{Effort, reached};
use palisade::semantics::{Counting, Instance, LOOP_CAPACITY, Model, final_states};
use palisade::syntax::{self, Format, litmus};

const MODELS: [Model; 3] = [Model::Sc, Model::Tso, Model::Pso];

/// The text of a litmus test: columns of instructions, where `x=1` stores, `a=x` loads into `rax`
/// (`b`, `c` likewise), `mfence` and `sfence` are what they are.
fn text(columns: &str, condition: &str) -> String {
    let instruction = |short: &str| match short.split_once('=') {
        None => short.to_owned(),
        Some((register @ ("a" | "b" | "c"), address)) => format!("movq ({address}),%r{register}x"),
        Some((address, value)) => format!("movq ${value},({address})"),
    };
    let columns: Vec<Vec<String>> =
        columns.split('|').map(|column| column.split_whitespace().map(instruction).collect()).collect();
    let height = columns.iter().map(Vec::len).max().unwrap_or(0);
    let cells =
        |row: usize| columns.iter().map(|column| column.get(row).cloned().unwrap_or_default()).collect::<Vec<_>>();
    let rows: String = (0..height).map(|row| format!("{} ;\n", cells(row).join(" | "))).collect();
    let heads: Vec<String> = (0..columns.len()).map(|index| format!("P{index}")).collect();
    format!("X86_64 t\n{{ }}\n{} ;\n{rows}exists ({condition})\n", heads.join(" | "))
}

/// Which models allow the outcome.
fn allowed(columns: &str, condition: &str) -> [bool; 3] {
    let text = text(columns, condition);
    let source = SourceText::new("t.litmus", text.as_str());
    let test = litmus::read(source).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    let instance = Instance::of(&test.program).expect("one copy each");
    MODELS.map(|model| {
        let found =
            final_states(&test.program, &instance, model, LOOP_CAPACITY, &Limits::none()).expect("values exist");
        let all =
            reached(&test.program, &instance, Some(&test.question), model, Effort::default()).expect("it is small");
        let holds = test.question.answer(&test.program, &instance, &found.completed, Counting::Rows).holds;
        assert_eq!(holds, !all.targets.is_empty(), "{text} under {model:?}");
        holds
    })
}

#[test]
fn outcomes_are_allowed_as_known() {
    let (sc, tso, pso, never) = ([true; 3], [false, true, true], [false, false, true], [false; 3]);
    for (columns, condition, expected) in [
        ("x=1 a=y | y=1 b=x", "0:rax=1 /\\ 1:rbx=1", sc),
        ("x=1 a=y | y=1 b=x", "0:rax=0 /\\ 1:rbx=0", tso),
        ("x=1 sfence a=y | y=1 sfence b=x", "0:rax=0 /\\ 1:rbx=0", tso),
        ("x=1 mfence a=y | y=1 mfence b=x", "0:rax=0 /\\ 1:rbx=0", never),
        ("x=1 y=1 | a=y b=x", "1:rax=1 /\\ 1:rbx=0", pso),
        ("x=1 sfence y=1 | a=y b=x", "1:rax=1 /\\ 1:rbx=0", never),
        ("x=1 sfence y=1 z=1 | a=z b=y", "1:rax=1 /\\ 1:rbx=0", pso),
        ("x=1 y=1 mfence z=1 | a=z b=x", "1:rax=1 /\\ 1:rbx=0", never),
        ("x=1 y=2 | y=1 x=2", "x=1 /\\ y=1", pso),
        ("x=1 sfence y=2 | y=1 sfence x=2", "x=1 /\\ y=1", never),
        ("x=1 a=x", "0:rax=0", never),
        ("x=1 x=2 | a=x b=x", "1:rax=2 /\\ 1:rbx=1", never),
    ] {
        assert_eq!(allowed(columns, condition), expected, "{columns}: {condition}");
    }
}

/// [FM15]'s seven programs: no increment is lost under SC, and one can be under TSO and PSO.
#[needs::variable("PALISADE_CORPUS")]
#[test]
fn seven_programs_hold_under_sc_alone() {
    for name in ["chaselev", "cilk", "dekker", "dijkstra", "lamport", "peterson", "szymanski"] {
        let path = corpus().join(format!("reorder-bounded/{name}-00.pal"));
        let text = std::fs::read_to_string(&path).expect("the program can be read");
        let program = syntax::read(SourceText::new(name, text), Format::Native).expect("it is a program").program;
        let instance = Instance::of(&program).expect("one copy each");
        for model in MODELS {
            let found = final_states(&program, &instance, model, 2, &Limits::none()).expect("values exist");
            assert_eq!(found.violations.is_empty(), model == Model::Sc, "{name} under {model:?}");
        }
    }
}

const MESSAGE_PASSING: &str = "program MP
thread t1 init l0 begin
  l0: mem[x] <- 1; goto l1;
  l1: sfence; goto l2;
  l2: mem[y] <- 1; goto l3;
  l3: mem[z] <- 1; goto l4;
end
thread t2 regs r s init l0 begin
  l0: r <- mem[z]; goto l1;
  l1: s <- mem[y]; goto l2;
  l2: ensure r <= s; goto l3;
end
";

#[test]
fn simulate_knows_pso() {
    let run = |options: &[&str]| {
        let output = palisade_reading(&[&["simulate", "-", "--from", "native"], options].concat(), MESSAGE_PASSING);
        (
            output.status.code(),
            String::from_utf8(output.stdout).expect("text"),
            String::from_utf8(output.stderr).expect("text"),
        )
    };
    let (status, said, warned) = run(&["--model", "pso"]);
    assert_eq!((status, warned.as_str()), (Some(1), ""), "{said}");
    assert!(said.starts_with("-: fails under PSO\n"), "{said}");
    // The mark is shown between the stores, and the younger store leaves before the older one.
    assert!(said.contains("x = 1, sfence, y = 1"), "{said}");
    let rows = ["z ← 1 ", "l0: r ← z = 1", "l1: s ← y = 0", "l2: violates `ensure r <= s`"];
    let mut rest = said.as_str();
    for row in rows {
        let at = rest.find(row).unwrap_or_else(|| panic!("no `{row}` in {rest}"));
        rest = &rest[at..];
    }
    for (model, name) in [("sc", "SC"), ("tso", "TSO")] {
        let (status, said, warned) = run(&["--model", model]);
        assert_eq!(status, Some(0), "{said}");
        assert!(warned.contains(&format!("`sfence` has no effect under {name}: stores are in order")), "{warned}");
    }
    let (_, json, _) = run(&["--model", "pso", "--json"]);
    let document = documents::read(json);
    assert_eq!(document["model"], "pso");
    let steps = document["violations"][0]["steps"].as_array().expect("steps");
    assert!(steps.iter().any(|step| step["kind"] == "flush" && step["address"] == "z"), "{steps:?}");
    // Each load reads from the store or the initial memory: four executions, of which stores in
    // order leave three.
    let executions = |model| documents::read(run(&["--model", model, "--traces", "--json"]).1)["satisfying"].as_u64();
    assert_eq!((executions("tso"), executions("pso")), (Some(3), Some(4)));
}

/// `sfence` in texts: read, written, and said where it is lost.
#[test]
fn store_fences_are_read_and_written() {
    let program = syntax::read(SourceText::new("mp", MESSAGE_PASSING), Format::Native).expect("a program").program;
    assert_eq!(program.threads[0].instructions[1].action, Action::StoreFence);
    let printed = syntax::print(&program, Format::Native).expect("it can be printed");
    let again = syntax::read(SourceText::new("mp", printed.text), Format::Native).expect("a program").program;
    assert_eq!(again.threads[0].instructions[1].action, Action::StoreFence);
    let written = syntax::print(&program, Format::Litmus).expect("it can be written");
    assert!(written.text.contains("sfence"), "{}", written.text);
    let test = litmus::read(SourceText::new("mp.litmus", written.text.as_str())).expect("a test");
    let fences = test.program.threads[0].instructions.iter().filter(|own| own.action == Action::StoreFence);
    assert_eq!(fences.count(), 1);
    let automaton = syntax::print(&program, Format::Trencher).expect("it can be printed");
    assert!(automaton.text.contains("noop"), "{}", automaton.text);
    assert!(automaton.warnings.iter().any(|warning| warning.message.contains("sfence")), "{:?}", automaton.warnings);
}
