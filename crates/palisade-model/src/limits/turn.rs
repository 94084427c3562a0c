//! A turn of a strategy: a span of time in which the thread runs, not counting the time in which it
//! waits.
//!
//! On a busy machine a turn measured by the clock alone would be over before much is done, and the
//! strategy that suits the net would have to wait for a turn many times longer.

use super::thread_time;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A turn that has begun, on one thread.
#[derive(Clone, Debug)]
pub struct Turn {
    /// When it began.
    begin: Instant,
    /// How long the thread may run.
    length: Duration,
    /// How long the thread had run before.
    ran: Duration,
    /// When to look again, in nanoseconds after the beginning.
    end: Arc<AtomicU64>,
}

impl Turn {
    /// A turn of this thread that begins now.
    pub fn new(length: Duration) -> Self {
        Self { begin: Instant::now(), length, ran: thread_time(), end: Arc::new(AtomicU64::new(nanoseconds(length))) }
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        let elapsed = self.begin.elapsed();
        if nanoseconds(elapsed) < self.end.load(Ordering::Relaxed) {
            return false;
        }
        let left = self.length.saturating_sub(thread_time().saturating_sub(self.ran));
        self.end.store(nanoseconds(elapsed + left), Ordering::Relaxed);
        left.is_zero()
    }

    /// How much of it is left, as far as is known.
    pub fn remaining(&self) -> Duration {
        Duration::from_nanos(self.end.load(Ordering::Relaxed)).saturating_sub(self.begin.elapsed())
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
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
