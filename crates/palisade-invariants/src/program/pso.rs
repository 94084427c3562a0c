//! Checks that a program is robust against PSO, from its text and a certificate alone.
//!
//! A program of threads without `sfence`, sections and accepted delays is robust against PSO when
//! no computation that delays a single store has a cyclic trace, and there is such a computation
//! exactly when the instrumented program reaches success (THEORY.md, "Attacks under PSO"). The
//! checker follows the instrumented semantics itself and asks of the certificate's set that it
//! contains the initial configurations, is closed under all steps, and contains no success.

use super::closed::{Followed, check_closed, count_in_words, counted};
use super::configuration::{self, Path, Token};
use super::known::Act;
use super::model::Model;
use crate::CheckFailure;
use crate::failure::reject;
use crate::tokens::{self, initial_tokens, strictly_ascending, with_one, without_one};
use palisade_evidence::{Level, LocalState, PsoCertificate, PsoConfiguration, Tokens};
use palisade_model::program::{Action, Copies, InstructionId, Program, Value};
use std::rc::Rc;

/// A configuration.
type Configuration = tokens::Configuration<Control, Token>;

/// Everything but the tokens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Control {
    /// The number of the memory in the model.
    memory: u32,
    /// The attack under way; nothing under SC.
    attack: Option<Attack>,
}

/// An attack under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Attack {
    /// The attacker's local state, by number, with the value that it has delayed; nothing once it
    /// is forgotten.
    attacker: Option<(u32, Value)>,
    /// The path; without levels before it begins.
    path: Path,
}

/// The program as this checker sees it.
struct Delays<'a> {
    model: Model<'a>,
}

/// Checks that `certificate` shows `program` (with its copies and domain) to be robust against PSO.
pub fn check_pso_certificate(program: &Program, certificate: &PsoCertificate) -> Result<(), CheckFailure> {
    check_scope(program)?;
    let PsoCertificate { live, locals, memories, configurations } = certificate;
    let mut delays = Delays { model: Model::with_tables(program, live, locals, memories)? };
    let decoded = configurations.iter().map(|it| delays.decode(it)).collect::<Result<_, _>>()?;
    check_closed(&mut delays, decoded)
}

/// A single delayed store need not show that other programs are not robust.
fn check_scope(program: &Program) -> Result<(), CheckFailure> {
    if program.is_event_driven() || !program.accepted.is_empty() {
        reject!(Form, "a program with events, tasks or accepted delays has no certificate of robustness against PSO");
    }
    for thread in program.threads.iter().filter(|thread| thread.copies != Copies::Exactly(0)) {
        let stands_in_the_way = |action: &Action| matches!(action, Action::StoreFence | Action::Lock | Action::Unlock);
        if thread.instructions.iter().any(|instruction| stands_in_the_way(&instruction.action)) {
            reject!(
                Form,
                "thread `{}` has `sfence` or a section, for which one delayed store does not suffice",
                thread.name
            );
        }
    }
    Ok(())
}

