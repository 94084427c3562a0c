//! Faults of the methods for reachability in nets.

use super::Fault;

/// All methods on random nets against the enumeration of their markings and `verify`; a test inside
/// the library.
const NETS: &str = "coverability::formulas::tests::all_methods_agree_with_the_enumeration";

/// The same for upper bounds.
const BOUNDS: &str = "coverability::formulas::tests::bounds_are_those_of_the_enumeration";

/// Nets in which a search that leaves out a transition too many finds nothing.
const SETS: &str = "coverability::formulas::tests::sets_of_transitions_are_enough";

/// The faults of searches that leave transitions out, which were planted later.
pub(super) const OF_SETS: &[Fault] = &[
    Fault {
        what: "reachability: a transition that takes what others need stands for them",
        file: "crates/palisade-coverability/src/formulas/stubborn.rs",
        old: "                    for (place, _) in changes.iter().filter(|(_, change)| *change < 0) {",
        new: "                    for (place, _) in changes.iter().filter(|(_, change)| *change < 0 && !PLANTED) {",
        caught_by: SETS,
    },
    Fault {
        what: "reachability: what may end a deadlock's last transition is left out",
        file: "crates/palisade-coverability/src/formulas/stubborn.rs",
        old: "                for (place, _) in &self.machine.needs[*first as usize] {",
        new: "                for (place, _) in self.machine.needs[*first as usize].iter().filter(|_| !PLANTED) {",
        caught_by: SETS,
    },
];

/// The faults of reachability in nets.
pub(super) const FAULTS: &[Fault] = &[
    Fault {
        what: "reachability: an observer is forgotten in a transition",
        file: "crates/palisade-coverability/src/formulas/observed.rs",
        old: "        for id in &neighbours[place.index()] {",
        new: "        for id in neighbours[place.index()].iter().skip(usize::from(PLANTED)) {",
        caught_by: NETS,
    },
    Fault {
        what: "reachability: a bound is too low",
        file: "crates/palisade-coverability/src/formulas/observers.rs",
        old: "            let low = -self.machine.weigh(&sums).div_floor(&observer.divisor);",
        new: "            let low = BigInt::from(PLANTED) - self.machine.weigh(&sums).div_floor(&observer.divisor);",
        caught_by: NETS,
    },
    Fault {
        what: "reachability: a trap is none",
        file: "crates/palisade-coverability/src/traps.rs",
        old: "                if !std::mem::take(&mut inside[*place as usize]) {",
        new: "                if PLANTED || !std::mem::take(&mut inside[*place as usize]) {",
        caught_by: NETS,
    },
    Fault {
        what: "reachability: deadlock overlooks a transition",
        file: "crates/palisade-coverability/src/formulas/observed.rs",
        old: "            let disabled = net.transitions.iter().map(|transition| {",
        new: "            let disabled = net.transitions.iter().skip(usize::from(PLANTED)).map(|transition| {",
        caught_by: NETS,
    },
    Fault {
        what: "bounds: a number between what is reached and what is not is overlooked",
        file: "crates/palisade-coverability/src/formulas/bounds.rs",
        old: "        (reached.tokens.clone() + 1 >= excluded.tokens).then_some(&reached.tokens)",
        new: "        (reached.tokens.clone() + 1 + BigInt::from(PLANTED) >= excluded.tokens).then_some(&reached.tokens)",
        caught_by: BOUNDS,
    },
];
