//! The public litmus tests by brute force: final states, executions, robustness.

use crate::environment::{corpus, sample};
use palisade::limits::Limits;
use palisade::program::{Program, SourceText};
use palisade::semantics::{
    Bounds, Counting, Instance, LOOP_CAPACITY, Model, Observation, Quantifier, State, executions, final_states, oracle,
};
use palisade::syntax::litmus::{self, LitmusTest};
use rayon::prelude::*;

/// Every test of the corpus with its expected verdict: whether it is robust.
fn litmus_tests() -> Vec<(LitmusTest, bool)> {
    let root = corpus().join("litmus");
    let table = std::fs::read_to_string(root.join("expected.tsv")).expect("the corpus has a table");
    let rows = table.lines().skip(1).filter_map(|line| line.split_once('\t'));
    rows.map(|(name, verdict)| {
        let text = std::fs::read_to_string(root.join(name)).expect("the table names files");
        let test = litmus::read(SourceText::new(name, text)).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
        (test, verdict.trim() == "ROBUST")
    })
    .collect()
}

fn for_each_test(examine: impl Fn(&LitmusTest, &Instance, bool) + Send + Sync) {
    sample(litmus_tests(), 2).par_iter().for_each(|(test, robust)| {
        let instance = Instance::of(&test.program).expect("one copy each");
        examine(test, &instance, *robust);
    });
}

fn completed(program: &Program, instance: &Instance, model: Model) -> Vec<State> {
    final_states(program, instance, model, LOOP_CAPACITY, &Limits::none()).expect("all values exist").completed
}

fn complete_executions(program: &Program, instance: &Instance, model: Model) -> Vec<State> {
    executions(program, instance, model, &Bounds::default()).expect("no loops").final_states
}

/// The comparison of all SC traces with all TSO traces has the expected verdict on every test.
#[needs::variable("PALISADE_CORPUS")]
#[test]
fn the_oracle_agrees_on_every_test() {
    for_each_test(|test, instance, robust| {
        let answer = oracle::robust(&test.program, instance, &Bounds::default()).expect("no loops");
        assert_eq!(answer.is_robust(), robust, "{}", test.program.source.name);
    });
}

/// All of these tests run to their ends, so that each trace that cannot be extended is an
/// execution: there are more of them under TSO than under SC exactly where the test is not robust.
#[needs::variable("PALISADE_CORPUS")]
#[test]
fn a_test_is_robust_when_tso_has_no_more_executions_than_sc() {
    for_each_test(|test, instance, robust| {
        let count = |model| complete_executions(&test.program, instance, model).len();
        assert_eq!(count(Model::Sc) == count(Model::Tso), robust, "{}", test.program.source.name);
    });
}

/// The search of the state graph finds the final states of all executions, TSO has those of SC, and
/// conditions over all final states are fulfilled: `forall` under both models, `~exists` at least
/// under SC.
#[needs::variable("PALISADE_CORPUS")]
#[test]
fn final_states_and_conditions() {
    for_each_test(|test, instance, robust| {
        let (program, name) = (&test.program, &test.program.source.name);
        let answers = [Model::Sc, Model::Tso].map(|model| {
            let states = completed(program, instance, model);
            let mut executed = complete_executions(program, instance, model);
            executed.dedup();
            assert_eq!(states, executed, "{name}");
            test.question.answer(program, instance, &states, Counting::Rows)
        });
        let [sc, tso]: &[Observation; 2] = &answers;
        assert!(sc.rows.iter().all(|row| tso.rows.contains(row)), "{name}");
        assert!(!robust || sc.rows == tso.rows, "{name}");
        match test.question.condition().quantifier {
            Quantifier::ForAll => assert!(sc.holds && tso.holds, "{name}"),
            Quantifier::NotExists => assert!(sc.holds, "{name}"),
            Quantifier::Exists => {}
        }
    });
}
