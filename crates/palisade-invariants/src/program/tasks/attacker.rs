//! The steps of the attacker, from its first delayed store to the load, or the plain post, that
//! oversteps it.

use super::Tasks;
use super::configuration::{Configuration, Control, Delaying, Main, Phase};
use super::steps::{Counts, with_some};
use crate::CheckFailure;
use crate::program::configuration::Path;
use palisade_evidence::{Level, LocalState};
use palisade_model::ordered::CollectOrdered;
use palisade_model::program::{Action, InstructionId, ThreadId, Value};
use std::collections::BTreeMap;
use std::iter;

impl Tasks<'_> {
    /// A store is delayed by someone who does not hold the lock, and who is the attacker from then
    /// on. The main thread then stays occupied.
    pub(super) fn delay(
        &mut self,
        from: &Configuration,
        on_main: bool,
        local: u32,
        id: InstructionId,
        rest: &Counts,
        found: &mut Vec<Configuration>,
    ) -> Result<(), CheckFailure> {
        let LocalState { thread, registers, holding, .. } = self.model.local(local).clone();
        let instruction = self.model.instruction(thread, id);
        let Action::Store { address, value } = &instruction.action else { return Ok(()) };
        if holding || from.control.phase != Phase::Sc {
            return Ok(());
        }
        let address = self.model.value(thread, id, address.evaluate_address(&registers))?;
        let value = self.model.value(thread, id, value.evaluate(&registers, self.program().domain))?;
        let states =
            self.model.settle_as(LocalState { thread, label: instruction.target, registers, holding: false }, true)?;
        let main = if on_main { Main::Blocked } else { from.control.main };
        for state in states.iter().copied() {
            let buffer = iter::once((address, value)).collect_map();
            let delaying = Delaying { on_main, local: Some(state), buffer, store_address: address };
            let control = Control { main, ..from.control.clone() };
            self.push(&control, delaying, rest.clone(), found);
        }
        Ok(())
    }

    /// Adds a configuration with an attacker, unless that cannot come to what it needs.
    fn push(&self, control: &Control, delaying: Delaying, tokens: Counts, found: &mut Vec<Configuration>) {
        let is_hopeful = delaying.local.is_none_or(|local| {
            let LocalState { thread, label, .. } = self.model.local(local);
            self.hopeful.contains(*thread, *label, delaying.on_main)
        });
        if is_hopeful {
            found.push(Configuration {
                control: Control { phase: Phase::Delayed(delaying), ..control.clone() },
                tokens,
            });
        }
    }

    /// The attacker's own steps, but those that begin invocations.
    pub(super) fn attacker_successors(&mut self, from: &Configuration) -> Result<Vec<Configuration>, CheckFailure> {
        let mut found = Vec::new();
        let Phase::Delayed(delaying) = &from.control.phase else { return Ok(found) };
        let Some(local) = delaying.local else { return Ok(found) };
        let LocalState { thread, label, .. } = *self.model.local(local);
        if self.returns(local) && delaying.on_main && self.posts_are_plain() {
            let delaying = Delaying { local: None, ..delaying.clone() };
            self.push(&from.control, delaying, from.tokens.clone(), &mut found);
        }
        for id in self.model.instructions_at(thread, label).to_vec() {
            self.attacker_executes(from, delaying, (local, id), &mut found)?;
        }
        Ok(found)
    }

    fn attacker_executes(
        &mut self,
        from: &Configuration,
        delaying: &Delaying,
        (local, id): (u32, InstructionId),
        found: &mut Vec<Configuration>,
    ) -> Result<(), CheckFailure> {
        let LocalState { thread, mut registers, .. } = self.model.local(local).clone();
        let instruction = self.model.instruction(thread, id);
        let mut buffer = delaying.buffer.clone();
        let mut posted = vec![None];
        match &instruction.action {
            Action::Store { address, value } => {
                let address = self.model.value(thread, id, address.evaluate_address(&registers))?;
                let value = self.model.value(thread, id, value.evaluate(&registers, self.program().domain))?;
                buffer.insert(address, value);
            }
            Action::Load { .. } if from.control.locked => return Ok(()),
            Action::Load { register, address } => {
                let address = self.model.value(thread, id, address.evaluate_address(&registers))?;
                let own = buffer.get(&address).copied();
                if own.is_none() {
                    found.push(overstepped(from, delaying, Some(address), from.tokens.clone()));
                }
                let value = own.unwrap_or_else(|| self.model.value_in(from.control.memory, address));
                registers[register.index()] = value;
            }
            Action::Post { .. } if self.posts_are_plain() => {
                posted = self.posted(thread, id, &registers, false)?;
                if !from.control.locked {
                    for token in self.posted(thread, id, &registers, true)? {
                        found.push(overstepped(from, delaying, None, with_some(&from.tokens, token)?));
                    }
                }
            }
            _ => return Ok(()),
        }
        let after = LocalState { thread, label: instruction.target, registers, holding: false };
        for state in self.model.settle_as(after, true)?.iter().copied() {
            for token in &posted {
                let delaying = Delaying { local: Some(state), buffer: buffer.clone(), ..delaying.clone() };
                self.push(&from.control, delaying, with_some(&from.tokens, *token)?, found);
            }
        }
        Ok(())
    }

    /// A main thread that delays stores, and is between two invocations, begins one that settles in
    /// one of these states.
    pub(super) fn attacker_goes_on(
        &self,
        from: &Configuration,
        states: &[u32],
        rest: &Counts,
        found: &mut Vec<Configuration>,
    ) {
        let Phase::Delayed(delaying @ Delaying { on_main: true, local: None, .. }) = &from.control.phase else {
            return;
        };
        for state in states {
            let delaying = Delaying { local: Some(*state), ..delaying.clone() };
            self.push(&from.control, delaying, rest.clone(), found);
        }
    }

    /// An event occurs while the main thread delays stores. Its guard reads the buffer first, and
    /// may be the load that oversteps them.
    pub(super) fn attacker_occurs(
        &mut self,
        from: &Configuration,
        event: ThreadId,
        rest: &Counts,
        found: &mut Vec<Configuration>,
    ) -> Result<(), CheckFailure> {
        let Phase::Delayed(delaying @ Delaying { on_main: true, local: None, .. }) = &from.control.phase else {
            return Ok(());
        };
        let read = |tasks: &Self, address: Value| {
            let own = delaying.buffer.get(&address).copied();
            own.unwrap_or_else(|| tasks.model.value_in(from.control.memory, address))
        };
        let Some(read) = self.guard(event, from.control.locked, read) else { return Ok(()) };
        if let Some(address) = read.filter(|address| !delaying.buffer.contains_key(address)) {
            found.push(overstepped(from, delaying, Some(address), rest.clone()));
        }
        let states = self.first_states(event, &[])?;
        self.attacker_goes_on(from, &states, rest, found);
        Ok(())
    }
}

/// The configuration after the attacker's last load, or after its last post.
fn overstepped(from: &Configuration, delaying: &Delaying, load: Option<Value>, tokens: Counts) -> Configuration {
    let path = Path {
        store_address: delaying.store_address,
        levels: load.map(|address| (address, Level::Load)).into_iter().collect_map(),
        section: BTreeMap::new(),
    };
    let control = Control { phase: Phase::Helped(path), main_joined: false, ..from.control.clone() };
    Configuration { control, tokens }
}
