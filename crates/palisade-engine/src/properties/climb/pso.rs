//! Robustness against PSO: what holds under SC holds under PSO.

use super::{Asked, Climb, UNFINISHED};
use crate::properties::{Rung, Why};
use crate::robustness::{Verdict, check_pso_within, not_for_pso};
use palisade_evidence::PropertyReason;
use palisade_model::limits::StopReason;

impl Climb<'_, '_> {
    /// Robustness of the slice against PSO, after no target was reached under SC; each exploration
    /// with so many configurations.
    pub(super) fn robust_against_pso(&mut self, nodes: u64) -> Why {
        if not_for_pso(self.sliced).is_some() {
            return Why::NotForThis;
        }
        // A step without a value that PSO alone reaches is for the rung that has computations to
        // show.
        let Ok(checked) = check_pso_within(self.sliced, self.options.values, &self.options.limits, nodes) else {
            return Why::NotForThis;
        };
        self.proof.states += checked.configurations;
        let certificate = match (checked.verdict, checked.certificate) {
            (Verdict::Robust, Some(certificate)) => Box::new(certificate),
            (Verdict::Unknown(StopReason::Budget), _) if nodes < u64::MAX => return UNFINISHED,
            (Verdict::Unknown(reason), _) => return Why::Stopped(reason),
            _ => return Why::NotRobust,
        };
        let Some(closed) = self.interleavings.take() else { return Why::NotForThis };
        let asked = Asked { rung: Rung::ScRobust, buffer: None };
        self.hold_closed(asked, &closed, |sc| PropertyReason::Pso { certificate, sc });
        Why::NotForThis
    }
}
