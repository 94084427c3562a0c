//! The house as ARCHITECTURE.md draws it, held to the code: which crate and which room uses which,
//! and which papers are cited.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The crates from the bottom up, each with those of ours that it depends on. The compiler holds
/// the code to its manifest.
const CRATES: [(&str, &[&str]); 16] = [
    ("palisade-model", &[]),
    ("palisade-semantics", &["palisade-model"]),
    ("palisade-net-formats", &["palisade-model"]),
    ("palisade-evidence", &["palisade-model", "palisade-semantics"]),
    ("palisade-invariants", &["palisade-model", "palisade-semantics", "palisade-evidence"]),
    ("palisade-verify", &["palisade-model", "palisade-semantics", "palisade-evidence", "palisade-invariants"]),
    ("palisade-syntax", &["palisade-model", "palisade-semantics"]),
    ("palisade-coverability", &["palisade-model", "palisade-evidence"]),
    ("palisade-exploration", &["palisade-model", "palisade-semantics", "palisade-evidence", "palisade-coverability"]),
    (
        "palisade-engine",
        &[
            "palisade-model",
            "palisade-semantics",
            "palisade-evidence",
            "palisade-verify",
            "palisade-coverability",
            "palisade-exploration",
        ],
    ),
    ("palisade-concurrency", &["palisade-model", "palisade-semantics", "palisade-evidence", "palisade-engine"]),
    (
        "palisade-report",
        &[
            "palisade-model",
            "palisade-semantics",
            "palisade-evidence",
            "palisade-verify",
            "palisade-syntax",
            "palisade-coverability",
            "palisade-engine",
            "palisade-concurrency",
        ],
    ),
    (
        "palisade-exports",
        &[
            "palisade-model",
            "palisade-semantics",
            "palisade-evidence",
            "palisade-verify",
            "palisade-syntax",
            "palisade-coverability",
            "palisade-engine",
            "palisade-concurrency",
            "palisade-report",
        ],
    ),
    ("palisade-harness", &[]),
    ("palisade-machine", &["palisade-model", "palisade-semantics", "palisade-syntax"]),
    (
        "palisade",
        &[
            "palisade-model",
            "palisade-semantics",
            "palisade-net-formats",
            "palisade-evidence",
            "palisade-verify",
            "palisade-syntax",
            "palisade-coverability",
            "palisade-engine",
            "palisade-concurrency",
            "palisade-report",
            "palisade-exports",
            "palisade-machine",
        ],
    ),
];

/// The rooms of crates that have several: the folder, the room, and the rooms beside it that it may
/// use.
const ROOMS: [(&str, &str, &[&str]); 17] = [
    ("crates/palisade-model/src", "limits", &[]),
    ("crates/palisade-model/src", "decide", &["limits"]),
    ("crates/palisade-model/src", "ordered", &[]),
    ("crates/palisade-model/src", "text", &[]),
    ("crates/palisade-model/src", "program", &["ordered", "text"]),
    ("crates/palisade-model/src", "net", &["text"]),
    ("crates/palisade-exploration/src", "lazy", &[]),
    ("crates/palisade-exploration/src", "instrumented", &["lazy"]),
    ("crates/palisade-exploration/src", "buffered", &["lazy", "instrumented"]),
    ("crates/palisade-exploration/src", "hangs", &["lazy", "instrumented", "buffered"]),
    ("crates/palisade-exploration/src", "states", &["lazy", "buffered"]),
    ("crates/palisade-engine/src", "compilations", &[]),
    ("crates/palisade-engine/src", "decide", &[]),
    ("crates/palisade-engine/src", "robustness", &["decide"]),
    ("crates/palisade-engine/src", "fences", &["decide", "robustness"]),
    ("crates/palisade-engine/src", "properties", &["decide", "robustness", "fences"]),
    ("crates/palisade-engine/src", "hangs", &["robustness", "fences", "properties"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// All Rust files under a folder, in a fixed order.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            files.extend(sources(&entry));
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            files.push(entry);
        }
    }
    files
}

/// All Rust files of the crates.
fn all_sources() -> Vec<PathBuf> {
    let mut files = sources(&root().join("src"));
    for (name, _) in CRATES.iter().filter(|(name, _)| *name != "palisade") {
        files.extend(sources(&root().join("crates").join(name).join("src")));
    }
    files
}

/// The manifest of a crate.
fn manifest(name: &str) -> String {
    let folder = if name == "palisade" { root() } else { root().join("crates").join(name) };
    std::fs::read_to_string(folder.join("Cargo.toml")).unwrap()
}

