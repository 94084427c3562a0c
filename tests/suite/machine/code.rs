//! Machine code as compilers make it of C: Peterson's algorithm, a spin lock, a lost wake-up and a
//! work-stealing deque, each at five levels of optimisation, broken and repaired. The images are
//! committed, so that nothing here depends on the compiler of the day.

use crate::environment::sample;
use crate::{checked, documents};
use palisade::program::Program;
use palisade::robustness::{CheckOptions, Verdict};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A role: its function, its copies, whether it begins again.
type Role = (&'static str, &'static str, bool);

const LEVELS: [&str; 5] = ["O0", "O1", "O2", "O3", "Os"];

const PETERSON: [Role; 2] = [("lock_left", "1", true), ("lock_right", "1", true)];
const WAKE: [Role; 2] = [("waiter", "\"*\"", false), ("waker", "\"*\"", false)];
const DEQUE: [Role; 2] = [("owner", "1", false), ("thief", "\"*\"", false)];

fn image(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/palisade-machine/tests/images").join(name)
}

/// Writes a file of roles about an image.
fn roles(folder: &Path, image: &Path, roles: &[Role]) -> String {
    let mut text = format!("image = {:?}\n", image.display().to_string());
    for (function, copies, repeat) in roles {
        text += &format!("\n[[role]]\nfunction = \"{function}\"\ncopies = {copies}\nrepeat = {repeat}\n");
    }
    let path = folder.join("roles.toml");
    std::fs::write(&path, text).expect("the folder is writable");
    path.display().to_string()
}

fn lifted(name: &str, of: &[Role]) -> Program {
    let folder = tempfile::tempdir().expect("a folder");
    let path = roles(folder.path(), &image(name), of);
    palisade::machine::read(&path).unwrap_or_else(|error| panic!("{name}: {}", error.render(false)))
}

#[test]
fn verdicts_do_not_depend_on_the_level_of_optimisation() {
    let spin: &[Role] = &[("worker", "\"*\"", true)];
    for (name, of, expected) in [
        ("spin", spin, Verdict::Robust),
        // Locked instructions and loads of half a word that others change as a whole.
        ("halves", spin, Verdict::Robust),
        ("peterson", &PETERSON, Verdict::Robust),
        ("peterson-weak", &PETERSON, Verdict::NotRobust),
        ("peterson-fence", &PETERSON, Verdict::Robust),
        ("wake", &WAKE, Verdict::NotRobust),
        ("wake-fence", &WAKE, Verdict::Robust),
        ("deque", &DEQUE, Verdict::NotRobust),
        ("deque-fence", &DEQUE, Verdict::Robust),
        // A loop that is not entered is a load.
        ("guess", &[("declining_left", "1", false), ("right", "1", false)], Verdict::NotRobust),
    ] {
        for level in LEVELS {
            let program = lifted(&format!("{name}-{level}"), of);
            let check = checked::check(&program, &CheckOptions::default()).expect("no value grows");
            assert_eq!(check.verdict, expected, "{name} {level}");
        }
    }
}

/// The load that guesses what `cmpxchg` checks is no load of the program. Without optimisation the
/// guess goes through memory in a way that is not recognised, and the alarm is a false one.
#[test]
fn loops_around_cmpxchg_are_one_locked_instruction() {
    for (level, expected) in [
        ("O0", Verdict::NotRobust),
        ("O1", Verdict::Robust),
        ("O2", Verdict::Robust),
        ("O3", Verdict::Robust),
        ("Os", Verdict::Robust),
    ] {
        let program = lifted(&format!("guess-{level}"), &[("left", "1", false), ("right", "1", false)]);
        let check = checked::check(&program, &CheckOptions::default()).expect("no value grows");
        assert_eq!(check.verdict, expected, "{level}");
    }
}

/// Random executions miss the cell that only strict turns lead to; all executions of a small
/// instance do not.
#[test]
fn cells_that_few_executions_come_to_are_found() {
    let program = lifted("rare", &[("left", "1", false), ("right", "1", false)]);
    assert!(program.addresses.iter().any(|address| address.name.starts_with("slots")), "{:?}", program.addresses);
    let check = checked::check(&program, &CheckOptions::default());
    assert_eq!(check.expect("all cells are known").verdict, Verdict::Robust);
}

fn palisade(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_palisade")).args(arguments).current_dir(folder).output().expect("it starts")
}

