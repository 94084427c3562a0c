//! Harnesses as people write them first: what they do by the way is understood, or refused in their words.

use palisade_harness::{Harness, share};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::{Mutex, RwLock};
use std::sync::atomic::{AtomicU32, Ordering};

/// Two roles that come to the same instructions, about other variables.
#[test]
fn two_of_the_same_code() {
    let left = share(AtomicU32::new(0));
    let right = share(AtomicU32::new(0));
    Harness::new()
        .role("one", 1, || {
            left.store(1, Ordering::Relaxed);
            black_box(right.load(Ordering::Relaxed));
        })
        .role("other", 1, || {
            right.store(1, Ordering::Relaxed);
            black_box(left.load(Ordering::Relaxed));
        })
        .check();
}

fn writer(behind: impl Fn() + Send + Sync + 'static) {
    let cell = share(AtomicU32::new(0));
    Harness::new()
        .role("writer", .., move || {
            cell.store(1, Ordering::Relaxed);
            behind();
        })
        .check();
}

#[test]
fn sleeps() {
    writer(|| std::thread::sleep(std::time::Duration::from_micros(1)));
}

#[test]
fn prints() {
    writer(|| println!("done"));
}

#[test]
fn starts_a_thread() {
    writer(|| _ = std::thread::spawn(|| ()).join());
}

#[test]
fn allocates() {
    writer(|| _ = black_box(Box::new(5u64)));
}

/// What grows is either made or moved, and the way there says where its place is put.
#[test]
fn vector_that_grows() {
    let vector = share(Mutex::new(Vec::<u32>::new()));
    Harness::new().role("worker", 2, || vector.lock().unwrap().push(1)).heap(2).check();
}

#[test]
fn tree() {
    let tree = share(Mutex::new(BTreeMap::<u32, u32>::new()));
    Harness::new().role("worker", 2, || _ = tree.lock().unwrap().insert(1, 2)).heap(2).check();
}

#[test]
fn makes_text() {
    writer(|| _ = black_box(format!("{}", black_box(5))));
}

/// Readers and writers of the standard library's lock spin a hundred times before they sleep.
#[test]
fn readers_and_writers() {
    let value = share(RwLock::new(0u32));
    Harness::new()
        .role("reader", 2, || _ = black_box(*value.read().unwrap()))
        .role("writer", 2, || *value.write().unwrap() = 1)
        .check();
}

/// One call of the system wakes readers or a writer, by the way that has led there.
#[test]
fn any_readers_and_writers() {
    let value = share(RwLock::new(0u32));
    Harness::new()
        .role("reader", .., || _ = black_box(*value.read().unwrap()))
        .role("writer", .., || *value.write().unwrap() = 1)
        .repeat()
        .check();
}

/// Two harnesses of one test, of which each has an answer.
#[test]
fn two_in_one() {
    for is_fenced in [false, true] {
        let (left, right) = (share(AtomicU32::new(0)), share(AtomicU32::new(0)));
        let role = move |own: &AtomicU32, other: &AtomicU32| {
            own.store(1, Ordering::Relaxed);
            if is_fenced {
                std::sync::atomic::fence(Ordering::SeqCst);
            }
            black_box(other.load(Ordering::Relaxed));
        };
        Harness::new().role("one", 1, move || role(left, right)).role("other", 1, move || role(right, left)).check();
    }
}

/// A role of which the compiler leaves nothing.
#[test]
fn does_nothing() {
    let cell = share(AtomicU32::new(0));
    Harness::new()
        .role("idle", 2, || _ = black_box(7))
        .role("writer", 1, || cell.store(3, Ordering::Relaxed))
        .check();
}