#[test]
fn crates_depend_on_those_of_the_table() {
    for (name, allowed) in CRATES {
        let manifest = manifest(name);
        let dependencies = manifest.split("\n[").find(|section| section.starts_with("dependencies]")).unwrap();
        let ours: BTreeSet<&str> = dependencies
            .lines()
            .filter_map(|line| line.split(['.', ' ', '=']).next())
            .filter(|dependency| dependency.starts_with("palisade-"))
            .collect();
        assert_eq!(ours, allowed.iter().copied().collect(), "{name}");
    }
    let mut folders: Vec<String> = std::fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    folders.sort();
    let mut named: Vec<&str> = CRATES.iter().map(|(name, _)| *name).filter(|name| *name != "palisade").collect();
    named.sort_unstable();
    assert_eq!(folders, named);
}

/// The rooms that a text names in paths `crate::room`, comments left out.
fn rooms_used(text: &str, rooms: &[&str]) -> BTreeSet<String> {
    let code = text.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n");
    let mut used = BTreeSet::new();
    for (start, _) in code.match_indices("crate::") {
        let rest = &code[start + "crate::".len()..];
        if let Some(group) = rest.strip_prefix('{') {
            let group = &group[..group.find("};").unwrap_or(group.len())];
            used.extend(rooms.iter().map(|room| (*room).to_owned()).filter(|room| names(group, room)));
        } else {
            used.insert(rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect());
        }
    }
    used
}

/// Whether a `use` group has a member that is `room` or starts with it.
fn names(group: &str, room: &str) -> bool {
    group.split([',', '{']).any(|member| member.trim() == room || member.trim().starts_with(&format!("{room}::")))
}

#[test]
fn rooms_use_only_what_they_may() {
    let mut trespasses = Vec::new();
    for (folder, room, allowed) in ROOMS {
        let beside: Vec<&str> =
            ROOMS.iter().filter(|(other, _, _)| *other == folder).map(|(_, beside, _)| *beside).collect();
        let path = root().join(folder).join(room);
        let files = if path.is_dir() { sources(&path) } else { vec![path.with_extension("rs")] };
        for file in files {
            for used in rooms_used(&std::fs::read_to_string(&file).unwrap(), &beside) {
                if used != room && beside.contains(&used.as_str()) && !allowed.contains(&used.as_str()) {
                    trespasses.push(format!("{}: {room} may not use {used}", file.display()));
                }
            }
        }
    }
    assert!(trespasses.is_empty(), "{}", trespasses.join("\n"));
}

/// Every room is in the table: a public module that a crate declares in its root, where the table
/// lists rooms of that crate.
#[test]
fn every_room_is_in_the_table() {
    for folder in BTreeSet::from(ROOMS.map(|(folder, _, _)| folder)) {
        let text = std::fs::read_to_string(root().join(folder).join("lib.rs")).unwrap();
        let module = |line| str::strip_suffix(str::strip_prefix(line, "mod ")?, ';');
        let public: BTreeSet<&str> = text.lines().filter_map(|line| module(line.strip_prefix("pub ")?)).collect();
        let private: BTreeSet<&str> = text.lines().filter_map(module).collect();
        let listed = ROOMS.iter().filter(|(other, _, _)| *other == folder).map(|(_, room, _)| *room);
        assert_eq!(public, listed.filter(|room| !private.contains(room)).collect(), "{folder}");
    }
}

#[test]
fn the_document_draws_the_same_house() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let drawn: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("| `palisade")?.split('`').next()).collect();
    let crates: Vec<&str> = CRATES.iter().map(|(name, _)| name.strip_prefix("palisade").unwrap()).collect();
    assert_eq!(drawn, crates, "ARCHITECTURE.md against the table of this test");
}

/// Generic code is translated with the crate that uses it, and `release` does not optimise the
/// engine: so it has what it asks about explored by methods of `palisade-exploration`, and names
/// neither a net's steps of its own nor the visitor that an exploration takes.
#[test]
fn the_engine_explores_nothing_itself() {
    for file in sources(&root().join("crates/palisade-engine/src")) {
        let text = std::fs::read_to_string(&file).unwrap();
        let own = ["LazyNet for ", "lazy::Visit", " Visit,", " Visit}", " Visit::"]
            .into_iter()
            .find(|own| text.contains(own));
        assert_eq!(own, None, "{}", file.display());
    }
}

#[test]
fn every_file_opens_with_a_sentence() {
    for file in all_sources().into_iter().chain(sources(&root().join("tests"))) {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("//! "), "{} does not say what it is", file.display());
    }
}