#[test]
fn the_witness_of_a_lost_wake_up_speaks_of_its_source() {
    let folder = tempfile::tempdir().expect("a folder");
    roles(folder.path(), &image("wake-O2"), &WAKE);
    let output = palisade(folder.path(), &["check", "roles.toml"]);
    let text = String::from_utf8(output.stdout).expect("a report");
    assert_eq!(output.status.code(), Some(1), "{text}");
    for part in [
        "the store at waker wake.c:26 is delayed past the load at waker wake.c:17",
        "for this machine code",
        "done ← 1 into its buffer (delayed)",
        "instance: waiter × 1, waker × 1 (no smaller instance has one)",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Code hosts show findings at the lines of the sources.
#[test]
fn findings_stand_in_the_sources() {
    let folder = tempfile::tempdir().expect("a folder");
    for file in ["wake-O2", "wake.c"] {
        std::fs::copy(image(file), folder.path().join(file)).expect("it is copied");
    }
    roles(folder.path(), Path::new("wake-O2"), &WAKE);
    let output = palisade(folder.path(), &["check", "roles.toml", "--sarif", "log.sarif", "--report", "page.html"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let log = documents::sarif(&folder.path().join("log.sarif"));
    let all = log["runs"][0]["results"].as_array().expect("results");
    let result = all.iter().find(|result| result["ruleId"] == "not-robust").expect("it is found");
    let place = |location: &serde_json::Value| {
        let place = &location["physicalLocation"];
        (place["artifactLocation"]["uri"].as_str().map(str::to_owned), place["region"]["startLine"].as_u64())
    };
    assert_eq!(place(&result["locations"][0]), (Some("wake.c".to_owned()), Some(26)), "{result}");
    assert_eq!(place(&result["relatedLocations"][0]), (Some("wake.c".to_owned()), Some(17)), "{result}");
    let steps = result["codeFlows"][0]["threadFlows"][0]["locations"].as_array().expect("steps");
    assert!(steps.iter().all(|step| place(&step["location"]).0.as_deref() == Some("wake.c")), "{result}");
    let page = std::fs::read_to_string(folder.path().join("page.html")).expect("it was written");
    let line = page
        .lines()
        .find(|line| line.contains("class=\"line origin\"") && line.contains("atomic_store_explicit(&amp;done, true"));
    assert!(line.is_some(), "the texts of lines are there: {page}");
}

#[test]
fn evidence_is_about_image_and_roles() {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("image");
    std::fs::copy(image("spin-O2"), &copy).expect("the image is there");
    roles(folder.path(), &copy, &[("worker", "\"*\"", true)]);
    let output = palisade(folder.path(), &["check", "roles.toml", "--certificate", "out"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let evidence = "out/roles.toml.robust.json";
    let output = palisade(folder.path(), &["verify", evidence]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    // One byte of the image changes.
    let mut bytes = std::fs::read(&copy).expect("the image is there");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&copy, bytes).expect("the folder is writable");
    let output = palisade(folder.path(), &["verify", evidence]);
    let text = String::from_utf8(output.stdout).expect("a report");
    assert_eq!(output.status.code(), Some(4), "{text}");
    assert!(text.contains("SHA-256"), "{text}");
}

/// Writes a file of roles about the rings, with counters narrowed.
fn narrowed(folder: &Path, level: &str, cells: &str, bits: u8, of: &[Role]) -> String {
    let path = roles(folder, &image(&format!("ring-{level}")), of);
    let text = std::fs::read_to_string(&path).expect("it was written");
    let narrow = format!("narrow = [{{ cells = [{cells}], bits = {bits} }}]\n");
    std::fs::write(&path, format!("{narrow}{text}")).expect("the folder is writable");
    path
}

/// Any number of producers and consumers: once each the queue is robust, again and again it is not,
/// and right.
#[test]
fn rings_are_answered_for_any_number_of_threads() {
    let once: &[Role] = &[("push", "\"*\"", false), ("pop", "\"*\"", false)];
    let again: &[Role] = &[("push", "\"*\"", true), ("pop", "\"*\"", true)];
    let pair: &[Role] = &[("produce", "1", true), ("consume", "1", true)];
    for (cells, of, expected) in [
        ("\"head\", \"tail\"", once, Verdict::Robust),
        ("\"head\", \"tail\"", again, Verdict::NotRobust),
        ("\"written\", \"taken\"", pair, Verdict::NotRobust),
    ] {
        for level in sample(LEVELS.to_vec(), 5) {
            let folder = tempfile::tempdir().expect("a folder");
            let path = narrowed(folder.path(), level, cells, 3, of);
            let program = palisade::machine::read(&path).unwrap_or_else(|error| panic!("{}", error.render(false)));
            let check = checked::check(&program, &CheckOptions::default()).expect("no value grows");
            assert_eq!(check.verdict, expected, "{cells} {level}");
        }
    }
}

#[test]
fn claims_name_the_build_and_what_was_narrowed() {
    let folder = tempfile::tempdir().expect("a folder");
    narrowed(folder.path(), "O2", "\"head\", \"tail\"", 3, &[("push", "2", false), ("pop", "2", false)]);
    for command in ["check", "fences"] {
        let output = palisade(folder.path(), &[command, "roles.toml"]);
        let text = String::from_utf8(output.stdout).expect("a report");
        assert!(text.contains("  claim    for this machine code, with head, tail narrowed to 3 bits\n"), "{text}");
        assert!(text.contains("  build    GNU C17 12.2.0 -O2\n"), "{text}");
        let output = palisade(folder.path(), &[command, "roles.toml", "--json"]);
        let document = documents::read(&output.stdout);
        let claim = &document["claim"];
        assert_eq!(claim["statement"], "for this machine code", "{document}");
        assert_eq!(claim["narrowed"][0], serde_json::json!({"cells": ["head", "tail"], "bits": 3}), "{document}");
        assert_eq!(claim["files"][1]["kind"], "image", "{document}");
        assert_eq!(claim["files"][1]["sha256"].as_str().map(str::len), Some(64), "{document}");
    }
}
