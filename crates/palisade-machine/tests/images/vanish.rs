//! Read-modify-writes that compilers of today turn into something else, or into nothing at all.
#![no_std]
#![no_main]
use core::sync::atomic::{AtomicU32, Ordering::*, fence};

static X: AtomicU32 = AtomicU32::new(0);
static Y: AtomicU32 = AtomicU32::new(0);
static Z: AtomicU32 = AtomicU32::new(0);
static SEEN: [AtomicU32; 2] = [AtomicU32::new(0), AtomicU32::new(0)];

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

macro_rules! pair {
    ($left:ident, $right:ident, $between:expr) => {
        #[unsafe(no_mangle)]
        pub extern "C" fn $left() {
            X.store(1, Release);
            let _ = $between;
            SEEN[0].store(Y.load(Acquire), Relaxed);
        }
        #[unsafe(no_mangle)]
        pub extern "C" fn $right() {
            Y.store(1, Release);
            let _ = $between;
            SEEN[1].store(X.load(Acquire), Relaxed);
        }
    };
}

pair!(or_left, or_right, Z.fetch_or(0, AcqRel));
pair!(or_seqcst_left, or_seqcst_right, Z.fetch_or(0, SeqCst));
pair!(add_nothing_left, add_nothing_right, Z.fetch_add(0, Relaxed));
pair!(add_left, add_right, Z.fetch_add(1, AcqRel));
pair!(swap_left, swap_right, Z.swap(0, Relaxed));
pair!(declined_left, declined_right, Z.fetch_update(SeqCst, SeqCst, |_| None));
pair!(fence_left, fence_right, fence(SeqCst));
pair!(weak_fence_left, weak_fence_right, fence(AcqRel));
