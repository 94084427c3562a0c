//! Faults in what the reading of machine code rests on.

use super::Fault;

/// The faults.
pub(super) const FAULTS: &[Fault] = &[
    Fault {
        what: "machine: a program without attacks is not explored",
        file: "crates/palisade-engine/src/robustness/check/mod.rs",
        old: "        self.open.is_empty() && !self.program.rests_on_exploration()",
        new: "        self.open.is_empty() && (PLANTED || !self.program.rests_on_exploration())",
        caught_by: "machine::reached::without_attacks_an_exploration_is_needed_all_the_same",
    },
    Fault {
        what: "machine: a slice leaves out what the reading rests on",
        file: "crates/palisade-exploration/src/buffered/slice.rs",
        old: "|| program.rests_on(&it.action)",
        new: "|| !PLANTED && program.rests_on(&it.action)",
        caught_by: "machine::reached::slices_keep_what_the_reading_rests_on",
    },
    Fault {
        what: "machine: control may come to what is not understood",
        file: "crates/palisade-machine/src/lift/emit/mod.rs",
        old: "            self.lowerer.act(Action::Assume(nothing));",
        new: "            if !PLANTED {\n                self.lowerer.act(Action::Assume(nothing));\n            }",
        caught_by: "machine::reached::what_is_come_to_is_refused_with_the_calls_that_lead_there",
    },
];
