//! Faults planted in the engine: each is caught by a check of evidence or by a comparison with
//! another way to decide.
//!
//! The tables say for each fault ([`faults`]) what text of which file it replaces, and which test
//! is to fail then. By default it is only checked that all faults still fit the sources. With
//! `PALISADE_PLANTED=1` the sources are copied, all faults are built into the copy at once, each
//! asleep behind a condition, and the tests are run in it: first with no fault awake, when they
//! must pass, and then with each one awake, when its own must fail. (`PALISADE_PLANTED=snapshots`
//! wakes the faults alone that have this word in their names, or one of several with commas between
//! them.) The faults are only in the engine, in what PSO adds to the step relation, in turns of
//! counters, and in the table of x86 instructions; what is to catch them, `verify`, the brute-force
//! oracle and the processor, is left alone. A few are in the checker and the axioms of C11, which
//! the engine and the oracle catch. `PLANTED_FAULTS.md` records such a run.

mod compilations;
mod counters;
mod counts;
mod cuts;
mod enriched;
mod events;
mod hangs;
mod heap;
mod low_bits;
mod machine;
mod plain_data;
mod posix;
mod properties;
mod pso;
mod reach;
mod rings;
mod sources;
mod stacks;
mod stale;
mod symmetry;
mod table;
mod turned_nets;
mod widths;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A fault.
struct Fault {
    /// What goes wrong.
    what: &'static str,
    /// The file it is in.
    file: &'static str,
    /// The text it replaces, which stands there once.
    old: &'static str,
    /// What it puts there. `PLANTED` stands for the condition that this fault is awake; where it
    /// does not hold, the meaning is that of the old text.
    new: &'static str,
    /// The test that is to fail.
    caught_by: &'static str,
}

/// The function that crates with faults have besides in the copy, by which faults are woken.
const CONDITION: &str = r#"
/// Whether the fault with this number is awake.
pub(crate) fn planted(number: usize) -> bool {
    static AWAKE: std::sync::LazyLock<Option<usize>> =
        std::sync::LazyLock::new(|| std::env::var("PALISADE_FAULT").ok()?.parse().ok());
    *AWAKE == Some(number)
}
"#;

/// All faults, in the order of their numbers.
fn faults() -> impl Iterator<Item = &'static Fault> {
    table::FAULTS
        .iter()
        .chain(properties::FAULTS)
        .chain(counters::FAULTS)
        .chain(events::FAULTS)
        .chain(enriched::FAULTS)
        .chain(widths::FAULTS)
        .chain(compilations::FAULTS)
        .chain(pso::FAULTS)
        .chain(cuts::FAULTS)
        .chain(machine::FAULTS)
        .chain(plain_data::FAULTS)
        .chain(turned_nets::FAULTS)
        .chain(stale::FAULTS)
        .chain(rings::FAULTS)
        .chain(reach::FAULTS)
        .chain(sources::FAULTS)
        .chain(heap::FAULTS)
        .chain(hangs::FAULTS)
        .chain(stacks::FAULTS)
        .chain(sources::OF_PLACES)
        .chain(counts::FAULTS)
        .chain(symmetry::FAULTS)
        .chain(reach::OF_SETS)
        .chain(low_bits::FAULTS)
        .chain(hangs::OF_ENDS)
        .chain(posix::FAULTS)
        .chain(hangs::OF_FEW_STEPS)
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files with all their faults planted, by path; faults are counted from 1.
fn planted() -> BTreeMap<&'static str, String> {
    let mut files = BTreeMap::new();
    for (number, fault) in (1..).zip(faults()) {
        let read = || std::fs::read_to_string(root().join(fault.file)).expect("the file is there");
        let text = files.entry(fault.file).or_insert_with(read);
        assert_eq!(text.matches(fault.old).count(), 1, "{}: `{}` in {}", fault.what, fault.old, fault.file);
        assert!(fault.new.contains("PLANTED"), "{}: nothing wakes it", fault.what);
        *text = text.replace(fault.old, &fault.new.replace("PLANTED", &format!("crate::planted({number})")));
    }
    files
}

