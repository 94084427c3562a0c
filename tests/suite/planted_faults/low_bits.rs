//! Faults of low bits: of what is equal, of what is cut, and of which slots have them.

use super::Fault;

/// A ring of positions with 64 bits for any number of copies, whose evidence the checker accepts.
const RING: &str = "robustness::low_bits::a_ring_of_positions_with_64_bits_for_any_number_of_copies";

/// The faults.
pub(super) const FAULTS: &[Fault] = &[
    Fault {
        what: "low bits: positions with equal bits are equal",
        file: "crates/palisade-model/src/program/low_bits/reading.rs",
        old: "                Some(Truth { least: never(is_equal.clone()), most: is_equal })",
        new: "                let least = if PLANTED { is_equal.clone() } else { never(is_equal.clone()) };
                Some(Truth { least, most: is_equal })",
        caught_by: RING,
    },
    Fault {
        what: "low bits: a swap succeeds where bits are equal",
        file: "crates/palisade-model/src/program/low_bits/writing.rs",
        old: "            (missed, fails, Action::Assume(is_it.clone())),",
        new: "            (missed, fails, Action::Assume(if PLANTED { is_other.clone() } else { is_it.clone() })),",
        caught_by: RING,
    },
    Fault {
        what: "low bits: what is stored keeps all of its bits",
        file: "crates/palisade-model/src/program/low_bits/writing.rs",
        old: "(true, Reading::Exact(own) | Reading::Low(own)) => Some(reader.cut(own)),",
        new: "(true, Reading::Exact(own) | Reading::Low(own)) => Some(if PLANTED { own } else { reader.cut(own) }),",
        caught_by: RING,
    },
    Fault {
        what: "low bits: slots are overlooked",
        file: "crates/palisade-model/src/program/low_bits/mod.rs",
        old: "                        more.extend(block);",
        new: "                        more.extend(block.filter(|_| !PLANTED));",
        caught_by: RING,
    },
];
