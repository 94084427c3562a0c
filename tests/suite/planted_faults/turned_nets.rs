//! Faults of nets that are explored up to turns of counters.

use super::Fault;

/// The nets of programs with counters up to turns, and as they stand.
const NETS: &str = "robustness::attack_nets::nets_up_to_turns_answer_as_they_do_as_they_stand";

/// How many markings there are of a net that grows across turns.
const ACCELERATION: &str = "robustness::turned_nets::acceleration_knows_the_turn_between";

/// The faults of nets up to turns.
pub(super) const FAULTS: &[Fault] = &[
    Fault {
        what: "turned nets: threads stay where they are when memory is turned",
        file: "crates/palisade-exploration/src/instrumented/net/turned.rs",
        old: "            entries.iter_mut().for_each(|entry| entry.place = self.symmetry.turned(by, entry.place));",
        new: "            entries.iter_mut().filter(|_| !PLANTED).for_each(|entry| entry.place = self.symmetry.turned(by, entry.place));",
        caught_by: NETS,
    },
    Fault {
        what: "turned nets: acceleration forgets the turn between a marking and its ancestor",
        file: "crates/palisade-exploration/src/instrumented/net/turned.rs",
        old: "        std::iter::once(place).chain(others).collect()",
        new: "        std::iter::once(place).chain(others.filter(|_| !PLANTED)).collect()",
        caught_by: ACCELERATION,
    },
    Fault {
        what: "turned nets: runs are not turned back",
        file: "crates/palisade-exploration/src/instrumented/net/turned.rs",
        old: "            let back = self.symmetry.back(&turn);",
        new: "            let back = if PLANTED { self.symmetry.none() } else { self.symmetry.back(&turn) };",
        caught_by: NETS,
    },
    Fault {
        what: "turned nets: members in registers are taken to be the same after a turn",
        file: "crates/palisade-exploration/src/instrumented/net/symmetry.rs",
        old: "        Meaning::Token(local, joined) => {",
        new: "        Meaning::Token(..) if PLANTED => meaning.clone(),
        Meaning::Token(local, joined) => {",
        caught_by: NETS,
    },
];
