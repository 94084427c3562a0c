//! Faults in how locks, condition variables and semaphores of POSIX are read.

use super::Fault;

/// The faults.
pub(super) const FAULTS: &[Fault] = &[
    Fault {
        what: "posix: a try may fail though the lock is free",
        file: "crates/palisade-machine/src/lift/emit/posix.rs",
        old: "            if trial == Trial::GoesOn {\n                // It only looks",
        new: "            if !PLANTED && trial == Trial::GoesOn {\n                // It only looks",
        caught_by: "machine::posix::locks_of_posix_have_answers",
    },
    Fault {
        what: "posix: a wait keeps its mutex",
        file: "crates/palisade-machine/src/lift/emit/posix.rs",
        old: "address: mutex.clone(), new: Expression::Constant(0) });",
        new: "address: mutex.clone(), new: if PLANTED { Expression::Old } else { Expression::Constant(0) } });",
        caught_by: "machine::posix::locks_of_posix_have_answers",
    },
    Fault {
        what: "posix: readers go beside a writer",
        file: "crates/palisade-machine/src/lift/posix.rs",
        old: "            Self::Reader => binary(Op::Less, Expression::Old, Expression::Constant(WRITER)),",
        new: "            Self::Reader if PLANTED => Expression::Constant(1),\n\
              \x20           Self::Reader => binary(Op::Less, Expression::Old, Expression::Constant(WRITER)),",
        caught_by: "machine::posix::locks_of_posix_have_answers",
    },
    Fault {
        what: "posix: every mutex is a plain one",
        file: "crates/palisade-machine/src/lift/posix.rs",
        old: "        KINDS.contains(&kind)",
        new: "        PLANTED || KINDS.contains(&kind)",
        caught_by: "machine::posix::locks_that_are_not_understood_are_refused",
    },
    Fault {
        what: "posix: who takes a lock acquires nothing",
        file: "crates/palisade-machine/src/orderings/stated.rs",
        old: "        Effect::Until(..) | Effect::Try => Ordering::Acquire,",
        new: "        Effect::Until(..) | Effect::Try if PLANTED => Ordering::Relaxed,\n\
              \x20       Effect::Until(..) | Effect::Try => Ordering::Acquire,",
        caught_by: "machine::posix::locks_of_posix_order_data",
    },
];
