//! The house as ARCHITECTURE.md draws it, held to the code: which room uses which, and which papers are cited.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What a room may use: rooms above it, some of them or all.
enum Uses {
    Only(&'static [&'static str]),
    AllAbove,
}
use Uses::{AllAbove, Only};

/// Every room with the rooms it may use, top to bottom.
const ROOMS: &[(&str, Uses)] = &[
    ("limits", AllAbove),
    ("program", Only(&[])),
    ("semantics", AllAbove),
    ("syntax", AllAbove),
    ("net", Only(&["limits", "program"])),
    ("evidence", Only(&["program", "semantics", "net"])),
    ("verify", Only(&["limits", "program", "semantics", "net", "evidence"])),
    ("coverability", Only(&["limits", "net", "evidence", "verify"])),
    ("robustness", Only(&["limits", "program", "semantics", "net", "evidence", "verify", "coverability"])),
    ("fences", AllAbove),
    ("report", AllAbove),
    ("cli", AllAbove),
];

/// The rooms that the one with a number may use.
fn allowed(room: usize) -> Vec<&'static str> {
    match ROOMS[room].1 {
        Only(rooms) => rooms.to_vec(),
        AllAbove => ROOMS[..room].iter().map(|(above, _)| *above).collect(),
    }
}

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

/// The room a file belongs to: its first folder under `src`, or its own name there.
fn room_of(file: &Path) -> String {
    let inside = file.strip_prefix(root().join("src")).unwrap();
    let first = inside.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
    first.strip_suffix(".rs").map_or(first.clone(), str::to_owned)
}

/// The rooms that a text names in paths `crate::room`, comments left out.
fn rooms_used(text: &str) -> BTreeSet<String> {
    let code = text.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n");
    let mut used = BTreeSet::new();
    for (start, _) in code.match_indices("crate::") {
        let rest = &code[start + "crate::".len()..];
        if let Some(group) = rest.strip_prefix('{') {
            let group = &group[..group.find("};").unwrap_or(group.len())];
            used.extend(ROOMS.iter().map(|(room, _)| (*room).to_owned()).filter(|room| names(group, room)));
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
    for file in sources(&root().join("src")) {
        let room = room_of(&file);
        if room == "lib" || room == "main" {
            continue;
        }
        let Some(number) = ROOMS.iter().position(|(name, _)| *name == room) else {
            panic!("{} is in no room of the table", file.display());
        };
        let allowed = allowed(number);
        for used in rooms_used(&std::fs::read_to_string(&file).unwrap()) {
            let is_room = ROOMS.iter().any(|(name, _)| *name == used);
            if is_room && used != room && !allowed.contains(&used.as_str()) {
                trespasses.push(format!("{}: {room} may not use {used}", file.display()));
            }
        }
    }
    assert!(trespasses.is_empty(), "{}", trespasses.join("\n"));
}

#[test]
fn rooms_may_use_only_rooms_above_them() {
    for (index, (room, _)) in ROOMS.iter().enumerate() {
        for used in allowed(index) {
            assert!(ROOMS[..index].iter().any(|(above, _)| *above == used), "{room} is above {used}");
        }
    }
}

#[test]
fn the_document_draws_the_same_house() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let drawn: Vec<String> = text
        .lines()
        .filter(|line| line.starts_with("| `"))
        .flat_map(|line| {
            let first = line.split('|').nth(1).unwrap();
            first
                .split(',')
                .map(|name| name.trim().trim_matches('`').trim_end_matches('/').to_owned())
                .collect::<Vec<_>>()
        })
        .collect();
    let rooms: Vec<String> = ROOMS.iter().map(|(room, _)| (*room).to_owned()).collect();
    assert_eq!(drawn, rooms, "ARCHITECTURE.md against the table of this test");
}

#[test]
fn every_file_opens_with_a_sentence() {
    for folder in ["src", "tests"] {
        for file in sources(&root().join(folder)) {
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(text.starts_with("//! "), "{} does not say what it is", file.display());
        }
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
        for (room, name) in [("robustness", "check"), ("coverability", "solve")] {
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
    for file in sources(&root().join("src")) {
        for tag in tags(&std::fs::read_to_string(&file).unwrap()) {
            assert!(declared.contains(&tag), "{}: [{tag}] is not declared in src/lib.rs", file.display());
        }
    }
}

#[test]
fn only_one_file_prints() {
    let sources = sources(&root().join("src")).into_iter().filter(|file| !file.ends_with("cli/output.rs"));
    for file in sources {
        let text = std::fs::read_to_string(&file).expect("a source file");
        // The macros panic when nobody reads the output any more.
        let found = ["print!(", "println!("].iter().any(|name| text.contains(name));
        assert!(!found, "{} prints by itself; use cli::output", file.display());
    }
}
