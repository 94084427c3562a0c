//! Locked instructions in litmus tests, which no public test of other tools has: cmpxchg, xadd and
//! their kin, in tests with known outcomes and in random ones, against the brute-force enumeration.

use crate::checked::check;
use palisade::limits::Limits;
use palisade::program::SourceText;
use palisade::robustness::{CheckOptions, Verdict};
use palisade::semantics::{Bounds, Counting, Instance, LOOP_CAPACITY, Model, final_states, oracle};
use palisade::syntax::litmus::{self, LitmusTest};
use palisade::syntax::render;
use rayon::prelude::*;

fn test(text: &str) -> LitmusTest {
    let source = SourceText::new("t.litmus", text);
    litmus::read(source.clone()).unwrap_or_else(|errors| {
        panic!("{text}\n{}", errors.iter().map(|error| render(error, &source, false)).collect::<String>())
    })
}

/// A test of columns of instructions.
fn table(architecture: &str, columns: &[&[&str]], condition: &str) -> LitmusTest {
    test(&table_text(architecture, columns, condition))
}

fn table_text(architecture: &str, columns: &[&[&str]], condition: &str) -> String {
    let heads: Vec<String> = (0..columns.len()).map(|index| format!("P{index}")).collect();
    let height = columns.iter().map(|column| column.len()).max().unwrap_or(0);
    let row = |row: usize| -> String {
        let cells: Vec<&str> = columns.iter().map(|column| column.get(row).copied().unwrap_or("")).collect();
        format!("{} ;\n", cells.join(" | "))
    };
    let rows: String = (0..height).map(row).collect();
    format!("{architecture} t\n{{ }}\n{} ;\n{rows}{condition}\n", heads.join(" | "))
}

fn is_robust(test: &LitmusTest) -> bool {
    let checked = check(&test.program, &CheckOptions::default()).expect("values are few");
    match checked.verdict {
        Verdict::Robust => true,
        Verdict::NotRobust => false,
        Verdict::Unknown(reason) => panic!("no answer: {reason}"),
    }
}

fn brute_force(test: &LitmusTest) -> bool {
    let instance = Instance::of(&test.program).expect("one copy each");
    oracle::robust(&test.program, &instance, &Bounds::default()).expect("no loops").is_robust()
}

fn holds(test: &LitmusTest, model: Model) -> bool {
    let instance = Instance::of(&test.program).expect("one copy each");
    let states = final_states(&test.program, &instance, model, LOOP_CAPACITY, &Limits::none()).expect("values exist");
    test.question.answer(&test.program, &instance, &states.completed, Counting::Rows).holds
}

/// Store buffering with something between the store and the load of each thread: broken exactly
/// when that something does not drain the buffer.
#[test]
fn locked_instructions_drain_the_buffer() {
    for (between, drains) in [
        ("nop", false),
        ("lock xaddl %ebx,(z)", true),
        ("xaddl %ebx,(z)", false),
        ("lock cmpxchgl %ebx,(z)", true),
        ("cmpxchgl %ebx,(z)", false),
        ("xchgl %ebx,(z)", true),
        ("lock incl (z)", true),
        ("incl (z)", false),
        ("lock decl (z)", true),
        ("lock addl $1,(z)", true),
        ("lock subl $1,(z)", true),
        ("lock andl $0,(z)", true),
        ("lock orl $0,(z)", true),
        ("lock xorl $1,(z)", true),
        ("orl $0,(z)", false),
        ("mfence", true),
        ("sfence", false),
        ("lfence", false),
    ] {
        let first = ["movl $1,(x)", between, "movl (y),%ecx"];
        let second = ["movl $1,(y)", between, "movl (x),%ecx"];
        let test = table("X86_64", &[&first, &second], "exists (0:rcx=0 /\\ 1:rcx=0)");
        assert_eq!(is_robust(&test), drains, "{between}");
        assert_eq!(brute_force(&test), drains, "{between}");
        assert!(!holds(&test, Model::Sc), "{between}");
        assert_eq!(holds(&test, Model::Tso), !drains, "{between}");
    }
}

