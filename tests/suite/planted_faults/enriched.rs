//! The faults of enriched programs.

use super::Fault;

/// Properties of random programs under SC, TSO and PSO against the search for final states and
/// `verify`; a test inside the library.
const PROPERTIES: &str = "properties::tests::random_programs_without_loops";

/// Faults of enriched programs.
pub(super) const FAULTS: &[Fault] = &[
    Fault {
        what: "enriched: the loads drain nothing",
        file: "crates/palisade-engine/src/properties/enrich.rs",
        old: "if self.loads.contains(&id) {",
        new: "if self.loads.contains(&id) && !PLANTED {",
        caught_by: "properties::enriched::few_loads_are_enough",
    },
    Fault {
        what: "enriched: loads do not see what their thread keeps",
        file: "crates/palisade-engine/src/properties/enrich.rs",
        old: "for (store, number) in kept.iter().rev() {",
        new: "for (store, number) in kept.iter().rev().filter(|_| !PLANTED) {",
        caught_by: PROPERTIES,
    },
    Fault {
        what: "enriched: the end of room is no target",
        file: "crates/palisade-engine/src/properties/enrich.rs",
        old: "origin.is_none_or(|instruction| of",
        new: "origin.map_or(!PLANTED, |instruction| of",
        caught_by: "properties::enriched::room_ends",
    },
    Fault {
        what: "enriched: a store behind one that is kept is issued before it",
        file: "crates/palisade-engine/src/properties/enrich.rs",
        old: "                if kept.is_empty() {
                    self.chain(from, vec![action.clone()], (target, Kept::new()), Some(id));",
        new: "                if PLANTED || kept.is_empty() {
                    self.chain(from, vec![action.clone()], (target, kept.clone()), Some(id));",
        caught_by: PROPERTIES,
    },
];
