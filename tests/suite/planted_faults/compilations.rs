//! Faults in what is said of every compilation.

use super::Fault;

/// The faults.
pub(super) const FAULTS: &[Fault] = &[
    Fault {
        what: "compilations: a weak read-modify-write is taken for a fence",
        file: "crates/palisade-engine/src/compilations/monitor.rs",
        old: "self.pending.map_or(Ok(()), ",
        new: "self.pending.filter(|_| !PLANTED).map_or(Ok(()), ",
        caught_by: "machine::compilations::orderings_that_do_not",
    },
    Fault {
        what: "compilations: an acquiring load that may find the thread's own store keeps a relaxed one before it",
        file: "crates/palisade-engine/src/compilations/monitor.rs",
        old: "                    *other = None;",
        new: "                    *other = if PLANTED { *other } else { None };",
        caught_by: "machine::compilations::orderings_that_do_not",
    },
    Fault {
        what: "compilations: a relaxed store may follow any store",
        file: "crates/palisade-engine/src/compilations/monitor.rs",
        old: "self.stored.filter(|(_, other)| is_elsewhere(*other)) {",
        new: "self.stored.filter(|(_, other)| is_elsewhere(*other) && !PLANTED) {",
        caught_by: "machine::compilations::orderings_that_do_not",
    },
    Fault {
        what: "compilations: a SeqCst store is a fence for all loads",
        file: "crates/palisade-engine/src/compilations/monitor.rs",
        old: "                if ordering == Ordering::SeqCst {",
        new: "                if ordering == Ordering::SeqCst && !PLANTED {",
        caught_by: "machine::compilations::orderings_that_do_not",
    },
    Fault {
        what: "compilations: a declined compare-and-swap has the ordering of one that succeeds",
        file: "crates/palisade-engine/src/compilations/monitor.rs",
        old: "SourceAccess::CompareExchange(_, failure) if does_load => Self::Load(failure),",
        new: "SourceAccess::CompareExchange(success, failure) if does_load => {
                Self::Load(if PLANTED { success } else { failure })
            }",
        caught_by: "machine::compilations::orderings_that_do_not",
    },
    Fault {
        what: "compilations: after a failed compare-and-swap the value may be the one that was expected",
        file: "crates/palisade-engine/src/compilations/bits.rs",
        old: "        Self { other: Some(value), ..Self::UNKNOWN }",
        new: "        Self { other: Some(value).filter(|_| !PLANTED), ..Self::UNKNOWN }",
        caught_by: "machine::compilations::orderings_that_suffice",
    },
];
