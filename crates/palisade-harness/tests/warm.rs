//! What is made at first use is there before memory is looked at, if the harness says so.

use palisade_harness::{Harness, any, assume, share};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// How often a role of two copies runs.
fn runs(harness: impl FnOnce(Harness) -> Harness) -> usize {
    let count = share(AtomicUsize::new(0));
    let counted = Harness::new().role("worker", 2, || {
        count.fetch_add(1, Ordering::Relaxed);
    });
    harness(counted).check();
    count.load(Ordering::Relaxed)
}

#[test]
fn trap_05_warm_roles_have_run_once_before() {
    assert_eq!(runs(|harness| harness), 2);
    assert_eq!(runs(Harness::warm), 3);
}

/// An assumption that does not hold ends its copy, and nothing else.
#[test]
fn assumptions_end_copies() {
    let cell = share(AtomicU64::new(0));
    let role = move || {
        let chosen = any(0..=1);
        assume(chosen == 1);
        cell.store(chosen, Ordering::Relaxed);
    };
    Harness::new().role("worker", 4, role).check();
    assert_eq!(cell.load(Ordering::Relaxed), 1);
}
