//! One answer for all questions: no model is refused a question that the means behind another one
//! would answer. A table names each refusal with its reason.

use crate::environment::{is_long_run, sample};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The questions by name, as the command line asks them. Each has little time: whether there is an
/// answer by then does not matter here, and a refusal comes at once.
const QUESTIONS: [(&str, &str); 15] = [
    ("properties, SC", "check --ask properties --model sc"),
    ("properties, TSO", "check --ask properties --model tso"),
    ("properties, PSO", "check --ask properties --model pso"),
    ("proof, TSO", "prove --model tso"),
    ("robustness, TSO", "check --ask robustness --model tso"),
    ("robustness, PSO", "check --ask robustness --model pso"),
    ("races", "check --ask races"),
    ("hangs, SC", "check --ask hangs --model sc"),
    ("hangs, TSO", "check --ask hangs --model tso"),
    ("hangs, PSO", "check --ask hangs --model pso"),
    ("fences", "fences"),
    ("fences, properties", "fences --ask properties"),
    ("fences, hangs", "fences --ask hangs"),
    ("states, TSO", "simulate --model tso --threads all=2"),
    ("states, all", "simulate --model sc,tso,pso --threads all=2"),
];

/// A part of what is said where questions are refused, of which models, and which questions; where
/// none is named, all are meant.
struct Refused {
    said: &'static str,
    models: &'static [&'static str],
    questions: &'static [&'static str],
}

const REFUSED: [Refused; 7] = [
    // Balances are known where interleavings, or attacks under TSO, are explored.
    Refused {
        said: " grows: it takes more than 64 values",
        models: &["arc-upgrade", "reader-count-lock"],
        questions: &["properties, PSO", "robustness, PSO", "races"],
    },
    // Indices of several producers come ever further apart.
    Refused {
        said: " grows: it takes more than 64 values",
        models: &["spsc-ring"],
        questions: &["hangs, SC", "hangs, TSO", "hangs, PSO", "fences, hangs"],
    },
    // A race is sought value by value.
    Refused { said: " grows: it takes more than 64 values", models: &["bounded-channel"], questions: &["races"] },
    // A copy may keep a key for ever while the slot's generations go on, and final states show it.
    Refused {
        said: " grows: it takes more than 64 values",
        models: &["slab-slot"],
        questions: &["states, TSO", "states, all"],
    },
    // A semaphore holds a unit for each copy that was in the text.
    Refused {
        said: " is outside the domain ",
        models: &[
            "acrn-2623",
            "acrn-2623-fixed",
            "hvisor-266",
            "hvisor-266-fixed",
            "kvmtool-virtio",
            "liburing-541",
            "liburing-541-fixed",
            "seastar-1488",
            "tokio-1788",
            "tokio-1788-fixed",
            "tokio-io-uring-197",
        ],
        questions: &["states, TSO", "states, all"],
    },
    // Under PSO a party comes through before all have arrived, and the count goes past them.
    Refused {
        said: " is outside the domain ",
        models: &["sense-barrier"],
        questions: &["robustness, PSO", "hangs, PSO", "states, all"],
    },
    Refused { said: "nothing to prove: the program has no `ensure`", models: &[], questions: &[] },
];

/// The exit status of bad input, and of an answer that the checker rejects.
const BAD_INPUT: i32 = 2;
const REJECTED: i32 = 4;

/// The models of threads without orderings, by their paths.
fn models() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let mut paths: Vec<PathBuf> = [root.clone(), root.join("hangs")]
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).expect("a folder of models"))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|it| it == "pal"))
        .collect();
    paths.sort();
    paths
}

/// Asks a question about a model; what is wrong where it is refused and no line of the table says
/// so, or where the checker rejects the answer.
fn ask(model: &Path, (question, line): (&str, &str)) -> Result<(), String> {
    let command = &mut Command::new(env!("CARGO_BIN_EXE_palisade"));
    let command = command.args(line.split(' ')).args(["--timeout", "500ms", "--jobs", "1"]).arg(model);
    let output = command.output().expect("the command starts");
    let said = [output.stderr, output.stdout].concat();
    let said = String::from_utf8_lossy(&said);
    let name = model.file_stem().expect("a name").to_string_lossy();
    let is_meant = |named: &[&str], own: &str| named.is_empty() || named.contains(&own);
    let is_expected = |refused: &Refused| {
        is_meant(refused.models, &name) && is_meant(refused.questions, question) && said.contains(refused.said)
    };
    let is_refused = output.status.code() == Some(BAD_INPUT) || said.contains(" grows: ");
    match output.status.code() {
        Some(REJECTED) => Err(format!("{name}, {question}: the checker rejects the answer")),
        _ if is_refused && !REFUSED.iter().any(is_expected) => Err(format!("{name}, {question}: {said}")),
        _ => Ok(()),
    }
}

/// By default a few of the models with counters are asked; all of them in a long run.
#[test]
fn no_question_knows_less_than_another() {
    const QUICK: [&str; 2] = ["ticket-lock", "arc-upgrade"];
    let is_asked = |path: &PathBuf| is_long_run() || QUICK.iter().any(|name| path.ends_with(format!("{name}.pal")));
    let models: Vec<PathBuf> = models().into_iter().filter(is_asked).collect();
    let cells: Vec<(&PathBuf, (&str, &str))> = models
        .iter()
        .flat_map(|model| sample(QUESTIONS.to_vec(), 3).into_iter().map(move |own| (model, own)))
        .collect();
    let wrong: Vec<String> = cells.par_iter().filter_map(|(model, question)| ask(model, *question).err()).collect();
    assert!(!cells.is_empty() && wrong.is_empty(), "of {} cells:\n{}", cells.len(), wrong.join("\n"));
}
