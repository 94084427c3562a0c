//! Proofs by snapshots: where buffers grow without end, for fixed and any numbers of copies.

use crate::properties::rungs::{answer, assert_left_to_buffers, program, why_open};
use palisade::program::Program;
use palisade::properties::{Answer, Rung, Why};

/// Workers tell how far they are and look for news, and never drain their buffers; the watcher's
/// news depend on what it sees of their work. It and a worker can each overtake its own store, so
/// the program is not robust. News never go back.
fn progress(workers: &str, news: &str) -> Program {
    program(&format!(
        "program Progress
address work, news
thread worker [{workers}] regs done, new, old init tell begin
  tell: mem[work] <- done;
  go_on: done <- 3 - done;
  look: new <- mem[news];
  forward: ensure new >= old;
  keep: old <- new; goto tell;
end
thread watcher regs seen init begin_watch begin
  begin_watch: mem[news] <- 1;
  watch: seen <- mem[work];
  report: mem[news] <- {news}; goto done;
end
"
    ))
}

#[test]
fn snapshots_prove_where_buffers_grow() {
    for workers in ["1", "2", "*"] {
        let program = progress(workers, "seen + 1");
        assert_eq!(why_open(&program, Rung::Buffers), Why::BuffersLonger(8), "{workers}");
        assert_eq!(why_open(&program, Rung::ScRobust), Why::NotRobust, "{workers}");
        for by in [Some(Rung::Snapshots), None] {
            let found = answer(&program, by);
            assert!(matches!(found.answer, Answer::Holds(_)), "{workers} {by:?}: {found:?}");
            assert_eq!((found.rung, found.buffer), (Rung::Snapshots, Some(4)), "{workers} {by:?}");
        }
    }
}

/// What snapshots reach they leave to the rung that gives a computation.
#[test]
fn violations_are_left_to_buffers() {
    for workers in ["1", "*"] {
        assert_left_to_buffers(&progress(workers, "0"), Rung::Snapshots);
    }
}

/// A queue keeps no more snapshots than loads can follow: so loops without a drain need no bound
/// while they only spin.
#[test]
fn spinning_needs_one_snapshot() {
    let text = "program Spin
address flag, toggled, turn
thread waiter regs seen, other init raise begin
  raise: mem[flag] <- 1;
  spin: seen <- mem[toggled];
  again: assert seen = 0; goto spin;
  again: assert seen = 1; goto enter;
  enter: mem[turn] <- 1;
  look: other <- mem[flag];
  own: ensure other = 1; goto gone;
end
thread toggler regs f init on begin
  on: mem[toggled] <- 1;
  off: mem[toggled] <- 0;
  see: f <- mem[flag];
  busy: assert f = 1; goto on;
end
";
    let found = answer(&program(text), Some(Rung::Snapshots));
    assert!(matches!(found.answer, Answer::Holds(_)), "{found:?}");
}
