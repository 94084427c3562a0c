//! The proofs in `proofs/`: they build, nothing in them is left unproved, and the committed checker
//! is what they extract to.
//!
//! Where there is no Coq these tests are ignored and say so; `PALISADE_PROOFS=required` makes that
//! a failure.

use std::path::{Path, PathBuf};
use std::process::Command;

pub(super) fn proofs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("proofs")
}

/// All files below a folder with this extension, except what a build has made.
fn sources(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder").flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("build") {
            found.extend(sources(&path, extension));
        } else if path.extension().is_some_and(|own| own == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// A text without Coq's comments.
fn without_comments(text: &str) -> String {
    let (mut depth, mut kept, mut rest) = (0_usize, String::new(), text);
    while let Some(next) = rest.chars().next() {
        if rest.starts_with("(*") {
            depth += 1;
            rest = &rest[2..];
        } else if rest.starts_with("*)") && depth > 0 {
            depth -= 1;
            rest = &rest[2..];
        } else {
            if depth == 0 {
                kept.push(next);
            }
            rest = &rest[next.len_utf8()..];
        }
    }
    kept
}

#[test]
fn nothing_is_left_unproved() {
    let files = sources(&proofs(), "v");
    assert!(files.len() > 10, "{files:?}");
    for file in files {
        let text = without_comments(&std::fs::read_to_string(&file).expect("a proof"));
        let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '\'').collect();
        let gaps = ["Admitted", "admit", "Axiom", "Axioms", "Parameter", "Parameters", "Conjecture", "Abort", "Unset"];
        for gap in gaps {
            assert!(!words.contains(&gap), "{}: `{gap}`", file.display());
        }
        let opens = words.iter().filter(|word| **word == "Proof").count();
        let closes = words.iter().filter(|word| ["Qed", "Defined"].contains(word)).count();
        assert_eq!(opens, closes, "{}: each proof ends in Qed or Defined", file.display());
    }
}

#[test]
fn files_are_short_and_listed() {
    let makefile = std::fs::read_to_string(proofs().join("Makefile")).expect("the makefile");
    let readme = std::fs::read_to_string(proofs().join("README.md")).expect("the description");
    for file in sources(&proofs(), "v") {
        let lines = std::fs::read_to_string(&file).expect("a proof").lines().count();
        assert!(lines <= 600, "{} has {lines} lines", file.display());
        let name = file.strip_prefix(proofs()).expect("below").with_extension("");
        let name = name.to_str().expect("a plain name").replace('\\', "/");
        assert!(makefile.contains(&name), "the makefile does not build {name}");
        assert!(readme.contains(&format!("{name}.v")), "the description does not say what {name}.v is");
    }
}

/// THEORY.md cites theorems by their names in Coq.
#[test]
fn theorems_that_are_cited_are_there() {
    let theory = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("THEORY.md")).expect("the theory");
    let (_, cited) = theory.split_once("## Proved in Coq").expect("the section");
    let texts: String =
        sources(&proofs(), "v").iter().map(|file| std::fs::read_to_string(file).expect("a proof")).collect();
    let names: Vec<&str> = cited.split('`').skip(1).step_by(2).collect();
    assert!(names.len() > 10, "{names:?}");
    for name in names {
        let is_there = ["Theorem", "Lemma"].iter().any(|word| texts.contains(&format!("{word} {name} ")));
        assert!(is_there, "{name}");
    }
}

/// Builds the proofs in a folder of its own, and compares the extracted checker with the committed
/// one.
#[needs::command("coqc --version")]
#[test]
fn the_checker_is_what_the_proofs_extract_to() {
    let build = tempfile::tempdir().expect("a folder");
    let folder = format!("BUILD={}", build.path().display());
    let output =
        Command::new("make").args(["-s", "-j", "-C"]).arg(proofs()).args([&folder, "fresh"]).output().expect("make");
    assert!(output.status.success(), "{output:?}");
    // What the proofs of nets stand on, and those of programs.
    let scratch = build.path().join("Assumptions.v");
    let nets = ["check_downward_sound", "check_upward_sound", "check_separator_sound", "check_run_sound"];
    let theorems = [nets.as_slice(), &["check_c11_violation_sound", "check_tso_violation_sound"]].concat();
    let classical = ["uncoverable_robust", "robust_TSO"];
    let mut text = "From Palisade Require Import Downward Upward Invariant Run Robust TSO Violation.\n".to_owned();
    for theorem in theorems.iter().chain(&classical) {
        text += &format!("Print Assumptions {theorem}.\n");
    }
    std::fs::write(&scratch, text).expect("it is written");
    let output = Command::new("coqc").args(["-q", "-R"]).arg(build.path()).arg("Palisade").arg(&scratch).output();
    let output = output.expect("coqc");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said.matches("Closed under the global context").count(), theorems.len(), "{output:?}");
    let axioms: Vec<&str> = said.lines().filter(|line| line.contains(" : ")).collect();
    assert!(said.matches("Axioms:").count() == classical.len() && axioms.len() == classical.len(), "{output:?}");
    assert!(axioms.iter().all(|axiom| axiom.starts_with("Classical_Prop.classic : ")), "{output:?}");
}

/// Where the proofs are required, Coq has to be there.
#[test]
fn coq_is_there_where_it_is_required() {
    let found = Command::new("coqc").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        println!("proofs: skipped (no coqc)");
        assert_ne!(std::env::var("PALISADE_PROOFS").as_deref(), Ok("required"), "there is no coqc");
    }
}
