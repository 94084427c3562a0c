//! The steps: of threads under SC and on the path, and of the attacker.

use super::Delays;
use super::configuration::{Attack, Configuration, Control, Token};
use crate::CheckFailure;
use crate::program::steps::Effect;
use crate::tokens::{with_one, without_one};
use palisade_evidence::{Level, LocalState, Tokens};
use palisade_model::program::{Action, InstructionId, Value};
use std::collections::BTreeMap;
use std::rc::Rc;

impl Delays<'_> {
    /// Where one step leads from a configuration.
    pub(super) fn successors(&mut self, from: &Configuration) -> Result<Vec<Configuration>, CheckFailure> {
        let mut found = Vec::new();
        let attack = from.control.attack.clone();
        if let Some(attack) = &attack {
            self.attacker_goes_on(from, attack, &mut found)?;
            // Before the path begins only the attacker moves.
            if attack.levels.is_empty() {
                return Ok(found);
            }
        }
        for (token, _) in &from.tokens {
            let LocalState { thread, label, .. } = *self.model.local(token.local);
            for id in self.model.instructions_at(thread, label).to_vec() {
                self.step(from, *token, id, &mut found)?;
                if attack.is_none() {
                    self.delay(from, *token, id, &mut found)?;
                }
            }
        }
        Ok(found)
    }

    /// One instruction of a thread on memory as it is. With an attack under way the thread must be on the path, or join by this access.
    fn step(
        &mut self,
        from: &Configuration,
        token: Token,
        id: InstructionId,
        found: &mut Vec<Configuration>,
    ) -> Result<(), CheckFailure> {
        let mut control = from.control.clone();
        let Some(effect) = self.model.effect((control.memory, false), token.local, id)? else { return Ok(()) };
        let mut joined = false;
        if let Some(attack) = &mut control.attack {
            if !token.joined && !follows(attack, &effect) {
                return Ok(());
            }
            joined = true;
            rise(attack, effect.access);
        }
        if let Some((address, value)) = effect.write {
            control.memory = self.model.written(control.memory, address, value);
        }
        let rest = without_one(&from.tokens, token);
        let settled = self.settled_after(token.local, id, effect.registers)?;
        if settled.is_empty() {
            found.push(Configuration { control: control.clone(), tokens: rest.clone() });
        }
        for local in settled.iter().copied() {
            let tokens = with_one(&rest, Token { local, joined })?;
            found.push(Configuration { control: control.clone(), tokens });
        }
        Ok(())
    }

    /// A store is delayed: its thread is the attacker from then on. Where it can do nothing that another thread could see, it is left out.
    fn delay(
        &mut self,
        from: &Configuration,
        token: Token,
        id: InstructionId,
        found: &mut Vec<Configuration>,
    ) -> Result<(), CheckFailure> {
        let LocalState { thread, registers, .. } = self.model.local(token.local).clone();
        let Action::Store { address, value } = &self.model.instruction(thread, id).action else { return Ok(()) };
        let address = self.model.address(thread, id, address, &registers)?;
        let value = self.model.evaluate((thread, id), value, &registers, 0)?;
        let rest = without_one(&from.tokens, token);
        for local in self.settled_after(token.local, id, registers)?.iter().copied() {
            if self.may_go_on(local, address)? {
                let attack = Attack { store_address: address, attacker: Some((local, value)), levels: BTreeMap::new() };
                found.push(with_attack(from.control.memory, attack, &rest));
            }
        }
        Ok(())
    }

    /// The attacker's own steps. It reads what it has delayed, and its stores to other addresses reach memory at once. It waits for ever at a store to the same address
    /// and at what needs an empty buffer.
    fn attacker_goes_on(
        &mut self,
        from: &Configuration,
        attack: &Attack,
        found: &mut Vec<Configuration>,
    ) -> Result<(), CheckFailure> {
        let Some((local, delayed)) = attack.attacker else { return Ok(()) };
        let LocalState { thread, label, registers, .. } = self.model.local(local).clone();
        for id in self.model.instructions_at(thread, label).to_vec() {
            let mut registers = registers.clone();
            let mut after = attack.clone();
            let mut memory = from.control.memory;
            match &self.model.instruction(thread, id).action {
                Action::Load { register, address } => {
                    let address = self.model.address(thread, id, address, &registers)?;
                    let is_own = address == attack.store_address;
                    registers[register.index()] = if is_own { delayed } else { self.model.value_in(memory, address) };
                    rise(&mut after, (!is_own).then_some((address, Level::Load)));
                }
                Action::Store { address, value } => {
                    let address = self.model.address(thread, id, address, &registers)?;
                    if address == attack.store_address {
                        continue;
                    }
                    let value = self.model.evaluate((thread, id), value, &registers, 0)?;
                    memory = self.model.written(memory, address, value);
                    rise(&mut after, Some((address, Level::Store)));
                }
                _ => continue,
            }
            let settled = self.settled_after(local, id, registers)?;
            let mut attackers = Vec::with_capacity(settled.len());
            for local in settled.iter() {
                attackers.push(self.may_go_on(*local, attack.store_address)?.then_some((*local, delayed)));
            }
            if settled.is_empty() {
                attackers.push(None);
            }
            for attacker in attackers {
                // Before the path has begun, an attack whose attacker is forgotten leads nowhere.
                if attacker.is_some() || !after.levels.is_empty() {
                    found.push(with_attack(memory, Attack { attacker, ..after.clone() }, &from.tokens));
                }
            }
        }
        Ok(())
    }

    /// The states, by number, in which a thread settles after an instruction that left its registers so.
    fn settled_after(
        &mut self,
        local: u32,
        id: InstructionId,
        registers: Vec<Value>,
    ) -> Result<Rc<[u32]>, CheckFailure> {
        let thread = self.model.local(local).thread;
        let label = self.model.instruction(thread, id).target;
        self.model.settle(LocalState { thread, label, registers, holding: false })
    }

    /// Whether an attacker in a local state can load, or store to an address other than that of its delayed store. If not, it is forgotten.
    fn may_go_on(&self, local: u32, store_address: Value) -> Result<bool, CheckFailure> {
        let LocalState { thread, label, registers, .. } = self.model.local(local);
        for id in self.model.instructions_at(*thread, *label) {
            match &self.model.instruction(*thread, *id).action {
                Action::Load { .. } => return Ok(true),
                Action::Store { address, .. }
                    if self.model.address(*thread, *id, address, registers)? != store_address =>
                {
                    return Ok(true);
                }
                _ => {}
            }
        }
        Ok(false)
    }
}

/// Whether an access comes after one on the path in happens-before: a load of an address that was stored to, a store to one that was accessed.
fn follows(attack: &Attack, effect: &Effect) -> bool {
    effect.access.is_some_and(|(address, kind)| match kind {
        Level::Load => attack.levels.get(&address) == Some(&Level::Store),
        Level::Store => attack.levels.contains_key(&address),
    })
}

/// Adds an access to the path.
fn rise(attack: &mut Attack, access: Option<(Value, Level)>) {
    if let Some((address, level)) = access {
        let known = attack.levels.entry(address).or_insert(level);
        *known = level.max(*known);
    }
}

fn with_attack(memory: u32, attack: Attack, tokens: &[(Token, Tokens)]) -> Configuration {
    Configuration { control: Control { memory, attack: Some(attack) }, tokens: tokens.to_vec() }
}
