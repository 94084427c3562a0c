//! All attacks as one question: the verdict is that of the search that asks store by store, and its
//! evidence is accepted.

use crate::checked::check;
use crate::environment::{corpus, is_long_run};
use palisade::cli::ProgramOptions;
use palisade::limits::Limits;
use palisade::program::Program;
use palisade::robustness::{CheckOptions, Verdict};
use palisade::semantics::random::{self, Shape};
use palisade::syntax::{self, Format};
use rayon::prelude::*;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn one_query() -> CheckOptions {
    CheckOptions { one_query: true, ..CheckOptions::default() }
}

/// Compares the verdicts, and those of several programs as counts: robust, not robust, no answer.
fn compare(name: &str, program: &Program, limits: &Limits, counts: &[AtomicUsize; 3]) {
    let usual = check(program, &CheckOptions { limits: limits.clone(), ..CheckOptions::default() });
    let other = check(program, &CheckOptions { limits: limits.clone(), ..one_query() });
    let class = match (usual.map(|check| check.verdict), other.map(|check| check.verdict)) {
        // Without nets, and with each store's attackers in one set, more time may be needed.
        (_, Ok(Verdict::Unknown(_))) | (Ok(Verdict::Unknown(_)), _) => 2,
        (Ok(usual), Ok(other)) => {
            assert_eq!(usual, other, "{name}\n{program:#?}");
            usize::from(usual == Verdict::NotRobust)
        }
        (Err(_), Err(_)) => 2,
        // Where values grow, a violation may be found by one of them.
        (Ok(Verdict::NotRobust), Err(fault)) | (Err(fault), Ok(Verdict::NotRobust)) if fault.is_growth() => 2,
        (usual, other) => panic!("{name}: {usual:?}, but in one query {other:?}\n{program:#?}"),
    };
    counts[class].fetch_add(1, Ordering::Relaxed);
}

fn counted(counts: &[AtomicUsize; 3]) -> [usize; 3] {
    std::array::from_fn(|index| counts[index].load(Ordering::Relaxed))
}

#[test]
fn random_programs_have_the_same_verdict() {
    let shape = Shape { labels: 5, total_labels: 9, overtaken: 90, fences: 4, ..Shape::default() };
    let shapes = [
        shape.clone(),
        Shape { sections: 60, rmws: 15, ..shape.clone() },
        Shape { domains: 100, loops: 25, labels: 4, ..shape.clone() },
        Shape { domains: 100, any: 60, copies: 2, labels: 4, total_labels: 6, ..shape },
    ];
    let counts: [AtomicUsize; 3] = Default::default();
    (0..if is_long_run() { 20_000 } else { 400 }).into_par_iter().for_each(|seed: u64| {
        let program =
            random::program(4_000_000 + seed, &shapes[usize::try_from(seed).expect("few seeds") % shapes.len()]);
        let limits = Limits::none().with_timeout(Duration::from_secs(20));
        compare(&format!("seed {seed}"), &program, &limits, &counts);
    });
    let [robust, violated, open] = counted(&counts);
    println!("{robust} robust, {violated} not robust, {open} without an answer");
    assert!(robust > 100 && violated > 50 && open * 10 < robust, "{counts:?}");
}

#[test]
fn models_have_the_same_verdict() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let counts: [AtomicUsize; 3] = Default::default();
    for name in
        ["dekker", "dekker-fenced", "peterson-fenced", "simple-dekker", "ticket-lock", "seqlock", "parker", "nbw"]
    {
        let file = folder.join(format!("{name}.pal"));
        let program = ProgramOptions::default().read(file.to_str().unwrap()).expect("a model").program;
        compare(name, &program, &Limits::none().with_timeout(Duration::from_mins(1)), &counts);
    }
    assert_eq!(counted(&counts)[2], 0, "{counts:?}");
}

#[needs::variable("PALISADE_CORPUS")]
#[test]
fn the_trencher_programs_have_the_same_verdict() {
    let folder = corpus().join("trencher");
    let table = std::fs::read_to_string(folder.join("expected.tsv")).expect("the corpus has its expected answers");
    let files: Vec<&str> = table.lines().skip(1).filter_map(|line| line.split('\t').next()).collect();
    let counts: [AtomicUsize; 3] = Default::default();
    files.par_iter().for_each(|file| {
        let source = syntax::read_text(&folder.join(file).display().to_string()).expect("the file can be read");
        let mut program = syntax::parse(source, Format::Trencher).expect("the file parses").program;
        syntax::check(&mut program).expect("the program is in order");
        compare(file, &program, &Limits::none().with_timeout(Duration::from_secs(30)), &counts);
    });
    let [robust, violated, open] = counted(&counts);
    println!("{robust} robust, {violated} not robust, {open} without an answer");
    assert!(open * 4 < robust + violated, "{counts:?}");
}
