//! Crowds: copies of a thread that add a number to an address, one after the other, and do nothing
//! else that another copy sees.
//!
//! A counter that wraps around comes back to where it was after as many additions as it has values:
//! 2³² for one of 32 bits. A computation with so many copies cannot be written step by step. So one
//! step may stand for a crowd: copy c and the n − 1 copies after it execute the same locked
//! instruction, which adds a number to the value at an address that a constant names. In memory
//! that is n times the number. What copy c reads is what it would read alone, as it comes first.
//!
//! Such a step stands for steps of a computation only if the others come to the instruction as copy
//! c does, by local steps alone, and take no other steps. The machine knows the copies that are
//! named, and not that; [`is_crowd`] asks it of the steps before and after.

use super::instance::CopyId;
use super::machine::{Machine, State};
use super::step::{Effect, Event, Refusal, StepKind, Subject};
use palisade_model::program::{Copies, InstructionId, admitted};

impl Machine<'_> {
    /// The effect of a crowd's step.
    pub(super) fn crowd(
        &self,
        state: &State,
        position: usize,
        id: InstructionId,
        copies: u64,
    ) -> Result<Effect, Refusal> {
        let addition = self.thread(position).instruction(id).action.addition();
        let Some((_, number)) = addition.filter(|_| (1..=Copies::MOST).contains(&copies)) else {
            return Err(Refusal::NoCrowd);
        };
        let Effect::Rmw { register, address, old, .. } = self.execution(state, position, id, None)? else {
            return Err(Refusal::NoCrowd);
        };
        // Additions of one number go one way, so that the values in between exist where the last
        // one does.
        let sum = i128::from(old) + i128::from(number) * i128::from(copies);
        let new = admitted(sum, self.program().domain);
        let new = new.map_err(|error| self.value_error(position, id, Subject::Memory(address), error.into()))?;
        Ok(Effect::Rmw { register, address, old, new: Some(new) })
    }
}

/// Whether an event of a computation, a crowd's, stands for steps of all its copies: there are so
/// many of the thread, its first copy has come there by local steps alone, and the others take no
/// steps.
pub fn is_crowd(events: &[Event], index: usize, copies_of_thread: u64) -> bool {
    let Some(Event { step, .. }) = events.get(index) else { return false };
    let StepKind::Crowd { copies, .. } = step.kind else { return false };
    let CopyId { thread, copy: first } = step.copy;
    let Some(end) = first.checked_add(copies).filter(|end| *end <= copies_of_thread) else { return false };
    let is_alone = |event: &&Event| event.step.copy == step.copy;
    let came_alone = events[..index].iter().filter(is_alone).all(|event| matches!(event.effect, Effect::Local { .. }));
    let is_other = |event: &Event| event.step.copy.thread == thread && (first + 1..end).contains(&event.step.copy.copy);
    came_alone && !events.iter().any(is_other)
}
