//! Functions that are not followed: what calling them means.
//!
//! Each stub stands for a function of the system or of a language's library by its name. What is not listed is followed
//! where the image has its code, and refused where it has not.

/// What a call of a function that is not followed does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stub {
    /// Nothing that others see; it returns 0.
    Nothing,
    /// It drains the store buffer, as every call of the system may, and returns 0 or -1.
    SystemCall,
    /// The role has failed: a panic, an assertion.
    Fails,
    /// The copy ends.
    Ends,
}

/// Names that are matched as a whole.
const NAMES: [(&str, Stub); 16] = [
    ("sched_yield", Stub::Nothing),
    ("std::thread::functions::yield_now", Stub::Nothing),
    ("std::thread::yield_now", Stub::Nothing),
    ("std::sys::thread::unix::yield_now", Stub::Nothing),
    ("usleep", Stub::Nothing),
    ("nanosleep", Stub::Nothing),
    ("palisade_harness_observe", Stub::Nothing),
    ("__assert_fail", Stub::Fails),
    ("abort", Stub::Fails),
    ("__stack_chk_fail", Stub::Fails),
    ("std::process::abort", Stub::Fails),
    ("core::result::unwrap_failed", Stub::Fails),
    ("core::option::unwrap_failed", Stub::Fails),
    ("core::option::expect_failed", Stub::Fails),
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
    whole.or_else(|| BEGINNINGS.iter().find(|(listed, _)| name.starts_with(listed))).map(|(_, stub)| *stub)
}

/// Why a function without code, or one that must not be followed, is refused.
pub(crate) fn advice(name: &str) -> &'static str {
    match name {
        "malloc" | "calloc" | "realloc" | "free" | "posix_memalign" | "__rust_alloc" | "__rust_dealloc" => {
            "roles must not allocate: prepare the memory before they run"
        }
        "__tls_get_addr" | "pthread_getspecific" | "__errno_location" => {
            "data of the thread's own (thread-local storage) is not understood"
        }
        "memcpy" | "memmove" | "memset" | "memcmp" => "copies of memory by a function are not understood",
        "pthread_mutex_lock" | "pthread_mutex_unlock" | "pthread_cond_wait" => {
            "locks of the system's library are not followed: link the program statically"
        }
        _ => "link the program statically, so that the image has its code",
    }
}

/// Names of functions that are refused even where the image has their code.
pub(crate) fn is_refused(name: &str) -> bool {
    matches!(
        name,
        "malloc" | "calloc" | "realloc" | "free" | "posix_memalign" | "__rust_alloc" | "__rust_dealloc"
            | "__tls_get_addr" | "pthread_getspecific"
    ) || name.starts_with("__rustc::__rust_")
}