#[test]
fn counters_and_locks() {
    let add = ["movl $1,%eax", "lock xaddl %eax,(x)"];
    let test = table("X86_64", &[&add, &add, &add], "forall (x=3)");
    assert!(is_robust(&test) && brute_force(&test));
    assert!(holds(&test, Model::Tso));
    let add = ["movl $1,%eax", "xaddl %eax,(x)"];
    let test = table("X86_64", &[&add, &add], "exists (x=1 /\\ 0:rax=0 /\\ 1:rax=0)");
    assert!(holds(&test, Model::Sc), "an unlocked addition loses updates");
    assert!(is_robust(&test) && brute_force(&test));
    // A lock taken by compare-and-exchange, given back by a store: one of the two gets in, or both
    // in turn.
    let enter = [
        "movl $1,%ebx",
        "lock cmpxchgl %ebx,(l)",
        "jne O",
        "movl (c),%ecx",
        "incl %ecx",
        "movl %ecx,(c)",
        "movl $0,(l)",
        "O: nop",
    ];
    let test = table("X86_64", &[&enter, &enter], "forall (c=1 /\\ (0:rax=1 \\/ 1:rax=1) \\/ c=2)");
    assert!(is_robust(&test) && brute_force(&test));
    assert!(holds(&test, Model::Tso));
    // A failing compare-and-exchange drains the buffer as well.
    let first = ["MOV EAX,$7", "MOV [x],$1", "LOCK CMPXCHG [z],EBX", "MOV ECX,[y]"];
    let second = ["MOV [y],$1", "MFENCE", "MOV ECX,[x]"];
    let test = table("X86", &[&first, &second], "exists (0:ECX=0 /\\ 1:ECX=0)");
    assert!(is_robust(&test) && brute_force(&test));
    assert!(!holds(&test, Model::Tso));
}

/// A generator of numbers, the same on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits fit") % sides
    }

    fn pick<'t>(&mut self, table: &[&'t str]) -> &'t str {
        table[self.roll(table.len())]
    }
}

const LOCATIONS: [&str; 2] = ["x", "y"];
const REGISTERS: [&str; 3] = ["eax", "ebx", "ecx"];

fn random_instruction(dice: &mut Dice) -> String {
    let location = dice.pick(&LOCATIONS);
    let register = dice.pick(&REGISTERS);
    let lock = dice.pick(&["", "lock "]);
    match dice.roll(16) {
        0..=4 => format!("movl ${},({location})", 1 + dice.roll(2)),
        5..=8 => format!("movl ({location}),%{register}"),
        9 => format!("xchgl %{register},({location})"),
        10 => format!("{lock}xaddl %{register},({location})"),
        11 => format!("{lock}cmpxchgl %{register},({location})"),
        12 => format!("{lock}{} ({location})", dice.pick(&["incl", "decl", "addl $2,", "xorl $1,", "orl $2,"])),
        13 => format!("movl %{register},({location})"),
        14 => format!("{} %{register}", dice.pick(&["incl", "decl", "subl $1,", "cmovel (y),", "movl $1,"])),
        _ => "mfence".to_owned(),
    }
}

fn random_test(seed: u64) -> String {
    let mut dice = Dice(seed);
    let columns: Vec<Vec<String>> = (0..2)
        .map(|_| {
            let mut column: Vec<String> = (0..2 + dice.roll(2)).map(|_| random_instruction(&mut dice)).collect();
            if dice.roll(2) == 0 {
                let at = 1 + dice.roll(column.len() - 1);
                let jump = dice.pick(&["je", "jne", "jl", "jge", "jb", "ja", "js", "jle"]);
                column.insert(at, format!("{jump} E"));
                column.push("E: nop".into());
            }
            column
        })
        .collect();
    let columns: Vec<Vec<&str>> = columns.iter().map(|column| column.iter().map(String::as_str).collect()).collect();
    let columns: Vec<&[&str]> = columns.iter().map(Vec::as_slice).collect();
    table_text("X86_64", &columns, "exists (0:rax=0 /\\ 1:rax=0 /\\ 0:rbx=0 /\\ 1:rbx=0 /\\ x=0 /\\ y=0)")
}

#[test]
fn random_tests_against_the_brute_force() {
    let answers: Vec<(u64, bool, bool)> = (0..1500u64)
        .into_par_iter()
        .map(|seed| {
            let test = test(&random_test(seed));
            (seed, is_robust(&test), brute_force(&test))
        })
        .collect();
    for (seed, found, expected) in &answers {
        assert_eq!(found, expected, "{}", random_test(*seed));
    }
    let broken = answers.iter().filter(|(_, robust, _)| !robust).count();
    assert!(broken > 50, "{broken} of {} are not robust", answers.len());
}
