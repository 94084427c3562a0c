//! Robustness against PSO: what holds under SC holds under PSO.

use super::{Asked, Climb, UNFINISHED};
use crate::properties::{Rung, Why};
use crate::robustness::{Fault, Verdict, check_pso_within, not_for_pso};
use palisade_evidence::PropertyReason;
use palisade_model::limits::{Halt, StopReason};

impl Climb<'_, '_> {
    /// Robustness of the slice against PSO, after no target was reached under SC; each exploration with so many configurations.
    pub(super) fn robust_against_pso(&mut self, nodes: u64) -> Result<Why, Halt<Fault>> {
        if not_for_pso(self.sliced).is_some() {
            return Ok(Why::NotForThis);
        }
        // A step without a value that PSO alone reaches is for the rung that has computations to show.
        let Ok(checked) = check_pso_within(self.sliced, self.options.values, &self.options.limits, nodes) else {
            return Ok(Why::NotForThis);
        };
        self.proof.states += checked.configurations;
        let certificate = match (checked.verdict, checked.certificate) {
            (Verdict::Robust, Some(certificate)) => Box::new(certificate),
            (Verdict::Unknown(StopReason::Budget), _) if nodes < u64::MAX => return Ok(UNFINISHED),
            (Verdict::Unknown(reason), _) => return Ok(Why::Stopped(reason)),
            _ => return Ok(Why::NotRobust),
        };
        let Some(closed) = self.interleavings.take() else { return Ok(Why::NotForThis) };
        let asked = Asked { rung: Rung::ScRobust, buffer: None };
        self.hold_closed(asked, &closed, |sc| PropertyReason::Pso { certificate, sc });
        Ok(Why::NotForThis)
    }
}
