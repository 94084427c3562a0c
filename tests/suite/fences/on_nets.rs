//! The cheapest fences of every model are the same by searches and by nets alone, and so is what
//! eliminates each attack.

use crate::environment::sample;
use crate::fences::corpus::read_program;
use crate::fences::optima::compare_nets;
use palisade::fences::{CostFunction, FenceOptions, Repair, Silent, place};
use palisade::program::Copies;
use palisade::syntax::Format;
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// Copies of every thread; as the model declares them when not given.
const COPIES: [Option<Copies>; 3] = [None, Some(Copies::Exactly(2)), Some(Copies::Any)];

/// Models whose nets, or whose values, take long to grow beyond what is admitted.
const LARGE: [&str; 6] = [
    "chase-lev",
    "chase-lev-fenced",
    "chase-lev-size-check",
    "cilk-the",
    "cilk-the-fenced",
    "michael-scott-queue-reuse",
];

/// Models whose nets take long with the copies that they declare.
const LARGE_AS_DECLARED: [&str; 1] = ["lamport-fast"];

#[test]
fn models() {
    let folder = std::fs::read_dir(format!("{}/models", env!("CARGO_MANIFEST_DIR"))).expect("there are models");
    let files: Vec<PathBuf> = folder.map(|entry| entry.expect("the entry can be read").path()).collect();
    let cases: Vec<(&PathBuf, Option<Copies>)> = files
        .iter()
        .filter(|path| Format::of_path(path).is_some())
        .flat_map(|path| COPIES.map(|copies| (path, copies)))
        .filter(|(path, copies)| {
            let name = path.file_stem().and_then(|stem| stem.to_str()).expect("a model has a name");
            !LARGE.contains(&name) && (copies.is_some() || !LARGE_AS_DECLARED.contains(&name))
        })
        .collect();
    let cases = sample(cases, 10);
    let compared: usize = cases.par_iter().map(|(path, copies)| compare(path, *copies)).sum();
    assert!(compared > 10, "{compared} of {} compared", cases.len());
}

/// Compares one model; how many attacks of it are feasible.
fn compare(path: &Path, copies: Option<Copies>) -> usize {
    let mut program = read_program(path);
    if let Some(copies) = copies {
        program.threads.iter_mut().for_each(|thread| thread.copies = copies);
    }
    let options = FenceOptions { cost: CostFunction::Uniform, alternatives: 1000, ..FenceOptions::default() };
    let Ok(Repair::Valid(searched)) = place(&program, &options, &Silent) else {
        panic!("{}: no set is found", path.display())
    };
    if searched.stop.is_some() {
        return 0;
    }
    compare_nets(&program, &options, &searched);
    searched.eliminations.len()
}
