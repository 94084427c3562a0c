//! Budgets: time, memory and interruption, and why a run stopped.
//!
//! * [`Limits`] are the user's, and hold for the whole run: time, memory, interruption.
//! * A [`Budget`] is what one computation may use up before it gives way to another: the limits of
//!   the run, and a share of work or a [`Turn`] of its thread.
//! * A [`StopReason`] says why a computation stopped, never an error and never a verdict.
//! * A [`Halt`] is why a computation has no answer: it was stopped, or what it works on is at
//!   fault.

mod budget;
mod process;
mod stop;
mod turn;

pub use budget::Budget;
pub use process::{page_size, peak_resident_bytes, processor_time, resident_bytes, thread_time};
pub use stop::{Halt, StopReason};
pub use turn::Turn;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The interval between two looks at the limits while work runs that cannot look itself.
const PATIENCE: Duration = Duration::from_millis(2);

/// The budget of a computation; cheap to clone, clones share the interruption.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// When to stop.
    deadline: Option<Instant>,
    /// What memory not to exceed.
    memory: Option<MemoryLimit>,
    /// Flags any of which stops the computation.
    interrupts: Vec<Arc<AtomicBool>>,
}

/// A limit on the resident memory of the process.
#[derive(Clone, Debug)]
struct MemoryLimit {
    bytes: u64,
    /// Since when times are counted.
    begin: Instant,
    /// When to ask the system again, in microseconds.
    due: Arc<AtomicU64>,
}

/// How long to wait before asking the system for the memory again: asking takes as long as hundreds
/// of steps, and in that time a process can fill a few megabytes.
const MEMORY_INTERVAL: Duration = Duration::from_millis(1);

impl MemoryLimit {
    /// Whether more is in use, as far as is known.
    fn is_exceeded(&self, now: Instant) -> bool {
        let microseconds = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let now = now.saturating_duration_since(self.begin);
        if microseconds(now) < self.due.load(Ordering::Relaxed) {
            return false;
        }
        let exceeded = resident_bytes().is_some_and(|resident| resident > self.bytes);
        // Once the memory is exceeded, ask every time, so that all threads learn of it.
        if !exceeded {
            self.due.store(microseconds(now + MEMORY_INTERVAL), Ordering::Relaxed);
        }
        exceeded
    }
}

impl Limits {
    /// No limits.
    pub fn none() -> Self {
        Self::default()
    }

    /// Stop after `duration` from now (the earlier of this and a deadline already set). A time
    /// beyond what the clock can tell is no limit.
    #[must_use]
    pub fn with_timeout(mut self, duration: Duration) -> Self {
        let deadline = Instant::now().checked_add(duration);
        self.deadline = self.deadline.into_iter().chain(deadline).min();
        self
    }

    /// Stop when the process holds more than `bytes` resident.
    #[must_use]
    pub fn with_memory(mut self, bytes: u64) -> Self {
        let bytes = self.memory.map_or(bytes, |less| less.bytes.min(bytes));
        self.memory = Some(MemoryLimit { bytes, begin: Instant::now(), due: Arc::default() });
        self
    }

    /// Stop when the flag is raised, besides flags already there.
    #[must_use]
    pub fn with_interrupt(mut self, flag: Arc<AtomicBool>) -> Self {
        self.interrupts.push(flag);
        self
    }

    /// Whether one of the flags is raised. Costs next to nothing.
    pub fn check_interrupts(&self) -> Result<(), StopReason> {
        let raised = self.interrupts.iter().any(|flag| flag.load(Ordering::Relaxed));
        if raised { Err(StopReason::Interrupted) } else { Ok(()) }
    }

    /// Whether to stop, and why. Costs a clock reading and now and then a look at the process's
    /// memory: ask every thousand steps.
    pub fn check(&self) -> Result<(), StopReason> {
        self.check_interrupts()?;
        if self.deadline.is_none() && self.memory.is_none() {
            return Ok(());
        }
        let now = Instant::now();
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            return Err(StopReason::Timeout);
        }
        if self.memory.as_ref().is_some_and(|memory| memory.is_exceeded(now)) {
            return Err(StopReason::Memory);
        }
        Ok(())
    }

    /// Whether so many bytes more would be too much. Ask before a large table grows: it doubles at
    /// once, and nobody can look at the limits meanwhile.
    pub fn check_room(&self, bytes: u64) -> Result<(), StopReason> {
        let Some(memory) = &self.memory else { return Ok(()) };
        let is_room = resident_bytes().is_none_or(|resident| resident.saturating_add(bytes) <= memory.bytes);
        if is_room { Ok(()) } else { Err(StopReason::Memory) }
    }

    /// Whether there is a limit of time or memory.
    pub fn are_set(&self) -> bool {
        self.deadline.is_some() || self.memory.is_some()
    }

    /// Does work that does not look at the limits: on a thread of its own, left to itself when a
    /// limit is reached. What is left to itself ends with the process.
    ///
    /// # Panics
    ///
    /// When the work does.
    pub fn within<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, StopReason> {
        const STACK: usize = 64 << 20;
        self.check()?;
        let (sender, receiver) = channel();
        let worker = std::thread::Builder::new().stack_size(STACK).spawn(move || {
            // Nobody listens any more when a limit was reached.
            let _unheard = sender.send(work());
        });
        worker.expect("the system lets a process start a thread");
        loop {
            match receiver.recv_timeout(PATIENCE) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Timeout) => self.check()?,
                Err(RecvTimeoutError::Disconnected) => panic!("the work under limits broke off"),
            }
        }
    }

    /// The time left, when there is a deadline.
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }
}
