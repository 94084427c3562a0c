//! An event that somebody waits for, and loses.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::*, fence};

const AWAKE: u32 = 0;
const WAITING: u32 = 1;
const WOKEN: u32 = 2;

/// Something that happens once, and a thread that waits for it.
pub struct Event {
    done: AtomicBool,
    state: AtomicU32,
}

impl Event {
    /// It has not happened yet, and nobody waits.
    pub const fn new() -> Self {
        Self { done: AtomicBool::new(false), state: AtomicU32::new(AWAKE) }
    }

    /// Returns when it has happened.
    pub fn wait(&self) {
        self.state.store(WAITING, SeqCst);
        if !self.done.load(Acquire) {
            // In place of a system call that sleeps.
            while self.state.load(Acquire) == WAITING {
                std::hint::spin_loop();
            }
        }
    }

    /// Lets it happen, and wakes who waits.
    pub fn happen(&self) {
        self.done.store(true, Relaxed);
        self.wake();
    }

    /// The same, with a fence between what is announced and the look at who waits.
    pub fn happen_repaired(&self) {
        self.done.store(true, Relaxed);
        fence(SeqCst);
        self.wake();
    }

    fn wake(&self) {
        let _ = self.state.fetch_update(Release, Relaxed, |state| (state == WAITING).then_some(WOKEN));
    }

    /// Returns when it has happened, on every processor: a fence stands between the announcement and the look.
    pub fn wait_anywhere(&self) {
        self.state.store(WAITING, Relaxed);
        fence(SeqCst);
        if !self.done.load(Acquire) {
            while self.state.load(Acquire) == WAITING {
                std::hint::spin_loop();
            }
        }
    }
}

pub mod futex;
