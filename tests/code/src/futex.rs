//! Sleeping at a word and waking sleepers, by the system's call.

use std::ffi::{c_int, c_long};
use std::sync::atomic::AtomicU32;

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
}

/// `futex`, and its operations for threads of one process.
const FUTEX: c_long = 202;
const WAIT: c_int = 128;
const WAKE: c_int = 129;

/// Sleeps if the word has a value.
pub fn wait(word: &AtomicU32, value: u32) {
    // SAFETY: the kernel reads the word, which lives as long as the call.
    unsafe { syscall(FUTEX, word.as_ptr(), WAIT, value, std::ptr::null::<u8>()) };
}

/// The same, for a second at most.
pub fn wait_a_second(word: &AtomicU32, value: u32) {
    let second: [c_long; 2] = [1, 0];
    // SAFETY: the same, and the kernel reads the time.
    unsafe { syscall(FUTEX, word.as_ptr(), WAIT, value, second.as_ptr()) };
}

/// Wakes one of those who sleep at the word.
pub fn wake_one(word: &AtomicU32) {
    // SAFETY: the kernel takes the address for a name.
    unsafe { syscall(FUTEX, word.as_ptr(), WAKE, 1 as c_int) };
}

/// Wakes all of them.
pub fn wake_all(word: &AtomicU32) {
    // SAFETY: the same.
    unsafe { syscall(FUTEX, word.as_ptr(), WAKE, c_int::MAX) };
}

/// A signal: `give` lets one `take` go on, before or after.
#[derive(Default)]
pub struct Signal(AtomicU32);

impl Signal {
    /// Gives it.
    pub fn give(&self) {
        self.0.store(1, std::sync::atomic::Ordering::Release);
        wake_one(&self.0);
    }

    /// Waits for it, and takes it.
    pub fn take(&self) {
        while self.0.swap(0, std::sync::atomic::Ordering::Acquire) == 0 {
            wait(&self.0, 0);
        }
    }
}
