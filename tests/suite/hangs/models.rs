//! The models that wait say themselves who hangs, in lines such as
//! `# expect hangs worker=3: sc stuck, tso stuck`.

use super::{asked, hopeless, program, word};
use palisade::program::Copies;
use palisade::semantics::hang_oracle::{HangEffort, hangs};
use palisade::semantics::hope_oracle::hopeless as oracle;
use palisade::semantics::{Instance, Model};
use std::path::Path;

#[test]
fn models_hang_as_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/hangs");
    let entries = std::fs::read_dir(&folder).expect("the models that wait");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let (mut wrong, mut answers) = (Vec::new(), 0);
    for path in paths.iter().filter(|path| path.extension().is_some_and(|it| it == "pal")) {
        let text = std::fs::read_to_string(path).expect("a model");
        let read = program(&text);
        let hangs_of = |line| str::strip_prefix(line, "# expect hangs").map(|said| (false, said));
        let hope_of = |line| str::strip_prefix(line, "# expect hopeless").map(|said| (true, said));
        for (is_of_one, said) in text.lines().filter_map(|line| hangs_of(line).or_else(|| hope_of(line))) {
            let (instance, verdicts) = said.split_once(": ").expect("an instance and verdicts");
            let mut asking = read.clone();
            for part in instance.trim().split_terminator(',') {
                let (name, count) = part.split_once('=').expect("a thread and a number");
                let thread = asking.threads.iter_mut().find(|thread| thread.name == name).expect("a thread");
                thread.copies =
                    if count == "*" { Copies::Any } else { Copies::Exactly(count.parse().expect("a number")) };
            }
            for verdict in verdicts.split(", ") {
                let (model, expected) = verdict.split_once(' ').expect("a model and a word");
                let model = if model == "sc" { Model::Sc } else { Model::Tso };
                let found = if is_of_one {
                    hopeless::word(&hopeless::asked(&asking, model))
                } else {
                    word(&asked(&asking, model))
                };
                if let Some(instance) = Instance::of(&asking).filter(|_| is_of_one) {
                    let enumerated = oracle(&asking, &instance, model, HangEffort::default()).expect("it is small");
                    assert_eq!(enumerated, (found == "hopeless", true), "{}: {said}", path.display());
                } else if let Some(instance) = Instance::of(&asking) {
                    let enumerated = hangs(&asking, &instance, model, HangEffort::default()).expect("it is small");
                    assert_eq!(found == "stuck", !enumerated.stuck.is_empty(), "{}: {said}", path.display());
                }
                answers += 1;
                if found != expected {
                    wrong.push(format!("{} {instance} {model:?}: {found}, not {expected}", path.display()));
                }
            }
        }
    }
    assert!(answers >= 60 && wrong.is_empty(), "{answers} answers, wrong:\n{}", wrong.join("\n"));
}
