//! The public litmus tests: every one is read, every verdict is the expected one and shown by
//! evidence.

use crate::checked::check;
use crate::environment::corpus;
use palisade::program::{Copies, SourceText};
use palisade::robustness::{CheckOptions, Verdict};
use palisade::semantics::{Counting, Instance, LOOP_CAPACITY, Model, final_states};
use palisade::syntax::litmus::{self, LitmusTest};
use palisade::syntax::render;
use rayon::prelude::*;
use std::path::{Path, PathBuf};

fn litmus_tests() -> PathBuf {
    corpus().join("litmus")
}

/// The tests with their expected verdicts: whether they are robust.
fn expected(root: &Path) -> Vec<(String, bool)> {
    let table = std::fs::read_to_string(root.join("expected.tsv")).expect("the corpus has a table");
    let rows = table.lines().skip(1).filter_map(|line| line.split_once('\t'));
    let rows: Vec<_> = rows.map(|(name, verdict)| (name.to_owned(), verdict.trim() == "ROBUST")).collect();
    assert!(rows.len() > 2800, "the table is whole");
    rows
}

fn try_read(root: &Path, name: &str) -> Result<LitmusTest, String> {
    let text = std::fs::read_to_string(root.join(name)).map_err(|error| error.to_string())?;
    let source = SourceText::new(name, text);
    litmus::read(source.clone()).map_err(|errors| errors.iter().map(|error| render(error, &source, false)).collect())
}

fn read(root: &Path, name: &str) -> LitmusTest {
    try_read(root, name).unwrap_or_else(|why| panic!("{why}"))
}

/// The objections that tests give rise to, in the tests' order.
fn objections<T: Sync>(tests: &[T], objection: impl Fn(&T) -> Option<String> + Send + Sync) -> Vec<String> {
    tests.par_iter().filter_map(objection).collect()
}

fn assert_none(objections: &[String]) {
    assert!(objections.is_empty(), "{} objections:\n{}", objections.len(), objections.join("\n"));
}

/// The reasons for which tests are refused, with how many there are: none.
#[needs::variable("PALISADE_CORPUS")]
#[test]
fn every_test_is_read() {
    let root = litmus_tests();
    let refused = objections(&expected(&root), |(name, _)| try_read(&root, name).err());
    assert_none(&refused);
}

#[needs::variable("PALISADE_CORPUS")]
#[test]
fn every_verdict_is_the_expected_one() {
    let root = litmus_tests();
    let wrong = objections(&expected(&root), |(name, robust)| {
        let test = read(&root, name);
        let checked = match check(&test.program, &CheckOptions::default()) {
            Ok(checked) => checked,
            Err(fault) => return Some(format!("{name}: {}", fault.describe(&test.program))),
        };
        if (checked.verdict == Verdict::Robust) != *robust {
            return Some(format!("{name}: {:?}", checked.verdict));
        }
        None
    });
    assert_none(&wrong);
}

/// Every twentieth test with any number of copies of every thread: answers carry evidence, and a
/// violation is one of its instance too.
#[needs::variable("PALISADE_CORPUS")]
#[test]
fn any_number_of_copies() {
    let root = litmus_tests();
    let sample: Vec<_> = expected(&root).into_iter().step_by(20).collect();
    let answered = std::sync::atomic::AtomicUsize::new(0);
    let wrong = objections(&sample, |(name, robust)| {
        let mut program = read(&root, name).program;
        program.threads.iter_mut().for_each(|thread| thread.copies = Copies::Any);
        let objection = |why: String| Some(format!("{name}: {why}"));
        let checked = match check(&program, &CheckOptions::default()) {
            Ok(checked) => checked,
            // Any number of increments have no bound.
            Err(fault) if fault.is_growth() => return None,
            Err(fault) => return objection(fault.describe(&program)),
        };
        answered.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if let Verdict::Unknown(reason) = checked.verdict {
            return objection(format!("no answer: {reason}"));
        }
        let Some(violation) = &checked.violation else {
            // More copies have all the computations that fewer have.
            return if *robust { None } else { objection("robust in any number, not alone".into()) };
        };
        let mut fixed = program.clone();
        for (thread, copies) in fixed.threads.iter_mut().zip(violation.instance.counts()) {
            thread.copies = Copies::Exactly(*copies);
        }
        match check(&fixed, &CheckOptions::default()) {
            Ok(again) if again.verdict == Verdict::NotRobust => None,
            Ok(again) => objection(format!("{:?} for the instance of the violation", again.verdict)),
            Err(fault) => objection(fault.describe(&fixed)),
        }
    });
    assert_none(&wrong);
    assert!(answered.into_inner() >= 100);
}

/// Under TSO the conditions have the verdicts that the tests document for it, and the final states
/// that a test excludes under SC do not occur there.
#[needs::variable("PALISADE_CORPUS")]
#[test]
fn documented_conditions() {
    let root = litmus_tests();
    let documented: Vec<_> = expected(&root)
        .into_iter()
        .map(|(name, _)| read(&root, &name))
        .filter(|test| test.kinds.iter().any(|(model, _)| model == "tso"))
        .collect();
    assert!(documented.len() >= 5, "{} documented", documented.len());
    let wrong = objections(&documented, |test| {
        let mut question = test.question.clone();
        let condition = question.condition.as_mut()?;
        condition.quantifier = test.kinds.iter().find(|(model, _)| model == "tso")?.1;
        let answer = answer(test, &question, Model::Tso);
        (!answer).then(|| format!("{}: not as documented under TSO", test.name))
    });
    assert_none(&wrong);
}

fn answer(test: &LitmusTest, question: &palisade::semantics::Question, model: Model) -> bool {
    let instance = Instance::of(&test.program).expect("one copy each");
    let limits = palisade::limits::Limits::none();
    let states = final_states(&test.program, &instance, model, LOOP_CAPACITY, &limits).expect("values exist");
    question.answer(&test.program, &instance, &states.completed, Counting::Rows).holds
}

/// A robust test has the same final states under both models, so that its condition has one answer.
#[needs::variable("PALISADE_CORPUS")]
#[test]
fn robust_tests_cannot_tell_the_models_apart() {
    let root = litmus_tests();
    let sample: Vec<_> = expected(&root).into_iter().filter(|(_, robust)| *robust).step_by(10).collect();
    let wrong = objections(&sample, |(name, _)| {
        let test = read(&root, name);
        let differ = answer(&test, &test.question, Model::Sc) != answer(&test, &test.question, Model::Tso);
        differ.then(|| format!("{name}: the condition holds under one model only"))
    });
    assert_none(&wrong);
}
