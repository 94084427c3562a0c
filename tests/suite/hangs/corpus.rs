//! The programs of the corpus: who hangs, under which model, with which numbers of copies.

use super::{asked, program, with_copies, word};
use crate::environment::corpus;
use palisade::program::Program;
use palisade::semantics::Model;

/// What the notation of the corpus has of its own, in the words of the language: counters are addresses.
fn in_the_language(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = line.split('#').next().unwrap_or_default();
        line.replace("counter ", "address ")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// As many copies as the design's brute force took where the text says any number.
fn fixed_copies(name: &str) -> u64 {
    if name.starts_with("ticket-any-wraps") { 4 } else { 3 }
}

#[test]
#[needs::variable("PALISADE_CORPUS")]
fn the_corpus_hangs_as_expected() {
    let folder = corpus().join("hangs");
    let expected = std::fs::read_to_string(folder.join("expected.tsv")).expect("the corpus has its answers");
    let mut wrong = Vec::new();
    let mut answers = 0;
    for line in expected.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let &[name, sc, tso, sc_any, tso_any, ..] = columns.as_slice() else { panic!("{line}") };
        let text = std::fs::read_to_string(folder.join("examples").join(name)).expect("the corpus has its programs");
        let any = program(&in_the_language(&text));
        let fixed = with_copies(&any, fixed_copies(name));
        let mut ask = |program: &Program, model: Model, expected: &str, what: &str| {
            let found = word(&asked(program, model));
            answers += 1;
            if found != expected {
                wrong.push(format!("{name} {what} {model:?}: {found}, not {expected}"));
            }
        };
        ask(&fixed, Model::Sc, sc, "fixed");
        ask(&fixed, Model::Tso, tso, "fixed");
        if any.is_parameterized() {
            for (model, expected) in [(Model::Sc, sc_any), (Model::Tso, tso_any)] {
                if expected != "-" {
                    ask(&any, model, expected, "any");
                }
            }
        }
    }
    assert!(answers >= 100 && wrong.is_empty(), "{answers} answers, wrong:\n{}", wrong.join("\n"));
}