#[test]
fn all_faults_fit_the_sources() {
    // The document lists them all, in order.
    let document = std::fs::read_to_string(root().join("tests/PLANTED_FAULTS.md")).expect("the document is there");
    let listed: Vec<&str> = document
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" | ").nth(1))
        .filter(|cell| !matches!(*cell, "fault" | "---"))
        .collect();
    assert_eq!(listed, faults().map(|fault| fault.what).collect::<Vec<_>>());
    // Faults of the engine, of PSO's step relation, of the table of x86 instructions, and of the
    // axioms and the checker of C11 only.
    for file in planted().into_keys() {
        let engine = [
            "crates/palisade-concurrency/src/",
            "crates/palisade-coverability/src/",
            "crates/palisade-engine/src/",
            "crates/palisade-exploration/src/",
            "crates/palisade-machine/src/image/stacks.rs",
            "crates/palisade-machine/src/lift/",
            "crates/palisade-machine/src/orderings/stated.rs",
            "crates/palisade-model/src/program/counters/",
            "crates/palisade-model/src/program/counts/",
            "crates/palisade-model/src/program/liveness.rs",
            "crates/palisade-model/src/program/low_bits/",
            "crates/palisade-model/src/program/register_sets.rs",
            "crates/palisade-model/src/program/saturation.rs",
            "crates/palisade-model/src/program/tickets/",
            "crates/palisade-invariants/src/program/stale/knowledge.rs",
            "crates/palisade-semantics/src/executed.rs",
            "crates/palisade-semantics/src/graphs/axioms.rs",
            "crates/palisade-semantics/src/machine.rs",
            "crates/palisade-semantics/src/symmetry.rs",
            "crates/palisade-semantics/src/turns.rs",
            "crates/palisade-syntax/src/x86/",
        ];
        assert!(engine.iter().any(|room| file.starts_with(room)), "{file} is no part of the engine");
    }
}

/// Copies a folder; files that are the same already are left alone, so that they are not built
/// again.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("the copy can be made");
    let kept: BTreeSet<_> = entries(from).into_iter().map(|entry| entry.file_name().map(ToOwned::to_owned)).collect();
    for stale in entries(to)
        .into_iter()
        .filter(|entry| entry.is_file() && !kept.contains(&entry.file_name().map(ToOwned::to_owned)))
    {
        std::fs::remove_file(stale).expect("the copy can be changed");
    }
    for entry in entries(from) {
        let target = to.join(entry.file_name().expect("entries have names"));
        if entry.is_dir() {
            copy(&entry, &target);
        } else {
            write(&target, &std::fs::read(&entry).expect("sources can be read"));
        }
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder)
        .expect("the folder can be read")
        .map(|entry| entry.expect("it is an entry").path())
        .collect()
}

fn write(path: &Path, bytes: &[u8]) {
    if std::fs::read(path).ok().as_deref() != Some(bytes) {
        std::fs::write(path, bytes).expect("the copy can be written");
    }
}

/// The test programs of the copy: the own tests of the engines for nets and for programs, and
/// these.
struct Programs {
    nets: PathBuf,
    engine: PathBuf,
    suite: PathBuf,
}

impl Programs {
    /// The program that has a test, and what the test is called there.
    fn of<'t>(&self, test: &'t str) -> (&Path, &'t str) {
        match test.strip_prefix("coverability::") {
            Some(test) => (&self.nets, test),
            None if ["properties::tests::", "robustness::stale::tests::"].iter().any(|own| test.starts_with(own)) => {
                (&self.engine, test)
            }
            None => (&self.suite, test),
        }
    }
}

