//! Checks of the evidence for a repair, and what to say when it is rejected.

use crate::cli::guard;
use crate::fences::{Checks, Unchecked};
use crate::limits::Limits;

/// Checks of the evidence about a file: each on a thread that it may break without an end of the
/// process.
pub(in crate::cli) struct Guarded<'a> {
    pub(in crate::cli) file: &'a str,
}

impl Checks for Guarded<'_> {
    fn run(&self, limits: &Limits, check: Box<dyn FnOnce() + Send>) -> Result<(), Unchecked> {
        match guard::within(self.file, limits, check) {
            Ok(checked) => checked.map_err(|broken| Unchecked::Broken(broken.to_string())),
            Err(reason) => Err(Unchecked::Stopped(reason)),
        }
    }
}

/// What to say loudly when evidence is rejected.
pub(super) fn alarm(file: &str, failure: &str) -> String {
    format!("Error: {file}: the repair's own evidence is rejected, do not rely on it: {failure}\n")
}
