//! Running a violation's shape on this machine's processor.
//!
//! Every thread of the shape is an operating-system thread that does real loads, stores, fences and
//! exchanges on shared cache lines: relaxed atomic accesses, which are plain `mov`s on x86-64, kept
//! in order by compiler fences that emit nothing. Many copies of the shape lie side by side; before
//! each one the threads meet, so that they start together.

use super::shape::{Shape, ShapeAction};
use palisade_model::limits::Limits;
use palisade_model::program::Value;
use std::sync::Barrier;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering, compiler_fence, fence};

/// Copies of the shape that lie side by side in one round.
const COPIES: usize = 2048;

/// What was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observed {
    /// How often the shape was run.
    pub runs: u64,
    /// How often its outcome came out.
    pub seen: u64,
}

/// Whether plain loads and stores of this processor are those of x86-TSO.
pub const fn is_supported() -> bool {
    cfg!(target_arch = "x86_64")
}

/// A memory cell on a cache line of its own.
#[derive(Default)]
#[repr(align(128))]
struct Cell(AtomicI64);

/// Runs the shape `runs` times, fewer when a limit is reached. Meaningful where [`is_supported`].
pub fn run(shape: &Shape, runs: u64, limits: &Limits) -> Observed {
    let addresses = shape.addresses.len();
    let cells: Vec<Cell> = (0..COPIES * addresses).map(|_| Cell::default()).collect();
    let meetings: Vec<AtomicUsize> = (0..COPIES).map(|_| AtomicUsize::new(0)).collect();
    let outcomes: Vec<AtomicUsize> = (0..COPIES).map(|_| AtomicUsize::new(0)).collect();
    let round = Barrier::new(shape.threads.len() + 1);
    let copies_left = AtomicUsize::new(0);
    let crowded = std::thread::available_parallelism().map_or(1, usize::from) < shape.threads.len();
    let mut observed = Observed { runs: 0, seen: 0 };
    std::thread::scope(|scope| {
        for thread in &shape.threads {
            let (cells, meetings, outcomes) = (&cells, &meetings, &outcomes);
            let (round, copies_left, threads) = (&round, &copies_left, shape.threads.len());
            scope.spawn(move || {
                loop {
                    round.wait();
                    let copies = copies_left.load(Ordering::SeqCst);
                    if copies == 0 {
                        return;
                    }
                    for copy in 0..copies {
                        meet(&meetings[copy], threads, crowded);
                        if execute(&thread.actions, &cells[copy * addresses..(copy + 1) * addresses]) {
                            outcomes[copy].fetch_add(1, Ordering::Relaxed);
                        }
                    }
                    round.wait();
                }
            });
        }
        loop {
            let left = usize::try_from(runs - observed.runs).unwrap_or(COPIES).min(COPIES);
            let copies = if limits.check().is_err() { 0 } else { left };
            copies_left.store(copies, Ordering::SeqCst);
            round.wait();
            if copies == 0 {
                break;
            }
            round.wait();
            for copy in 0..copies {
                let finals = shape
                    .finals
                    .iter()
                    .all(|(address, value)| cells[copy * addresses + address].0.load(Ordering::SeqCst) == *value);
                observed.runs += 1;
                observed.seen += u64::from(finals && outcomes[copy].load(Ordering::SeqCst) == shape.threads.len());
            }
            cells.iter().for_each(|cell| cell.0.store(0, Ordering::SeqCst));
            meetings.iter().chain(&outcomes).for_each(|counter| counter.store(0, Ordering::SeqCst));
        }
    });
    observed
}

/// Waits until all threads are here.
fn meet(meeting: &AtomicUsize, threads: usize, crowded: bool) {
    meeting.fetch_add(1, Ordering::AcqRel);
    while meeting.load(Ordering::Acquire) < threads {
        if crowded {
            std::thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
}

/// Executes a thread's instructions; whether all loads read what the outcome says.
fn execute(actions: &[ShapeAction], cells: &[Cell]) -> bool {
    let mut as_expected = true;
    for action in actions {
        // No instruction; the compiler must keep the accesses in program order.
        compiler_fence(Ordering::SeqCst);
        let read: Option<(Value, Value)> = match *action {
            ShapeAction::Load { address, expected } => Some((cells[address].0.load(Ordering::Relaxed), expected)),
            ShapeAction::Store { address, value } => {
                cells[address].0.store(value, Ordering::Relaxed);
                None
            }
            ShapeAction::Exchange { address, value, expected } => {
                Some((cells[address].0.swap(value, Ordering::SeqCst), expected))
            }
            ShapeAction::Fence => {
                fence(Ordering::SeqCst);
                None
            }
        };
        if let Some((value, expected)) = read {
            as_expected &= value == expected;
        }
    }
    as_expected
}
