//! The faults of the search for properties.

use super::Fault;

/// Properties of random programs under SC, TSO and PSO against the search for final states and
/// `verify`; tests inside the library.
const PROPERTIES: &str = "properties::tests::random_programs_without_loops";
/// The same with loops.
const PROPERTIES_WITH_LOOPS: &str = "properties::tests::random_programs_with_loops";
/// Fences for properties where a load leaves the array it names.
const LEAVING: &str = "properties::fences::a_load_that_leaves_its_array";

/// Faults of properties, fences for them and snapshots.
pub(super) const FAULTS: &[Fault] = &[
    Fault {
        what: "properties: a bound on buffers is taken for a proof",
        file: "crates/palisade-exploration/src/buffered/search.rs",
        old: "!self.system.overflowed()",
        new: "(PLANTED || !self.system.overflowed())",
        caught_by: PROPERTIES_WITH_LOOPS,
    },
    Fault {
        what: "properties: stores are silent where others write",
        file: "crates/palisade-exploration/src/buffered/delay.rs",
        old: "program.thread(first).copies == Copies::Exactly(1) && writers.all(|writer| writer == first)",
        new: "PLANTED || program.thread(first).copies == Copies::Exactly(1) && writers.all(|writer| writer == first)",
        caught_by: PROPERTIES,
    },
    Fault {
        what: "properties: a delay is dead although a load follows",
        file: "crates/palisade-exploration/src/buffered/delay.rs",
        old: "Action::Load { .. } => order != Order::Sc,",
        new: "Action::Load { .. } => order != Order::Sc && !PLANTED,",
        caught_by: PROPERTIES,
    },
    Fault {
        what: "properties: a slice drops the registers of conditions",
        file: "crates/palisade-exploration/src/buffered/slice.rs",
        old: "        if matters {
",
        new: "        if matters && !(PLANTED && matches!(instruction.action, Action::Assume(_))) {
",
        caught_by: PROPERTIES,
    },
    Fault {
        what: "properties: the mark of an sfence stays for ever",
        file: "crates/palisade-exploration/src/buffered/buffer.rs",
        old: "if rest.first() == Some(&BufferEntry::Mark) {",
        new: "if rest.first() == Some(&BufferEntry::Mark) && !PLANTED {",
        caught_by: PROPERTIES,
    },
    Fault {
        what: "properties: threads step while another one holds the lock",
        file: "crates/palisade-exploration/src/buffered/system.rs",
        old: "if before.locked && !self.place(place).0.holding {",
        new: "if before.locked && !self.place(place).0.holding && !PLANTED {",
        caught_by: PROPERTIES,
    },
    Fault {
        what: "properties: loads do not look into their own buffers",
        file: "crates/palisade-exploration/src/buffered/system.rs",
        old: "let buffered = self.buffers.youngest(buffer, address);",
        new: "let buffered = self.buffers.youngest(buffer, address).filter(|_| !PLANTED);",
        caught_by: PROPERTIES,
    },
    Fault {
        what: "placement: a run that reads what the slice left out is taken for a run of the program",
        file: "crates/palisade-exploration/src/states/aim.rs",
        old: "&& self.written.contains(i128::from(address))",
        new: "&& !PLANTED && self.written.contains(i128::from(address))",
        caught_by: LEAVING,
    },
    Fault {
        what: "snapshots: none is taken",
        file: "crates/palisade-exploration/src/buffered/snapshots.rs",
        old: "if longer == queue || ",
        new: "if PLANTED || longer == queue || ",
        caught_by: PROPERTIES,
    },
    Fault {
        what: "snapshots: own stores behind them are forgotten",
        file: "crates/palisade-exploration/src/buffered/snapshots.rs",
        old: "if !form.is_empty() && is_youngest",
        new: "if !PLANTED && !form.is_empty() && is_youngest",
        caught_by: PROPERTIES,
    },
    Fault {
        what: "snapshots: the oldest one stays for ever",
        file: "crates/palisade-exploration/src/buffered/snapshots.rs",
        old: "self.go_on(local, step, read, &[queue, advanced], &mut open, found)?;",
        new: "let advanced = if PLANTED { queue } else { advanced };
                        self.go_on(local, step, read, &[queue, advanced], &mut open, found)?;",
        caught_by: PROPERTIES,
    },
    Fault {
        what: "snapshots: one is enough, whatever loads follow",
        file: "crates/palisade-exploration/src/buffered/lag.rs",
        old: "most.is_some_and(|most| snapshots > most)",
        new: "most.is_some_and(|most| snapshots > most) || PLANTED && snapshots > 1",
        caught_by: PROPERTIES,
    },
    Fault {
        what: "snapshots: a bound on queues is taken for a proof",
        file: "crates/palisade-exploration/src/buffered/snapshots.rs",
        old: "self.note_overflow();",
        new: "if !PLANTED {
                self.note_overflow();
            }",
        caught_by: "properties::snapshots::snapshots_prove_where_buffers_grow",
    },
];
