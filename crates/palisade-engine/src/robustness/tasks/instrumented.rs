//! The instrumented program as one exploration of all delayed stores.

use super::certificate::certificate;
use super::replay::replay;
use super::system::TaskSystem;
use crate::exploration::Exploration;
use crate::robustness::fault::Fault;
use crate::robustness::one_exploration::Instrumented;
use crate::robustness::system::{Growth, Root};
use palisade_evidence::{TaskCertificate, TaskWitness};
use palisade_model::limits::Halt;
use palisade_model::program::Program;

impl<'p> Instrumented<'p> for TaskSystem<'p> {
    type Certificate = TaskCertificate;
    type Violation = TaskWitness;

    fn new(program: &'p Program, growth: Growth, spare: Option<u32>) -> Self {
        Self::new(program, growth, spare)
    }

    fn roots(&mut self) -> Result<Option<Vec<Root>>, Fault> {
        self.roots()
    }

    fn is_success(&self, control: u32) -> bool {
        self.is_success(control)
    }

    fn certificate(&self, explored: &Exploration) -> TaskCertificate {
        certificate(self, explored)
    }

    fn violation(
        &mut self,
        explored: &Exploration,
        success: u32,
        _is_minimal: bool,
    ) -> Result<TaskWitness, Halt<Fault>> {
        replay(self, explored, success)
    }
}
