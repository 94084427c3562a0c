//! The programs of the corpus: who hangs, under which model, with which numbers of copies.

use super::{asked, program, word};
use crate::environment::corpus;
use palisade::program::{Copies, Program};
use palisade::semantics::Model;

/// What the notation of the corpus has of its own, in the words of the language: counters are
/// addresses, and parameters may have the names of addresses.
fn in_the_language(text: &str) -> String {
    let parameters = text.lines().filter_map(|line| line.strip_prefix("proc ")?.split_once('(')?.1.split_once(')'));
    let parameters: Vec<&str> = parameters.map(|(parameter, _)| parameter).collect();
    let lines = text.lines().map(|line| {
        let line = line.split('#').next().unwrap_or_default().replace("counter ", "address ");
        let is_outside = ["address", "thread", "daemon"].iter().any(|word| line.starts_with(word));
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let mut words = String::new();
        for part in line.split_inclusive(|c: char| !is_part(c)) {
            let name = part.trim_end_matches(|c: char| !is_part(c));
            let renamed = is_outside && parameters.contains(&name);
            words.push_str(&if renamed { part.replacen(name, &format!("the_{name}"), 1) } else { part.to_owned() });
        }
        words
    });
    let lines: Vec<String> = lines.collect();
    // Counters are of no domain.
    let is_kept = |line: &&String| !(text.contains("counter ") && line.starts_with("domain"));
    lines.iter().filter(is_kept).map(|line| format!("{line}\n")).collect()
}

/// The fixed numbers of copies of a program: as it says, or all up to so many of each thread that
/// may have any number.
fn fixed(program: &Program, most: u64) -> Vec<Program> {
    let mut all = vec![program.clone()];
    for index in 0..program.threads.len() {
        if program.threads[index].copies == Copies::Any {
            let with = |own: &Program, copies: u64| {
                let mut fixed = own.clone();
                fixed.threads[index].copies = Copies::Exactly(copies);
                fixed
            };
            all = all.iter().flat_map(|own| (0..=most).map(|copies| with(own, copies))).collect();
        }
    }
    // Evidence is about some copies.
    all.retain(|own| own.threads.iter().any(|thread| thread.copies != Copies::Exactly(0)));
    all
}

#[needs::variable("PALISADE_CORPUS")]
#[test]
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
        let fixed = fixed(&any, 3);
        let mut ask = |programs: &[Program], model: Model, expected: &str, what: &str| {
            let words: Vec<String> = programs.iter().map(|program| word(&asked(program, model))).collect();
            let found = words.iter().find(|word| *word != "free").cloned().unwrap_or_else(|| "free".to_owned());
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
                    ask(std::slice::from_ref(&any), model, expected, "any");
                }
            }
        }
    }
    assert!(answers >= 100 && wrong.is_empty(), "{answers} answers, wrong:\n{}", wrong.join("\n"));
}
