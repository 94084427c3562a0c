//! Waiting: reads that happen with values that they wait for alone, while x86 goes round a loop,
//! and copies that sleep until they are woken.
//!
//! A copy that sleeps stays at the label of the instruction by which it fell asleep. When it
//! executes this instruction once more, it goes on for no reason. An instruction that wakes one
//! copy chooses it by its position.

use super::machine::{Machine, State};
use super::step::{Effect, Event, Refusal, StepKind, Subject, ValueError};
use palisade_model::program::{Instruction, InstructionId, Queue, Value};
use smallvec::SmallVec;

impl Machine<'_> {
    /// The step relation in which a read that waits is a step only with a value that it waits for.
    #[must_use]
    pub fn awaiting(mut self) -> Self {
        self.awaits = true;
        self
    }

    /// The step relation in which what waits does wait, and who sleeps does sleep.
    #[must_use]
    pub fn waiting(mut self) -> Self {
        self.sleeps = true;
        self.awaiting()
    }

    /// The instruction by which the copy at a position sleeps.
    #[inline]
    pub fn asleep(&self, state: &State, position: usize) -> Option<&Instruction> {
        state.threads()[position].asleep.map(|id| self.thread(position).instruction(id))
    }

    /// The address at which the copy at a position sleeps.
    pub fn slept_at(&self, state: &State, position: usize) -> Option<Value> {
        let address = self.asleep(state, position)?.sleeps()?;
        address.evaluate_address(&state.threads()[position].registers).ok()
    }

    /// The positions of the copies that sleep at an address, ascending.
    pub fn sleepers(&self, state: &State, address: Value) -> impl Iterator<Item = usize> {
        let asleep = move |position: &usize| self.slept_at(state, *position) == Some(address);
        (0..self.copies().len()).filter(asleep)
    }

    /// The effect of executing an instruction on a machine that waits. `chosen` is also the
    /// position of a copy to be woken.
    pub(super) fn waiting_execution(
        &self,
        state: &State,
        position: usize,
        id: InstructionId,
        chosen: Option<Value>,
    ) -> Result<Effect, Refusal> {
        if let Some(own) = state.threads()[position].asleep {
            let goes_on = own == id && chosen.is_none();
            return if goes_on { Ok(Effect::Local { written: None }) } else { Err(Refusal::Asleep) };
        }
        if self.wakes_one(position, id) {
            // Control has to be there before the address has a value.
            let effect = self.execution_at_once(state, position, id, None)?;
            let woken = self.woken_choices(state, position, id)?;
            let is_one = chosen.map_or(woken.is_empty(), |chosen| woken.contains(&chosen));
            return if is_one { Ok(effect) } else { Err(Refusal::NotAsleep) };
        }
        let effect = self.execution_at_once(state, position, id, chosen)?;
        self.queue_address(state, position, id)?;
        self.unless_held_up(state, position, id, effect)
    }

    /// The effect of executing an instruction, unless it waits for another value than the one that
    /// it reads.
    pub(super) fn unless_held_up(
        &self,
        state: &State,
        position: usize,
        id: InstructionId,
        effect: Effect,
    ) -> Result<Effect, Refusal> {
        let instruction = self.thread(position).instruction(id);
        let Some(until) = instruction.until().filter(|_| self.awaits) else { return Ok(effect) };
        let (Effect::Load { value, .. } | Effect::Rmw { old: value, .. }) = effect else { return Ok(effect) };
        let holds = until.evaluate_with_old(&state.threads()[position].registers, value, self.program().domain);
        match holds {
            Ok(0) => Err(Refusal::Waits),
            Ok(_) => Ok(effect),
            Err(error) => Err(self.value_error(position, id, Subject::Condition, error.into()).into()),
        }
    }

    /// The positions of the copies of which an instruction wakes one; none if nobody sleeps there,
    /// or it is no such instruction.
    pub(super) fn woken_choices(
        &self,
        state: &State,
        position: usize,
        id: InstructionId,
    ) -> Result<SmallVec<[Value; 4]>, ValueError> {
        if !self.wakes_one(position, id) {
            return Ok(SmallVec::new());
        }
        let address = self.queue_address(state, position, id)?;
        let sleepers = address.into_iter().flat_map(|address| self.sleepers(state, address));
        Ok(sleepers.map(|sleeper| Value::try_from(sleeper).expect("positions are small")).collect())
    }

    /// Puts a copy to sleep, or lets copies go on, as an event says; whether its own copy stays
    /// where it is, asleep.
    pub(super) fn sleeps_or_wakes(&self, state: &mut State, position: usize, event: &Event) -> bool {
        let StepKind::Execute { instruction: id, chosen } = event.step.kind else { return false };
        match self.thread(position).instruction(id).queue() {
            None => false,
            Some(Queue::Sleep { .. }) => {
                let falls_asleep = matches!(event.effect, Effect::Rmw { new: Some(_), .. });
                state.thread_mut(position).asleep = falls_asleep.then_some(id);
                falls_asleep
            }
            Some(Queue::Wake { all, .. }) => {
                let woken: SmallVec<[usize; 4]> = if *all {
                    let address = self.queue_address(state, position, id).ok().flatten();
                    address.into_iter().flat_map(|address| self.sleepers(state, address)).collect()
                } else {
                    chosen.and_then(|chosen| usize::try_from(chosen).ok()).into_iter().collect()
                };
                for sleeper in woken {
                    let own = state.thread_mut(sleeper);
                    let by = own.asleep.take().expect("the event has found a sleeper");
                    own.label = Some(self.thread(sleeper).instruction(by).target);
                }
                false
            }
        }
    }

    fn wakes_one(&self, position: usize, id: InstructionId) -> bool {
        matches!(self.thread(position).instruction(id).queue(), Some(Queue::Wake { all: false, .. }))
    }

    /// The address whose sleepers an instruction is about.
    fn queue_address(&self, state: &State, position: usize, id: InstructionId) -> Result<Option<Value>, ValueError> {
        let Some(queue) = self.thread(position).instruction(id).queue() else { return Ok(None) };
        let address = queue.address().evaluate_address(&state.threads()[position].registers);
        address.map(Some).map_err(|error| self.value_error(position, id, Subject::Address, error.into()))
    }
}
