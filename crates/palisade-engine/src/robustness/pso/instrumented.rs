//! The instrumented program as one exploration of all delayed stores.

use super::replay::replay;
use crate::robustness::one_exploration::Instrumented;
use crate::robustness::witness::Violation;
use palisade_evidence::PsoCertificate;
use palisade_exploration::instrumented::Fault;
use palisade_exploration::instrumented::pso::{PsoSystem, certificate};
use palisade_exploration::instrumented::system::Root;
use palisade_exploration::lazy::{Exploration, LazyNet};
use palisade_model::limits::{Budget, Halt, Limits};

impl Instrumented for PsoSystem<'_> {
    type Certificate = PsoCertificate;
    type Violation = Violation;

    fn limit(&mut self, limits: &Limits) {
        LazyNet::limit(self, limits);
    }

    fn roots(&mut self) -> Result<Option<Vec<Root>>, Fault> {
        self.roots()
    }

    fn explore(&mut self, explored: &mut Exploration, budget: &Budget) -> Result<Option<u32>, Halt<Fault>> {
        self.explore(explored, budget)
    }

    fn certificate(&self, explored: &Exploration) -> PsoCertificate {
        certificate(self, explored)
    }

    fn violation(&mut self, explored: &Exploration, success: u32, is_minimal: bool) -> Result<Violation, Halt<Fault>> {
        replay(self, explored, success, is_minimal).map_err(Halt::Fault)
    }
}
