//! The models of event-driven programs have the verdicts that their header lines say
//! (models/events/README.md explains them), and brute force agrees.

use crate::checked::{check_concurrency, check_tasks};
use palisade::concurrency::{ConcurrencyOptions, ConcurrencyVerdict};
use palisade::evidence::ConcurrencyReason;
use palisade::program::{Copies, CopiesOverride, Posts, Program, SourceText};
use palisade::robustness::{Verdict, two_threads};
use palisade::semantics::tasks::oracle::{Kind, TaskBounds, concurrency, tso};
use palisade::syntax::{Format, read};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A model with what its header expects.
struct Model {
    name: String,
    path: PathBuf,
    program: Program,
    /// The question, the counts of events, and the answer.
    expected: Vec<(String, String, String)>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models/events")
}

fn models() -> Vec<Model> {
    let entries = std::fs::read_dir(folder()).expect("the models' folder can be read");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|it| it == "pal")).collect();
    paths.sort();
    paths.into_iter().map(model).collect()
}

fn model(path: PathBuf) -> Model {
    let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
    let text = std::fs::read_to_string(&path).expect("it can be read");
    let expected = text.lines().filter_map(|line| line.strip_prefix("# expect ")).map(|line| {
        let (question, answer) = line.split_once(": ").unwrap_or_else(|| panic!("{name}: `{line}`"));
        let (words, counts) = match question.rsplit_once(' ') {
            Some((words, counts)) if counts.contains('=') => (words, counts),
            _ => (question, ""),
        };
        (words.to_owned(), counts.to_owned(), answer.to_owned())
    });
    let expected: Vec<_> = expected.collect();
    let program = read(SourceText::new(name.as_str(), text.as_str()), Format::Native);
    let program = program.unwrap_or_else(|error| panic!("{name}: {error:?}")).program;
    Model { name, path, program, expected }
}

impl Model {
    fn with(&self, counts: &str) -> Program {
        let mut program = self.program.clone();
        let overrides: Vec<CopiesOverride> =
            counts.split_terminator(',').map(|count| count.parse().expect("counts of events")).collect();
        program.override_events(&overrides).expect("the events are there");
        program
    }
}

fn bounds() -> TaskBounds {
    TaskBounds { configurations: 1_000_000, ..TaskBounds::default() }
}

fn is_fixed(program: &Program) -> bool {
    program.threads.iter().all(|thread| thread.copies != Copies::Any)
}

fn against_concurrency(program: &Program) -> String {
    let checked = check_concurrency(program, &ConcurrencyOptions::default()).expect("no value grows");
    match checked.verdict {
        ConcurrencyVerdict::Robust(_) => "robust".to_owned(),
        ConcurrencyVerdict::NotRobust(violation) => match violation.witness.reason {
            ConcurrencyReason::Serializability(_) => "not-robust serializability".to_owned(),
            ConcurrencyReason::Determinism(..) => "not-robust determinism".to_owned(),
        },
        other => panic!("{other:?}"),
    }
}

fn against_tso(program: &Program) -> &'static str {
    match check_tasks(program, 64).expect("no value grows").verdict {
        Verdict::Robust => "robust",
        Verdict::NotRobust => "not-robust",
        Verdict::Unknown(reason) => panic!("{reason}"),
    }
}

fn word(is_robust: bool) -> &'static str {
    if is_robust { "robust" } else { "not-robust" }
}

fn posts(word: &str) -> Posts {
    if word == "plain" { Posts::Plain } else { Posts::Drain }
}

#[test]
fn models_have_their_verdicts() {
    let (mut asked, mut by_force) = (0, 0);
    for model in models() {
        for (question, counts, expected) in &model.expected {
            let mut program = model.with(counts);
            let where_ = format!("{}: {question} {counts}", model.name);
            let kinds = [Kind::Serializability, Kind::Determinism];
            match question.split(' ').collect::<Vec<_>>()[..] {
                ["concurrency"] => {
                    assert_eq!(against_concurrency(&program), *expected, "{where_}");
                    if is_fixed(&program) {
                        let answer = concurrency(&program, &kinds, &bounds()).expect("the models are small");
                        assert!(expected.starts_with(word(answer.is_robust())), "{where_}, by force");
                        by_force += 1;
                    }
                }
                ["tso", kind] => {
                    program.posts = posts(kind);
                    assert_eq!(against_tso(&program), expected, "{where_}");
                    if is_fixed(&program) {
                        let answer = tso(&program, &bounds()).expect("the models are small");
                        assert_eq!(word(answer.is_robust()), expected, "{where_}, by force");
                        by_force += 1;
                    }
                }
                ["two-threads", kind] => {
                    program.posts = posts(kind);
                    let two = two_threads(&program).expect("no task posts itself");
                    assert_eq!(against_tso(&two), expected, "{where_}");
                }
                ["fences"] => {
                    let run = Command::new(env!("CARGO_BIN_EXE_palisade"))
                        .args(["fences", "--json"])
                        .arg(&model.path)
                        .output();
                    let document = crate::documents::read(&run.expect("the command runs").stdout);
                    let fences = document["fences"].as_array().expect("there are fences").len();
                    assert_eq!(
                        (fences.to_string(), &document["evidence"]),
                        (expected.clone(), &"accepted".into()),
                        "{where_}"
                    );
                }
                _ => panic!("{where_} is not known"),
            }
            asked += 1;
        }
        assert!(model.expected.iter().any(|it| it.0 == "concurrency"), "{}", model.name);
        assert!(model.expected.iter().any(|it| it.0.starts_with("tso")), "{}", model.name);
    }
    assert!(asked >= 80 && by_force >= 30, "{asked} questions, {by_force} by force");
}

/// The table of the page about the models lists them all, with what the headers say.
#[test]
fn the_table_is_up_to_date() {
    let page = std::fs::read_to_string(folder().join("README.md")).expect("the page can be read");
    for model in models() {
        let row = page.lines().find(|line| line.starts_with(&format!("| [{}]({}.pal) |", model.name, model.name)));
        let row = row.unwrap_or_else(|| panic!("no row for {}", model.name));
        let answer = |question: &str| {
            let found = model.expected.iter().find(|it| it.0 == question);
            found.map_or("–".to_owned(), |it| it.2.clone())
        };
        let cells = format!("| {} | {} | {} |", answer("concurrency"), answer("tso drain"), answer("tso plain"));
        assert!(row.ends_with(&cells), "{row}\nends not with\n{cells}");
    }
}
