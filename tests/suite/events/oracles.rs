//! The brute-force oracles for event-driven programs against the corpus of examples.

use crate::environment::corpus;
use palisade::program::{Copies, Posts, Program, SourceText};
use palisade::semantics::tasks::oracle::{Kind, OracleError, TaskBounds, concurrency, tso};
use palisade::syntax::{Format, parse, render};

const KINDS: [Kind; 2] = [Kind::Serializability, Kind::Determinism];

fn program(name: &str) -> Program {
    let text = std::fs::read_to_string(corpus().join("events").join(name)).expect("the corpus has the file");
    let source = SourceText::new(name, text);
    match parse(source.clone(), Format::Native) {
        Ok(parsed) => parsed.program,
        Err(errors) => panic!("{}", errors.iter().map(|error| render(error, &source, false)).collect::<String>()),
    }
}

/// Lets each event occur as often as `e=1,f=2` says, and others never.
fn occurrences(program: &Program, counts: &str) -> Program {
    let mut program = program.clone();
    let counts: Vec<(&str, u64)> = counts
        .split(',')
        .map(|part| part.split_once('=').expect("name=count"))
        .map(|(name, count)| (name, count.parse().expect("a number")))
        .collect();
    for thread in program.threads.iter_mut().filter(|thread| thread.is_event()) {
        let count = counts.iter().find(|(name, _)| *name == thread.name).map_or(0, |(_, count)| *count);
        thread.copies = Copies::Exactly(count);
    }
    program
}

/// The word of the table.
fn verdict(is_robust: bool) -> &'static str {
    if is_robust { "robust" } else { "not-robust" }
}

fn bounds() -> TaskBounds {
    TaskBounds { configurations: 1_000_000, ..TaskBounds::default() }
}

/// The kinds of violations that the program has.
fn kinds(program: &Program) -> Result<String, OracleError> {
    let mut found = Vec::new();
    for (kind, name) in KINDS.into_iter().zip(["serializability", "determinism"]) {
        if !concurrency(program, &[kind], &bounds())?.is_robust() {
            found.push(name);
        }
    }
    Ok(if found.is_empty() { "-".to_owned() } else { found.join("+") })
}

/// Verdicts and kinds of the examples, for the counts in the table, and a violation for the
/// instance that stands for any number.
#[needs::variable("PALISADE_CORPUS")]
#[test]
fn examples_have_their_verdicts() {
    let table = std::fs::read_to_string(corpus().join("events/expected.tsv")).expect("the corpus has the table");
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows.len(), 33);
    for row in rows {
        let [file, events, against_concurrency, expected_kinds, drain, plain, _, instance, ..] = row.as_slice() else {
            panic!("{row:?}");
        };
        let mut program = occurrences(&program(file), events);
        let answer = concurrency(&program, &KINDS, &bounds()).expect("the examples are small");
        assert_eq!(verdict(answer.is_robust()), *against_concurrency, "{file}");
        assert_eq!(kinds(&program).expect("the examples are small"), *expected_kinds, "{file}");
        for (posts, expected) in [(Posts::Drain, drain), (Posts::Plain, plain)] {
            program.posts = posts;
            let answer = tso(&program, &bounds()).expect("the examples are small");
            assert_eq!(verdict(answer.is_robust()), *expected, "{file} {posts:?}");
        }
        if *instance != "-" {
            let program = occurrences(&program, instance);
            let answer = concurrency(&program, &KINDS, &bounds()).expect("the instance is small");
            assert!(!answer.is_robust(), "{file} {instance}");
        }
    }
}
