//! Faults of nets that are explored up to turns of counters.

use super::Fault;

/// The nets of programs with counters up to turns, and as they stand.
const NETS: &str = "attack_nets::nets_up_to_turns_answer_as_they_do_as_they_stand";

/// The faults of nets up to turns.
pub(super) const FAULTS: &[Fault] = &[
    Fault {
        what: "turned nets: threads stay where they are when memory is turned",
        file: "crates/palisade-engine/src/robustness/attack_net/turned.rs",
        old: "            entries.iter_mut().for_each(|entry| entry.place = self.symmetry.turned(by, entry.place));",
        new: "            entries.iter_mut().filter(|_| !PLANTED).for_each(|entry| entry.place = self.symmetry.turned(by, entry.place));",
        caught_by: NETS,
    },
    Fault {
        what: "turned nets: acceleration forgets the turn between a marking and its ancestor",
        file: "crates/palisade-engine/src/robustness/attack_net/turned.rs",
        old: "self.symmetry.together(&self.symmetry.back(self.turns.get(from)), self.turns.get(to));",
        new: "self.symmetry.together(
            &if PLANTED { self.symmetry.none() } else { self.symmetry.back(self.turns.get(from)) },
            self.turns.get(to),
        );",
        caught_by: NETS,
    },
    Fault {
        what: "turned nets: runs are not turned back",
        file: "crates/palisade-engine/src/robustness/attack_net/turned.rs",
        old: "            let back = self.symmetry.back(&turn);",
        new: "            let back = if PLANTED { self.symmetry.none() } else { self.symmetry.back(&turn) };",
        caught_by: NETS,
    },
    Fault {
        what: "turned nets: members in registers are taken to be the same after a turn",
        file: "crates/palisade-engine/src/robustness/attack_net/symmetry.rs",
        old: "        Meaning::Token(local, joined) => {",
        new: "        Meaning::Token(..) if PLANTED => meaning.clone(),
        Meaning::Token(local, joined) => {",
        caught_by: NETS,
    },
];
