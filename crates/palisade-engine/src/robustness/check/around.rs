//! Counters that wrap around: among more copies than a counter has values, two hold the same one.
//!
//! Instances with one copy more each would come to this after as many searches as there are values.
//! So one search asks about the instance in which the values run out, and one about the instance
//! with a copy less, which tells whether that is the smallest.

use super::Checking;
use crate::robustness::witness::{Violation, violation};
use palisade_exploration::instrumented::system::{Counting, Growth};
use palisade_exploration::instrumented::tso::System;
use palisade_exploration::instrumented::{Fault, Search, search};
use palisade_model::limits::{Budget, Halt};
use palisade_model::program::{Copies, Program};

/// With more values than this, instances in which they run out are too large to explore.
const MOST_VALUES: u128 = 64;

/// With fewer, small instances come to it soon enough.
const FEWEST_VALUES: u128 = 5;

impl Checking<'_, '_> {
    /// How many copies of the replicated thread one value more needs than a counter of the program
    /// has; nothing where there are no counters that wrap around, where these have very many
    /// values, or several replicated threads.
    pub(super) fn copies_to_wrap_around(&self) -> Option<u64> {
        let size = self.program.domain.filter(|_| self.counting.is_some())?.size();
        let replicated = self.program.threads.iter().filter(|thread| thread.copies == Copies::Any).count();
        let is_asked = (FEWEST_VALUES..=MOST_VALUES).contains(&size) && replicated == 1;
        is_asked.then(|| u64::try_from(size).expect("few values") + 1)
    }

    /// A violation of the instance in which values run out, if it has one; minimal if the instance
    /// with one copy less has none.
    pub(super) fn around(&self, copies: u64, values: usize, nodes: u64) -> Result<Option<Violation>, Halt<Fault>> {
        let acting = with_copies(self.program, copies);
        let mut found = self.instance(&acting, values, nodes)?;
        let Some(violation) = violation(&mut found, &acting, false).map_err(Halt::Fault)? else { return Ok(None) };
        let fewer = with_copies(self.program, copies - 1);
        let is_minimal =
            self.instance(&fewer, values, nodes).is_ok_and(|found| !super::any_number::is_feasible(&found));
        Ok(Some(Violation { instance_minimal: is_minimal, ..violation }))
    }

    /// The search of an instance.
    fn instance<'a>(&self, acting: &'a Program, values: usize, nodes: u64) -> Result<Search<'a>, Halt<Fault>> {
        let budget = Budget::within(&self.options.limits).with_work(nodes);
        let system = System::new(acting, Growth::Fault(values)).counting(self.counting.as_ref());
        let found = search(system, &self.open, false, &budget)?;
        // The program's own searches start again without counters.
        let is_broken = self.counting.as_ref().is_some_and(Counting::is_broken);
        if is_broken { Err(palisade_model::limits::StopReason::Budget.into()) } else { Ok(found) }
    }
}

/// The program with so many copies of the thread that has any number.
fn with_copies(program: &Program, copies: u64) -> Program {
    let mut acting = program.clone();
    for thread in acting.threads.iter_mut().filter(|thread| thread.copies == Copies::Any) {
        thread.copies = Copies::Exactly(copies);
    }
    acting
}
