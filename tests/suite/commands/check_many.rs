//! `palisade check` with many programs: folders, lists, the order of the answers, the summary.

use crate::documents;
use std::path::Path;
use std::process::{Command, Output};

const BROKEN: &str =
    "X86 SB\n{ }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n MOV EAX,[y] | MOV EAX,[x] ;\nexists (0:EAX=0 /\\ 1:EAX=0)\n";
const FENCED: &str = "X86 SB+mfences\n{ }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n MFENCE | MFENCE ;\n MOV EAX,[y] | MOV EAX,[x] ;\nexists (0:EAX=0 /\\ 1:EAX=0)\n";
const FOREIGN: &str = "X86 no\n{ }\n P0 ;\n CLFLUSH [x] ;\nexists (0:EAX=0)\n";

fn check(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_palisade"))
        .current_dir(folder)
        .arg("check")
        .args(arguments)
        .output()
        .expect("the command runs")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let deep = folder.path().join("tests/deep");
    std::fs::create_dir_all(&deep).expect("folders");
    for index in 0..20 {
        let text = if index % 3 == 0 { BROKEN } else { FENCED };
        std::fs::write(deep.join(format!("t{index:02}.litmus")), text).expect("a file");
    }
    std::fs::write(folder.path().join("tests/notes.txt"), "no program").expect("a file");
    folder
}

#[test]
fn folders_are_checked_in_order_whatever_the_jobs() {
    let folder = folder();
    let one = check(folder.path(), &["tests", "--jobs", "1"]);
    let four = check(folder.path(), &["tests", "--jobs", "4"]);
    assert_eq!(out(&one), out(&four));
    assert_eq!(one.status.code(), Some(1));
    let text = out(&one);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 21, "{text}");
    assert!(lines[0].starts_with("tests/deep/t00.litmus: Sometimes under TSO, not robust, the store at P0 "), "{text}");
    assert_eq!(lines[1], "tests/deep/t01.litmus: Never under TSO, robust [P0 × 1, P1 × 1; no domain]");
    assert_eq!(lines[20], "20 programs: 7 violated, 13 Never; `palisade check FILE` shows how one is violated");
    assert!(one.stderr.is_empty());
}

#[test]
fn lists_and_documents() {
    let folder = folder();
    std::fs::write(folder.path().join("list"), "tests/deep/t01.litmus\n\ntests/deep/t02.litmus\n").expect("a file");
    let output = check(folder.path(), &["@list", "--json"]);
    assert_eq!(output.status.code(), Some(0));
    let document = documents::read(&output.stdout);
    let documents = document.as_array().expect("an array for a list");
    assert_eq!(documents.len(), 2);
    assert_eq!(documents[1]["file"], "tests/deep/t02.litmus");
    let alone = check(folder.path(), &["tests/deep/t01.litmus", "--json"]);
    let document = documents::read(&alone.stdout);
    assert_eq!(document["verdict"], "holds");
}

#[test]
fn what_is_refused_does_not_stop_the_others() {
    let folder = folder();
    std::fs::write(folder.path().join("tests/a.litmus"), FOREIGN).expect("a file");
    let output = check(folder.path(), &["tests"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(out(&output).contains("\n21 programs: 7 violated, 13 Never, 1 refused; "), "{}", out(&output));
    assert!(String::from_utf8_lossy(&output.stderr).contains("`CLFLUSH` is not understood"));
    let empty = tempfile::tempdir().expect("a folder");
    let output = check(empty.path(), &["."]);
    assert_eq!(output.status.code(), Some(2));
}
