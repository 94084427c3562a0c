//! Crates as they are published: the harnesses of `tests/code`, built and checked by
//! `cargo palisade`, for the numbers of copies that they state, with evidence that the checker
//! accepts.

use crate::documents;
use crate::environment::sample;
use crate::house::readme::{matches, sessions};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// What is expected of a harness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Robust,
    NotRobust,
    /// Refused, with a message that has this in it.
    Refused(&'static str),
}

use Expected::{NotRobust, Refused, Robust};

const ROWS: [(&str, Expected); 48] = [
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
    ("array_queue_by_low_bits", Robust),
    ("array_queue_again", NotRobust),
    ("heapless_once", Robust),
    ("heapless_by_low_bits", Robust),
    ("heapless_again", NotRobust),
    ("bounded_channel_by_low_bits", Robust),
    ("arc_of_any_number", Robust),
    ("rtrb_once", Robust),
    ("rtrb_again", NotRobust),
    ("triple_buffer", Robust),
    ("atomic_waker", Robust),
    ("atomic_waker_of_an_arc", Robust),
    ("left_right_readers", Robust),
    ("left_right_writer", Robust),
    ("atomic_cell_of_two_words", Robust),
    ("map_behind_a_lock", Robust),
    ("boxcar", Robust),
    ("parked_thread", Robust),
    ("arc_swap", Robust),
    ("buffered_beside_own_data", NotRobust),
    ("own_data_is_apart", Robust),
    ("arc_swap_without_threads", Refused("thread-local storage")),
    ("stack_with_one_consumer", Robust),
    ("stack_with_two_consumers", Robust),
    ("stack_with_hazards", Robust),
    ("stack_with_late_hazards", NotRobust),
    ("replaced_in_between", Robust),
    ("replaced_with_numbers", Robust),
    ("box_made_by_each", Robust),
    ("last_owner_of_an_arc", Robust),
    ("freed_twice", Robust),
    ("sent_before_it_is_written", Robust),
    ("wait_group", Robust),
    ("channel_without_bounds", Robust),
    ("mcs_lock", Robust),
    ("mcs_lock_of_many", Refused("stored where others can read it")),
    ("message_on_a_stack", Robust),
];

/// What is wrong in harnesses that take memory from the heap, or count owners: the words for it,
/// with the text of its line, and whether some interleaving shows it; nothing where all hold.
const FAULTS: [(&str, Option<(&str, &str, bool)>); 12] = [
    ("stack_with_one_consumer", None),
    ("stack_with_two_consumers", Some(("use after free", "let next = unsafe { head.as_ref()? }.next;", true))),
    ("stack_with_hazards", None),
    ("stack_with_late_hazards", Some(("use after free", "let next = unsafe { (*head).next };", false))),
    ("replaced_in_between", Some(("fail", "assert!(two <= one + 1", true))),
    ("replaced_with_numbers", None),
    ("box_made_by_each", None),
    ("message_on_a_stack", None),
    ("last_owner_of_an_arc", None),
    ("arc_of_any_number", None),
    ("freed_twice", Some(("double free", "drop(unsafe { Box::from_raw(cell.load(Ordering::Relaxed)) });", true))),
    ("sent_before_it_is_written", Some(("read of uninitialised memory", "assert_eq!(*message, 5);", true))),
];

/// Who waits for ever in harnesses that sleep: `holds` for nobody, `violated` for somebody, and
/// otherwise why that has no answer.
const HANGS: [(&str, &str); 19] = [
    ("mutex", "holds"),
    ("rwlock", "may rest on how many sleepers were woken"),
    ("barrier", "holds"),
    ("barrier_of_three_for_two", "violated"),
    ("once", "holds"),
    ("condvar", "holds"),
    ("condvar_wakes_one_of_two", "violated"),
    ("park", "holds"),
    ("nobody_wakes", "violated"),
    ("nobody_wakes_but_time", "holds"),
    ("nobody_wakes_a_daemon", "holds"),
    ("litebox_820", "violated"),
    ("litebox_820_repaired", "holds"),
    ("hvisor_266", "violated"),
    ("hvisor_266_repaired", "holds"),
    ("tokio_1788", "violated"),
    ("tokio_1788_repaired", "holds"),
    ("nexus_512", "violated"),
    ("nexus_512_repaired", "holds"),
];

