//! The rows of the table of what compilers may do, each as a role: built without optimisation, so that accesses are in the order of the source.
#![no_std]

use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicU32, Ordering, fence};

#[unsafe(no_mangle)]
static X: AtomicU32 = AtomicU32::new(0);
#[unsafe(no_mangle)]
static Y: AtomicU32 = AtomicU32::new(0);
#[unsafe(no_mangle)]
static Z: AtomicU32 = AtomicU32::new(0);
#[unsafe(no_mangle)]
static mut DATA: u32 = 0;

macro_rules! role {
    ($name:ident, $body:block) => {
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() $body
    };
}

/// A lock by compare-and-swap, with data in an atomic.
#[unsafe(no_mangle)]
pub extern "C" fn lock() {
    while Z.compare_exchange(0, 1, Acquire, Relaxed).is_err() {}
    let seen = X.load(Acquire);
    X.store(seen ^ 1, Release);
    Z.store(0, Release);
}

/// The same, which spins on a relaxed load of the lock's own word.
#[unsafe(no_mangle)]
pub extern "C" fn spin() {
    while Z.compare_exchange_weak(0, 1, Acquire, Relaxed).is_err() {
        while Z.load(Relaxed) != 0 {}
    }
    let seen = X.load(Acquire);
    X.store(seen ^ 1, Release);
    Z.store(0, Release);
}

/// Declined exchanges go on as if they had succeeded.
#[unsafe(no_mangle)]
pub extern "C" fn careless() {
    let _ = Z.compare_exchange(0, 1, Acquire, Relaxed);
    X.load(Acquire);
}

#[unsafe(no_mangle)]
pub extern "C" fn plain() {
    while Z.swap(1, Acquire) != 0 {}
    unsafe { DATA = 1 };
    Z.store(0, Release);
}

#[unsafe(no_mangle)]
pub extern "C" fn message() {
    X.store(1, Relaxed);
    Y.store(1, Release);
}

#[unsafe(no_mangle)]
pub extern "C" fn receive() {
    if Y.load(Acquire) != 0 {
        X.load(Relaxed);
    }
}

/// Stores to what the next roles load: memory that no role writes is not shared.
#[unsafe(no_mangle)]
pub extern "C" fn writer() {
    X.store(7, Release);
    Y.store(7, Release);
}

#[unsafe(no_mangle)]
pub extern "C" fn load_load() {
    Y.load(Relaxed);
    X.load(Acquire);
}

#[unsafe(no_mangle)]
pub extern "C" fn load_store() {
    let seen = Y.load(Relaxed);
    X.store(seen, Relaxed);
}

#[unsafe(no_mangle)]
pub extern "C" fn load_release() {
    let seen = Y.load(Relaxed);
    X.store(seen, Release);
}

#[unsafe(no_mangle)]
pub extern "C" fn store_store() {
    X.store(1, Release);
    Y.store(1, Relaxed);
}

#[unsafe(no_mangle)]
pub extern "C" fn fenced_store() {
    X.store(1, Relaxed);
    fence(SeqCst);
    Y.store(1, Relaxed);
}

#[unsafe(no_mangle)]
pub extern "C" fn idle_left() {
    X.store(1, Release);
    Z.fetch_or(0, AcqRel);
    Y.load(Acquire);
}

#[unsafe(no_mangle)]
pub extern "C" fn added_left() {
    X.store(1, Release);
    Z.fetch_add(1, AcqRel);
    Y.load(Acquire);
}

/// Nothing is exchanged, as the lock's word never holds this.
#[unsafe(no_mangle)]
pub extern "C" fn declined_left() {
    X.store(1, Release);
    let _ = Z.compare_exchange(5, 6, SeqCst, Relaxed);
    Y.load(Acquire);
}

#[unsafe(no_mangle)]
pub extern "C" fn own_left() {
    X.store(1, Release);
    let own = AtomicU32::new(0);
    own.swap(1, AcqRel);
    Y.load(Acquire);
}

#[unsafe(no_mangle)]
pub extern "C" fn exchanged_left() {
    X.store(1, SeqCst);
    Y.load(Acquire);
}

#[unsafe(no_mangle)]
pub extern "C" fn fenced_left() {
    X.store(1, Relaxed);
    fence(SeqCst);
    Y.load(Relaxed);
}

#[unsafe(no_mangle)]
pub extern "C" fn fenced_right() {
    Y.store(1, Release);
    fence(SeqCst);
    X.load(Acquire);
}

#[unsafe(no_mangle)]
pub extern "C" fn strong_left() {
    X.store(1, SeqCst);
    Z.store(0, SeqCst);
    while Y.load(SeqCst) == 1 && Z.load(SeqCst) == 0 {}
    X.store(0, SeqCst);
}

#[unsafe(no_mangle)]
pub extern "C" fn strong_right() {
    Y.store(1, SeqCst);
    Z.store(1, SeqCst);
    while X.load(SeqCst) == 1 && Z.load(SeqCst) == 1 {}
    Y.store(0, SeqCst);
}

/// What closes a relaxed load may find this thread's own store, and be gone.
#[unsafe(no_mangle)]
pub extern "C" fn forwarded() {
    X.load(Relaxed);
    X.store(1, Release);
    X.load(Acquire);
    Y.load(Acquire);
}

/// A lock that is taken again while its release may be in the buffer.
#[unsafe(no_mangle)]
pub extern "C" fn again() {
    Z.swap(1, Acquire);
    Z.store(0, Release);
    Z.swap(1, Acquire);
}

fn publish(order: Ordering) {
    X.store(1, order);
}

#[unsafe(no_mangle)]
pub extern "C" fn parameter() {
    publish(Release);
}

#[unsafe(no_mangle)]
pub extern "C" fn volatile() {
    unsafe { X.as_ptr().write_volatile(1) };
}

#[unsafe(no_mangle)]
pub extern "C" fn assembly() {
    unsafe { core::arch::asm!("lock inc dword ptr [{}]", in(reg) X.as_ptr()) };
}

role!(in_macro, {
    X.store(1, Release);
});