/// A file with more lines hides a second subject.
const MOST_LINES: usize = 600;

#[test]
fn no_file_is_long() {
    let folders = ["src", "crates", "tests", "examples", "benches", "fuzz/fuzz_targets"];
    for file in folders.iter().flat_map(|folder| sources(&root().join(folder))) {
        let lines = std::fs::read_to_string(&file).unwrap().lines().count();
        assert!(lines <= MOST_LINES, "{} has {lines} lines", file.display());
    }
}

/// Tests ask the engine through `checked`, which has every verdict's evidence verified.
#[test]
fn no_test_takes_a_verdict_unverified() {
    const HELPER: &str = "checked.rs";
    let words = |text: &str| -> BTreeSet<String> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        text.split(|c| !is_word(c)).map(str::to_owned).collect()
    };
    for file in sources(&root().join("tests")).into_iter().filter(|file| !file.ends_with(HELPER)) {
        let text = std::fs::read_to_string(&file).unwrap();
        for (room, name) in [
            ("robustness", "check"),
            ("robustness", "check_tasks"),
            ("concurrency", "check"),
            ("coverability", "solve"),
            ("hangs", "hangs"),
        ] {
            for part in text.split(&format!("{room}::")).skip(1) {
                let named = match part.strip_prefix('{') {
                    Some(group) => words(&group[..group.find('}').unwrap_or(group.len())]),
                    None => words(&part[..part.find([';', '(', ',', ' ']).unwrap_or(part.len())]),
                };
                assert!(!named.contains(name), "{} uses {room}::{name}, not the one of {HELPER}", file.display());
            }
        }
    }
}

/// Tests read the command's JSON through `documents`, which checks it against its schema.
#[test]
fn no_test_reads_a_document_unchecked() {
    // The planted faults read what cargo prints.
    let exempt = [root().join("tests/suite/documents"), root().join("tests/suite/planted_faults")];
    for file in sources(&root().join("tests")) {
        let text = std::fs::read_to_string(&file).unwrap();
        let reads = text.contains(concat!("serde_json::", "from_"));
        let allowed = exempt.iter().any(|folder| file.starts_with(folder));
        assert!(allowed || !reads, "{} reads JSON; use documents::read", file.display());
    }
}

#[test]
fn every_paper_cited_is_declared() {
    let is_tag = |tag: &&str| {
        let letters = tag.trim_end_matches(|c: char| c.is_ascii_digit());
        tag.len() == letters.len() + 2 && letters.len() >= 2 && letters.chars().all(|c| c.is_ascii_uppercase())
    };
    let tags = |text: &str| -> BTreeSet<String> {
        let inside = text.split('[').skip(1);
        let first = inside.filter_map(|rest| rest.split([',', ']']).next());
        first.filter(is_tag).map(str::to_owned).collect()
    };
    let declared = tags(&std::fs::read_to_string(root().join("src/lib.rs")).unwrap());
    for file in all_sources() {
        for tag in tags(&std::fs::read_to_string(&file).unwrap()) {
            assert!(declared.contains(&tag), "{}: [{tag}] is not declared in src/lib.rs", file.display());
        }
    }
}

#[test]
fn only_one_file_prints() {
    let sources = all_sources().into_iter().filter(|file| !file.ends_with("src/cli/output.rs"));
    for file in sources {
        let text = std::fs::read_to_string(&file).expect("a source file");
        // The macros panic when nobody reads the output any more.
        let found = ["print!(", "println!("].iter().any(|name| text.contains(name));
        assert!(!found, "{} prints by itself; use cli::output", file.display());
    }
}

/// Files are written whole or not at all, which one file sees to. Logs grow by lines.
#[test]
fn only_one_file_writes() {
    let exceptions = ["cli/files.rs", "cli/lines.rs", "schemas/tests.rs"];
    let is_held = |file: &PathBuf| !exceptions.iter().any(|exception| file.ends_with(exception));
    let folders = ["src", "crates/palisade-report/src", "crates/palisade-exports/src"]
        .map(|folder| sources(&root().join(folder)));
    for file in folders.into_iter().flatten().filter(is_held) {
        let text = std::fs::read_to_string(&file).expect("a source file");
        let code = text.split("#[cfg(test)]").next().expect("a beginning");
        let found =
            ["fs::write", "fs::File::create", "OpenOptions", "fs::copy"].iter().find(|name| code.contains(**name));
        assert!(found.is_none(), "{} writes files by itself; use cli::files", file.display());
    }
}
