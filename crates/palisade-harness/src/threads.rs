//! Threads whose data copies of roles have: each has run its role once, and waits until memory has
//! been written.

use super::Copies;
use super::role::{Body, Role};
use std::fmt::Write as _;
use std::os::unix::thread::JoinHandleExt;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What each thread does first, in place of its role.
type First = Arc<dyn Fn() + Send + Sync>;

/// Whether copies have threads of their own.
#[derive(Clone, Default)]
pub(crate) enum Warming {
    /// They have none.
    #[default]
    No,
    /// Each has one that has run the role once.
    ByRoles,
    /// Each has one that has done this.
    By(First),
}

/// How long a role may run alone.
const LIMIT: Duration = Duration::from_secs(10);

/// The number of the system's call `futex`, by which a thread waits for a lock.
const FUTEX: &str = "202";

/// Threads that wait. They go on when this is dropped.
pub(crate) struct Threads {
    /// A line for each, `thread ROLE COPY BASE`: where its data is.
    pub(crate) lines: String,
    _gate: MutexGuard<'static, ()>,
}

/// Starts a thread for each of a fixed number of copies, one after the other, in the order of the
/// roles.
pub(crate) fn warm(roles: &mut [Role], warming: &Warming) -> Option<Threads> {
    let first = match warming {
        Warming::No => return None,
        Warming::ByRoles => None,
        Warming::By(first) => Some(first),
    };
    let gate: &'static Mutex<()> = Box::leak(Box::default());
    let held = gate.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut lines, mut count) = (String::new(), 0);
    for role in roles {
        let Copies::Exactly(copies) = role.copies else { continue };
        for copy in 0..copies {
            let base = one(role, first.cloned(), gate);
            let _ = writeln!(lines, "thread {} {copy} {base:x}", role.name);
            count += 1;
        }
    }
    wait_for(count, std::ptr::from_ref(gate).addr());
    Some(Threads { lines, _gate: held })
}

/// Starts a thread that runs the role, or what comes in its place, and waits then; the address that
/// its data is counted from.
fn one(role: &mut Role, first: Option<First>, gate: &'static Mutex<()>) -> u64 {
    // What the role owns comes back when it has run.
    let body = std::mem::replace(&mut role.body, Body::Shared(Arc::new(|| ())));
    let (sender, ran) = channel();
    let thread = std::thread::spawn(move || {
        let mut body = body;
        match (&first, &mut body) {
            (Some(first), _) => first(),
            (None, Body::Shared(role)) => role(),
            (None, Body::Owned(role)) => role(),
        }
        drop(first);
        // Nobody listens any more when the time was up.
        let _ = sender.send(body);
        drop(gate.lock());
    });
    match ran.recv_timeout(LIMIT) {
        Ok(body) => role.body = body,
        Err(RecvTimeoutError::Disconnected) => panic!("the role `{}` panics when it runs alone", role.name),
        Err(RecvTimeoutError::Timeout) => panic!(
            "the role `{}` has not returned within {LIMIT:?} when it ran alone; `Harness::warm_threads_by` runs something else first",
            role.name
        ),
    }
    // For the C library, a thread is the address of what it knows about it, and the thread's data
    // is counted from there.
    thread.as_pthread_t()
}

/// Waits until so many threads wait for the lock at an address.
fn wait_for(count: u64, lock: usize) {
    let start = Instant::now();
    while waiting(lock) < count {
        assert!(start.elapsed() < LIMIT, "the threads of the roles do not wait where they should");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// How many threads wait for the lock at an address.
fn waiting(lock: usize) -> u64 {
    let waits = |call: &str| {
        let mut words = call.split(' ');
        let word = if words.next() == Some(FUTEX) { words.next() } else { None };
        let address = word.and_then(|word| usize::from_str_radix(word.trim_start_matches("0x"), 16).ok());
        address.is_some_and(|address| (lock..lock + size_of::<Mutex<()>>()).contains(&address))
    };
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let calls = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("syscall")).ok());
    calls.filter(|call| waits(call)).map(|_| 1).sum()
}
