//! What lies on the stack of a copy, and others access: it is what data of the copy's own would be
//! at a place that all know. Random threads compiled from C, with such data on their stacks and in
//! globals, have the same outcomes in all interleavings, with and without store buffers, and the
//! same verdicts.

use super::heap::sums;
use crate::{checked, environment};
use palisade::limits::Limits;
use palisade::program::Program;
use palisade::robustness::{CheckOptions, Verdict};
use palisade::semantics::{Instance, Model, final_states};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// What a thread does next, of two words of its own and one that it has found.
const OPERATIONS: [&str; 12] = [
    "own[0] = 1;",
    "own[1] = 2;",
    "sum = 8 * sum + own[0];",
    "sum = 8 * sum + own[1];",
    "found[0] = own;",
    "found[1] = &own[1];",
    "p = found[0]; if (p) sum = 8 * sum + *p;",
    "p = found[1]; if (p) sum = 8 * sum + *p;",
    "p = found[0]; if (p) *p = 3;",
    "p = found[1]; if (p) __atomic_fetch_add(p, 4, __ATOMIC_SEQ_CST);",
    "*(volatile unsigned *)&own[0] = 5;",
    "{ word *q = sum & 1 ? &own[0] : &own[1]; sum = 8 * sum + *q; }",
];

/// The threads in C, with their words on their stacks or in globals.
fn source(threads: &[Vec<usize>], on_stacks: bool) -> String {
    let mut text =
        "typedef volatile unsigned long word;\nword *volatile found[2]; word out[3], owned[3][2];\n".to_owned();
    for (number, operations) in threads.iter().enumerate() {
        let own = if on_stacks { "word own[2]".to_owned() } else { format!("word *own = owned[{number}]") };
        let _ = writeln!(text, "void t{number}(void) {{ {own}; own[0] = 0; own[1] = 0;");
        let _ = writeln!(text, "unsigned long sum = 0; word *p;");
        for operation in operations {
            let _ = writeln!(text, "{}", OPERATIONS[*operation]);
        }
        let _ = writeln!(text, "out[{number}] = sum + (1ul << 40); }}");
    }
    text
}

/// The program that Palisade reads of the compiled threads.
fn lifted(threads: &[Vec<usize>], on_stacks: bool, folder: &Path) -> Program {
    std::fs::write(folder.join("threads.c"), source(threads, on_stacks)).expect("the folder is writable");
    let options = ["-O1", "-g", "-ffreestanding", "-fno-builtin", "-fcf-protection=none", "-fno-stack-protector"];
    let linked = ["-fno-pie", "-no-pie", "-nostdlib", "-static", "-Wl,-e,0", "threads.c", "-o", "threads"];
    let built = Command::new("gcc").args(options).args(linked).current_dir(folder).output().expect("gcc starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let mut text = format!("image = \"threads\"\nstacks = {on_stacks}\n");
    for number in 0..threads.len() {
        let _ = write!(text, "[[role]]\nfunction = \"t{number}\"\n");
    }
    let roles = folder.join("roles.toml");
    std::fs::write(&roles, text).expect("the folder is writable");
    palisade::machine::read(&roles.display().to_string()).unwrap_or_else(|error| panic!("{}", error.render(false)))
}

/// What the threads may come to.
fn outcomes(program: &Program, threads: usize, model: Model) -> BTreeSet<Vec<u64>> {
    let instance = Instance::of(program).expect("the copies are fixed");
    let found = final_states(program, &instance, model, 16, &Limits::none()).expect("all states are found");
    sums(program, &found, threads)
}

#[needs::command("gcc --version")]
#[test]
fn what_lies_on_stacks_is_as_what_lies_elsewhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut robust, mut broken, mut shared) = (0, 0, 0);
    for seed in environment::seeds(10, 1500) {
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            usize::try_from((random >> 20) % OPERATIONS.len() as u64).expect("few")
        };
        let mut threads: Vec<Vec<usize>> = (0..2).map(|_| (0..5).map(|_| next()).collect()).collect();
        // Somebody finds something.
        threads[0].insert(0, 4);
        let [on_stacks, elsewhere] = [true, false].map(|own| lifted(&threads, own, folder.path()));
        shared += usize::from(on_stacks.addresses.iter().any(|own| own.name.contains(".stack-")));
        for model in [Model::Sc, Model::Tso] {
            let [one, other] = [&on_stacks, &elsewhere].map(|program| outcomes(program, threads.len(), model));
            assert_eq!(one, other, "{seed} {model:?} {threads:?}");
            assert!(!one.is_empty(), "{seed}: all come to their ends");
        }
        let [one, other] = [&on_stacks, &elsewhere]
            .map(|program| checked::check(program, &CheckOptions::default()).expect("it has an answer").verdict);
        assert_eq!(one, other, "{seed} {threads:?}");
        if one == Verdict::Robust { robust += 1 } else { broken += 1 }
    }
    println!("{robust} robust, {broken} not, {shared} with shared stacks");
    assert!(robust >= 1 && broken >= 1 && shared >= 8, "{robust} {broken} {shared}");
}
