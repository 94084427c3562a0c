//! Robust programs hang under TSO exactly where they hang under SC, by the oracle for hangs.

use crate::checked::check;
use crate::environment::seeds;
use palisade::program::{Instruction, Program};
use palisade::robustness::{CheckOptions, Verdict};
use palisade::semantics::hang_oracle::{HangEffort, Hangs, hangs};
use palisade::semantics::random::{WaitShape, shrink, waiting_program};
use palisade::semantics::{Instance, Model};
use rayon::prelude::*;

fn asked(program: &Program, model: Model) -> Option<Hangs> {
    let effort = HangEffort { capacity: 3, states: 20_000, ..HangEffort::default() };
    hangs(program, &Instance::of(program)?, model, effort).ok().filter(|found| found.closed)
}

/// Whether a sleep releases a lock: then the order of sleeps and wake-ups is not in the trace.
fn releases(program: &Program) -> bool {
    let is_one = |own: &Instruction| own.sleeps().is_some_and(|address| own.action.address() != Some(address));
    program.threads.iter().flat_map(|thread| &thread.instructions).any(is_one)
}

/// Whether a program is robust and hangs elsewhere under TSO; nothing if it is not robust, or too
/// large.
fn differs(program: &Program) -> Option<bool> {
    let (sc, tso) = (asked(program, Model::Sc)?, asked(program, Model::Tso)?);
    let checked = check(program, &CheckOptions::default()).ok()?;
    matches!(checked.verdict, Verdict::Robust).then(|| sc.stuck != tso.stuck)
}

#[test]
fn robust_programs_hang_under_tso_where_they_hang_under_sc() {
    let shape = WaitShape { statements: 3, fences: 20, ..WaitShape::default() };
    let asked: Vec<u64> = seeds(150, 4_000).collect();
    let robust: usize = asked
        .par_iter()
        .map(|seed| {
            let program = waiting_program(*seed, &shape);
            if releases(&program) {
                return 0;
            }
            match differs(&program) {
                Some(true) => {
                    let small = shrink(&program, |program| differs(program) == Some(true));
                    panic!("seed {seed}: {small:#?}");
                }
                Some(false) => 1,
                None => 0,
            }
        })
        .sum();
    assert!(robust * 5 > asked.len(), "{robust} of {} programs are robust", asked.len());
}