impl Followed for Delays<'_> {
    type Control = Control;
    type Token = Token;

    /// No attack is under way, and the copies of threads have settled.
    fn initial_configurations(&mut self) -> Result<Vec<Configuration>, CheckFailure> {
        let memory = self.model.memories.number(configuration::Memory::new());
        let control = Control { memory, attack: None };
        let program = self.model.program;
        let token = |local| Token { local, joined: false };
        let choices =
            initial_tokens(program, |id| Ok(self.model.initial_states(id)?.iter().copied().map(token).collect()))?;
        Ok(choices.into_iter().map(|tokens| Configuration { control: control.clone(), tokens }).collect())
    }

    fn successors(&mut self, from: &Configuration) -> Result<Vec<Configuration>, CheckFailure> {
        let mut found = Vec::new();
        let attack = from.control.attack.clone();
        if let Some(attack) = &attack {
            self.attacker_goes_on(from, attack, &mut found)?;
            // Before the path begins only the attacker moves.
            if attack.path.levels.is_empty() {
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

    /// A helper on the path has come to the address of the delayed store.
    fn is_success(&self, control: &Control) -> bool {
        control.attack.as_ref().is_some_and(|attack| attack.path.levels.contains_key(&attack.path.store_address))
    }

    fn in_words(&self, configuration: &Configuration) -> String {
        let Control { memory, attack } = &configuration.control;
        let local = |number: u32| self.model.local_in_words(number);
        let mut parts = vec![format!("memory {:?}", self.model.memories.get(*memory))];
        if let Some(attack) = attack {
            let address = self.model.program.address_name(attack.path.store_address);
            parts.push(match attack.attacker {
                Some((number, value)) => format!("attacker {} delays {address} = {value}", local(number)),
                None => format!("a store to {address} is delayed"),
            });
            parts.push(format!("path {:?}", attack.path.levels));
        }
        for (token, count) in &configuration.tokens {
            let count = count_in_words(*count);
            let on_path = if token.joined { " on the path" } else { "" };
            parts.push(format!("{count} × {}{on_path}", local(token.local)));
        }
        format!("[{}]", parts.join("; "))
    }
}

impl Delays<'_> {
    /// A configuration of the certificate.
    fn decode(&self, given: &PsoConfiguration) -> Result<Configuration, CheckFailure> {
        let memory = self.model.memory_at(given.memory)?;
        let attack = match &given.attack {
            None => None,
            Some(attack) => {
                let local = attack.attacker.map(|(local, value)| Ok((self.model.local_at(local)?, value)));
                let levels = strictly_ascending(&attack.levels, "levels")?;
                let path = Path { levels, ..Path::of(attack.store_address) };
                Some(Attack { attacker: local.transpose()?, path })
            }
        };
        let tokens = given
            .tokens
            .iter()
            .map(|(local, joined, count)| Ok((Token { local: self.model.local_at(*local)?, joined: *joined }, *count)));
        Ok(Configuration { control: Control { memory, attack }, tokens: counted(tokens)? })
    }

    /// One instruction of a thread on memory as it is. With an attack under way the thread must be
    /// on the path, or join by this access.
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
            let thread = self.model.local(token.local).thread;
            let act = Act::of(&self.model.instruction(thread, id).action, effect.access, false);
            match attack.path.follow(act, token.joined) {
                Some(on_path) => joined = on_path,
                None => return Ok(()),
            }
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

    /// A store is delayed: its thread is the attacker from then on. Where it can do nothing that
    /// another thread could see, it is left out.
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
                let attack = Attack { attacker: Some((local, value)), path: Path::of(address) };
                found.push(with_attack(from.control.memory, attack, &rest));
            }
        }
        Ok(())
    }

    /// The attacker's own steps. It reads what it has delayed, and its stores to other addresses
    /// reach memory at once. It waits for ever at a store to the same address and at what needs an
    /// empty buffer.
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
                    let is_own = address == attack.path.store_address;
                    registers[register.index()] = if is_own { delayed } else { self.model.value_in(memory, address) };
                    after.path.levels_rise((!is_own).then_some((address, Level::Load)));
                }
                Action::Store { address, value } => {
                    let address = self.model.address(thread, id, address, &registers)?;
                    if address == attack.path.store_address {
                        continue;
                    }
                    let value = self.model.evaluate((thread, id), value, &registers, 0)?;
                    memory = self.model.written(memory, address, value);
                    after.path.levels_rise(Some((address, Level::Store)));
                }
                _ => continue,
            }
            let settled = self.settled_after(local, id, registers)?;
            let mut attackers = Vec::with_capacity(settled.len());
            for local in settled.iter() {
                attackers.push(self.may_go_on(*local, attack.path.store_address)?.then_some((*local, delayed)));
            }
            if settled.is_empty() {
                attackers.push(None);
            }
            for attacker in attackers {
                // Before the path has begun, an attack whose attacker is forgotten leads nowhere.
                if attacker.is_some() || !after.path.levels.is_empty() {
                    found.push(with_attack(memory, Attack { attacker, ..after.clone() }, &from.tokens));
                }
            }
        }
        Ok(())
    }

    /// The states, by number, in which a thread settles after an instruction that left its
    /// registers so.
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

    /// Whether an attacker in a local state can load, or store to an address other than that of its
    /// delayed store. If not, it is forgotten.
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

fn with_attack(memory: u32, attack: Attack, tokens: &[(Token, Tokens)]) -> Configuration {
    Configuration { control: Control { memory, attack: Some(attack) }, tokens: tokens.to_vec() }
}
