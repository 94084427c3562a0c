//! Who sleeps and who wakes: locks of Rust's library, and protocols of bugs that were reported,
//! each with its repair.

use harnesses::futex::{Signal, wait, wait_a_second, wake_all, wake_one};
use palisade_harness::{Harness, share};
use std::sync::atomic::{AtomicU32, Ordering::*, fence};
use std::sync::{Barrier, Condvar, Mutex, Once, OnceLock, RwLock};
use std::thread::Thread;

#[test]
fn mutex() {
    let lock = share(Mutex::new(0u32));
    Harness::new().role("worker", 3, || *lock.lock().unwrap() = 1).repeat().check();
}

#[test]
fn rwlock() {
    let lock = share(RwLock::new(0u32));
    Harness::new()
        .role("reader", 1, || _ = *lock.read().unwrap())
        .role("writer", 2, || *lock.write().unwrap() = 1)
        .check();
}

#[test]
fn barrier() {
    let barrier = share(Barrier::new(2));
    Harness::new().role("worker", 2, || _ = barrier.wait()).check();
}

#[test]
fn barrier_of_three_for_two() {
    let barrier = share(Barrier::new(3));
    Harness::new().role("worker", 2, || _ = barrier.wait()).check();
}

#[test]
fn once() {
    let (once, made) = (share(Once::new()), share(AtomicU32::new(0)));
    Harness::new().role("maker", 3, || once.call_once(|| made.store(1, Relaxed))).check();
}

fn condvar_signalled(is_all: bool) {
    let (ready, changed) = (share(Mutex::new(false)), share(Condvar::new()));
    let signal = move || {
        *ready.lock().unwrap() = true;
        if is_all {
            changed.notify_all();
        } else {
            changed.notify_one();
        }
    };
    Harness::new()
        .role("waiter", 2, || drop(changed.wait_while(ready.lock().unwrap(), |ready| !*ready).unwrap()))
        .role("signaller", 1, signal)
        .check();
}

#[test]
fn condvar() {
    condvar_signalled(true);
}

#[test]
fn condvar_wakes_one_of_two() {
    condvar_signalled(false);
}

#[test]
fn park() {
    let (flag, parked) = (share(AtomicU32::new(0)), share(OnceLock::<Thread>::new()));
    Harness::new()
        .role("parker", 1, || {
            while flag.load(Acquire) == 0 {
                std::thread::park();
            }
        })
        .role("unparker", 2, || {
            flag.store(1, Release);
            parked.get().expect("the first thread has said who it is").unpark();
        })
        .warm_threads_by(|| _ = parked.set(std::thread::current()))
        .check();
}

/// A word that nobody changes.
fn sleeper(is_timed: bool) -> Harness {
    let word = share(AtomicU32::new(0));
    let sleep = move || if is_timed { wait_a_second(word, 0) } else { wait(word, 0) };
    Harness::new().role("sleeper", .., sleep).role("waker", .., || wake_one(word))
}

#[test]
fn nobody_wakes() {
    sleeper(false).check();
}

#[test]
fn nobody_wakes_but_time() {
    sleeper(true).check();
}

#[test]
fn nobody_wakes_a_daemon() {
    sleeper(false).daemon("sleeper").check();
}

/// litebox #820: who wakes sets `done` and looks at the waiter's state by an update that may
/// decline, which then is a plain load.
fn litebox(is_repaired: bool) {
    let (done, state) = (share(AtomicU32::new(0)), share(AtomicU32::new(0)));
    let wake = move || {
        done.store(1, if is_repaired { SeqCst } else { Relaxed });
        if state.fetch_update(Release, Relaxed, |state| (state == 1).then_some(2)).is_ok() {
            wake_all(state);
        }
    };
    let sleep = move || loop {
        state.store(1, SeqCst);
        if done.load(Acquire) == 1 {
            break;
        }
        wait(state, 1);
    };
    Harness::new().role("waker", 1, wake).role("waiter", 1, sleep).check();
}

#[test]
fn litebox_820() {
    litebox(false);
}

#[test]
fn litebox_820_repaired() {
    litebox(true);
}

/// hvisor #266: a request is queued behind a fence that is none on x86, and then the root system is
/// asked whether it is to be woken.
fn hvisor(is_repaired: bool) {
    let (rear, need, interrupt) = (share(AtomicU32::new(0)), share(AtomicU32::new(0)), share(Signal::default()));
    let queue = move || {
        rear.store(1, Relaxed);
        fence(if is_repaired { SeqCst } else { Release });
        if need.load(Relaxed) == 1 {
            interrupt.give();
        }
    };
    let root = move || {
        need.store(1, Relaxed);
        fence(SeqCst);
        while rear.load(Acquire) == 0 {
            interrupt.take();
        }
        need.store(0, Relaxed);
    };
    Harness::new().role("hypervisor", 1, queue).role("root", 1, root).check();
}

#[test]
fn hvisor_266() {
    hvisor(false);
}

#[test]
fn hvisor_266_repaired() {
    hvisor(true);
}

/// tokio #1788: who submits a task looks by a sequentially consistent load whether a worker is
/// awake.
fn tokio(is_repaired: bool) {
    let (queue, awake, unparked) = (share(AtomicU32::new(0)), share(AtomicU32::new(1)), share(Signal::default()));
    let submit = move || {
        queue.store(1, Release);
        let awake = if is_repaired { awake.fetch_add(0, SeqCst) } else { awake.load(SeqCst) };
        if awake == 0 {
            unparked.give();
        }
    };
    let work = move || {
        while queue.load(Acquire) == 0 {
            awake.fetch_sub(1, SeqCst);
            if queue.load(Acquire) == 0 {
                unparked.take();
            }
            awake.fetch_add(1, SeqCst);
        }
    };
    Harness::new().role("submitter", 1, submit).role("worker", 1, work).check();
}

#[test]
fn tokio_1788() {
    tokio(false);
}

#[test]
fn tokio_1788_repaired() {
    tokio(true);
}

/// nexus #512: who takes from the full ring looks whether the sender is parked.
fn nexus(is_repaired: bool) {
    let (full, parked, unparked) = (share(AtomicU32::new(1)), share(AtomicU32::new(0)), share(Signal::default()));
    let receive = move || {
        full.store(0, Release);
        if is_repaired {
            fence(SeqCst);
        }
        if parked.load(SeqCst) == 1 {
            unparked.give();
        }
    };
    let send = move || {
        while full.load(Acquire) == 1 {
            parked.swap(1, SeqCst);
            if full.load(Acquire) == 1 {
                unparked.take();
            }
            parked.store(0, Release);
        }
    };
    Harness::new().role("receiver", 1, receive).role("sender", 1, send).check();
}

#[test]
fn nexus_512() {
    nexus(false);
}

#[test]
fn nexus_512_repaired() {
    nexus(true);
}
