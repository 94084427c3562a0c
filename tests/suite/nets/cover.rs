//! `palisade cover` from outside: answers, exit status, evidence, refused input.

use crate::documents;
use crate::piped::palisade_reading;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

const LOCK: &str = "vars free held waiting\nrules\n free >= 1, waiting >= 1 ->\n  free' = free - 1,\n  waiting' = waiting - 1,\n  \
    held' = held + 1;\n held >= 1 -> held' = held - 1, free' = free + 1;\ninit free = 1, held = 0, waiting >= 1\ntarget ";

fn palisade(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_palisade")).args(arguments).current_dir(folder).output().expect("it runs")
}

fn json(output: &Output) -> Value {
    documents::read(&output.stdout)
}

/// A folder with a net of a lock that any number of threads take.
fn folder(target: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("lock.spec"), format!("{LOCK}{target}\n")).expect("it is written");
    folder
}

#[test]
fn answers_with_evidence_that_verifies() {
    for (target, verdict, status) in [("held >= 2", "uncoverable", 0), ("held >= 1, waiting >= 3", "coverable", 1)] {
        let folder = folder(target);
        for strategy in ["auto", "backward"] {
            let arguments = ["cover", "lock.spec", "--json", "--strategy", strategy, "--certificate", "evidence.json"];
            let output = palisade(folder.path(), &arguments);
            assert_eq!(output.status.code(), Some(status), "{output:?}");
            let document = json(&output);
            assert_eq!(document["verdict"], verdict);
            assert_eq!(document["certificate"], "evidence.json");
            assert_eq!(document["run"].is_array(), verdict == "coverable");
            let verified = palisade(folder.path(), &["verify", "evidence.json"]);
            assert_eq!(verified.status.code(), Some(0), "{verified:?}");
        }
        let text = palisade(folder.path(), &["cover", "lock.spec"]);
        assert!(String::from_utf8_lossy(&text.stdout).starts_with(&format!("lock.spec: {verdict}\n")), "{text:?}");
    }
}

#[test]
fn a_target_that_is_covered_from_the_start_is_answered() {
    let folder = folder("free >= 1, waiting >= 100");
    let output = palisade(folder.path(), &["cover", "lock.spec"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("the initial marking covers a target"), "{output:?}");
}

#[test]
fn limits_end_in_unknown() {
    let folder = folder("held >= 2");
    let output = palisade(folder.path(), &["cover", "lock.spec", "--json", "--memory", "1K", "--strategy", "backward"]);
    if palisade::limits::resident_bytes().is_some() {
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        assert_eq!(json(&output)["verdict"], "unknown");
    }
}

#[test]
fn refused_input_is_underlined_or_json() {
    let folder = folder("helt >= 2");
    let output = palisade(folder.path(), &["cover", "lock.spec", "--json"]);
    assert_eq!(output.status.code(), Some(2));
    let error = json(&output)["error"].clone();
    assert_eq!((error["line"].as_u64(), error["column"].as_u64()), (Some(9), Some(8)));
    assert_eq!(error["message"], "place `helt` is not declared under `vars`");
    let output = palisade(folder.path(), &["cover", "lock.spec", "--color", "never"]);
    assert!(output.stdout.is_empty());
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("lock.spec:9:8") && message.contains("target helt >= 2"), "{message}");
    let output = palisade(folder.path(), &["cover", "missing.spec", "--json"]);
    assert_eq!(
        (output.status.code(), json(&output)["error"]["file"].as_str().map(str::to_owned)),
        (Some(2), Some("missing.spec".to_owned()))
    );
    assert_eq!(palisade(folder.path(), &["cover", "lock.spec", "--strategy", "none"]).status.code(), Some(2));
}

#[test]
fn questions_beside_the_net_and_standard_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("it is written");
    write("a.tts", "2 2\n0 0 -> 1 1\n");
    let bare = palisade(folder.path(), &["cover", "a.tts", "--json"]);
    assert_eq!(bare.status.code(), Some(2));
    assert!(json(&bare)["error"]["message"].as_str().expect("a message").contains("without a question"));
    write("a.prop", "1|1,1\n");
    assert_eq!(palisade(folder.path(), &["cover", "a.tts"]).status.code(), Some(0));
    write("b.formula", "EF (s1 >= 1 AND l1 >= 1)\n");
    let arguments = ["cover", "a.tts", "--query", "b.formula", "--certificate", "run.json"];
    assert_eq!(palisade(folder.path(), &arguments).status.code(), Some(1));
    assert_eq!(palisade(folder.path(), &["verify", "run.json"]).status.code(), Some(0));

    let text = format!("{LOCK}held >= 2");
    let output = palisade_reading(&["cover", "-", "--from", "spec", "-q"], &text);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "-: uncoverable\n");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn nets_are_rewritten_in_other_formats() {
    let folder = folder("held >= 2");
    for name in ["copy.pnml", "copy.lola", "copy.spec", "tina.net"] {
        let output = palisade(folder.path(), &["cover", "lock.spec", "--write", name, "--json"]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert_eq!(json(&output)["written"][0], name);
        assert_eq!(palisade(folder.path(), &["cover", name]).status.code(), Some(0), "{name}");
    }
    let question = std::fs::read_to_string(folder.path().join("tina.formula")).expect("it was written");
    assert_eq!(question, "EF ((held >= 2))\n");
    assert_eq!(palisade(folder.path(), &["cover", "lock.spec", "--write", "copy.xyz"]).status.code(), Some(2));
    // What was read is not replaced: the net, or the question.
    for arguments in [
        ["cover", "./copy.lola", "--write", "copy.lola"].as_slice(),
        ["cover", "lock.spec", "--write", "lock.spec"].as_slice(),
        ["cover", "copy.lola", "--query", "copy.formula", "--write", "copy.net"].as_slice(),
    ] {
        let output = palisade(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("would be replaced, which was read"), "{output:?}");
    }
}

#[test]
fn one_place_is_no_places() {
    let folder = tempfile::tempdir().expect("a folder");
    let net = "vars a\nrules a >= 1 -> a' = a - 1;\ninit a = 1\ntarget a >= 2\n";
    std::fs::write(folder.path().join("a.spec"), net).expect("it is written");
    let output = palisade(folder.path(), &["cover", "a.spec"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("1 place, 1 transition\n"), "{text}");
}

#[test]
fn properties_are_chosen_only_where_there_are_some() {
    let folder = folder("held >= 2");
    let output = palisade(folder.path(), &["cover", "lock.spec", "--property", "x", "--json"]);
    assert_eq!(output.status.code(), Some(2));
    let message = json(&output)["error"]["message"].as_str().expect("a message").to_owned();
    assert!(message.contains("only questions in `.xml`"), "{message}");
}
