//! A turn of a strategy: a span of time in which the thread runs, not counting the time in which it waits for a processor.
//!
//! On a busy machine a turn measured by the clock alone would be over before much is done, and the strategy that suits
//! the net would have to wait for a turn many times longer.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A turn that has begun, on one thread.
#[derive(Debug)]
pub(super) struct Turn {
    begin: Instant,
    length: Duration,
    /// How long the thread had waited before.
    waited: Duration,
    /// When to look again, in nanoseconds after the beginning.
    end: AtomicU64,
}

impl Turn {
    /// A turn of this thread that begins now.
    pub(super) fn new(length: Duration) -> Self {
        Self { begin: Instant::now(), length, waited: waited(), end: AtomicU64::new(nanoseconds(length)) }
    }

    /// Whether it is over.
    pub(super) fn is_over(&self) -> bool {
        let elapsed = self.begin.elapsed();
        if nanoseconds(elapsed) < self.end.load(Ordering::Relaxed) {
            return false;
        }
        let end = self.length + waited().saturating_sub(self.waited);
        self.end.store(nanoseconds(end), Ordering::Relaxed);
        elapsed >= end
    }

    /// How much of it is left, as far as is known.
    pub(super) fn remaining(&self) -> Duration {
        Duration::from_nanos(self.end.load(Ordering::Relaxed)).saturating_sub(self.begin.elapsed())
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// How long this thread has waited for a processor so far, where the system tells (Linux).
fn waited() -> Duration {
    let read = || {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split_ascii_whitespace().nth(1)?.parse().ok()
    };
    Duration::from_nanos(read().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_without_length_is_over_and_a_long_one_is_not() {
        std::thread::sleep(Duration::from_millis(1));
        assert!(!Turn::new(Duration::from_hours(1)).is_over());
        let none = Turn::new(Duration::ZERO);
        while !none.is_over() {
            std::thread::yield_now();
        }
        assert_eq!(none.remaining(), Duration::ZERO);
    }
}
