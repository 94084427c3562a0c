//! Mutants of machine code: in images of algorithms with their fences, one fence becomes `nop`, or
//! one locked instruction loses its lock; in long runs two at once as well. No verdict that a
//! mutant is robust is contradicted by exploring all interleavings, with and without store buffers,
//! of a small instance.

use crate::{checked, environment};
use palisade::limits::Limits;
use palisade::program::{Copies, Program};
use palisade::robustness::{CheckOptions, Verdict};
use palisade::semantics::{Instance, LOOP_CAPACITY, Model, final_states};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// An image without its level of optimisation, and the roles in it that run together.
const PIECES: [(&str, &[&str]); 17] = [
    ("spin", &["worker"]),
    ("peterson", &["lock_left", "lock_right"]),
    ("peterson-fence", &["lock_left", "lock_right"]),
    ("wake-fence", &["waiter", "waker"]),
    ("deque-fence", &["owner", "thief"]),
    ("guess", &["left", "right"]),
    ("twins-fence", &["simple_dekker_t1", "simple_dekker_t2"]),
    ("twins-fence", &["dekker_t1", "dekker_t2"]),
    ("twins-fence", &["burns_t1", "burns_t2"]),
    ("twins-fence", &["szymanski_t1", "szymanski_t2"]),
    ("twins-fence", &["test_and_test_and_set_worker"]),
    ("twins-fence", &["ticket_lock_worker"]),
    ("twins-fence", &["seqlock_writer", "seqlock_reader"]),
    ("twins-fence", &["reader_writer_spinlock_writer", "reader_writer_spinlock_reader"]),
    ("twins-fence", &["double_checked_user"]),
    ("twins-fence", &["biased_lock_owner", "biased_lock_revoker"]),
    ("twins-fence", &["park_unpark_owner", "park_unpark_unparker"]),
];

/// The place of an address in the file, after the program headers of an ELF file.
fn place_in_file(image: &[u8], address: u64) -> usize {
    let number = |at: usize, bytes: usize| {
        image[at..at + bytes].iter().rev().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte))
    };
    let index = |number: u64| usize::try_from(number).expect("a small file");
    let (table, size, count) = (index(number(0x20, 8)), index(number(0x36, 2)), index(number(0x38, 2)));
    let headers = (0..count).map(|header| table + header * size).filter(|at| number(*at, 4) == 1);
    let holds = |at: &usize| (number(at + 16, 8)..number(at + 16, 8) + number(at + 32, 8)).contains(&address);
    let header = headers.into_iter().find(holds).expect("the address is in the file");
    index(address - number(header + 16, 8) + number(header + 8, 8))
}

/// Where an instruction is weakened, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Site {
    /// `mfence` becomes `nop`.
    Fence(usize),
    /// The prefix `lock` becomes `nop`.
    Lock(usize),
    /// An exchange with memory becomes a store.
    Exchange(usize),
}

/// The places in the file at which the instructions of the program can be weakened.
fn sites(program: &Program, image: &[u8]) -> Vec<Site> {
    let mut sites = BTreeSet::new();
    for line in program.source.text.lines() {
        let Some((address, text)) = line.trim_start().split_once("  ") else { continue };
        let (Ok(address), text) = (u64::from_str_radix(address, 16), text.trim_start()) else { continue };
        let at = place_in_file(image, address);
        let opcode = at + usize::from((0x40..0x50).contains(&image[at]));
        if image[at..].starts_with(&[0x0f, 0xae, 0xf0]) {
            sites.insert(Site::Fence(at));
        } else if text.starts_with("lock ") && image[at] == 0xf0 {
            sites.insert(Site::Lock(at));
        } else if text.starts_with("xchg ") && matches!(image[opcode], 0x86 | 0x87) && image[opcode + 1] >> 6 != 3 {
            sites.insert(Site::Exchange(opcode));
        }
    }
    sites.into_iter().collect()
}

