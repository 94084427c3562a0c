//! The engine against the brute-force oracle and against itself on random programs.
//!
//! Each comparison takes some hundreds of programs by default and tens of thousands with
//! `PALISADE_FULL_TESTS=1` (`cargo test --test suite differential -- --nocapture` then tells how
//! far it is). A disagreement is shrunk and shown as a program text with its seed.

mod any_number;
mod attacks;
mod awaits;
mod coarse_states;
mod compilations;
mod conversions;
mod counter_fences;
mod counters;
mod counts;
mod cut_counters;
mod dice;
mod events;
mod events_tso;
mod far;
mod finally;
mod fixed;
mod grace_periods;
mod hangs;
mod hopeless;
mod instances;
mod loops;
mod low_bits;
mod properties;
mod property_counters;
mod pso;
mod pso_check;
mod races;
mod rings;
mod saturation;
mod simulated_counters;
mod stuck;
mod tickets;

use crate::environment::seeds;
use palisade::program::Program;
use palisade::semantics::random::{self, Shape};
use palisade::syntax::{Format, print};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

/// What came of comparing one program: into which class it falls, or how the sides disagree.
type Compared = Result<&'static str, String>;

/// Classes with the numbers of programs in them.
type Counts = BTreeMap<&'static str, usize>;

/// So many programs by default, and in a long run.
#[derive(Clone, Copy)]
struct Amount {
    default: u64,
    long: u64,
}

/// Compares the programs of consecutive seeds, which take turns among the shapes; gives the
/// classes.
///
/// # Panics
///
/// At a disagreement, with the program of the lowest seed, shrunk.
fn compare_all(
    name: &str,
    first_seed: u64,
    amount: Amount,
    shapes: &[Shape],
    compare: impl Fn(&Program) -> Compared + Sync,
) -> Counts {
    let generate = |seed: u64| {
        let turn = usize::try_from(seed).expect("seeds are small") % shapes.len();
        random::program(seed, &shapes[turn])
    };
    compare_generated(name, first_seed, amount, generate, compare)
}

/// Compares the programs that belong to consecutive seeds; gives the classes.
///
/// # Panics
///
/// At a disagreement, with the program of the lowest seed, shrunk.
fn compare_generated(
    name: &str,
    first_seed: u64,
    amount: Amount,
    generate: impl Fn(u64) -> Program + Sync,
    compare: impl Fn(&Program) -> Compared + Sync,
) -> Counts {
    let seeds = seeds(amount.default, amount.long);
    let programs = seeds.end - seeds.start;
    let counts = Mutex::new(Counts::new());
    // The engine breaks off where it finds itself wrong; that is a disagreement as well.
    let compare = |program: &Program| {
        catch_unwind(AssertUnwindSafe(|| compare(program))).unwrap_or_else(|panic| {
            let message = panic.downcast_ref::<String>().cloned();
            Err(message.unwrap_or_else(|| "it broke off".to_owned()))
        })
    };
    let failure = (first_seed + seeds.start..first_seed + seeds.end).into_par_iter().find_map_first(|seed| {
        let program = generate(seed);
        match compare(&program) {
            Ok(class) => {
                note(name, class, &counts);
                None
            }
            Err(message) => Some((seed, program, message)),
        }
    });
    if let Some((seed, program, message)) = failure {
        let small = random::shrink(&program, |smaller| compare(smaller).is_err());
        let shown = compare(&small).err().unwrap_or_default();
        panic!("{name}, seed {seed}: {message}\nshrunk: {shown}\n{}", text_of(&small));
    }
    let counts = counts.into_inner().expect("no comparison panicked");
    println!("{name}: {programs} programs, {counts:?}");
    counts
}

/// Counts a program; tells now and then how many there are.
fn note(name: &str, class: &'static str, counts: &Mutex<Counts>) {
    const TOLD: usize = 1000;
    let mut counts = counts.lock().expect("counting does not panic");
    *counts.entry(class).or_default() += 1;
    if counts.values().sum::<usize>().is_multiple_of(TOLD) {
        println!("{name}: {counts:?}");
    }
}

/// A program as text in the native language.
fn text_of(program: &Program) -> String {
    print(program, Format::Native).map_or_else(|_| format!("{program:#?}"), |printed| printed.text)
}

/// How many programs there are of a class.
fn of_class(counts: &Counts, class: &str) -> usize {
    counts.get(class).copied().unwrap_or(0)
}
