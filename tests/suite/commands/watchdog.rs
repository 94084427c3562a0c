//! The last resort: questions that never look at their limits, on purpose, end in `unknown` all the
//! same.

use crate::documents::read;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Within this time ends what has a limit of half a second, on a machine that does much else.
const SOON: Duration = Duration::from_secs(45);

const BROKEN: &str = "program Broken
address x, y
thread a { x = 1; let r = y; }
thread b { y = 1; let r = x; }
";

const STATED: &str = "program Stated
address x
thread a { x = 1; let r = x; ensure r == 1; }
";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("broken.pal"), BROKEN).expect("it is written");
    std::fs::write(folder.path().join("stated.pal"), STATED).expect("it is written");
    folder
}

/// A run in which the question about an input does not look at limits, and eats memory or time.
fn planted(folder: &Path, variable: &str, input: &str, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.args(line.split(' ')).current_dir(folder).env(format!("PALISADE_PLANTED_{variable}"), input);
    command
}

fn ended(folder: &Path, variable: &str, input: &str, line: &str) -> Output {
    let begin = Instant::now();
    let output = planted(folder, variable, input, line).output().expect("it runs");
    assert!(begin.elapsed() < SOON, "{line}: {:?}", begin.elapsed());
    output
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_question_that_does_not_look_at_the_time_is_unknown() {
    let folder = folder();
    for (command, input) in [("check", "broken.pal"), ("prove", "stated.pal"), ("simulate", "broken.pal")] {
        let output = ended(folder.path(), "DEAFNESS", input, &format!("{command} {input} --timeout 300ms"));
        let said = text(&output);
        assert_eq!(output.status.code(), Some(3), "{command}: {said}");
        assert!(said.starts_with(&format!("{input}: unknown\n")), "{command}: {said}");
        assert!(said.contains("the time limit was reached"), "{command}: {said}");
        let output = ended(folder.path(), "DEAFNESS", input, &format!("{command} {input} --timeout 300ms --json"));
        let document = read(&output.stdout);
        assert_eq!((&document["verdict"], output.status.code()), (&"unknown".into(), Some(3)), "{document}");
        assert_eq!(document["reason"], "the time limit was reached", "{document}");
    }
}

#[test]
fn commands_with_one_input_are_watched_until_they_answer() {
    let folder = folder();
    std::fs::write(
        folder.path().join("net.spec"),
        "vars\n p\nrules\n p >= 1 -> p' = p - 1;\ninit\n p = 1\ntarget\n p >= 2\n",
    )
    .expect("it is written");
    for (command, input) in [
        ("fences", "broken.pal"),
        ("witness", "broken.pal"),
        ("net", "broken.pal"),
        ("cover", "net.spec"),
        ("convert", "broken.pal"),
    ] {
        let to = if command == "convert" { " --to trencher" } else { "" };
        let output = ended(folder.path(), "DEAFNESS", input, &format!("{command} {input}{to} --timeout 300ms --json"));
        let document = read(&output.stdout);
        assert_eq!((&document["verdict"], output.status.code()), (&"unknown".into(), Some(3)), "{command}: {document}");
    }
}

#[test]
fn a_question_that_eats_memory_is_unknown() {
    let folder = folder();
    let output = ended(folder.path(), "GREED", "broken.pal", "check broken.pal --memory 100M");
    let said = text(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("the memory limit was reached"), "{said}");
}

/// The answers about other inputs are printed, each in its place.
#[test]
fn what_was_found_about_others_is_printed() {
    let folder = folder();
    let line = "check broken.pal stated.pal --timeout 1500ms --jobs 2";
    let output = ended(folder.path(), "DEAFNESS", "stated.pal", &format!("{line} --json"));
    let documents = read(&output.stdout);
    let kinds: Vec<&Value> = documents.as_array().expect("several").iter().map(|it| &it["schema"]).collect();
    assert_eq!(kinds, ["palisade/check/2", "palisade/unread/1"], "{documents}");
    // The worst of both.
    assert_eq!(output.status.code(), Some(1), "{documents}");
    let said = text(&ended(folder.path(), "DEAFNESS", "stated.pal", line));
    assert!(said.contains("broken.pal") && said.contains("delayed") && said.contains("stated.pal: unknown"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_request_to_end_is_heard() {
    let folder = folder();
    let mut command = planted(folder.path(), "DEAFNESS", "broken.pal", "check broken.pal --json");
    let child = command.stdout(Stdio::piped()).spawn().expect("it runs");
    std::thread::sleep(Duration::from_secs(2));
    let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
    let begin = Instant::now();
    let output = child.wait_with_output().expect("it ends");
    assert!(begin.elapsed() < SOON);
    let document = read(&output.stdout);
    assert_eq!((&document["reason"], output.status.code()), (&"interrupted".into(), Some(3)), "{document}");
}

/// Of many properties those that are known are told.
#[test]
fn what_was_found_of_the_same_input_is_printed() {
    let folder = folder();
    let net = r#"<pnml><net id="r" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g"><place id="p"/><place id="q"/><transition id="t"/><arc id="a" source="p" target="t"/><arc id="b" source="t" target="q"/></page></net></pnml>"#;
    let property = |id: &str| {
        format!(
            "<property><id>{id}</id><formula><exists-path><finally><integer-le><integer-constant>1</integer-constant><tokens-count><place>q</place></tokens-count></integer-le></finally></exists-path></formula></property>"
        )
    };
    let query = format!("<property-set>{}{}</property-set>", property("one"), property("two"));
    std::fs::write(folder.path().join("r.pnml"), net).expect("it is written");
    std::fs::write(folder.path().join("r.xml"), query).expect("it is written");
    let output = ended(folder.path(), "DEAFNESS", "r.pnml", "cover r.pnml --all --timeout 300ms --json");
    let document = read(&output.stdout);
    assert_eq!((&document["schema"], output.status.code()), (&"palisade/contest/1".into(), Some(3)), "{document}");
    assert_eq!(document["properties"].as_array().map(Vec::len), Some(2), "{document}");
    let said = text(&ended(folder.path(), "DEAFNESS", "r.pnml", "cover r.pnml --all --timeout 300ms"));
    assert_eq!(said.matches("CANNOT_COMPUTE").count() + said.matches(" FALSE ").count(), 2, "{said}");
}
