//! Harnesses as people write them first: what is answered, and what is refused in which words.

use super::crates::{snapshots, sources};
use std::process::Command;

/// What `check` says of a harness, with its exit status.
fn told(name: &str) -> (Option<i32>, String) {
    asked(name, &[])
}

fn asked(name: &str, options: &[&str]) -> (Option<i32>, String) {
    let folder = snapshots().with_file_name("ordinary");
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.args(["check", &format!("{name}.toml")]).args(options).current_dir(folder);
    let output = command.output().expect("it starts");
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("UTF-8")).concat();
    (output.status.code(), text)
}

/// The line of the harnesses that has this in it, as reports name it.
fn place(text: &str) -> String {
    let source = std::fs::read_to_string(sources().join("tests/ordinary.rs")).expect("the file is there");
    let line = source.lines().position(|line| line.contains(text)).expect("the line is there");
    format!("ordinary.rs:{}:", line + 1)
}

/// An optimised build merges functions of the same instructions; roles stay apart, each with its
/// own lines and the names of its own variables.
#[needs::command("cargo info --quiet spin")]
#[test]
fn roles_of_the_same_code_have_their_own_lines() {
    let (code, text) = told("two_of_the_same_code");
    assert_eq!(code, Some(1), "{text}");
    for (variable, line) in [("left", "left.store(1"), ("right", "right.store(1")] {
        let step = format!("{} {variable} ← 1", place(line));
        assert!(text.contains(&step), "{step}: {text}");
    }
}

#[needs::command("cargo info --quiet spin")]
#[test]
fn what_threads_do_by_the_way_is_understood() {
    for name in ["sleeps", "vector_that_grows", "tree"] {
        let (code, text) = told(name);
        assert_eq!(code, Some(0), "{name}: {text}");
        assert!(!text.contains("poison"), "{name}: {text}");
    }
    // What holds at many places of machine code has one line.
    let (_, text) = told("tree");
    assert_eq!(text.matches("use after free").count(), 1, "{text}");
    assert!(text.contains("  use after free at "), "{text}");
}

/// How often a lock is tried before its thread sleeps is no value that grows.
#[needs::command("cargo info --quiet spin")]
#[test]
fn a_lock_of_readers_and_writers_is_robust() {
    for name in ["readers_and_writers", "any_readers_and_writers"] {
        let (code, text) = asked(name, &["--ask", "robustness"]);
        assert_eq!(code, Some(0), "{name}: {text}");
    }
}

/// What is refused is shown at the role's own line, with what to do.
#[needs::command("cargo info --quiet spin")]
#[test]
fn what_is_refused_is_refused_at_the_roles_line() {
    for (name, line, why) in [
        ("prints", "println!(\"done\")", "leave `println!` out"),
        ("starts_a_thread", "thread::spawn", "make each thread a role"),
        ("allocates", "Box::new(5u64)))", "memory is taken from the heap, or given back"),
        ("makes_text", "format!(", "a role makes no text"),
    ] {
        let (code, text) = told(name);
        assert_eq!(code, Some(2), "{name}: {text}");
        assert!(text.lines().any(|own| own.starts_with("Error: ") && own.contains(&place(line))), "{name}: {text}");
        assert!(text.contains(why), "{name}: {text}");
    }
}

#[needs::command("cargo info --quiet spin")]
#[test]
fn harnesses_of_one_test_have_answers_of_their_own() {
    let answers = ["two_in_one", "two_in_one-2"].map(|name| asked(name, &["--ask", "robustness"]).0);
    assert_eq!(answers, [Some(1), Some(0)]);
}

#[needs::command("cargo info --quiet spin")]
#[test]
fn roles_that_do_nothing_are_named() {
    let (code, text) = told("does_nothing");
    assert!(code == Some(0) && text.contains("role `idle` does nothing that others see"), "{text}");
}
