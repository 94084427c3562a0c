//! Interleavings of a few copies of each role, chosen by a fixed sequence of random numbers.

use super::{Access, Copy, Initial, Memory};
use palisade_model::program::{Action, Thread, Value};
use std::collections::HashMap;

/// How many runs there are.
const RUNS: u64 = 36;
/// How many steps a copy takes in a row at most, run by run: in long rows, copies come to their
/// ends one after the other.
const ROWS: [usize; 3] = [12, 150, 2000];
/// How many steps each of them has at most.
const STEPS: usize = 30_000;
/// How many copies of a role run in these at most.
const COPIES: u64 = 3;
/// How many runs there are of more copies: each may have a cell of its own.
const CROWDED_RUNS: u64 = 6;
/// How many copies of a role run in these at most.
const CROWD: u64 = 8;

impl Memory for HashMap<u64, Value> {
    fn written(&self, address: u64) -> Option<Value> {
        self.get(&address).copied()
    }

    fn write(&mut self, address: u64, value: Value) {
        self.insert(address, value);
    }
}

/// How many runs there are where a few show nothing new, of roles that soon come to their ends.
const MORE_RUNS: u64 = 400;
/// How many steps a copy takes in a row at most in these.
const SHORT_ROWS: [usize; 3] = [4, 30, 400];

/// Runs the threads many more times; their copies are few.
pub(crate) fn run_often(threads: &[(Thread, u64)], initial: &impl Initial, visit: &mut impl FnMut(Access)) {
    for number in RUNS + CROWDED_RUNS..MORE_RUNS {
        run_once(threads, number, CROWD, SHORT_ROWS, initial, visit);
    }
}

/// Runs the threads, of which there are so many copies; calls `visit` with each access.
pub(crate) fn run(threads: &[(Thread, u64)], initial: &impl Initial, visit: &mut impl FnMut(Access)) {
    for number in 0..RUNS + CROWDED_RUNS {
        let most = if number < RUNS { COPIES.min(number + 1) } else { CROWD };
        run_once(threads, number, most, ROWS, initial, visit);
    }
}

/// One run of so many copies of a thread at most.
fn run_once(
    threads: &[(Thread, u64)],
    number: u64,
    most: u64,
    rows: [usize; 3],
    initial: &impl Initial,
    visit: &mut impl FnMut(Access),
) {
    let by_label: Vec<_> = threads.iter().map(|(thread, _)| thread.instructions_by_label()).collect();
    let mut random = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random % below.max(1) as u64).expect("less than a usize")
    };
    let row = rows[usize::try_from(number % 3).expect("less than 3")];
    let mut memory: HashMap<u64, Value> = HashMap::new();
    let mut copies: Vec<Copy> = threads
        .iter()
        .enumerate()
        .flat_map(|(index, (thread, count))| (0..most.min(*count)).map(move |_| Copy::of(index, thread)))
        .collect();
    let mut steps = 0;
    while steps < STEPS && !copies.is_empty() {
        let chosen = next(copies.len());
        for _ in 0..=next(row) {
            steps += 1;
            let copy = &mut copies[chosen];
            let thread = &threads[copy.thread].0;
            let open: Vec<_> = by_label[copy.thread][copy.label.index()]
                .iter()
                .map(|id| thread.instruction(*id))
                .filter(|it| match &it.action {
                    Action::Assume(condition) => condition.holds(&copy.registers, None).unwrap_or(false),
                    _ => true,
                })
                .collect();
            let chosen_instruction = (!open.is_empty()).then(|| open[next(open.len())]);
            let taken = chosen_instruction.and_then(|own| copy.take(own, &mut memory, initial, visit));
            if taken.is_none() {
                copies.swap_remove(chosen);
                break;
            }
        }
    }
}
