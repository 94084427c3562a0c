//! Counts the work of taking evidence back, and stops it when its budget ends.

use palisade_model::limits::{Budget, StopReason};
use std::cell::Cell;

/// Work between two looks at the budget: some tens of microseconds.
const INTERVAL: u64 = 1_000;

/// Counts work against a budget.
pub(super) struct Meter<'a> {
    budget: &'a Budget,
    /// Work so far.
    done: Cell<u64>,
    /// When to look at the budget again.
    due: Cell<u64>,
    /// Why the work stopped.
    stopped: Cell<Option<StopReason>>,
}

impl<'a> Meter<'a> {
    /// Nothing done yet.
    pub(super) fn new(budget: &'a Budget) -> Self {
        Self { budget, done: Cell::new(0), due: Cell::new(0), stopped: Cell::new(None) }
    }

    /// Counts so much work. Nothing when the budget has ended.
    pub(super) fn count(&self, work: usize) -> Option<()> {
        let done = self.done.get() + work as u64 + 1;
        self.done.set(done);
        if done < self.due.get() {
            return Some(());
        }
        self.due.set(done + INTERVAL);
        match self.budget.check(done) {
            Ok(()) => Some(()),
            Err(reason) => {
                self.stopped.set(Some(reason));
                None
            }
        }
    }

    /// What the work has come to: a result, none, or the reason why it stopped.
    pub(super) fn finish<T>(self, result: Option<T>) -> Result<Option<T>, StopReason> {
        match self.stopped.get() {
            Some(reason) if result.is_none() => Err(reason),
            _ => Ok(result),
        }
    }
}
