//! `palisade net` as a command.

use std::path::Path;
use std::process::{Command, Output};

fn palisade(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_palisade")).args(arguments).current_dir(folder).output().expect("it runs")
}

fn folder_with_dekker() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let model = format!("{}/models/simple-dekker.pal", env!("CARGO_MANIFEST_DIR"));
    std::fs::copy(model, folder.path().join("dekker.pal")).expect("a copy of the model");
    folder
}

#[test]
fn the_extension_of_the_output_says_the_format() {
    let folder = folder_with_dekker();
    for extension in ["pnml", "spec", "lola", "net"] {
        let file = format!("dekker.{extension}");
        let written = palisade(folder.path(), &["net", "--threads", "all=*", "dekker.pal", "-o", &file]);
        assert_eq!(written.status.code(), Some(0), "{written:?}");
        let covered = palisade(folder.path(), &["cover", &file]);
        assert_eq!(covered.status.code(), Some(1), "{file}: {covered:?}");
        for question in ["xml", "formula"] {
            let _ = std::fs::remove_file(folder.path().join("dekker").with_extension(question));
        }
    }
    let start = |file: &str| -> String {
        std::fs::read_to_string(folder.path().join(file)).expect("it was written").chars().take(5).collect()
    };
    assert_eq!(palisade(folder.path(), &["net", "dekker.pal", "-o", "a.dot"]).status.code(), Some(0));
    assert!("digraph".starts_with(&start("a.dot")));
    assert_eq!(palisade(folder.path(), &["net", "dekker.pal", "-o", "a.txt"]).status.code(), Some(0));
    assert_eq!(start("a.txt"), "<?xml");
    assert_eq!(palisade(folder.path(), &["net", "dekker.pal", "-f", "dot", "-o", "b.spec"]).status.code(), Some(0));
    assert!("digraph".starts_with(&start("b.spec")));
    // The attacker and the memory are no threads of a thread-transition system.
    assert_eq!(palisade(folder.path(), &["net", "dekker.pal", "-o", "c.tts"]).status.code(), Some(2));
}

#[test]
fn attacks_are_numbered_from_one() {
    let folder = folder_with_dekker();
    for number in ["0", "999"] {
        let output = palisade(folder.path(), &["net", "--attack", number, "dekker.pal"]);
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8(output.stderr).expect("text");
        assert!(said.contains(&format!("there is no attack {number}; the program has attacks 1 to ")), "{said}");
    }
}

/// Every format says in front which copies and values the net abstracts, and JSON has it in
/// members.
#[test]
fn what_the_net_abstracts_is_said() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let model = format!("{}/models/ticket-lock.pal", env!("CARGO_MANIFEST_DIR"));
    std::fs::copy(model, folder.path().join("tickets.pal")).expect("a copy of the model");
    let net = |more: &[&str]| {
        let output = palisade(folder.path(), &[&["net", "tickets.pal", "--threads", "worker=2"], more].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let what = "abstracts worker × 2 (option); domain 0..3 (option), arithmetic wraps";
    for format in ["pnml", "spec", "lola", "net", "dot"] {
        let text = net(&["--domain", "0..3", "--wrap", "-f", format]);
        let head: String = text.chars().take(400).collect();
        assert!(head.contains("worker × 2 (option)") && head.contains("0..3"), "{what}: {head}");
        assert!(head.contains("all values of `next_ticket`, `now_serving` are places of their own"), "{head}");
    }
    let document = crate::documents::read(net(&["--domain", "0..3", "--wrap", "--json"]));
    assert_eq!(document["threads"]["worker"], 2);
    assert_eq!((&document["domain"]["high"], &document["domain"]["wrap"]), (&3.into(), &true.into()));
    assert_eq!(document["counters"][0], serde_json::json!(["next_ticket", "now_serving"]));
    // Without a domain there is no net, and the reason is the same.
    let refused = palisade(folder.path(), &["net", "tickets.pal", "--domain", "none"]);
    let said = String::from_utf8(refused.stderr).expect("text");
    assert_eq!(refused.status.code(), Some(3), "{said}");
    assert!(said.contains("which no transition of a net does"), "{said}");
}
