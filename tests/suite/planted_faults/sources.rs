//! The faults of orderings that are read in sources.

use super::Fault;

/// Random pairs of functions in Rust and in the native language.
const RANDOM: &str = "machine::source_orderings::rust_means_what_the_native_language_means";

/// Functions of the library, and the orderings that they are called with.
const ATOMICS: &str = "crates/palisade-machine/src/lift/atomics.rs";

/// What accesses are in the source.
const STATED: &str = "crates/palisade-machine/src/orderings/stated.rs";

const fn fault(what: &'static str, file: &'static str, old: &'static str, new: &'static str) -> Fault {
    Fault { what, file, old, new, caught_by: RANDOM }
}

/// Faults of orderings that are read in sources.
pub(super) const FAULTS: &[Fault] = &[
    fault(
        "sources: a call without a constant counts as sequentially consistent, and none has one",
        STATED,
        "let ordering = call.ordering.unwrap_or(Ordering::Relaxed);",
        "let ordering = call.ordering.filter(|_| !PLANTED).unwrap_or(if PLANTED { Ordering::SeqCst } else { Ordering::Relaxed });",
    ),
    fault(
        "sources: release and acquire are taken for each other",
        ATOMICS,
        "let given = |family: u8| number(family).and_then(|number| numbers.ordering(number));",
        "let given = |family: u8| number(family).map(|own| if PLANTED && (own == 1 || own == 2) { 3 - own } else { own }).and_then(|number| numbers.ordering(number));",
    ),
    fault(
        "sources: a weak exchange never fails for no reason",
        STATED,
        "exchange.set_weak(load.target);",
        "if !PLANTED { exchange.set_weak(load.target); }",
    ),
    fault(
        "sources: a fence without an instruction is none",
        STATED,
        "Some(ordering @ (Ordering::Acquire | Ordering::Release | Ordering::AcqRel)) => {",
        "Some(ordering @ (Ordering::Acquire | Ordering::Release | Ordering::AcqRel)) if !PLANTED => {",
    ),
    fault(
        "sources: plain data is taken for atomic",
        STATED,
        "let ordering = if reason.is_none() { Ordering::Plain } else { Ordering::Relaxed };",
        "let ordering = if reason.is_none() && !PLANTED { Ordering::Plain } else { Ordering::Relaxed };",
    ),
    fault(
        "sources: where an exchange fails it is as ordered as where it succeeds",
        STATED,
        "let failure = call.failure.unwrap_or(Ordering::Relaxed);",
        "let failure = if PLANTED { Ordering::SeqCst } else { call.failure.unwrap_or(Ordering::Relaxed) };",
    ),
];

/// Faults of orderings of C, and of orderings that change with their places.
pub(super) const OF_PLACES: &[Fault] = &[
    Fault {
        what: "sources: an exchange of C is a store",
        file: ATOMICS,
        old: "\"swap\" | \"exchange_n\" | \"add\"",
        new: "\"exchange_n\" if PLANTED => Self::Store,\n            \"swap\" | \"exchange_n\" | \"add\"",
        caught_by: "machine::source_orderings::c_of_gcc_means_what_the_native_language_means",
    },
    Fault {
        what: "sources: plain data of C counts as relaxed",
        file: STATED,
        old: "let is_read = is_rust || self.lines.is_read_with_header(address);",
        new: "let is_read = is_rust || !PLANTED && self.lines.is_read_with_header(address);",
        caught_by: "machine::source_orderings::c_of_gcc_means_what_the_native_language_means",
    },
    Fault {
        what: "repairs: of updates at one place some get the ordering of a failure that they do not have",
        file: "crates/palisade-engine/src/fences/change.rs",
        old: "if own.operation().is_some_and(|operation| !operation.choices(failing).is_empty()) {",
        new: "if PLANTED || own.operation().is_some_and(|operation| !operation.choices(failing).is_empty()) {",
        caught_by: "fences::source_sites::orderings_change_with_their_places",
    },
];
