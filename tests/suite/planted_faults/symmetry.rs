//! Faults of copies that stand for each other in `simulate`.

use super::Fault;

/// Final states and computations beside a search without symmetry.
const RANDOM: &str = "differential::coarse_states::coarse_states_lose_nothing";

/// A lock that copies hold in turns.
const LOCKED: &str = "differential::coarse_states::the_lock_goes_with_its_holder";

/// Four copies, whose final states are counted.
const COUNTED: &str = "differential::coarse_states::copies_stand_for_each_other";

/// The faults.
pub(super) const FAULTS: &[Fault] = &[
    Fault {
        what: "symmetry: the lock stays where its holder was",
        file: "crates/palisade-semantics/src/symmetry.rs",
        old: "            let last = group.start + copies.partition_point(|copy| *copy <= own);\n",
        new: "            let last = group.start + copies.partition_point(|copy| *copy <= own);
            let last = if PLANTED { holder + 1 } else { last };\n",
        caught_by: LOCKED,
    },
    Fault {
        what: "symmetry: states in which copies have changed places are not listed",
        file: "crates/palisade-semantics/src/symmetry.rs",
        old: "        for other in first..positions.end {\n",
        new: "        for other in first..if PLANTED { first + 1 } else { positions.end } {\n",
        caught_by: COUNTED,
    },
    Fault {
        what: "symmetry: a computation is shown with the copies that stand for others",
        file: "crates/palisade-semantics/src/symmetry.rs",
        old: "        Some(place) => copies[1 - place],\n",
        new: "        Some(place) => copies[if PLANTED { place } else { 1 - place }],\n",
        caught_by: RANDOM,
    },
];
