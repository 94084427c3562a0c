//! The command creates folders for evidence, whatever their names, and says which it cannot create.

use crate::documents;
use std::path::Path;
use std::process::{Command, Output};

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/models/simple-dekker.pal");

fn palisade(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_palisade")).args(arguments).current_dir(folder).output().expect("it runs")
}

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

#[test]
fn missing_folders_are_created() {
    for name in ["one", "one/", "one/.", "one/./", "one/two", "one/./two/."] {
        let folder = tempfile::tempdir().expect("a folder");
        let output = palisade(folder.path(), &["check", MODEL, "--certificate", name]);
        assert_eq!(output.status.code(), Some(1), "{name}: {output:?}");
        assert_eq!(
            files(&folder.path().join(name)),
            3,
            "{name}: the violation, and one for each property that it breaks"
        );
        let repaired = palisade(folder.path(), &["fences", MODEL, "--certificate", &format!("fenced-{name}")]);
        assert_eq!(repaired.status.code(), Some(0), "{name}: {repaired:?}");
        assert_eq!(
            files(&folder.path().join(format!("fenced-{name}"))),
            4,
            "{name}: the text, its evidence, that of the repair, and which fences the properties need"
        );
    }
}

#[test]
fn folders_of_scripts_are_created() {
    let folder = tempfile::tempdir().expect("a folder");
    let fenced = concat!(env!("CARGO_MANIFEST_DIR"), "/models/simple-dekker-fenced.pal");
    let output = palisade(folder.path(), &["check", fenced, "--certificate", "evidence", "--json"]);
    let document = documents::read(&output.stdout);
    let certificate = document["certificates"][0].as_str().expect("a path");
    let output = palisade(folder.path(), &["verify", certificate, "--smtlib", "scripts/."]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(files(&folder.path().join("scripts")) > 0);
}

#[test]
fn a_file_in_the_way_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("taken"), "").expect("a file");
    let output = palisade(folder.path(), &["check", MODEL, "--certificate", "taken/."]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("taken/.: the evidence cannot be written"), "{output:?}");
}

#[test]
fn evidence_about_a_net_goes_to_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let net = "vars\n p q\nrules\n p >= 1 ->\n p' = p - 1,\n q' = q + 1;\ninit\n p = 1, q = 0\ntarget\n q >= 2\n";
    std::fs::write(folder.path().join("net.spec"), net).expect("a file");
    let output = palisade(folder.path(), &["cover", "net.spec", "--certificate", "missing/."]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("`--certificate` names the file to write, in a folder that is there"), "{message}");
}
