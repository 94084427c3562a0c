//! Faults in what is said of data without atomics in every compilation.

use super::Fault;

/// The faults.
pub(super) const FAULTS: &[Fault] = &[
    Fault {
        what: "compilations: data without atomics may follow a relaxed load",
        file: "crates/palisade-engine/src/compilations/monitor.rs",
        old: "                if let Some((load, _)) = self.open {",
        new: "                if let Some((load, _)) = self.open.filter(|_| !PLANTED) {",
        caught_by: "machine::compilations::plain_data_with_races",
    },
    Fault {
        what: "compilations: a relaxed store may follow data without atomics",
        file: "crates/palisade-engine/src/compilations/monitor.rs",
        old: "            Some(plain) if !ordering.releases() => ",
        new: "            Some(plain) if !ordering.releases() && !PLANTED => ",
        caught_by: "machine::compilations::plain_data_with_races",
    },
    Fault {
        what: "compilations: copies in one local state do not race",
        file: "crates/palisade-engine/src/compilations/races.rs",
        old: "usize::from(is_alone(one))",
        new: "usize::from(is_alone(one) || PLANTED)",
        caught_by: "machine::compilations::plain_data_with_races",
    },
    Fault {
        what: "compilations: data without atomics does not race with atomics",
        file: "crates/palisade-engine/src/compilations/races.rs",
        old: "(self.is_plain || other.is_plain)",
        new: "(self.is_plain && other.is_plain || (self.is_plain || other.is_plain) && !PLANTED)",
        caught_by: "machine::compilations::plain_data_with_races",
    },
];
