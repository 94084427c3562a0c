//! Copies that wait for what never comes: the test fails all the same, and shows why.

use palisade_harness::{Harness, share};
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What a panic says.
fn said(check: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let begin = Instant::now();
    let panic = catch_unwind(check).expect_err("the harness fails");
    assert!(begin.elapsed() < Duration::from_secs(25), "{:?}", begin.elapsed());
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).expect("a panic with a text")
}

#[test]
fn a_panic_is_shown_while_others_spin() {
    let lock = share(AtomicBool::new(false));
    // The first copy spins for ever on the lock that the second one holds when it panics.
    let panic = said(move || {
        Harness::new()
            .role("waits", 1, move || {
                while !lock.load(Ordering::Acquire) {
                    std::hint::spin_loop();
                }
                while lock.load(Ordering::Acquire) {
                    std::thread::yield_now();
                }
            })
            .role("fails", 1, move || {
                lock.store(true, Ordering::Release);
                panic!("it fails with the lock held");
            })
            .check();
    });
    assert_eq!(panic, "it fails with the lock held");
}

#[test]
fn copies_that_do_not_return_are_named() {
    let never = share(AtomicBool::new(false));
    let panic = said(move || {
        Harness::new()
            .role("quick", 1, || ())
            .role("patient", 2, move || {
                while !never.load(Ordering::Acquire) {
                    std::thread::yield_now();
                }
            })
            .deadline(Duration::from_millis(200))
            .check();
    });
    assert!(panic.contains("200ms") && panic.contains("`patient`") && !panic.contains("`quick`"), "{panic}");
}
