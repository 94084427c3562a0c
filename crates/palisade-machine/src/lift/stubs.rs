//! Functions that are not followed: what calling them means.
//!
//! Each stub stands for a function of the system or of a language's library by its name. What is
//! not listed is followed where the image has its code, and refused where it has not.

use super::abstraction::Abstract;
use super::copies::Copying;
use super::environment::CALLER_SAVED;
use super::heap::HeapFunction;
use super::posix::Posix;

/// What a call of a function that is not followed does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stub {
    /// Nothing that others see; it returns 0.
    Nothing,
    /// `syscall`: what it does depends on its first argument.
    SystemCall,
    /// It returns where the number of the last error is, which is the thread's own.
    ErrorNumber,
    /// It returns any number between its arguments.
    Any,
    /// It copies, fills or compares memory.
    Copying(Copying),
    /// `clock_gettime`: it says what time it is. The clock stands still: the listing's heading says
    /// so.
    Clock,
    /// It locks, waits or wakes, as POSIX says.
    Posix(Posix),
    /// The same for `std::condition_variable::wait` of C++, whose mutex stands in a `unique_lock`.
    SleepUnlocked,
    /// It takes memory from the heap, or gives it back.
    Heap(HeapFunction),
    /// The role has failed: a panic, an assertion.
    Fails,
    /// The copy ends.
    Ends,
}

/// What a call of a function that is not followed does before it returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Called {
    /// What it may return, at least one value.
    pub(crate) outcomes: Vec<Abstract>,
    /// Whether its steps have set what it returns, with the first of `outcomes` saying what is
    /// known of that.
    pub(crate) has_returned: bool,
}

impl Called {
    /// It does nothing and returns a value.
    pub(crate) fn returning(result: Abstract) -> Self {
        Self { outcomes: vec![result], has_returned: false }
    }

    /// The registers that hold nothing any more when it returns.
    pub(crate) fn clears(&self) -> impl Iterator<Item = u8> + use<> {
        let has_returned = self.has_returned;
        CALLER_SAVED.into_iter().filter(move |family| !(has_returned && *family == 0))
    }
}

/// Where the frame keeps the number of the last error: far below everything else.
pub(crate) const ERROR_NUMBER: i64 = -(1 << 23);

/// The seconds that the clock shows: more than any clock has shown before the roles begin.
pub(crate) const TIME: i64 = 1 << 33;

/// Names that are matched as a whole.
const NAMES: [(&str, Stub); 33] = [
    ("sched_yield", Stub::Nothing),
    ("std::thread::functions::yield_now", Stub::Nothing),
    ("std::thread::yield_now", Stub::Nothing),
    ("std::sys::thread::unix::yield_now", Stub::Nothing),
    ("std::thread::functions::sleep", Stub::Nothing),
    ("std::thread::sleep", Stub::Nothing),
    ("std::sys::thread::unix::sleep", Stub::Nothing),
    ("std::sys::thread::unix::sleep::nanosleep", Stub::Nothing),
    ("usleep", Stub::Nothing),
    ("nanosleep", Stub::Nothing),
    ("__nanosleep", Stub::Nothing),
    ("clock_nanosleep", Stub::Nothing),
    ("__clock_nanosleep", Stub::Nothing),
    ("syscall", Stub::SystemCall),
    ("clock_gettime", Stub::Clock),
    ("__clock_gettime", Stub::Clock),
    ("__errno_location", Stub::ErrorNumber),
    ("palisade_harness::palisade_harness_any", Stub::Any),
    ("palisade_harness::palisade_harness_stop", Stub::Ends),
    ("palisade_harness_any", Stub::Any),
    ("__assert_fail", Stub::Fails),
    ("abort", Stub::Fails),
    ("__stack_chk_fail", Stub::Fails),
    ("std::process::abort", Stub::Fails),
    ("core::result::unwrap_failed", Stub::Fails),
    ("core::option::unwrap_failed", Stub::Fails),
    ("core::option::expect_failed", Stub::Fails),
    ("_ZSt20__throw_system_errori", Stub::Fails),
    ("_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE", Stub::SleepUnlocked),
    ("_ZNSt18condition_variable10notify_oneEv", Stub::Posix(Posix::Wake { all: false })),
    ("_ZNSt18condition_variable10notify_allEv", Stub::Posix(Posix::Wake { all: true })),
    ("exit", Stub::Ends),
    ("_exit", Stub::Ends),
];

/// Beginnings of names.
const BEGINNINGS: [(&str, Stub); 4] = [
    ("core::panicking::", Stub::Fails),
    ("std::panicking::begin_panic", Stub::Fails),
    ("core::slice::index::slice_", Stub::Fails),
    ("alloc::alloc::handle_alloc_error", Stub::Fails),
];

/// What calling a function means, where it is not followed.
pub(crate) fn stub(name: &str) -> Option<Stub> {
    let whole = NAMES.iter().find(|(listed, _)| *listed == name);
    let listed = whole.or_else(|| BEGINNINGS.iter().find(|(listed, _)| name.starts_with(listed)));
    let listed = listed.map(|(_, stub)| *stub).or_else(|| Copying::named(name).map(Stub::Copying));
    listed.or_else(|| Posix::named(name).map(Stub::Posix))
}

/// What calling a function of the heap means, where the heap is followed.
pub(crate) fn heap_stub(name: &str) -> Option<Stub> {
    if name.trim_start_matches("__rustc::").starts_with("__rust_no_alloc_shim") {
        return Some(Stub::Nothing);
    }
    HeapFunction::named(name).map(Stub::Heap)
}

/// What to do about roles that allocate.
const ALLOCATES: &str =
    "`.heap(2)` lets roles of a fixed number of copies allocate; or prepare the memory before they run (`.warm()`)";

/// Why a call of a function without code, or of one that must not be followed, is refused.
pub(crate) fn refusal(name: &str) -> String {
    match name.strip_prefix("__rustc::") {
        // The compiler's own names say nothing to people.
        Some(_) => "memory is taken from the heap, or given back".to_owned(),
        None => format!("`{name}` is called, which is not followed"),
    }
}

/// What to do about such a call.
pub(crate) fn advice(name: &str) -> &'static str {
    match name.trim_start_matches("__rustc::") {
        own if HeapFunction::named(own).is_some() => ALLOCATES,
        "posix_memalign" => ALLOCATES,
        own if own.starts_with("__rust_") => ALLOCATES,
        "__tls_get_addr" | "pthread_getspecific" => "data of the thread's own (thread-local storage) is not understood",
        _ => "link the program statically, so that the image has its code",
    }
}

/// Names of functions that are refused even where the image has their code.
pub(crate) fn is_refused(name: &str) -> bool {
    matches!(
        name,
        "malloc"
            | "calloc"
            | "realloc"
            | "free"
            | "posix_memalign"
            | "__rust_alloc"
            | "__rust_dealloc"
            | "__tls_get_addr"
            | "pthread_getspecific"
    ) || name.starts_with("__rustc::__rust_")
}
