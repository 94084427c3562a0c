//! Every reader on its seeds, on texts made from them, on the models and on the corpus.
//!
//! What the fuzzers find is added to the seeds in `tests/readers`, shrunk.

use crate::environment::{corpus, is_long_run};
use crate::readers::{READERS, check};
use palisade::evidence::Evidence;
use palisade::semantics::random::Randomness;
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// The bytes of all files of a folder with their paths, in order.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.is_file());
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read(path).expect("the file can be read"))).collect()
}

fn seeds(reader: &str) -> Vec<(PathBuf, Vec<u8>)> {
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/readers").join(reader))
}

/// Asks a reader and, should something not hold, tells of which input.
fn ask(reader: &str, input: &[u8], origin: &str) {
    let holds = std::panic::catch_unwind(|| check(reader, input)).is_ok();
    assert!(holds, "{reader}, {origin}:\n{}", String::from_utf8_lossy(input));
}

#[test]
fn seeds_hold() {
    for (reader, _) in READERS {
        let seeds = seeds(reader);
        assert!(!seeds.is_empty(), "{reader} has no seeds");
        for (path, bytes) in seeds {
            ask(reader, &bytes, &path.display().to_string());
        }
    }
}

/// Evidence that no longer fits its input would be a poor seed: write it anew (`fuzz/README.md`
/// says how).
#[test]
fn evidence_among_the_seeds_is_read() {
    for reader in ["evidence_program", "evidence_witness", "evidence_net"] {
        let read = seeds(reader).iter().filter(|(_, bytes)| Evidence::read(bytes).is_ok()).count();
        assert!(read > 0, "{reader}: no seed is evidence");
    }
}

#[test]
fn models_hold() {
    let models = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("models"));
    models.par_iter().filter(|(path, _)| path.extension().is_some_and(|end| end == "pal")).for_each(|(path, bytes)| {
        ask("native", bytes, &path.display().to_string());
    });
}

/// All files below a folder, in order.
fn files_below(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).expect("a folder of the corpus");
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    files(folder).into_iter().chain(folders.iter().flat_map(|folder| files_below(folder))).collect()
}

/// The public collections, of which a default run takes a part.
#[needs::variable("PALISADE_CORPUS")]
#[test]
fn the_corpus_holds() {
    let (every, largest) = if is_long_run() { (1, usize::MAX) } else { (20, 20_000) };
    let folders = [
        ("litmus", "litmus", "litmus"),
        ("trencher", "trencher", "txt"),
        ("families", "trencher", "txt"),
        ("memorax", "memorax", "rmm"),
        ("coverability", "spec", "gz"),
        ("anynumber-nets", "spec", "gz"),
    ];
    for (folder, reader, extension) in folders {
        let mut all = files_below(&corpus().join(folder));
        all.retain(|(path, bytes)| path.extension().is_some_and(|end| end == extension) && bytes.len() <= largest);
        all.par_iter().step_by(every).for_each(|(path, bytes)| ask(reader, bytes, &path.display().to_string()));
    }
}

/// A text made from one seed or two: bytes changed, pieces left out, doubled, exchanged or taken
/// from the other.
fn mutated(seed: &[u8], other: &[u8], random: &mut Randomness) -> Vec<u8> {
    let mut text = seed.to_vec();
    for _ in 0..=random.below(4) {
        if text.is_empty() {
            break;
        }
        let start = random.below(text.len());
        let end = (start + 1 + random.below(12)).min(text.len());
        match random.below(6) {
            0 => text[start] = u8::try_from(random.below(256)).expect("a byte"),
            1 => drop(text.drain(start..end)),
            2 => {
                let piece = text[start..end].to_vec();
                let at = random.below(text.len() + 1);
                text.splice(at..at, piece);
            }
            3 => {
                let from = random.below(other.len().max(1));
                let piece = other.get(from..(from + 20).min(other.len())).unwrap_or(&[]).to_vec();
                text.splice(start..end, piece);
            }
            4 => {
                let numbers = ["0", "-1", "99999999999999999999", "9223372036854775807", "255", "1e9", "*"];
                text.splice(start..start, numbers[random.below(numbers.len())].bytes());
            }
            _ => text.truncate(start),
        }
    }
    text
}

/// Texts made from the seeds, some hundreds for each reader; in the long run a hundred times as
/// many.
#[test]
fn texts_made_from_seeds_hold() {
    let rounds = if is_long_run() { 60_000 } else { 200 };
    READERS.par_iter().for_each(|(reader, _)| {
        let seeds = seeds(reader);
        (0..rounds).into_par_iter().for_each(|round| {
            let mut random = Randomness::new(round);
            let (_, seed) = &seeds[random.below(seeds.len())];
            let (_, other) = &seeds[random.below(seeds.len())];
            ask(reader, &mutated(seed, other, &mut random), &format!("round {round}"));
        });
        println!("{reader}: {rounds} texts");
    });
}
