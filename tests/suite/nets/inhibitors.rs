//! Inhibitor arcs: complements take their part where places have proved bounds, and evidence says
//! why.

use crate::documents;
use std::path::Path;
use std::process::{Command, Output};

fn palisade(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_palisade")).args(arguments).current_dir(folder).output().expect("it runs")
}

/// Three readers and a writer who starts when nobody reads: they are never inside together.
const LOCK: &str = "net lock
pl out (3)
pl writer (1)
tr read out writing?-1 -> in
tr leave in -> out
tr write writer in?-1 -> writing
tr done writing -> writer
";

fn folder(net: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("lock.net"), net).expect("it is written");
    folder
}

#[test]
fn answers_have_evidence_that_is_accepted() {
    let folder = folder(LOCK);
    let ask = |formula: &str, file: &str| {
        std::fs::write(folder.path().join("lock.formula"), formula).expect("it is written");
        let arguments = ["cover", "lock.net", "--json", "--verify", "--certificate", file];
        let arguments = [&arguments[..], &["--query", "lock.formula"]].concat();
        let document = documents::read(&palisade(folder.path(), &arguments).stdout);
        assert_eq!(document["evidence"]["verdict"], "accepted", "{document}");
        let verified = palisade(folder.path(), &["verify", file]);
        assert_eq!(verified.status.code(), Some(0), "{verified:?}");
        document["verdict"].as_str().expect("a verdict").to_owned()
    };
    for (formula, verdict) in [
        ("EF (in >= 1 AND writing >= 1)", "uncoverable"),
        ("EF (in >= 3)", "coverable"),
        ("EF (out = 3 AND writer = 0)", "reachable"),
        ("EF (in >= 1 AND FIREABLE(write))", "unreachable"),
        ("EF (FIREABLE(write) AND FIREABLE(read))", "reachable"),
        ("EF DEADLOCK", "unreachable"),
    ] {
        assert_eq!(ask(formula, "evidence.json"), verdict, "{formula}");
    }
    // Without the bound that it shows, evidence is rejected.
    assert_eq!(ask("EF (in >= 1 AND writing >= 1)", "evidence.json"), "uncoverable");
    let path = folder.path().join("evidence.json");
    let text = std::fs::read_to_string(&path).expect("evidence");
    let start = text.find("\"complements\":").expect("two places are tested");
    let end = text.find("\"place_count\":").expect("what follows them");
    let complements = &text[start..end];
    let low = complements.replace("\"divisor\":1}", "\"divisor\":4}");
    let first = complements.find(",[3,").expect("the second one");
    for forged in [String::new(), low, format!("{}],", &complements[..first])] {
        assert_ne!(forged, complements);
        std::fs::write(&path, text.replace(complements, &forged)).expect("it is written");
        let verified = palisade(folder.path(), &["verify", "evidence.json"]);
        assert_eq!(verified.status.code(), Some(4), "{forged}: {verified:?}");
    }
    let run = palisade(folder.path(), &["cover", "lock.net", "--ask", "upper-bounds", "--verify"]);
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    for line in ["upper-bounds:in 3 ", "upper-bounds:writing 1 ", "upper-bounds:out 3 "] {
        assert!(text.contains(&format!("FORMULA {line}")), "{text}");
    }
    assert_eq!(text.lines().count(), 4, "complements are asked for nothing: {text}");
}

#[test]
fn places_without_bounds_are_refused_with_a_reason() {
    let folder = folder(&format!("{LOCK}tr arrive -> out\n"));
    let run = palisade(folder.path(), &["cover", "lock.net", "--ask", "deadlock"]);
    assert_eq!(run.status.code(), Some(2), "{run:?}");
    let text = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(text.contains("inhibitor arcs test place `in`, and no bound of its tokens is proved"), "{text}");
}
