//! The instrumented program as one exploration of all attacks.

use super::asked::Asked;
use super::replay::replay;
use super::steps::GraphViolation;
use crate::robustness::one_exploration::Instrumented;
use palisade_evidence::StaleCertificate;
use palisade_exploration::instrumented::Fault;
use palisade_exploration::instrumented::stale::certificate;
use palisade_exploration::instrumented::system::Root;
use palisade_exploration::lazy::{Exploration, LazyNet};
use palisade_model::limits::{Budget, Halt, Limits};

impl Instrumented for Asked<'_> {
    type Certificate = Option<StaleCertificate>;
    type Violation = GraphViolation;

    fn limit(&mut self, limits: &Limits) {
        LazyNet::limit(&mut self.system, limits);
    }

    fn roots(&mut self) -> Result<Option<Vec<Root>>, Fault> {
        self.system.roots()
    }

    fn explore(&mut self, explored: &mut Exploration, budget: &Budget) -> Result<Option<u32>, Halt<Fault>> {
        self.system.explore(explored, budget)
    }

    fn certificate(&self, explored: &Exploration) -> Option<StaleCertificate> {
        self.certifies.then(|| certificate(&self.system, explored, None))
    }

    fn violation(
        &mut self,
        explored: &Exploration,
        success: u32,
        is_minimal: bool,
    ) -> Result<GraphViolation, Halt<Fault>> {
        replay(self, explored, success, is_minimal).map_err(Halt::Fault)
    }
}
