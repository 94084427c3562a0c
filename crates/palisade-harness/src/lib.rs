//! Tests of concurrent code: which functions run at the same time, on which objects.
//!
//! A [`Harness`] is part of an ordinary test. Under `cargo test`, [`check`](Harness::check) runs
//! the roles on real threads for a moment. Under `cargo palisade` it writes what is in memory to a
//! file and stops; Palisade then reads the machine code of the roles with that memory, and answers
//! for as many threads as the harness says, any number included.
//!
//! ```
//! use palisade_harness::{Harness, share};
//! use std::sync::atomic::{AtomicBool, Ordering};
//!
//! let lock = share(AtomicBool::new(false));
//! Harness::new()
//!     .role("worker", .., || {
//!         while lock.swap(true, Ordering::Acquire) {
//!             std::hint::spin_loop();
//!         }
//!         lock.store(false, Ordering::Release);
//!     })
//!     .repeat()
//!     .check();
//! ```

mod apart;
mod copies;
mod name;
mod role;
mod run;
mod snapshot;
mod threads;

pub use copies::Copies;

use role::Role;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The variable that names the folder for snapshots, which `cargo palisade` sets.
pub const SNAPSHOT_VARIABLE: &str = "PALISADE_SNAPSHOT";

/// How long the roles may run under `cargo test`, unless a harness says so.
const DEADLINE: Duration = Duration::from_secs(30);

/// An object that was shared.
#[derive(Clone, Debug)]
struct SharedObject {
    /// The name of its type, without modules.
    name: String,
    /// Its address.
    address: usize,
    /// Its bytes.
    size: usize,
}

/// All objects that were shared so far.
static OBJECTS: Mutex<Vec<SharedObject>> = Mutex::new(Vec::new());

/// Gives an object to all roles: it stays where it is until the process ends.
pub fn share<T: Sync + 'static>(value: T) -> &'static T {
    let shared: &'static T = Box::leak(Box::new(value));
    let address = std::ptr::from_ref(shared).addr();
    let object = SharedObject { name: name::of_type(std::any::type_name::<T>()), address, size: size_of::<T>() };
    OBJECTS.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(object);
    shared
}

/// Roles that run at the same time.
#[derive(Default)]
#[must_use = "a harness does nothing before `check`"]
pub struct Harness {
    roles: Vec<Role>,
    repeats: bool,
    warm: bool,
    threads: threads::Warming,
    /// How long the roles may run under `cargo test`, where that was said.
    deadline: Option<Duration>,
    /// What the snapshot says besides roles and objects, line by line.
    remarks: String,
}

