//! Faults in how stacks are read that others access.

use super::Fault;

/// Random threads with data on their stacks and in globals.
const STACKS: &str = "machine::stacks::what_lies_on_stacks_is_as_what_lies_elsewhere";

/// The faults.
pub(super) const FAULTS: &[Fault] = &[
    Fault {
        what: "stacks: the owner does not look where others write",
        file: "crates/palisade-machine/src/lift/transfer.rs",
        old: "            (_, Some(offset)) if !self.knowledge.shares(at, bytes) => Ok(Spot::Frame(offset)),",
        new: "            (_, Some(offset)) if PLANTED || !self.knowledge.shares(at, bytes) => Ok(Spot::Frame(offset)),",
        caught_by: STACKS,
    },
    Fault {
        what: "stacks: copies have one stack",
        file: "crates/palisade-machine/src/image/stacks.rs",
        old: "        FIRST + (role as u64 + 1) * BYTES - ABOVE",
        new: "        FIRST + (if PLANTED { 0 } else { role as u64 } + 1) * BYTES - ABOVE",
        caught_by: STACKS,
    },
    Fault {
        what: "stacks: what was taken for constant stays so when a word is shared",
        file: "crates/palisade-machine/src/lift/knowledge.rs",
        old: "            words(address, bytes).for_each(|word| self.stale |= self.shared.insert(word));",
        new: "            words(address, bytes).for_each(|word| self.stale |= self.shared.insert(word) && !PLANTED);",
        caught_by: STACKS,
    },
];
