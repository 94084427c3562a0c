//! Robustness against C11 and release/acquire: the verdicts of the shipped models with orderings,
//! and those of Rocker's programs.

use crate::checked::check_language;
use crate::documents;
use crate::environment::{corpus, is_long_run};
use palisade::cli::ProgramOptions;
use palisade::limits::Limits;
use palisade::robustness::StaleVerdict;
use palisade::semantics::graphs::Axioms;
use rayon::prelude::*;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What `palisade check --model c11` says of a model, in the words of its header.
fn verdict(path: &Path, threads: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.args(["check", "--model", "c11", "--json", "--verify"]).arg(path);
    if !threads.is_empty() {
        command.args(["--threads", threads]);
    }
    let output = command.output().expect("it runs");
    let document = documents::read(&output.stdout);
    let answers = document["answers"].as_array().expect("there are answers");
    let of = |ask: &str| -> Vec<&Value> { answers.iter().filter(|answer| answer["ask"] == ask).collect() };
    for answer in answers.iter().filter(|answer| answer["verdict"] != "unknown") {
        assert_eq!(answer["evidence"]["verdict"], "accepted", "{}: {answer}", path.display());
    }
    let robustness = of("robustness")[0];
    let words = match robustness["verdict"].as_str() {
        Some("holds") => "robust",
        Some("violated") if robustness["phrase"].as_str().is_some_and(|phrase| phrase.ends_with(": a race")) => "racy",
        Some("violated") => "not-robust",
        _ => "unknown",
    };
    let properties = of("properties");
    let some = |word: &str| properties.iter().any(|answer| answer["verdict"] == word);
    match ["violated", "unknown", "holds"].into_iter().find(|word| some(word)) {
        Some(word) => format!("{words}, properties {word}"),
        None => words.to_owned(),
    }
}

#[test]
fn models_with_orderings_have_the_verdicts_of_their_headers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/c11");
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let paths: Vec<PathBuf> = entries.collect();
    assert!(paths.len() >= 35, "{}", paths.len());
    paths.par_iter().for_each(|path| {
        let text = std::fs::read_to_string(path).expect("the model can be read");
        let mut expected = 0;
        for line in text.lines().filter_map(|line| line.strip_prefix("# expect ")) {
            let (what, wanted) = line.split_once(": ").unwrap_or_else(|| panic!("malformed line `{line}`"));
            let threads = what.strip_prefix("c11").unwrap_or_else(|| panic!("malformed line `{line}`")).trim();
            assert_eq!(verdict(path, threads), wanted, "{} {threads}", path.display());
            expected += 1;
        }
        assert!(expected > 0, "{} states no verdict", path.display());
    });
}

/// What `palisade orderings` makes of a model, in the words of its last lines: the places that can
/// be weaker together.
fn weakest(path: &Path) -> Option<String> {
    let command = &mut Command::new(env!("CARGO_BIN_EXE_palisade"));
    let output = command.args(["orderings", "--json"]).arg(path).output().expect("it runs");
    let document = documents::read(&output.stdout);
    if document["verdict"] != "robust" {
        return None;
    }
    assert_eq!((&document["evidence"], &document["optimal"]), (&"accepted".into(), &true.into()), "{}", path.display());
    let places = document["places"].as_array().expect("places").iter();
    let weaker = places.filter(|place| place["together"] != place["ordering"]).map(|place| {
        let ordering = place["together"].as_str().expect("an ordering");
        format!("line {} {ordering}", place["line"])
    });
    let weaker: Vec<String> = weaker.collect();
    Some(if weaker.is_empty() { "as stated".to_owned() } else { weaker.join(", ") })
}

#[test]
fn models_have_the_weakest_orderings_that_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/c11");
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let paths: Vec<PathBuf> = entries.collect();
    let found: Vec<bool> = paths
        .par_iter()
        .map(|path| {
            let text = std::fs::read_to_string(path).expect("the model can be read");
            let stated = text.lines().find_map(|line| line.strip_prefix("# weakest: ")).map(str::to_owned);
            assert_eq!(weakest(path), stated, "{}", path.display());
            stated.is_some()
        })
        .collect();
    assert!(found.iter().filter(|is_robust| **is_robust).count() >= 25, "{found:?}");
}

/// Programs whose answers take more than about a second, by what their names have in them. By
/// default they are left out.
const SLOW: [&str; 11] = [
    "chase-lev",
    "lamport2-3",
    "rcu-offline",
    "seqlock-ra",
    "rcu.tpl",
    "flags_rat.tpl",
    "cilk-the-wsq-tso",
    "arc.tpl",
    "ticketlock4",
    "nbw-w-lr-rl",
    "spinlock4-rlx",
];

/// Rocker's programs have the published verdicts. A race counts as not robust there.
#[needs::variable("PALISADE_CORPUS")]
#[test]
fn programs_of_rocker() {
    let root = corpus().join("rocker");
    let table = std::fs::read_to_string(root.join("expected.tsv")).expect("the corpus has a table");
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|row| row.split('\t').collect()).collect();
    let is_asked = |row: &&Vec<&str>| is_long_run() || !SLOW.iter().any(|slow| row[0].contains(slow));
    let decided: usize = rows
        .par_iter()
        .filter(is_asked)
        .map(|row| {
            let (file, expected) = (row[0], row[2]);
            let axioms = if row[1] == "ra" { Axioms::Ra } else { Axioms::C11 };
            let path = root.join(file);
            let loaded = ProgramOptions::default().read(path.to_str().expect("a plain path"));
            let loaded = loaded.unwrap_or_else(|error| panic!("{}", error.render(false)));
            let limits = Limits::none().with_timeout(Duration::from_secs(120));
            let check = check_language(&loaded.program, axioms, &limits).expect("no value grows");
            match check.verdict {
                StaleVerdict::Robust => assert_eq!(expected, "robust", "{file} {axioms:?}"),
                StaleVerdict::NotRobust | StaleVerdict::Racy => assert_eq!(expected, "not-robust", "{file} {axioms:?}"),
                StaleVerdict::RestsOnUnknown => panic!("{file}: all orderings are known"),
                StaleVerdict::Unknown(reason) => {
                    assert!(SLOW.iter().any(|slow| file.contains(slow)), "{file} {axioms:?}: {reason}");
                    return 0;
                }
            }
            1
        })
        .sum();
    assert!(decided >= 160, "{decided} of {} rows", rows.len());
}