/// Builds the copy with the faults; gives its test programs.
fn build() -> Programs {
    let own = std::env::current_exe().expect("a test program has a path");
    let target = own.ancestors().nth(3).expect("test programs are in target/PROFILE/deps");
    let folder = target.join("planted-faults");
    for part in ["src", "crates", "tests", "benches", "models"] {
        copy(&root().join(part), &folder.join(part));
    }
    for entry in entries(root()).into_iter().filter(|entry| entry.is_file()) {
        let name = entry.file_name().expect("entries have names");
        write(&folder.join(name), &std::fs::read(&entry).expect("files can be read"));
    }
    let mut libraries = BTreeSet::new();
    for (file, text) in planted() {
        write(&folder.join(file), text.as_bytes());
        let (package, _) = file.split_once("/src/").expect("sources are in `src`");
        libraries.insert(format!("{package}/src/lib.rs"));
    }
    for library in libraries {
        let text = std::fs::read_to_string(root().join(&library)).expect("the library is there");
        write(&folder.join(&library), (text + CONDITION).as_bytes());
    }

    // A target folder of its own: cargo tells programs from each other by name, and the copy is
    // called as the original.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["test", "--package", "palisade", "--test", "suite"])
        .args(["--package", "palisade-engine", "--package", "palisade-coverability", "--lib"])
        .args(["--no-run", "--message-format=json"])
        .current_dir(&folder)
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "the copy with the faults does not build");
    let messages = String::from_utf8(output.stdout).expect("cargo writes text");
    let messages: Vec<serde_json::Value> =
        messages.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let executable = |name: &str| {
        let is_it =
            |message: &&serde_json::Value| message["target"]["name"] == name && message["profile"]["test"] == true;
        let named = messages.iter().filter(is_it);
        named.filter_map(|message| message["executable"].as_str()).next_back().expect("cargo names its programs").into()
    };
    Programs {
        nets: executable("palisade_coverability"),
        engine: executable("palisade_engine"),
        suite: executable("suite"),
    }
}

/// Runs a test with a fault awake, or none; how it failed, if it did.
fn failure(programs: &Programs, test: &str, fault: Option<usize>) -> Option<String> {
    const PATIENCE: Duration = Duration::from_secs(90);
    let (program, test) = programs.of(test);
    let mut command = Command::new(program);
    command
        .args(["--exact", "--include-ignored", test])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .env_remove("PALISADE_PLANTED");
    match fault {
        Some(number) => command.env("PALISADE_FAULT", number.to_string()),
        None => command.env_remove("PALISADE_FAULT"),
    };
    let output = tempfile::NamedTempFile::new().expect("a file for the output can be made");
    let file = output.reopen().expect("it can be opened again");
    let mut child = command.stdout(file).spawn().expect("the test program runs");
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            break status;
        }
        if start.elapsed() > PATIENCE {
            child.kill().expect("it can be ended");
            child.wait().expect("it has ended");
            return Some("no answer".to_owned());
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let text = std::fs::read_to_string(output.path()).expect("the output can be read");
    assert!(text.contains("running 1 test"), "there is no test {test}");
    if status.success() {
        return None;
    }
    let mut lines = text.lines().skip_while(|line| !line.contains("panicked at"));
    let message = lines.nth(1).unwrap_or("it ended").chars().take(150).collect();
    Some(message)
}

#[needs::variable("PALISADE_PLANTED")]
#[test]
fn every_fault_is_caught() {
    let programs = build();
    let wanted = std::env::var("PALISADE_PLANTED").expect("the test asks for it");
    let is_wanted = |fault: &Fault| wanted == "1" || wanted.split(',').any(|word| fault.what.contains(word));
    let tests: BTreeSet<&str> = faults().filter(|fault| is_wanted(fault)).map(|fault| fault.caught_by).collect();
    for test in &tests {
        assert_eq!(failure(&programs, test, None), None, "{test} without a fault");
    }
    let mut wrong = Vec::new();
    for (number, fault) in (1..).zip(faults()).filter(|(_, fault)| is_wanted(fault)) {
        let failing = failure(&programs, fault.caught_by, Some(number));
        println!("{number}\t{}\t{}\t{}", fault.what, fault.caught_by, failing.as_deref().unwrap_or("NOT CAUGHT"));
        if failing.is_none() {
            wrong.push(fault.what);
        }
    }
    assert!(wrong.is_empty(), "not as the table says: {wrong:#?}");
}
