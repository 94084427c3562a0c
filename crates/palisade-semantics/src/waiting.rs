//! Waiting by the language: reads that happen with values that they wait for alone, while x86 goes round a loop.

use super::machine::{Machine, State};
use super::step::{Effect, Refusal, Subject};
use palisade_model::program::InstructionId;

impl Machine<'_> {
    /// The step relation in which what waits by the language does wait.
    #[must_use]
    pub fn waiting(mut self) -> Self {
        self.waits = true;
        self
    }

    /// Refuses an instruction of a copy that would read a value that it does not wait for.
    pub(super) fn check_wait(
        &self,
        state: &State,
        position: usize,
        id: InstructionId,
        effect: Effect,
    ) -> Result<(), Refusal> {
        if !self.waits {
            return Ok(());
        }
        let (Effect::Load { value, .. } | Effect::Rmw { old: value, .. }) = effect else { return Ok(()) };
        let Some(until) = self.thread(position).instruction(id).until() else { return Ok(()) };
        let holds = until.evaluate_with_old(&state.threads()[position].registers, value, self.program().domain);
        match holds {
            Ok(0) => Err(Refusal::Waits),
            Ok(_) => Ok(()),
            Err(error) => Err(self.value_error(position, id, Subject::Condition, error.into()).into()),
        }
    }
}
