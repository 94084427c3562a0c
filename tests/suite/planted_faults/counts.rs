//! Faults of counts that go up and down: of what stands for many, of balances, and of who stays.

use super::Fault;

/// A reference count for any number of copies, whose evidence the checker accepts.
const HELD: &str = "robustness::counts::an_object_is_there_for_any_number_of_upgraders";

/// A lock that counts readers beside a mark.
const MARKED: &str = "robustness::counts::readers_are_counted_beside_a_mark";

/// The faults.
pub(super) const FAULTS: &[Fault] = &[
    Fault {
        what: "counts: many is one of the few",
        file: "crates/palisade-model/src/program/counts/mod.rs",
        old: "        self.few + 1\n",
        new: "        self.few + Value::from(!PLANTED)\n",
        caught_by: HELD,
    },
    Fault {
        what: "counts: who takes away takes another copy with him",
        file: "crates/palisade-exploration/src/instrumented/system/balances.rs",
        old: "u32::try_from(left.max(0) / own)",
        new: "u32::try_from((left - i128::from(PLANTED)).max(0) / own)",
        caught_by: HELD,
    },
    Fault {
        what: "counts: all stay who would hold too much",
        file: "crates/palisade-exploration/src/instrumented/system/balances.rs",
        old: "let most = if own > 0 {",
        new: "let most = if own > 0 && !PLANTED {",
        caught_by: HELD,
    },
    Fault {
        what: "counts: where a swap succeeds the balance stays",
        file: "crates/palisade-model/src/program/counts/rewriting.rs",
        old: "        self.settle(change, (succeeds, note), rises);",
        new: "        let rises = if PLANTED { Expression::Constant(0) } else { rises };
        self.settle(change, (succeeds, note), rises);",
        caught_by: HELD,
    },
    Fault {
        what: "counts: a mark is many",
        file: "crates/palisade-model/src/program/counts/mod.rs",
        old: "        let most = self.most.map_or(1 << 100, |most| i128::from(most) + i128::from(MARGIN));",
        new: "        let most = self.most.filter(|_| !PLANTED);
        let most = most.map_or(1 << 100, |most| i128::from(most) + i128::from(MARGIN));",
        caught_by: MARKED,
    },
];
