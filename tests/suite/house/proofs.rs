//! The proofs in `proofs/`: they build, nothing in them is left unproved, and the committed checker is what they extract to.
//!
//! Where there is no Coq these tests are ignored and say so; `PALISADE_PROOFS=required` makes that a failure.

use std::path::{Path, PathBuf};
use std::process::Command;

fn proofs() -> PathBuf {
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

/// Builds the proofs in a folder of its own, and compares the extracted checker with the committed one.
#[needs::command("coqc --version")]
#[test]
fn the_checker_is_what_the_proofs_extract_to() {
    let build = tempfile::tempdir().expect("a folder");
    let folder = format!("BUILD={}", build.path().display());
    let output = Command::new("make").args(["-s", "-C"]).arg(proofs()).args([&folder, "fresh"]).output().expect("make");
    assert!(output.status.success(), "{output:?}");
    // What the proofs of nets stand on.
    let scratch = build.path().join("Assumptions.v");
    let theorems = ["check_downward_sound", "check_upward_sound", "check_separator_sound", "check_run_sound"];
    let mut text = "From Palisade Require Import Downward Upward Invariant Run.\n".to_owned();
    for theorem in theorems {
        text += &format!("Print Assumptions {theorem}.\n");
    }
    std::fs::write(&scratch, text).expect("it is written");
    let output = Command::new("coqc").args(["-q", "-R"]).arg(build.path()).arg("Palisade").arg(&scratch).output();
    let output = output.expect("coqc");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said.matches("Closed under the global context").count(), theorems.len(), "{output:?}");
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

/// A net with a lock that any number of threads take, and evidence about it.
fn evidence(folder: &Path, target: &str) {
    let net = format!(
        "vars free held waiting\nrules\n free >= 1, waiting >= 1 ->\n  free' = free - 1,\n  waiting' = waiting - 1,\n  \
         held' = held + 1;\n held >= 1 -> held' = held - 1, free' = free + 1;\ninit free = 1, held = 0, waiting >= 1\n\
         target {target}\n"
    );
    std::fs::write(folder.join("lock.spec"), net).expect("it is written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.args(["cover", "lock.spec", "--certificate", "lock.json"]).current_dir(folder);
    let output = command.output().expect("it runs");
    assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
}

#[needs::command("ocamlopt -version")]
#[test]
fn the_proved_checker_is_asked() {
    let build = tempfile::tempdir().expect("a folder");
    let folder = format!("BUILD={}", build.path().display());
    let output =
        Command::new("make").args(["-s", "-C"]).arg(proofs()).args([&folder, "checker"]).output().expect("make");
    assert!(output.status.success(), "{output:?}");
    let mut path = std::ffi::OsString::from(build.path());
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    for (target, claim) in [("held >= 2", "no reachable marking covers a target"), ("held >= 1", "some reachable")] {
        let folder = tempfile::tempdir().expect("a folder");
        evidence(folder.path(), target);
        let verify = |path: &std::ffi::OsStr| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
            command.args(["verify", "--proved", "lock.json"]).current_dir(folder.path()).env("PATH", path);
            command.output().expect("it runs")
        };
        let accepted = verify(&path);
        let said = String::from_utf8_lossy(&accepted.stdout).into_owned();
        assert_eq!(accepted.status.code(), Some(0), "{accepted:?}");
        assert!(said.contains(&format!("palisade-proved: accepted: {claim}")), "{said}");
        assert!(said.contains("trusted: Coq's kernel"), "{said}");
        let missing = verify(std::ffi::OsStr::new(""));
        assert_eq!(missing.status.code(), Some(2), "{missing:?}");
        // Evidence about another net.
        let text = std::fs::read_to_string(folder.path().join("lock.spec")).expect("the net");
        std::fs::write(folder.path().join("lock.spec"), text.replace("free = 1", "free = 2")).expect("it is written");
        let proved = Command::new(build.path().join("palisade-proved"))
            .args(["lock.json", "lock.spec"])
            .current_dir(folder.path())
            .output()
            .expect("it runs");
        assert_eq!(proved.status.code(), Some(4), "{proved:?}");
    }
}
