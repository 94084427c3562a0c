//! Every program of the Trencher corpus is read.

use crate::environment::corpus;
use palisade::program::{Action, SourceText};
use palisade::syntax::{Format, read, render};
use std::path::{Path, PathBuf};

/// All `.txt` files below the corpus folders of this format, in order.
fn files() -> Vec<PathBuf> {
    let corpus = corpus();
    let folders = ["trencher", "trencher/memorax", "families"];
    let mut files: Vec<PathBuf> = folders.iter().flat_map(|folder| texts(&corpus.join(folder))).collect();
    files.sort();
    assert!(files.len() >= 39, "the corpus is incomplete: {} files", files.len());
    files
}

fn texts(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the corpus folder can be read");
    let paths = entries.map(|entry| entry.expect("the entry can be read").path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "txt")).collect()
}

#[needs::variable("PALISADE_CORPUS")]
#[test]
fn every_file_is_read() {
    for file in files() {
        let text = std::fs::read_to_string(&file).expect("the file can be read");
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
        let transitions = lines.filter(|line| line.split_whitespace().next() == Some("transition")).count();
        let source = SourceText::new(file.display().to_string(), text);
        let parsed = read(source.clone(), Format::Trencher)
            .unwrap_or_else(|errors| panic!("{}: {}", file.display(), render(&errors[0], &source, false)));
        let instructions: usize = parsed.program.threads.iter().map(|thread| thread.instructions.len()).sum();
        assert_eq!(instructions, transitions, "{}", file.display());
        for instruction in parsed.program.threads.iter().flat_map(|thread| &thread.instructions) {
            let words: Vec<&str> = source.slice(instruction.span).split_whitespace().collect();
            assert_eq!(words[0], "transition");
            let name = match instruction.action {
                Action::Load { .. } => "read",
                Action::Store { .. } => "write",
                Action::Assign { .. } => "local",
                Action::Assume(_) => "check",
                Action::Fence => "mfence",
                Action::Nop => "noop",
                Action::Lock => "lock",
                Action::Unlock => "unlock",
                _ => panic!("not an instruction of this format"),
            };
            assert_eq!(words[3], name, "{}", file.display());
        }
    }
}
