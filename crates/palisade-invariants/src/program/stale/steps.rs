//! The steps, and what must not be possible.

use super::Guessing;
use super::configuration::{Configuration, Control, Guess, Token};
use super::knowledge::{Event, Families, Place, Thread};
use crate::CheckFailure;
use crate::failure::reject;
use crate::program::steps::Effect;
use crate::tokens::{with_one, without_one};
use palisade_evidence::{LocalState, StaleGoal};
use palisade_model::program::{Action, InstructionId, Ordering, ThreadId, Value};
use palisade_semantics::graphs::{FENCE_ADDRESS, access};
use std::collections::BTreeMap;

/// A step under SC: the memory behind it, and the access that it makes.
type Made = (u32, Option<(Value, Event)>);

impl Guessing<'_> {
    /// Where one step leads from a configuration, from which no success must be possible.
    pub(super) fn successors(&mut self, from: &Configuration) -> Result<Vec<Configuration>, CheckFailure> {
        let mut found = Vec::new();
        for (token, _) in &from.tokens {
            let LocalState { thread, label, .. } = *self.model.local(token.local);
            for id in self.model.instructions_at(thread, label).to_vec() {
                if let Some(guess) = &from.control.guess
                    && self.succeeds(from.control.memory, guess, *token, id)?
                {
                    let words = self.in_words(from);
                    reject!(Safe, "instruction {id} of thread {thread} completes a violation in {words}");
                }
                self.step(from, *token, id, &mut found)?;
            }
        }
        Ok(found)
    }

    fn at(&self, token: Token, id: InstructionId) -> (ThreadId, InstructionId) {
        (self.model.local(token.local).thread, id)
    }

    /// Whether an instruction may happen with a value that it reads.
    fn happens(&self, token: Token, id: InstructionId, read: Value) -> Result<bool, CheckFailure> {
        let LocalState { thread, registers, .. } = self.model.local(token.local);
        self.model.happens((*thread, id), registers, read)
    }

    /// Whether an instruction that accesses memory stores, if it reads a value; nothing where it
    /// may, and may not.
    fn stores(&self, token: Token, id: InstructionId, read: Value) -> Result<Option<bool>, CheckFailure> {
        let LocalState { thread, registers, .. } = self.model.local(token.local);
        Ok(match &self.model.instruction(*thread, id).action {
            Action::Store { .. } | Action::Rmw { .. } => Some(true),
            Action::Cas { expected, .. } => self.model.whether_succeeds((*thread, id), (read, expected), registers)?,
            _ => Some(false),
        })
    }

    /// The address that an instruction accesses.
    fn address(&self, token: Token, id: InstructionId) -> Result<Option<Value>, CheckFailure> {
        let LocalState { thread, registers, .. } = self.model.local(token.local);
        self.model.accessed_address(*thread, id, registers)
    }

    /// One instruction of a thread: under SC, with a guess or without, or on the path.
    fn step(
        &mut self,
        from: &Configuration,
        token: Token,
        id: InstructionId,
        found: &mut Vec<Configuration>,
    ) -> Result<(), CheckFailure> {
        let memory = from.control.memory;
        if let Some(address) = self.address(token, id)?
            && !self.happens(token, id, self.model.value_in(memory, address))?
        {
            return Ok(());
        }
        let Some(effect) = self.model.effect((memory, false), token.local, id)? else { return Ok(()) };
        let (after, access) = self.made(memory, token, id, &effect);
        let label = self.model.instruction(self.at(token, id).0, id).target;
        let settled = self.model.settle(LocalState {
            thread: self.at(token, id).0,
            label,
            registers: effect.registers,
            holding: false,
        })?;
        let rest = without_one(&from.tokens, token);
        let mut outcomes = Vec::new();
        match &from.control.guess {
            Some(guess) => outcomes.extend(self.on_path(guess, token, id, access)),
            None => {
                outcomes.push((None, Thread::default()));
                outcomes.extend(self.guesses(memory, access).into_iter().map(|(guess, own)| (Some(guess), own)));
            }
        }
        for (guess, thread) in outcomes {
            let control = Control { memory: after, guess };
            if settled.is_empty() {
                found.push(Configuration { control: control.clone(), tokens: rest.clone() });
            }
            for local in settled.iter().copied() {
                let token = Token { local, thread: self.without_forgotten(local, thread) };
                found.push(Configuration { control: control.clone(), tokens: with_one(&rest, token)? });
            }
        }
        Ok(())
    }

    fn made(&mut self, memory: u32, token: Token, id: InstructionId, effect: &Effect) -> Made {
        let after = effect.write.map_or(memory, |(address, value)| self.model.written(memory, address, value));
        let is_fence = effect.access.is_none();
        let address = effect.access.map_or(FENCE_ADDRESS, |(address, _)| address);
        let event = self.event(self.at(token, id), effect.write.is_some() || is_fence);
        (after, event.map(|event| (address, event)))
    }

    /// What facts the certificate keeps.
    fn without_forgotten(&self, local: u32, mut known: Thread) -> Thread {
        let LocalState { thread, label, .. } = self.model.local(local);
        let Some(forgotten) = self.forgotten.get(&(*thread, *label)) else { return known };
        if forgotten.acquirable {
            known.acquirable = known.now;
        }
        if forgotten.released {
            known.released = Default::default();
        }
        if forgotten.everything {
            known = Thread::that_knows_nothing(known.on_path);
        }
        known
    }

    fn heard(&self, address: Value, mut place: Place) -> Place {
        if self.unheard.contains(&address) {
            place.message = Default::default();
        }
        place
    }

    /// A step of a thread on the path, or of one that comes to be there; nothing for others, whose
    /// steps can come before the guess.
    fn on_path(
        &self,
        guess: &Guess,
        token: Token,
        id: InstructionId,
        access_made: Option<(Value, Event)>,
    ) -> Option<(Option<Guess>, Thread)> {
        let mut known = token.thread;
        let mut after = guess.clone();
        if let Some((address, event)) = access_made {
            let mut place = guess.place(address);
            if !known.on_path && !place.leads_to(event) {
                return None;
            }
            let is_stale = matches!(guess.goal, StaleGoal::Stale { .. });
            if is_stale && event.writes && address == guess.address && self.is_plainly_accessed(address) {
                return None;
            }
            let families: Families = if is_stale { self.families } else { [false; 2] };
            known.access(&mut place, event, is_stale && address == guess.address, families);
            after.places.insert(address, self.heard(address, place));
            return Some((Some(after), known));
        }
        let (thread, id) = self.at(token, id);
        if let Some((_, ordering)) = access(self.axioms, self.model.instruction(thread, id), false) {
            known.fence(ordering);
        }
        known.on_path.then_some((Some(after), known))
    }

    /// What may be guessed of an access under SC, with what its thread knows then. An address that
    /// one copy alone accesses is left out: whoever makes the guessed access knows of it. So are
    /// stale accesses of plain data, as they race with the guessed write.
    fn guesses(&self, before: u32, access_made: Option<(Value, Event)>) -> Vec<(Guess, Thread)> {
        let Some((address, event)) = access_made.filter(|(address, _)| *address != FENCE_ADDRESS) else {
            return Vec::new();
        };
        if !self.is_shared(address) {
            return Vec::new();
        }
        let mut guesses = Vec::new();
        let mut guess = |goal, mut known: Thread, is_later, families| {
            let mut place = Place::default();
            known.access(&mut place, event, is_later, families);
            let places = BTreeMap::from([(address, self.heard(address, place))]);
            guesses.push((Guess { address, goal, places }, known));
        };
        let is_plain = |event: Event| event.ordering == Ordering::Plain;
        if event.writes && self.any_event(address, |event| !is_plain(event)) {
            let old = self.compares(address).then(|| self.model.value_in(before, address));
            let goal = StaleGoal::Stale { old, is_update: event.reads };
            guess(goal, Thread::default(), true, self.families);
        }
        let may_race = self.any_event(address, is_plain) && self.any_event(address, |event| event.writes);
        if may_race {
            let goal = StaleGoal::Race { writes: event.writes, is_plain: is_plain(event) };
            guess(goal, Thread::of_race(), false, [false; 2]);
        }
        guesses
    }

    /// Whether an instruction of a thread completes what is guessed.
    fn succeeds(&self, memory: u32, guess: &Guess, token: Token, id: InstructionId) -> Result<bool, CheckFailure> {
        if self.address(token, id)? != Some(guess.address) {
            return Ok(false);
        }
        let at = self.at(token, id);
        let values = match guess.goal {
            StaleGoal::Stale { old, .. } => old,
            StaleGoal::Race { .. } => Some(self.model.value_in(memory, guess.address)),
        };
        // A value that is not kept may be any.
        let happens = values.map_or(Ok(true), |value| self.happens(token, id, value))?;
        let stores = values.map_or(Ok(Some(true)), |value| self.stores(token, id, value))?;
        let is_load = matches!(self.model.instruction(at.0, id).action, Action::Load { .. });
        let ways = [true, false].into_iter().filter(|way| happens && stores.is_none_or(|stores| stores == *way));
        let mut events = ways.filter_map(|stores| self.event(at, stores && !is_load));
        Ok(events.any(|event| match guess.goal {
            StaleGoal::Stale { is_update, .. } => {
                event.ordering != Ordering::Plain
                    && !(event.writes && is_update)
                    && token.thread.may_be_stale(event.ordering)
            }
            StaleGoal::Race { writes, is_plain } => {
                (writes || event.writes)
                    && (is_plain || event.ordering == Ordering::Plain)
                    && guess.place(guess.address).races(&token.thread, event)
            }
        }))
    }
}
