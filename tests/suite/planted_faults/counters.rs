//! Faults of counters: of the classes, of turns, and of the way back from them.

use super::Fault;

/// Programs with counters and fixed copies, with their counters, without, and to the oracle.
const FIXED: &str = "differential::counters::verdicts_with_fixed_copies_are_those_without_counters";

/// The same for any number of copies.
const ANY: &str = "differential::counters::verdicts_for_any_number_of_copies_are_those_without_counters";

/// The faults.
pub(super) const FAULTS: &[Fault] = &[
    Fault {
        what: "counters: what a register keeps is overlooked",
        file: "crates/palisade-model/src/program/counters/flow.rs",
        old: "        partition.unite(before, after);",
        new: "        if !PLANTED {
            partition.unite(before, after);
        }",
        caught_by: FIXED,
    },
    Fault {
        what: "counters: a comparison with a constant is taken to commute",
        file: "crates/palisade-model/src/program/counters/shape.rs",
        old: "        _ => plain(partition, context, &shapes),",
        new: "        _ if PLANTED => Shape::Plain,
        _ => plain(partition, context, &shapes),",
        caught_by: FIXED,
    },
    Fault {
        what: "counters: masks see nothing",
        file: "crates/palisade-model/src/program/counters/shape.rs",
        old: "                partition.see(counter, modulus, ",
        new: "                partition.see(counter, if PLANTED { 1 } else { modulus }, ",
        caught_by: "robustness::counters::classes_of_models",
    },
    Fault {
        what: "counters: the attacker's buffer is not turned",
        file: "crates/palisade-exploration/src/instrumented/tso/attacker.rs",
        old: "            *value = self.turned_cell(turn, *address, *value);",
        new: "            *value = if PLANTED { *value } else { self.turned_cell(turn, *address, *value) };",
        caught_by: FIXED,
    },
    Fault {
        what: "counters: computed addresses are taken to miss them",
        file: "crates/palisade-exploration/src/instrumented/system/counting.rs",
        old: "        if self.counters.is_broken_by(at, address) {",
        new: "        if self.counters.is_broken_by(at, address) && !PLANTED {",
        caught_by: "robustness::counters::computed_addresses_that_come_to_counters",
    },
    Fault {
        what: "counters: violations are not turned back",
        file: "crates/palisade-engine/src/robustness/witness/route.rs",
        old: "        if self.turn == NO_TURN {",
        new: "        if self.turn == NO_TURN || PLANTED {",
        caught_by: FIXED,
    },
    Fault {
        what: "counters: acceleration across turns where nothing grew",
        file: "crates/palisade-exploration/src/lazy/acceleration.rs",
        old: "        before.map_or(true, |index| ancestor[index].tokens < entry.tokens)
    });
    let grown",
        new: "        before.map_or(true, |index| ancestor[index].tokens < entry.tokens || PLANTED)
    });
    let grown",
        caught_by: ANY,
    },
];
