//! What a check says is missing where counters keep it from an answer.

use crate::documents;
use std::process::{Command, Output};

fn check(arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(["check", "--ask", "robustness"]);
    command.args(arguments.split_whitespace()).output().expect("the command starts")
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("output is text")
}

/// An index of an array is no counter, and the instruction is named.
#[test]
fn what_is_explored_value_by_value_is_named() {
    for model in ["chase-lev-fenced", "cilk-the-fenced"] {
        let arguments = format!("--threads all=* --domain -128..127 --wrap --timeout 300ms models/{model}.pal");
        let output = check(&arguments);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains("counts and is explored value by value: the instruction at owner"), "{said}");
        let document = documents::read(text(&check(&format!("{arguments} --json"))));
        let notes = document["answers"][0]["notes"].as_array().expect("notes").iter();
        let mut missing = notes.filter(|note| note[0] == "missing").peekable();
        assert!(missing.peek().is_some(), "{document}");
        assert!(missing.all(|note| said.contains(note[1].as_str().expect("a sentence"))), "{said}");
    }
}

/// Counters of a class may come apart.
#[test]
fn classes_that_come_apart_are_named() {
    let output = check("--threads all=* --domain -128..127 --wrap --timeout 300ms models/nbw-exchange.pal");
    let said = text(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("as counters, but old ones may come apart from them as far as 256 values reach"), "{said}");
}

/// Few values are no matter.
#[test]
fn nothing_is_missing_of_small_domains() {
    let output = check("--threads all=* --domain 0..15 --wrap --timeout 1ms models/cilk-the-fenced.pal");
    assert!(!text(&output).contains("missing"), "{}", text(&output));
}

/// What grows is followed back to the load that it comes from.
#[test]
fn what_is_loaded_from_computed_addresses_is_no_counter() {
    let program = "program Computed
address cell, other
thread a [1] regs at = 1, s, sum, seen init look begin
  look: s <- mem[at];
  add: sum <- s + 1;
  put: mem[at] <- sum;
  other: seen <- mem[other]; goto look;
end
";
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("computed.pal");
    std::fs::write(&path, program).expect("it is written");
    let output = check(&path.display().to_string());
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    let reason = "the instruction at a look (line 4) loads such values from a computed address";
    assert!(said.contains(reason), "{said}");
}
