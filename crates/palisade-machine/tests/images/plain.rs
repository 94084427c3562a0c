//! Data without atomics, as roles: built without optimisation, so that accesses are in the order of the source.
#![no_std]

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicU32, fence};

#[unsafe(no_mangle)]
static LOCK: AtomicU32 = AtomicU32::new(0);
#[unsafe(no_mangle)]
static FLAG: AtomicU32 = AtomicU32::new(0);
#[unsafe(no_mangle)]
static OTHER: AtomicU32 = AtomicU32::new(0);
#[unsafe(no_mangle)]
static TURN: AtomicU32 = AtomicU32::new(0);
#[unsafe(no_mangle)]
static mut DATA: u32 = 0;
#[unsafe(no_mangle)]
static mut OWN: u32 = 0;

/// Data behind a lock.
#[unsafe(no_mangle)]
pub extern "C" fn guarded() {
    while LOCK.compare_exchange(0, 1, Acquire, Relaxed).is_err() {}
    unsafe { DATA ^= 1 };
    LOCK.store(0, Release);
}

/// The same data without the lock.
#[unsafe(no_mangle)]
pub extern "C" fn careless() {
    unsafe { DATA = 1 };
}

/// A lock that does not acquire.
#[unsafe(no_mangle)]
pub extern "C" fn relaxed_guarded() {
    while LOCK.compare_exchange(0, 1, Relaxed, Relaxed).is_err() {}
    unsafe { DATA ^= 1 };
    LOCK.store(0, Release);
}

/// A message.
#[unsafe(no_mangle)]
pub extern "C" fn sends() {
    unsafe { DATA = 1 };
    FLAG.store(1, Release);
}

#[unsafe(no_mangle)]
pub extern "C" fn receives() {
    if FLAG.load(Acquire) != 0 {
        unsafe { DATA = 2 };
    }
}

/// It reads what may not be there yet.
#[unsafe(no_mangle)]
pub extern "C" fn receives_early() {
    let seen = unsafe { DATA };
    if FLAG.load(Acquire) != 0 {
        OTHER.store(seen, Release);
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn sends_relaxed() {
    unsafe { DATA = 1 };
    FLAG.store(1, Relaxed);
}

#[unsafe(no_mangle)]
pub extern "C" fn receives_relaxed() {
    if FLAG.load(Relaxed) != 0 {
        unsafe { DATA = 2 };
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn sends_by_swap() {
    unsafe { DATA = 1 };
    FLAG.swap(1, Acquire);
}

#[unsafe(no_mangle)]
pub extern "C" fn sends_fenced() {
    unsafe { DATA = 1 };
    fence(SeqCst);
    FLAG.store(1, Relaxed);
}

#[unsafe(no_mangle)]
pub extern "C" fn receives_fenced() {
    if FLAG.load(Relaxed) != 0 {
        fence(SeqCst);
        unsafe { DATA = 2 };
    }
}

/// Data of its own behind the message, and before a swap that releases.
#[unsafe(no_mangle)]
pub extern "C" fn sends_and_counts() {
    unsafe { DATA = 1 };
    FLAG.store(1, Release);
    unsafe { OWN += 1 };
    OTHER.store(1, Release);
}

/// The next owner is told by a swap that releases; where it is the first access, nothing can be in the buffer.
#[unsafe(no_mangle)]
pub extern "C" fn sends_by_release() {
    unsafe { DATA = 1 };
    FLAG.swap(1, Release);
}

/// An atomic's memory, without its methods.
#[unsafe(no_mangle)]
pub extern "C" fn resets() {
    unsafe { *FLAG.as_ptr() = 0 };
}

#[unsafe(no_mangle)]
pub extern "C" fn volatile() {
    unsafe { (&raw mut DATA).write_volatile(1) };
}

/// Peterson's algorithm, with data inside.
#[unsafe(no_mangle)]
pub extern "C" fn left() {
    FLAG.store(1, SeqCst);
    TURN.store(1, SeqCst);
    while OTHER.load(SeqCst) == 1 && TURN.load(SeqCst) == 1 {}
    unsafe { DATA = 1 };
    FLAG.store(0, SeqCst);
}

#[unsafe(no_mangle)]
pub extern "C" fn right() {
    OTHER.store(1, SeqCst);
    TURN.store(0, SeqCst);
    while FLAG.load(SeqCst) == 1 && TURN.load(SeqCst) == 0 {}
    unsafe { DATA = 2 };
    OTHER.store(0, SeqCst);
}

/// It does not wait for its turn.
#[unsafe(no_mangle)]
pub extern "C" fn hasty_right() {
    OTHER.store(1, SeqCst);
    unsafe { DATA = 2 };
    OTHER.store(0, SeqCst);
}
