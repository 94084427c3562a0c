//! What is made at first use is there before memory is looked at, if the harness says so.

use palisade_harness::{Harness, share};
use std::sync::atomic::{AtomicUsize, Ordering};

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