/// The harnesses as they are committed.
pub(super) fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/code")
}

/// A copy of them among the outputs of tests, where they are built. What is the same stays as it
/// is, so that it need not be built again.
fn folder() -> &'static Path {
    static COPY: OnceLock<PathBuf> = OnceLock::new();
    COPY.get_or_init(|| {
        let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("code");
        let harness = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/palisade-harness").display().to_string();
        for file in [
            "Cargo.toml",
            "Cargo.lock",
            "src/lib.rs",
            "src/futex.rs",
            "tests/rows.rs",
            "tests/stories.rs",
            "tests/hangs.rs",
            "tests/ordinary.rs",
        ] {
            let text = std::fs::read_to_string(sources().join(file)).expect("the file is there");
            let text = text.replace("../../crates/palisade-harness", &harness);
            let place = copy.join(file);
            if std::fs::read_to_string(&place).is_ok_and(|known| known == text) {
                continue;
            }
            std::fs::create_dir_all(place.parent().expect("a folder")).expect("the folder is made");
            std::fs::write(place, text).expect("the file is written");
        }
        copy
    })
}

/// What `cargo palisade` says.
fn cargo_palisade(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-palisade"));
    command.args(arguments).current_dir(folder()).output().expect("it starts")
}

/// Who waits for ever is found in machine code, and nobody in what is repaired.
#[needs::command("cargo info --quiet spin")]
#[test]
fn sleepers_that_nobody_wakes_are_found() {
    let snapshots = snapshots().with_file_name("hangs");
    for (name, expected) in sample(HANGS.into(), 4) {
        let run = |arguments: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
            command.args(arguments).current_dir(&snapshots).output().expect("it starts")
        };
        let many = if name == "rwlock" { "300" } else { "64" };
        let file = format!("{name}.toml");
        let output = run(&["check", &file, "--ask", "hangs", "--values", many, "--certificate", "evidence"]);
        let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let code = output.status.code();
        match expected {
            "holds" => assert_eq!(code, Some(0), "{name}: {text}"),
            "violated" => assert_eq!(code, Some(1), "{name}: {text}"),
            why => assert!(matches!(code, Some(2 | 3)) && text.contains(why), "{name}: {text}"),
        }
        let word = if expected == "holds" { "free" } else { "stuck" };
        let evidence = format!("evidence/{name}.toml.{word}.json");
        let is_decided = matches!(expected, "holds" | "violated");
        assert_eq!(run(&["verify", &evidence]).status.success(), is_decided, "{name}: {text}");
    }
}

/// The folder with the roles and snapshots of all rows, written once.
pub(super) fn snapshots() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        // Snapshots are wanted, and no answers yet.
        let all = cargo_palisade(&["--test", "rows", "--test", "hangs", "--test", "ordinary", "--", "--help"]);
        let snapshots = folder().join("target/palisade/rows");
        assert!(snapshots.is_dir(), "{}", String::from_utf8_lossy(&all.stderr));
        snapshots
    })
}

