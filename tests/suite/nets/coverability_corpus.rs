//! The nets of the literature and those of replicated programs: `auto` and every strategy, never
//! wrong, all evidence checked. Needs `PALISADE_CORPUS`; with `PALISADE_FULL_TESTS` the limits per
//! net are those of a benchmark.

use crate::checked::solve;
use crate::environment::{corpus, is_long_run};
use palisade::coverability::{Options, Outcome, strategies};
use palisade::limits::Limits;
use palisade::net::Problem;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The nets of a folder with their expected answers: whether the target can be covered, where that
/// is known.
fn nets(folder: &Path) -> Vec<(PathBuf, Option<bool>)> {
    let table = std::fs::read_to_string(folder.join("expected.tsv")).expect("the folder says what it expects");
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let expected = match cells[cells.len() - 1] {
            "safe" => Some(false),
            "unsafe" => Some(true),
            _ => None,
        };
        (folder.join(cells[0]), expected)
    };
    table.lines().skip(1).map(row).collect()
}

/// The answer of a strategy in so many seconds, its evidence checked.
fn answer(problem: &Problem, strategy: &'static str, seconds: f64) -> Option<bool> {
    let limits = Limits::none().with_timeout(Duration::from_secs_f64(seconds)).with_memory(4 << 30);
    let options = Options { strategy: Some(strategy), limits, ..Options::default() };
    match solve(problem, &options).outcome {
        Outcome::Coverable(_) => Some(true),
        Outcome::Uncoverable(_) => Some(false),
        Outcome::Unknown(_) => None,
    }
}

/// Asks strategies about all nets of a folder smaller than a size in bytes; they may not know, but
/// not be wrong.
fn check_folder(folder: &str, names: &[&'static str], seconds: f64, largest: u64) -> (usize, usize) {
    let folder = corpus().join(folder);
    let (mut answered, mut asked) = (0, 0);
    for (file, expected) in nets(&folder) {
        let bytes = std::fs::read(&file).expect("the net can be read");
        if bytes.len() as u64 > largest && !is_long_run() {
            continue;
        }
        let problem = palisade::net::read(&file.to_string_lossy(), &bytes, None).expect("the net is well formed");
        for name in names {
            asked += 1;
            let own = answer(&problem, name, seconds);
            answered += usize::from(own.is_some());
            if let (Some(own), Some(expected)) = (own, expected) {
                assert_eq!(own, expected, "{name}, {}", file.display());
            }
        }
    }
    (answered, asked)
}

#[needs::variable("PALISADE_CORPUS")]
#[test]
fn auto_answers_the_nets_of_the_literature() {
    let (answered, asked) = check_folder("coverability", &["auto"], 20.0, 100_000);
    assert_eq!(answered, asked);
}

#[needs::variable("PALISADE_CORPUS")]
#[test]
fn auto_answers_the_nets_of_replicated_programs() {
    let (answered, asked) = check_folder("anynumber-nets", &["auto"], 20.0, 20_000);
    assert_eq!(answered, asked);
}

#[needs::variable("PALISADE_CORPUS")]
#[test]
fn no_strategy_is_wrong() {
    let names: Vec<&'static str> = strategies().iter().map(|strategy| strategy.name()).collect();
    let (seconds, largest) = if is_long_run() { (5.0, u64::MAX) } else { (0.03, 13_000) };
    for folder in ["coverability", "anynumber-nets"] {
        check_folder(folder, &names, seconds, largest);
    }
}
