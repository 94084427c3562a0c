//! The oracles against the definitions, and their reduced searches against full ones, on random
//! programs.

use super::search::Successors;
use super::{Answer, Kind, OracleError, TaskBounds, concurrency, literal, tso};
use crate::Model;
use crate::random::{EventShape, Shape, event_chain, event_program, event_program_of, three_parties};
use crate::tasks::{TaskEffect, TaskMachine, is_out_of_order};
use palisade_model::program::{Action, Instruction, Posts, Program};

const KINDS: [Kind; 2] = [Kind::Serializability, Kind::Determinism];

/// How many seeds a test takes: few by default, many in long runs.
fn amount(few: u64) -> u64 {
    if std::env::var_os("PALISADE_FULL_TESTS").is_some() { 40 * few } else { few }
}

/// Programs small enough for definitions. Sections are left out: a trace of one that is open is no
/// trace of the paper.
fn small_program(seed: u64) -> Program {
    let body = Shape { labels: 2, branches: 10, domains: 0, fences: 3, ..EventShape::default().body };
    let shape = EventShape { body, events: 2, tasks: 2, total_labels: 6, posts: 30, ..EventShape::default() };
    match seed % 8 {
        0 => three_parties(seed),
        1 => event_chain(seed),
        _ => event_program(seed, &shape),
    }
}

fn is_literal(program: &Program) -> bool {
    let sections = |it: &Instruction| matches!(it.action, Action::Lock | Action::Unlock);
    !program.threads.iter().any(|thread| thread.has_loop() || thread.instructions.iter().any(sections))
}

/// What the tests count.
#[derive(Default, Debug)]
struct Counts {
    robust: usize,
    violated: usize,
    too_large: usize,
}

impl Counts {
    fn note(&mut self, is_robust: bool) {
        if is_robust { self.robust += 1 } else { self.violated += 1 }
    }
}

#[test]
fn event_graphs_are_what_the_definition_says() {
    let mut counts = Counts::default();
    for seed in 0..amount(100) {
        let program = small_program(seed);
        if !is_literal(&program) {
            continue;
        }
        let Ok(expected) = literal::is_serial(&program) else {
            counts.too_large += 1;
            continue;
        };
        let answer = concurrency(&program, &KINDS, &TaskBounds::default()).expect("the program is small");
        assert_eq!(answer.is_robust(), expected, "seed {seed}: {answer:?}\n{program:#?}");
        counts.note(expected);
    }
    assert!(counts.robust > 10 && counts.violated > 6, "{counts:?}");
}

#[test]
fn happens_before_is_what_the_definition_says() {
    let mut counts = Counts::default();
    for seed in 0..amount(100) {
        let mut program = small_program(seed);
        if !is_literal(&program) {
            continue;
        }
        for posts in [Posts::Drain, Posts::Plain] {
            program.posts = posts;
            let Ok(expected) = literal::is_sc(&program) else {
                counts.too_large += 1;
                continue;
            };
            let answer = tso(&program, &TaskBounds::default()).expect("the program is small");
            assert_eq!(answer.is_robust(), expected, "seed {seed}: {answer:?}\n{program:#?}");
            counts.note(expected);
        }
    }
    assert!(counts.robust > 12 && counts.violated > 2, "{counts:?}");
}

/// The answers of the reduced and of the full search about a program.
fn both<W: Clone>(decide: impl Fn(Successors) -> Result<Answer<W>, OracleError>) -> Option<(Answer<W>, Answer<W>)> {
    match (decide(Successors::Reduced), decide(Successors::Full)) {
        (Ok(reduced), Ok(full)) => Some((reduced, full)),
        (Err(OracleError::TooLarge), _) | (_, Err(OracleError::TooLarge)) => None,
        (reduced, full) => panic!("{:?} {:?}", reduced.err(), full.err()),
    }
}

#[test]
fn reduced_and_full_searches_agree() {
    let (mut about_events, mut about_tso) = (Counts::default(), Counts::default());
    for seed in 5000..5000 + amount(300) {
        let program = event_program_of(seed);
        let in_order = seed % 3 == 0;
        let bounds = TaskBounds { steps: Some(5), configurations: 5_000, in_order, ..TaskBounds::default() };
        if let Some((reduced, full)) =
            both(|successors| super::concurrency::decide(&program, &KINDS, &bounds, successors))
        {
            assert_eq!(reduced.is_robust(), full.is_robust(), "seed {seed}\n{program:#?}");
            about_events.note(full.is_robust());
        }
        if let Some((reduced, full)) = both(|successors| super::tso::decide(&program, &bounds, successors)) {
            assert_eq!(reduced.is_robust(), full.is_robust(), "seed {seed}\n{program:#?}");
            about_tso.note(full.is_robust());
        }
    }
    for counts in [about_events, about_tso] {
        assert!(counts.robust > 30 && counts.violated > 10, "{counts:?}");
    }
}

/// What is found in the order of posts is a violation in that order, and one of any order; some
/// need another order.
#[test]
fn an_ordinary_queue_shows_less() {
    let mut counts = Counts::default();
    let any = TaskBounds { steps: Some(6), configurations: 20_000, ..TaskBounds::default() };
    let ordinary = TaskBounds { in_order: true, ..any.clone() };
    let body = Shape { labels: 2, addresses: 2, ..EventShape::default().body };
    let shape = EventShape { body, tasks: 3, posts: 50, main: 80, ..EventShape::default() };
    for seed in 20_000..20_000 + amount(300) {
        let program = event_program(seed, &shape);
        let (found, in_order) = (concurrency(&program, &KINDS, &any), concurrency(&program, &KINDS, &ordinary));
        let (Ok(found), Ok(in_order)) = (found, in_order) else { continue };
        let Answer::Violated { computation, .. } = in_order else {
            if !found.is_robust() {
                counts.note(true);
            }
            continue;
        };
        assert!(!found.is_robust(), "seed {seed}");
        let machine = TaskMachine::new(&program, Model::Sc);
        let mut state = machine.initial_state();
        assert!(computation.iter().all(|step| machine.apply(&mut state, *step).is_ok()), "seed {seed}");
        assert!(!is_out_of_order(&state, &computation), "seed {seed}");
        counts.note(false);
    }
    assert!(counts.robust > 3 && counts.violated > 30, "{counts:?}");
}

/// Violations are computations that end with empty buffers; and stores are issued in them.
#[test]
fn violations_are_computations() {
    let mut counts = Counts::default();
    let bounds = TaskBounds { steps: Some(6), configurations: 5_000, ..TaskBounds::default() };
    for seed in 9000..9000 + amount(200) {
        let program = event_program_of(seed);
        let Ok(Answer::Violated { computation, .. }) = tso(&program, &bounds) else { continue };
        let machine = TaskMachine::new(&program, Model::Tso);
        let mut state = machine.initial_state();
        let effects = computation.iter().map(|step| machine.apply(&mut state, *step).expect("it is a computation"));
        let effects: Vec<TaskEffect> = effects.collect();
        assert!(effects.iter().any(|effect| matches!(effect, TaskEffect::Issue { .. })), "seed {seed}");
        assert!(state.main_buffer().is_empty(), "seed {seed}");
        assert!(state.invocations().iter().all(|it| it.buffer.is_empty()), "seed {seed}");
        counts.note(false);
    }
    assert!(counts.violated > 8, "{counts:?}");
}
