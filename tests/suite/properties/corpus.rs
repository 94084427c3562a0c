//! Properties of the programs of [FM15], of the shipped models and of litmus tests: answers that
//! are known otherwise.

use crate::checked::prove;
use crate::environment::corpus;
use palisade::cli::{Loaded, ProgramOptions};
use palisade::limits::Limits;
use palisade::properties::{Answer, Proof, ProveOptions};
use palisade::semantics::{Counting, Instance, LOOP_CAPACITY, Model, Target, final_states};
use std::path::{Path, PathBuf};
use std::time::Duration;

fn loaded(path: &Path) -> Loaded {
    let path = path.to_str().expect("a plain path");
    ProgramOptions::default().read(path).unwrap_or_else(|error| panic!("{}", error.render(false)))
}

/// The labels of the properties that are violated; panics where one has no answer.
fn violated(loaded: &Loaded, proof: &Proof, path: &Path) -> Vec<String> {
    let mut labels = Vec::new();
    for answer in &proof.answers {
        let Target::Instruction { thread, instruction } = answer.target else { continue };
        let thread = loaded.program.thread(thread);
        match answer.answer {
            Answer::Holds(_) => {}
            Answer::Violated(_) => labels.push(thread.label(thread.instruction(instruction).source).name.to_string()),
            Answer::Open(why) => panic!("{}: {why:?}", path.display()),
        }
    }
    labels
}

/// The protocols hold under SC, and each loses an increment or a task under TSO and PSO, whatever
/// stands before them.
#[needs::variable("PALISADE_CORPUS")]
#[test]
fn reorder_bounded_programs() {
    let protocols = ["dekker", "peterson", "lamport", "dijkstra", "szymanski", "chaselev", "cilk"];
    for protocol in protocols {
        let mut before = None;
        for size in ["00", "02", "40"] {
            let path = corpus().join(format!("reorder-bounded/{protocol}-{size}.pal"));
            let loaded = loaded(&path);
            let answers: Vec<Vec<String>> = [Model::Sc, Model::Tso, Model::Pso]
                .into_iter()
                .map(|model| {
                    let options = ProveOptions { shorten: false, ..ProveOptions::new(model) };
                    let proof = prove(&loaded.program, None, &options).expect("no value grows");
                    violated(&loaded, &proof, &path)
                })
                .collect();
            assert!(answers[0].is_empty(), "{}: {answers:?}", path.display());
            assert!(!answers[1].is_empty() && !answers[2].is_empty(), "{}: {answers:?}", path.display());
            assert_eq!(before.get_or_insert_with(|| answers.clone()), &answers, "{}", path.display());
        }
    }
}

/// What a model's header says of its properties, for its fixed copies.
fn expectation(text: &str, kind: &str) -> Option<bool> {
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("# expect {kind}: ")))?;
    Some(line == "holds")
}

#[test]
fn models_hold_or_fail_as_their_headers_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "pal"));
    paths.sort();
    let mut answered = 0;
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("the model can be read");
        let fixed = text.lines().find_map(|line| line.strip_prefix("# expect fixed")).unwrap_or_default();
        let threads = fixed.split_once(':').map_or("", |(threads, _)| threads.trim());
        let threads: Vec<_> = threads.split_terminator(',').map(|it| it.parse().expect("copies")).collect();
        let options = ProgramOptions { threads, ..ProgramOptions::default() };
        let name = path.to_str().expect("a plain path");
        let loaded = options.read(name).unwrap_or_else(|error| panic!("{}", error.render(false)));
        for (kind, model) in [("sc", Model::Sc), ("tso", Model::Tso)] {
            let Some(holds) = expectation(&text, kind) else { continue };
            let limits = Limits::none().with_timeout(Duration::from_secs(3));
            let options = ProveOptions { shorten: false, limits, ..ProveOptions::new(model) };
            let Ok(proof) = prove(&loaded.program, None, &options) else { continue };
            let is_open = |it: &palisade::properties::TargetAnswer| matches!(it.answer, Answer::Open(_));
            if holds {
                assert_eq!(proof.violations().count(), 0, "{name} {model:?}");
            } else if !proof.answers.iter().any(is_open) {
                assert!(!proof.holds(), "{name} {model:?}");
            }
            answered += usize::from(!proof.answers.iter().any(is_open));
        }
    }
    assert!(answered >= 40, "{answered} answers");
}

/// The questions of litmus tests are answered as the search for final states answers them.
#[needs::variable("PALISADE_CORPUS")]
#[test]
fn litmus_questions() {
    let root = corpus().join("litmus");
    let table = std::fs::read_to_string(root.join("expected.tsv")).expect("the corpus has a table");
    let names: Vec<&str> = table.lines().skip(1).filter_map(|line| Some(line.split_once('\t')?.0)).collect();
    let mut asked = 0;
    // All in a release build; there are many that are alike.
    let every = if cfg!(debug_assertions) { 29 } else { 1 };
    for name in names.into_iter().step_by(every) {
        let loaded = loaded(&root.join(name));
        let Some(question) = loaded.question.as_ref().filter(|question| question.condition.is_some()) else { continue };
        let Some(instance) = Instance::of(&loaded.program) else { continue };
        for model in [Model::Sc, Model::Tso, Model::Pso] {
            let limits = Limits::none().with_timeout(Duration::from_secs(10));
            let Ok(found) = final_states(&loaded.program, &instance, model, LOOP_CAPACITY, &limits) else { continue };
            if found.buffers_filled {
                continue;
            }
            let outcome = question.answer(&loaded.program, &instance, &found.completed, Counting::Rows);
            let options = ProveOptions { only: vec![Target::FinalStates], limits, ..ProveOptions::new(model) };
            let Ok(proof) = prove(&loaded.program, Some(question), &options) else { continue };
            let quantifier = question.condition().quantifier;
            let is_reached = match quantifier {
                palisade::semantics::Quantifier::ForAll => outcome.others > 0,
                _ => outcome.satisfying > 0,
            };
            match &proof.answers[0].answer {
                Answer::Holds(_) => assert!(!is_reached, "{name} {model:?}"),
                Answer::Violated(_) => assert!(is_reached, "{name} {model:?}"),
                Answer::Open(why) => panic!("{name} {model:?}: {why:?}"),
            }
            asked += 1;
        }
    }
    assert!(asked > 50, "{asked} questions");
}
