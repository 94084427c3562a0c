//! Faults of rings: of slots at computed addresses, and of sets closed up to turns of counters.

use super::Fault;

/// Programs with rings and fixed copies, with their counters, without, and to the oracle.
const FIXED: &str = "differential::rings::verdicts_of_rings_with_fixed_copies_are_those_value_by_value";

/// The faults.
pub(super) const FAULTS: &[Fault] = &[
    Fault {
        what: "rings: turns by one in place of a lap",
        file: "crates/palisade-model/src/program/counters/mod.rs",
        old: "        let step = i128::from(self.classes[class].step);",
        new: "        let step = if PLANTED { 1 } else { i128::from(self.classes[class].step) };",
        caught_by: FIXED,
    },
    Fault {
        what: "rings: the last slot is not turned",
        file: "crates/palisade-exploration/src/instrumented/system/turning.rs",
        old: "                let value = counting.turned(member, self.read(memory, *address), by);",
        new:
            "                let by = if PLANTED && cells.len() > 2 && cells.last() == Some(address) { 0 } else { by };
                let value = counting.turned(member, self.read(memory, *address), by);",
        caught_by: FIXED,
    },
    Fault {
        what: "rings: a slot is overlooked",
        file: "crates/palisade-model/src/program/counters/blocks.rs",
        old: "    Some((array.address..).take(length).collect())",
        new: "    Some((array.address..).take(if PLANTED { length - 1 } else { length }).collect())",
        caught_by: "robustness::counters::slots_of_rings_are_members",
    },
    Fault {
        what: "rings: stores that wait are not turned",
        file: "crates/palisade-exploration/src/buffered/turned.rs",
        old: "BufferEntry::Store(address, turned.at_address(turn, address, value)),",
        new: "BufferEntry::Store(address, if PLANTED { value } else { turned.at_address(turn, address, value) }),",
        caught_by: "properties::rings::a_ring_in_integers_is_proved_with_its_buffers",
    },
];