impl Harness {
    /// Without roles yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a role: so many copies of it run, `..` for any number. Copies share what the closure
    /// has captured, so that it changes nothing of that without atomics or locks: two producers at
    /// the one end of a channel are no question to ask.
    ///
    /// ```compile_fail
    /// let mut sent = 0;
    /// palisade_harness::Harness::new().role("producer", .., move || sent += 1).check();
    /// ```
    #[track_caller]
    pub fn role<F: Fn() + Send + Sync + 'static>(mut self, name: &str, copies: impl Into<Copies>, role: F) -> Self {
        self.roles.push(Role::shared(name, copies.into(), role));
        self
    }

    /// Adds a role of one copy that owns what it has captured, and may change it.
    #[track_caller]
    pub fn role_once<F: FnMut() + Send + 'static>(mut self, name: &str, role: F) -> Self {
        self.roles.push(Role::owned(name, role));
        self
    }

    /// Adds as many roles of one copy each, which are told which one they are, from 0.
    #[track_caller]
    pub fn role_each<F: Fn(usize) + Send + Sync + 'static>(mut self, name: &str, count: usize, role: F) -> Self {
        self.roles.extend(Role::numbered(name, count, role));
        self
    }

    /// Copies begin again whenever they return. Without this each copy runs once.
    pub fn repeat(mut self) -> Self {
        self.repeats = true;
        self
    }

    /// Has `cargo palisade` compute counters in so many bits, and whatever their values flow into:
    /// sequence numbers and indices that count for ever have too many values otherwise. Cells have
    /// the names that answers print, `ArrayQueue+0x80` for instance. The verdict says that this was
    /// done. `cargo test` runs the code as it is.
    ///
    /// # Panics
    ///
    /// When a name is empty or has a space.
    #[track_caller]
    pub fn narrow<const N: usize>(self, cells: [&str; N], bits: u8) -> Self {
        assert!(cells.iter().all(|cell| is_word(cell)), "a cell's name is a word");
        self.remark(&format!("narrow {bits} {}", cells.join(" ")))
    }

    /// Has `cargo palisade` accept that a store is delayed past a load of the same thread, each by
    /// its place in the sources, `"queue.rs:186"`, as answers print them. The verdict is then
    /// robust *but for* this delay: an execution that no interleaving explains has it. What such
    /// executions do is for you to judge. `cargo test` runs the code as it is.
    ///
    /// # Panics
    ///
    /// When a place is empty or has a space.
    #[track_caller]
    pub fn accept(self, store: &str, load: &str) -> Self {
        assert!(is_word(store) && is_word(load), "a place is a word, `queue.rs:186`");
        self.remark(&format!("accept {store} {load}"))
    }

    /// Has `cargo palisade` take a load, by its place in the sources, for a hint: what it finds is
    /// checked later – by a compare-and-swap, or by another look after a fence –, so that any value
    /// will do that its cell may hold. If the code is robust with any value there, then whatever it
    /// does on x86 it does in some interleaving in which the hint finds any value; properties that
    /// hold in all of these hold. `cargo test` runs the code as it is.
    ///
    /// # Panics
    ///
    /// When the place is empty or has a space.
    #[track_caller]
    pub fn hint(self, load: &str) -> Self {
        assert!(is_word(load), "a place is a word, `queue.rs:186`");
        self.remark(&format!("hint {load}"))
    }

    /// Lets `cargo palisade` know that copies of a role may wait for ever: they wait for work, and
    /// with [`repeat`](Self::repeat) they never stop. Other roles that repeat may stop after any
    /// round.
    ///
    /// # Panics
    ///
    /// When there is no such role yet.
    #[track_caller]
    pub fn daemon(self, role: &str) -> Self {
        assert!(self.roles.iter().any(|own| own.name == role), "there is no role `{role}`");
        self.remark(&format!("daemon {role}"))
    }

    /// Lets `cargo palisade` know that anybody may wait for ever at a place in the sources,
    /// `"queue.rs:12"`.
    ///
    /// # Panics
    ///
    /// When the place is empty or has a space.
    #[track_caller]
    pub fn idle(self, place: &str) -> Self {
        assert!(is_word(place), "a place is a word, `queue.rs:186`");
        self.remark(&format!("idle {place}"))
    }

    /// Lets roles of a fixed number of copies take memory from the heap and free it: each copy may
    /// have so many new blocks of each size, 1 to 8, besides those that somebody has freed. Where
    /// that bounds what the code does, the verdict says so. `cargo test` runs the code as it is.
    ///
    /// # Panics
    ///
    /// When the number is 0, or more than 8.
    #[track_caller]
    pub fn heap(self, blocks: u8) -> Self {
        assert!((1..=8).contains(&blocks), "a copy has 1 to 8 blocks of each size");
        self.remark(&format!("heap {blocks}"))
    }

    /// Lets copies, of roles that have a fixed number of them, access what lies on the stacks of
    /// others: nodes of a queue of waiters, data that a scope lends out. `cargo test` runs the code
    /// as it is.
    pub fn share_stacks(self) -> Self {
        self.remark("stacks")
    }

    fn remark(mut self, line: &str) -> Self {
        self.remarks.push_str(line);
        self.remarks.push('\n');
        self
    }

    /// Runs every role once before memory is looked at, so that what is made at first use is there.
    pub fn warm(mut self) -> Self {
        self.warm = true;
        self
    }

    /// Gives each copy, of roles that have a fixed number of them, a thread of its own that has run
    /// the role once. So the copies have data of their own (`thread_local!`), and what is made of
    /// it at first use is there. Without this, roles that come to such data are refused.
    pub fn warm_threads(mut self) -> Self {
        self.threads = threads::Warming::ByRoles;
        self
    }

    /// The same, where each thread runs this in place of its role: a role that waits for another
    /// one does not return when it runs alone.
    pub fn warm_threads_by<F: Fn() + Send + Sync + 'static>(mut self, first: F) -> Self {
        self.threads = threads::Warming::By(Arc::new(first));
        self
    }

    /// Lets the roles run for so long under `cargo test` before the test fails; 30 seconds where
    /// this is not said.
    pub fn deadline(mut self, time: Duration) -> Self {
        self.deadline = Some(time);
        self
    }

    /// Runs the roles on threads for a moment, or, under `cargo palisade`, writes the snapshot.
    ///
    /// # Panics
    ///
    /// When a role panics, whatever the others wait for; when some copy has not returned by the
    /// [deadline](Self::deadline); or when the snapshot cannot be written.
    pub fn check(mut self) {
        if self.warm {
            self.roles.iter_mut().for_each(Role::warm_up);
        }
        match std::env::var_os(SNAPSHOT_VARIABLE) {
            Some(folder) => {
                let threads = threads::warm(&mut self.roles, &self.threads);
                if let Some(threads) = &threads {
                    self.remarks.push_str(&threads.lines);
                }
                let name = numbered(std::thread::current().name().unwrap_or("unnamed").replace("::", "-"));
                let objects = OBJECTS.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
                let path = PathBuf::from(folder).join(format!("{name}.snapshot"));
                let roles = self.roles.into_iter().map(|role| role.described(self.repeats)).collect::<Vec<_>>();
                snapshot::write(&path, &roles, &objects, &self.remarks).expect("the snapshot can be written");
            }
            None => run::on_threads(self.roles, self.repeats, self.deadline.unwrap_or(DEADLINE)),
        }
    }
}

/// The name of a harness: that of its test, with a number from the second one in the test on.
fn numbered(name: String) -> String {
    static MET: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());
    let mut met = MET.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let count = met.entry(name.clone()).or_insert(0);
    *count += 1;
    if *count == 1 { name } else { format!("{name}-{count}") }
}

/// Whether a text is a word of the snapshot.
fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(char::is_whitespace)
}

/// One of the values, whichever: every one of them is checked. Under `cargo test`, one after the
/// other.
pub fn any(values: std::ops::RangeInclusive<u64>) -> u64 {
    let (low, high) = values.into_inner();
    palisade_harness_any(low, high)
}

/// What `cargo palisade` takes for any number between two.
#[inline(never)]
extern "C" fn palisade_harness_any(low: u64, high: u64) -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    match high.checked_sub(low).and_then(|most| most.checked_add(1)) {
        Some(count) => low + next % count,
        None => low,
    }
}

/// Ends the copy unless the condition holds: what comes behind is checked for executions in which
/// it does.
pub fn assume(condition: bool) {
    if !condition {
        palisade_harness_stop();
    }
}

/// What `cargo palisade` takes for the end of a copy.
#[inline(never)]
extern "C-unwind" fn palisade_harness_stop() {
    run::stop();
}
