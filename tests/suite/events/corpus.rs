//! Event-driven programs with published or brute-forced verdicts: robustness against concurrency,
//! for the counts of the file and for any number.

use crate::checked::check_concurrency;
use crate::environment::corpus;
use palisade::concurrency::{ConcurrencyCheck, ConcurrencyOptions, ConcurrencyVerdict};
use palisade::evidence::{ConcurrencyReason, Evidence, ProgramSubject};
use palisade::program::{CopiesOverride, Program, SourceText};
use palisade::syntax::{Format, parse, print, read};
use palisade::verify::check_program_evidence;

/// A line of the table.
struct Row {
    file: String,
    events: String,
    concurrency: String,
    kinds: String,
    any: String,
    instance: String,
}

fn rows() -> Vec<Row> {
    let table = std::fs::read_to_string(corpus().join("events/expected.tsv")).expect("the table is there");
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().expect("a header").split('\t').collect();
    let columns = ["file", "events", "concurrency", "kinds", "concurrency_any", "instance_any"];
    let places = columns.map(|name| header.iter().position(|column| *column == name).expect("the column is there"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let [file, events, concurrency, kinds, any, instance] = places.map(|place| cells[place].to_owned());
        Row { file, events, concurrency, kinds, any, instance }
    };
    lines.map(row).collect()
}

fn program(file: &str) -> Program {
    let text = std::fs::read_to_string(corpus().join("events").join(file)).expect("the program is there");
    read(SourceText::new(file, text), Format::Native).expect("it is read").program
}

/// The program with counts of events as the table gives them; other events do not occur.
fn with_counts(program: &Program, counts: &str) -> Program {
    let mut program = program.clone();
    let overrides = counts.split(',').map(|text| text.parse::<CopiesOverride>().expect("a count"));
    let none: CopiesOverride = "all=0".parse().expect("a count");
    let overrides: Vec<CopiesOverride> = std::iter::once(none).chain(overrides).collect();
    program.override_events(&overrides).expect("the events are there");
    program
}

/// The verdict, verified, and its evidence verified again after it has been written and read.
fn checked(program: &Program) -> ConcurrencyCheck {
    let checked = check_concurrency(program, &ConcurrencyOptions::default()).expect("no value grows");
    let subject = ProgramSubject::of(program, "native", &[]);
    let evidence = match &checked.verdict {
        ConcurrencyVerdict::Robust(certificate) => Evidence::ConcurrencyRobust(subject, certificate.clone()),
        ConcurrencyVerdict::NotRobust(violation) => Evidence::NotConcurrencyRobust(subject, violation.witness.clone()),
        _ => panic!("small programs have a verdict"),
    };
    let reread = Evidence::read(evidence.to_text().as_bytes()).expect("evidence is read");
    assert_eq!(reread, evidence);
    check_program_evidence(program, &reread).expect("evidence is accepted");
    checked
}

fn word(check: &ConcurrencyCheck) -> &'static str {
    match check.verdict {
        ConcurrencyVerdict::Robust(_) => "robust",
        ConcurrencyVerdict::NotRobust(_) => "not-robust",
        _ => "unknown",
    }
}

#[needs::variable("PALISADE_CORPUS")]
#[test]
fn the_counts_of_the_file() {
    for row in rows() {
        let found = checked(&with_counts(&program(&row.file), &row.events));
        assert_eq!(word(&found), row.concurrency, "{}", row.file);
        if let ConcurrencyVerdict::NotRobust(violation) = &found.verdict {
            let kind = match violation.witness.reason {
                ConcurrencyReason::Serializability(_) => "serializability",
                ConcurrencyReason::Determinism(..) => "determinism",
            };
            assert!(row.kinds.split('+').any(|known| known == kind), "{}: {kind}, not {}", row.file, row.kinds);
        }
    }
}

#[needs::variable("PALISADE_CORPUS")]
#[test]
fn any_number_of_events() {
    for row in rows() {
        let file = program(&row.file);
        let events: Vec<String> = file.events().map(|(_, event)| format!("{}=*", event.name)).collect();
        assert_eq!(word(&checked(&with_counts(&file, &events.join(",")))), row.any, "{}", row.file);
        if row.instance != "-" {
            assert_eq!(word(&checked(&with_counts(&file, &row.instance))), "not-robust", "{}", row.file);
        }
    }
}

#[needs::variable("PALISADE_CORPUS")]
#[test]
fn programs_survive_printing() {
    for row in rows() {
        let first = program(&row.file);
        let printed = print(&first, Format::Native).expect("the language says it all").text;
        let second =
            parse(SourceText::new("printed.pal", printed.clone()), Format::Native).expect("it is read").program;
        let again = print(&second, Format::Native).expect("the language says it all").text;
        assert_eq!(printed, again, "{}", row.file);
        let found = check_concurrency(&second, &ConcurrencyOptions::default()).expect("no value grows");
        assert_eq!(word(&found), row.concurrency, "{}", row.file);
    }
}
