//! How the evidence for a repair is checked: under limits, and apart from what a broken checker
//! must not take down.

use super::RepairError;
use palisade_model::limits::{Limits, StopReason};
use palisade_verify::CheckFailure;
use std::sync::mpsc::channel;

/// Runs checks of evidence.
pub trait Checks {
    /// Runs a check to its end, or says why it has none.
    fn run(&self, limits: &Limits, check: Box<dyn FnOnce() + Send>) -> Result<(), Unchecked>;
}

/// Why a check has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unchecked {
    /// A limit was reached first.
    Stopped(StopReason),
    /// The checker broke off.
    Broken(String),
}

/// Runs checks on threads of their own while it looks at the limits. A panic of the checker is one
/// of the caller.
#[derive(Clone, Copy, Debug, Default)]
pub struct WithinLimits;

impl Checks for WithinLimits {
    fn run(&self, limits: &Limits, check: Box<dyn FnOnce() + Send>) -> Result<(), Unchecked> {
        limits.within(check).map_err(Unchecked::Stopped)
    }
}

/// What runs the checks of one repair.
#[derive(Clone, Copy)]
pub(crate) struct Checker<'a> {
    pub(crate) limits: &'a Limits,
    pub(crate) checks: &'a dyn Checks,
}

impl Checker<'_> {
    /// The answer of a check; nothing where a limit was reached first.
    pub(crate) fn check<T: Send + 'static>(
        self,
        check: impl FnOnce() -> Result<T, CheckFailure> + Send + 'static,
    ) -> Result<Option<T>, RepairError> {
        let (sender, receiver) = channel();
        // The receiver is there until the check has run.
        match self.checks.run(self.limits, Box::new(move || drop(sender.send(check())))) {
            Ok(()) => Ok(Some(receiver.recv().expect("a check that has run has an answer")?)),
            Err(Unchecked::Stopped(_)) => Ok(None),
            Err(Unchecked::Broken(what)) => Err(RepairError::Broken(what)),
        }
    }
}
