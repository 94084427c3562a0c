//! Verdicts on the public Trencher programs: fixed copies, any number, the same for every number of
//! jobs; all evidence checked.

use crate::checked::check;
use crate::environment::{corpus, sample};
use palisade::program::{Copies, Domain, DomainOrigin, Program};
use palisade::robustness::{Check, CheckOptions, Verdict, certificate};
use palisade::syntax::{self, Format};
use std::path::PathBuf;

/// A row of `expected.tsv`.
struct Expected {
    file: PathBuf,
    /// With the copies of the file, each thread twice, three times; none where the peer had no
    /// answer.
    robust: [Option<bool>; 3],
}

/// The programs with their expected verdicts.
fn expected_verdicts() -> Vec<Expected> {
    let folder = corpus().join("trencher");
    let table = std::fs::read_to_string(folder.join("expected.tsv")).expect("the corpus has its expected answers");
    let verdict = |word: &str| match word {
        "robust" => Some(true),
        "not-robust" => Some(false),
        _ => None,
    };
    table
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split('\t').collect();
            Expected { file: folder.join(cells[0]), robust: [verdict(cells[1]), verdict(cells[3]), verdict(cells[4])] }
        })
        .collect()
}

fn read(expected: &Expected) -> Program {
    let source = syntax::read_text(&expected.file.display().to_string()).expect("the file can be read");
    let mut program = syntax::parse(source, Format::Trencher).expect("the file parses").program;
    syntax::check(&mut program).expect("the program is in order");
    program
}

fn with_copies(program: &Program, copies: Copies) -> Program {
    let mut program = program.clone();
    program.threads.iter_mut().for_each(|thread| thread.copies = copies);
    program
}

/// The answer; nothing where values grow.
fn decide<'p>(program: &'p Program, name: &str) -> Option<Check<'p>> {
    let checked = check(program, &CheckOptions::default()).ok()?;
    assert!(!matches!(checked.verdict, Verdict::Unknown(_)), "{name}");
    Some(checked)
}

/// The answer, in a domain that wraps where values grow without one.
fn decide_or_wrap(program: &Program, name: &str) -> (bool, Vec<u64>) {
    let outcome = |checked: Check<'_>| {
        let instance = checked.violation.map(|violation| violation.instance.counts().to_vec()).unwrap_or_default();
        (checked.verdict == Verdict::Robust, instance)
    };
    if let Some(checked) = decide(program, name) {
        return outcome(checked);
    }
    let mut wrapped = program.clone();
    wrapped.domain = Some(Domain { low: 0, high: 7, wrap: true, origin: DomainOrigin::Option });
    outcome(decide(&wrapped, name).unwrap_or_else(|| panic!("{name}: no answer even in a domain that wraps")))
}

#[needs::variable("PALISADE_CORPUS")]
#[test]
fn fixed_copies_as_expected() {
    for expected in expected_verdicts() {
        let name = expected.file.display().to_string();
        let (robust, _) = decide_or_wrap(&read(&expected), &name);
        if let Some(wanted) = expected.robust[0] {
            assert_eq!(robust, wanted, "{name}");
        }
    }
}

#[needs::variable("PALISADE_CORPUS")]
#[test]
fn any_number_of_copies() {
    for expected in sample(expected_verdicts(), 3) {
        let name = expected.file.display().to_string();
        let program = read(&expected);
        let (robust, instance) = decide_or_wrap(&with_copies(&program, Copies::Any), &name);
        if expected.robust.contains(&Some(false)) {
            assert!(!robust, "{name} is not robust with few copies");
        }
        if !robust {
            // The instance named by the witness is not robust as a fixed program.
            let mut fixed = program;
            for (thread, count) in fixed.threads.iter_mut().zip(instance) {
                thread.copies = Copies::Exactly(count);
            }
            assert!(!decide_or_wrap(&fixed, &name).0, "{name}");
        }
    }
}

#[needs::variable("PALISADE_CORPUS")]
#[test]
fn the_number_of_jobs_changes_nothing() {
    let answers = |jobs: usize| -> Vec<String> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build().expect("a pool of threads");
        pool.install(|| {
            expected_verdicts()
                .iter()
                .map(|expected| {
                    let program = read(expected);
                    let checked = check(&program, &CheckOptions { all: true, ..CheckOptions::default() });
                    checked.map_or_else(
                        |fault| fault.describe(&program),
                        |checked| {
                            let outcomes: Vec<_> =
                                checked.attacks.iter().map(|report| (report.outcome, report.markings)).collect();
                            let steps = checked.violation.as_ref().map(|violation| violation.steps.clone());
                            let evidence = certificate(&program, &checked);
                            format!("{:?} {outcomes:?} {steps:?} {evidence:?}", checked.verdict)
                        },
                    )
                })
                .collect()
        })
    };
    assert!(answers(1) == answers(4), "answers or evidence depend on the number of jobs");
}
