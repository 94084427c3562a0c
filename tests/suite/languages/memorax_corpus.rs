//! Memorax's examples: what its engines say about them, and what simulation says here.

use crate::environment::{corpus, is_long_run, sample};
use palisade::limits::Limits;
use palisade::program::Program;
use palisade::semantics::{ExplorationError, FinalStates, Instance, Model, explore_final_states};
use palisade::syntax::{Diagnostic, Format, read};
use palisade::text::SourceText;
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn folder() -> PathBuf {
    corpus().join("memorax")
}

/// A row of the table: a file, and for SC, TSO and PSO whether the forbidden states are reached,
/// where that is known.
struct Expected {
    file: String,
    reached: [Option<bool>; 3],
}

fn table() -> Vec<Expected> {
    let table = std::fs::read_to_string(folder().join("expected.tsv")).expect("the corpus has a table");
    let mut lines = table.lines().map(|line| line.split('\t').collect::<Vec<&str>>());
    let header = lines.next().expect("the table has a header");
    assert_eq!(header[..4], ["file", "sc", "tso", "pso"]);
    let word = |word: &str| match word {
        "reachable" => Some(true),
        "unreachable" => Some(false),
        _ => None,
    };
    let row =
        |fields: Vec<&str>| Expected { file: fields[0].to_owned(), reached: [1, 2, 3].map(|at| word(fields[at])) };
    let rows: Vec<Expected> = lines.map(row).collect();
    assert!(rows.len() >= 39, "the table is whole");
    rows
}

fn parsed(file: &Path) -> Result<Program, Vec<Diagnostic>> {
    let text = std::fs::read_to_string(file).expect("a file of the corpus");
    read(SourceText::new(file.display().to_string(), text), Format::Memorax).map(|parsed| parsed.program)
}

/// A block that reads several variables at one moment past its own buffer is the only thing that is
/// not understood.
#[needs::variable("PALISADE_CORPUS")]
#[test]
fn every_file_is_read() {
    for Expected { file, .. } in table() {
        match parsed(&folder().join(&file)) {
            Ok(program) => assert!(!program.never.is_empty(), "{file}"),
            Err(errors) => {
                assert_eq!(file, "cubicle-w/mutex_3_us.rmm", "{errors:?}");
                assert!(errors.iter().all(|error| error.message.contains("at one moment")), "{errors:?}");
            }
        }
    }
}

/// Whether the forbidden states are reached; nothing where the time does not suffice or buffers are
/// too small to tell.
fn reached(program: &Program, model: Model, seconds: u64) -> Option<bool> {
    let instance = Instance::of(program).expect("fixed copies");
    let mut buffer = 2;
    let limits = Limits::none().with_timeout(Duration::from_secs(seconds));
    loop {
        let mut found = FinalStates::default();
        match explore_final_states(program, &instance, model, buffer, &limits, &mut found) {
            _ if !found.joint.is_empty() => return Some(true),
            Ok(()) if !found.buffers_filled => return Some(false),
            Ok(()) if buffer < 16 => buffer *= 2,
            Ok(()) | Err(ExplorationError::Stopped(_)) => return None,
            Err(error) => panic!("{}: {error}", program.source.name),
        }
    }
}

/// What is answered in the time there is, is answered as the table says.
#[needs::variable("PALISADE_CORPUS")]
#[test]
fn simulation_says_what_the_table_says() {
    let seconds = if is_long_run() { 120 } else { 1 };
    let rows = sample(table(), 6);
    let objections: Vec<String> = rows
        .par_iter()
        .flat_map_iter(|row| {
            let Ok(program) = parsed(&folder().join(&row.file)) else { return Vec::new() };
            let models = [Model::Sc, Model::Tso, Model::Pso].into_iter().zip(row.reached);
            let object = |(model, expected): (Model, Option<bool>)| {
                let begin = Instant::now();
                let answer = reached(&program, model, seconds);
                println!("{}\t{model:?}\t{answer:?}\t{expected:?}\t{:.2}", row.file, begin.elapsed().as_secs_f64());
                let differs = answer.is_some() && expected.is_some() && answer != expected;
                differs.then(|| format!("{} under {model:?}: {answer:?}, not {expected:?}", row.file))
            };
            models.filter_map(object).collect()
        })
        .collect();
    assert!(objections.is_empty(), "{objections:#?}");
}