#[needs::command("cargo info --quiet spin")]
#[test]
fn published_crates_are_read_as_they_are() {
    let snapshots = snapshots();
    for (name, expected) in sample(ROWS.into(), 20) {
        let run = |arguments: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
            command.args(arguments).current_dir(snapshots).output().expect("it starts")
        };
        let asked = ["check", &format!("{name}.toml"), "--ask", "robustness", "--json", "--certificate", "evidence"];
        let output = run(&asked);
        let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if let Refused(why) = expected {
            assert!(output.status.code() == Some(2) && text.contains(why), "{name}: {text}");
            continue;
        }
        let document = documents::read(&output.stdout);
        let (verdict, code) = if expected == Robust { ("holds", 0) } else { ("violated", 1) };
        assert_eq!((document["verdict"].as_str(), output.status.code()), (Some(verdict), Some(code)), "{name}: {text}");
        for evidence in document["certificates"].as_array().expect("evidence") {
            let output = run(&["verify", evidence.as_str().expect("a path")]);
            assert_eq!(output.status.code(), Some(0), "{name}: {}", String::from_utf8_lossy(&output.stdout));
        }
        assert!(expected == NotRobust || text.contains("evidence"), "{name}: {text}");
    }
}

/// What is wrong with the memory that roles take from the heap is found at its line, and nothing
/// where nothing is.
#[needs::command("cargo info --quiet spin")]
#[test]
fn faults_of_memory_are_found_at_their_lines() {
    let snapshots = snapshots();
    let source = std::fs::read_to_string(sources().join("tests/rows.rs")).expect("the file is there");
    for (name, expected) in sample(FAULTS.into(), 12) {
        let run = |arguments: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
            command.args(arguments).current_dir(snapshots).output().expect("it starts")
        };
        let asked = ["check", &format!("{name}.toml"), "--ask", "properties", "--json", "--certificate", "faults"];
        let document = documents::read(&run(&asked).stdout);
        let answers = document["answers"].as_array().expect("answers");
        assert!(!answers.is_empty(), "{name}");
        let is_violated = |answer: &&serde_json::Value| answer["verdict"] == "violated";
        if let Some((kind, text, under_sc)) = expected {
            let is_there = |answer: &serde_json::Value| {
                let line =
                    answer["label"].as_str().and_then(|label| label.split([':', '#']).nth(1)?.parse::<usize>().ok());
                let own = line.and_then(|line| source.lines().nth(line - 1)).unwrap_or("");
                answer["kind"] == kind && answer["under_sc"] == under_sc && own.contains(text)
            };
            assert!(answers.iter().filter(is_violated).any(is_there), "{name}: {answers:?}");
        } else {
            assert!(answers.iter().all(|answer| answer["verdict"] == "holds"), "{name}: {answers:?}");
        }
        for evidence in document["certificates"].as_array().expect("evidence") {
            let output = run(&["verify", evidence.as_str().expect("a path")]);
            assert_eq!(output.status.code(), Some(0), "{name}: {}", String::from_utf8_lossy(&output.stdout));
        }
    }
}

/// The page of the guide.
fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/src/check-your-own-code.md");
    std::fs::read_to_string(path).expect("the page can be read")
}

/// A text without the indentation of its lines.
fn flush_left(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join("\n")
}

#[test]
fn code_of_the_stories_is_that_of_the_files() {
    let page = page();
    let mut pieces = 0;
    for block in page.split("```rust\n// ").skip(1) {
        let (name, text) = block.split_once('\n').expect("a block");
        if name == "tests/robust.rs" {
            continue;
        }
        let file = flush_left(&std::fs::read_to_string(sources().join(name)).expect("the file is there"));
        for piece in text.split("```").next().expect("a block").split("\n\n") {
            assert!(file.contains(flush_left(piece).trim()), "{name}: {piece}");
            pieces += 1;
        }
    }
    assert!(pieces >= 5, "{pieces} pieces");
}

#[needs::command("cargo info --quiet spin")]
#[test]
fn stories_of_the_guide_are_real() {
    let mut told = 0;
    for shown in sessions(&page()) {
        let Some(arguments) = shown.command.strip_prefix("cargo palisade ") else { continue };
        let output = cargo_palisade(&arguments.split_whitespace().collect::<Vec<_>>());
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let lines: Vec<&str> = text.lines().collect();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(matches(&shown.output, &lines), "$ {}\n{text}\n{errors}\nis not what the guide shows", shown.command);
        told += 1;
    }
    assert!(told >= 3, "{told} stories");
}
