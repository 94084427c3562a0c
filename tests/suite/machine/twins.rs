//! Algorithms that the models have as well, lifted from C at five levels of optimisation:
//! hand-written and lifted, they have the same verdicts, for the same numbers of copies.
//!
//! The code differs from the models in what nothing depends on: roles have a critical section where
//! models have one, and end in `__builtin_trap` where models have `ensure`. A twin of the models of
//! Chase and Lev's deque is no twin: its owner and thieves run once (`deque.c`), since without a
//! bound on the indices, which the models have, nothing would be finite.

use crate::checked;
use crate::environment::sample;
use crate::robustness::models::models;
use palisade::cli::ProgramOptions;
use palisade::program::CopiesOverride;
use palisade::robustness::{CheckOptions, Verdict};
use std::path::Path;

/// A model, its threads, whether the code is built with fences, and counters that the model has in
/// so many bits.
struct Twin {
    model: &'static str,
    threads: &'static [&'static str],
    fences: bool,
    repeat: bool,
    narrow: Option<(&'static [&'static str], u8)>,
}

const fn twin(model: &'static str, threads: &'static [&'static str], fences: bool) -> Twin {
    Twin { model, threads, fences, repeat: true, narrow: None }
}

const PAIR: &[&str] = &["t1", "t2"];
const WORKER: &[&str] = &["worker"];
const READ_AND_WRITE: &[&str] = &["writer", "reader"];
const BIASED: &[&str] = &["owner", "revoker"];

const TWINS: [Twin; 19] = [
    twin("simple-dekker", PAIR, false),
    twin("simple-dekker-fenced", PAIR, true),
    twin("dekker", PAIR, false),
    twin("dekker-fenced", PAIR, true),
    twin("peterson", PAIR, false),
    twin("peterson-fenced", PAIR, true),
    twin("burns", PAIR, false),
    twin("burns-fenced", PAIR, true),
    twin("szymanski", PAIR, false),
    twin("szymanski-fenced", PAIR, true),
    twin("test-and-set", WORKER, false),
    twin("test-and-test-and-set", WORKER, false),
    Twin { narrow: Some((&["next_ticket", "now_serving"], 1)), ..twin("ticket-lock", WORKER, false) },
    twin("seqlock", READ_AND_WRITE, false),
    Twin { narrow: Some((&["readers"], 3)), ..twin("reader-writer-spinlock", READ_AND_WRITE, false) },
    twin("double-checked", &["user"], false),
    twin("biased-lock", BIASED, false),
    twin("biased-lock-fenced", BIASED, true),
    Twin { repeat: false, ..twin("park-unpark", &["owner", "unparker"], false) },
];

impl Twin {
    /// Writes the file of roles for a level of optimisation.
    fn roles(&self, folder: &Path, level: &str) -> String {
        let images = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/palisade-machine/tests/images");
        let image = images.join(format!("twins{}-{level}", if self.fences { "-fence" } else { "" }));
        let mut text = format!("image = {:?}\n", image.display().to_string());
        if let Some((cells, bits)) = self.narrow {
            text += &format!("narrow = [{{ cells = {cells:?}, bits = {bits} }}]\n");
        }
        let code = self.model.trim_end_matches("-fenced").replace('-', "_");
        for thread in self.threads {
            let function = format!("{code}_{thread}");
            text += &format!("[[role]]\nname = {thread:?}\nfunction = {function:?}\nrepeat = {}\n", self.repeat);
        }
        let path = folder.join(format!("{}-{level}.toml", self.model));
        std::fs::write(&path, text).expect("the folder is writable");
        path.display().to_string()
    }

    fn verdict(&self, level: &str, threads: &[CopiesOverride]) -> Verdict {
        let folder = tempfile::tempdir().expect("a folder");
        let path = self.roles(folder.path(), level);
        let options = ProgramOptions { threads: threads.to_vec(), ..ProgramOptions::default() };
        let program = options.read(&path).unwrap_or_else(|error| panic!("{path}: {}", error.render(false))).program;
        checked::check(&program, &CheckOptions::default()).expect("no value grows").verdict
    }
}

#[test]
fn models_and_code_have_the_same_verdicts() {
    let models = models();
    for twin in &TWINS {
        let model = models.iter().find(|model| model.name == twin.model).expect("the model is there");
        for (threads, robust) in model.expected() {
            let expected = if robust { Verdict::Robust } else { Verdict::NotRobust };
            for level in sample(vec!["O2", "O0", "O1", "O3", "Os"], 3) {
                assert_eq!(twin.verdict(level, threads), expected, "{} {level} {threads:?}", twin.model);
            }
        }
    }
}
