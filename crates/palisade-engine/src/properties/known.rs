//! What holds of a program in whatever order its steps are taken, so that fences and exchanges change none of it: found once, and asked by
//! many proofs.

use super::values::Values;
use palisade_model::program::Program;
use palisade_model::semantics::Target;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// What is known of a program, whatever fences it has.
pub(super) struct Known<'p> {
    /// The values of its registers and addresses.
    pub(super) values: Values<'p>,
    /// For groups of targets that were asked about, whether counters may tell something about them.
    counts: RefCell<BTreeMap<Vec<Target>, bool>>,
}

impl<'p> Known<'p> {
    /// What is known of a program.
    pub(super) fn of(program: &'p Program) -> Self {
        Self { values: Values::of(program), counts: RefCell::default() }
    }

    /// The bounds on values that slices use, where the program computes addresses.
    pub(super) fn bounds(&self, program: &Program) -> Option<&Values<'p>> {
        let mut instructions = program.threads.iter().flat_map(|thread| &thread.instructions);
        let computes = instructions.any(|it| it.action.address().is_some_and(|address| !address.is_constant()));
        computes.then_some(&self.values)
    }

    /// Whether counters may tell something about a group of targets, as `ask` says where nobody has asked before.
    pub(super) fn counts(&self, targets: &[Target], ask: impl FnOnce() -> bool) -> bool {
        if let Some(known) = self.counts.borrow().get(targets) {
            return *known;
        }
        let counts = ask();
        self.counts.borrow_mut().insert(targets.to_vec(), counts);
        counts
    }
}