/// The code with instructions weakened.
fn weakened(image: &[u8], sites: &[Site]) -> Vec<u8> {
    let mut mutant = image.to_vec();
    for site in sites {
        match *site {
            Site::Fence(at) => mutant[at..at + 3].fill(0x90),
            Site::Lock(at) => mutant[at] = 0x90,
            Site::Exchange(opcode) => mutant[opcode] += 2,
        }
    }
    mutant
}

fn read(folder: &Path, image: &[u8], functions: &[&str]) -> Option<Program> {
    std::fs::write(folder.join("image"), image).expect("the folder is writable");
    let mut text = "image = \"image\"\n".to_owned();
    for function in functions {
        text += &format!("[[role]]\nfunction = {function:?}\ncopies = {}\n", 3 - functions.len());
    }
    std::fs::write(folder.join("roles.toml"), text).expect("the folder is writable");
    palisade::machine::read(&folder.join("roles.toml").display().to_string()).ok()
}

/// What became of a mutant.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    /// The verdict was not robust, or there was none.
    Given,
    /// Robust, and the same final states with and without store buffers.
    Confirmed,
    /// Robust, and the exploration did not end in time.
    Open,
}

fn fate(program: &Program) -> Fate {
    let seconds = if environment::is_long_run() { 60 } else { 2 };
    let limits = || Limits::none().with_timeout(Duration::from_secs(seconds));
    let options = || CheckOptions { limits: limits(), ..CheckOptions::default() };
    let verdict = |program: &Program| checked::check(program, &options()).map(|check| check.verdict);
    let instance = Instance::of(program).expect("the copies are fixed");
    let mut many = program.clone();
    many.threads.iter_mut().for_each(|thread| thread.copies = Copies::Any);
    let robust = [program, &many].map(|program| verdict(program) == Ok(Verdict::Robust));
    if robust == [false, false] {
        return Fate::Given;
    }
    let states = |model| final_states(program, &instance, model, LOOP_CAPACITY, &limits());
    let (Ok(sc), Ok(tso)) = (states(Model::Sc), states(Model::Tso)) else { return Fate::Open };
    assert_eq!(sc.completed, tso.completed, "robust {robust:?}, and not: {}", program.source.text);
    Fate::Confirmed
}

#[test]
fn no_robust_verdict_on_a_mutant_is_contradicted() {
    let levels: &[&str] = if environment::is_long_run() { &["O0", "O1", "O2", "O3", "Os"] } else { &["O2"] };
    let images = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/palisade-machine/tests/images");
    let mut mutants = Vec::new();
    for level in levels {
        for (name, functions) in PIECES {
            let image = std::fs::read(images.join(format!("{name}-{level}"))).expect("the image is there");
            let folder = tempfile::tempdir().expect("a folder");
            let program = read(folder.path(), &image, functions).expect("the code is read");
            let sites = sites(&program, &image);
            mutants.extend(sites.iter().map(|site| (weakened(&image, &[*site]), functions)));
            for (index, one) in sites.iter().enumerate().filter(|_| environment::is_long_run()) {
                mutants.extend(sites[index + 1..].iter().map(|other| (weakened(&image, &[*one, *other]), functions)));
            }
        }
    }
    let fates: Vec<Fate> = mutants
        .par_iter()
        .filter_map(|(mutant, functions)| {
            let folder = tempfile::tempdir().expect("a folder");
            Some(fate(&read(folder.path(), mutant, functions)?))
        })
        .collect();
    let count = |wanted: Fate| fates.iter().filter(|fate| **fate == wanted).count();
    let (given, confirmed, open) = (count(Fate::Given), count(Fate::Confirmed), count(Fate::Open));
    println!("{} mutants: {given} not robust, {confirmed} robust and confirmed, {open} open", mutants.len());
    let least = if environment::is_long_run() { (200, 60) } else { (25, 8) };
    assert!(fates.len() >= least.0 && given.min(confirmed) >= least.1, "{given} {confirmed} {open}");
}
