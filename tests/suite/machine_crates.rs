//! Crates as they are published: the harnesses of `tests/code`, built and checked by `cargo palisade`, for the numbers of copies that they
//! state, with evidence that the checker accepts.

use crate::documents;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is expected of a harness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Robust,
    NotRobust,
    /// Refused, with a message that has this in it.
    Refused(&'static str),
}

use Expected::{NotRobust, Refused, Robust};

const ROWS: [(&str, Expected); 21] = [
    ("spin_mutex", Robust),
    ("spin_rwlock", Robust),
    ("spin_ticket_mutex", Robust),
    ("spin_once", Robust),
    ("std_mutex", Robust),
    ("std_once", Robust),
    ("std_once_lock", Robust),
    ("parking", Robust),
    ("try_lock", Robust),
    ("race_once", Robust),
    ("array_queue_once", Robust),
    ("array_queue_again", NotRobust),
    ("heapless_once", Robust),
    ("heapless_again", NotRobust),
    ("rtrb_once", Robust),
    ("rtrb_again", NotRobust),
    ("triple_buffer", Robust),
    ("atomic_waker", Robust),
    ("atomic_waker_of_an_arc", Refused("allocates or frees")),
    ("left_right_readers", Robust),
    ("left_right_writer", Robust),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/code")
}

/// The folder of snapshots, with a file of roles for each harness.
fn snapshots() -> PathBuf {
    let built = Command::new(env!("CARGO_BIN_EXE_cargo-palisade"))
        .args(["--test", "rows", "--", "--json", "--no-properties"])
        .current_dir(folder())
        .output()
        .expect("it starts");
    let text = String::from_utf8_lossy(&built.stderr).into_owned();
    let entries = std::fs::read_dir(folder().join("target/palisade")).unwrap_or_else(|error| panic!("{error}: {text}"));
    let names = entries.map(|entry| entry.expect("an entry").path());
    let is_rows = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("rows-"));
    names.filter(is_rows).max_by_key(|path| path.metadata().and_then(|it| it.modified()).ok()).expect("snapshots")
}

#[needs::command("cargo info --quiet spin")]
#[test]
fn published_crates_are_read_as_they_are() {
    let snapshots = snapshots();
    for (name, expected) in ROWS {
        let run = |arguments: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
            command.args(arguments).current_dir(&snapshots).output().expect("it starts")
        };
        let output = run(&["check", &format!("{name}.toml"), "--json", "--certificate", "evidence"]);
        let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if let Refused(why) = expected {
            assert!(output.status.code() == Some(2) && text.contains(why), "{name}: {text}");
            continue;
        }
        let document = documents::read(&output.stdout);
        let (verdict, code) = if expected == Robust { ("robust", 0) } else { ("not-robust", 1) };
        assert_eq!((document["verdict"].as_str(), output.status.code()), (Some(verdict), Some(code)), "{name}: {text}");
        let evidence = document["evidence"].as_str().map(str::to_owned);
        if let Some(evidence) = evidence {
            let output = run(&["verify", &evidence]);
            assert_eq!(output.status.code(), Some(0), "{name}: {}", String::from_utf8_lossy(&output.stdout));
        }
        assert!(expected == NotRobust || text.contains("evidence"), "{name}: {text}");
    }
}
