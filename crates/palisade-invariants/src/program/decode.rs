//! The configurations of a certificate, checked and in the form the model works with.

use super::configuration::{Configuration, Control, DelayingThread, Path, Phase, Token};
use super::model::Model;
use crate::CheckFailure;
use crate::failure::reject;
use crate::tokens::{in_order, strictly_ascending};
use hashbrown::HashMap;
use palisade_evidence::{
    Attacker, DelayedSet, HelpedConfiguration, HelpedSet, LocalIndex, LocalState, MemoryIndex, ScConfiguration, Tokens,
};
use palisade_model::program::{Copies, ThreadId};
use std::rc::Rc;

impl Model<'_> {
    pub(super) fn decode_sc(&mut self, given: &[ScConfiguration]) -> Result<Vec<Configuration>, CheckFailure> {
        let phase = self.phase_number(Phase::Sc);
        let decode = |configuration: &ScConfiguration| {
            self.configuration(configuration.memory, configuration.locked, phase, unjoined(&configuration.tokens))
        };
        given.iter().map(decode).collect()
    }

    pub(super) fn decode_delayed(&mut self, given: &DelayedSet) -> Result<Vec<Configuration>, CheckFailure> {
        let mut decoded = Vec::with_capacity(given.configurations.len());
        // Many configurations have the same attacker.
        let mut phases: HashMap<&Attacker, u32> = HashMap::new();
        for configuration in &given.configurations {
            let phase = match phases.get(&*configuration.attacker) {
                Some(phase) => *phase,
                None => {
                    let phase = self.delaying_phase(given.thread, &configuration.attacker)?;
                    phases.insert(&configuration.attacker, phase);
                    phase
                }
            };
            let tokens = unjoined(&configuration.tokens);
            decoded.push(self.configuration(configuration.memory, configuration.locked, phase, tokens)?);
        }
        Ok(decoded)
    }

    fn delaying_phase(&mut self, thread: ThreadId, attacker: &Attacker) -> Result<u32, CheckFailure> {
        let Attacker { label, registers, buffer, store_address } = attacker.clone();
        let local = LocalState { thread, label, registers, holding: false };
        self.check_local(&local)?;
        let registers = local.registers;
        let buffer = strictly_ascending(&buffer, "buffer")?;
        if !buffer.contains_key(&store_address) {
            reject!(Form, "the address {store_address} of an attacker's first delayed store is not in its buffer");
        }
        Ok(self.phase_number(Phase::Delayed(Rc::new(DelayingThread { label, registers, buffer, store_address }))))
    }

    pub(super) fn decode_helped(&mut self, given: &HelpedSet) -> Result<Vec<Configuration>, CheckFailure> {
        let mut decoded = Vec::with_capacity(given.configurations.len());
        // Many configurations have the same path.
        let mut phases: HashMap<_, u32> = HashMap::new();
        for configuration in &given.configurations {
            let HelpedConfiguration { store_address, levels, section, .. } = configuration;
            let key = (*store_address, levels.as_slice(), section.as_slice());
            let phase = match phases.get(&key) {
                Some(phase) => *phase,
                None => {
                    let phase = self.phase_number(Phase::Helped(Rc::new(Path {
                        store_address: *store_address,
                        levels: strictly_ascending(levels, "levels")?,
                        section: strictly_ascending(section, "section")?,
                    })));
                    phases.insert(key, phase);
                    phase
                }
            };
            let tokens = configuration.tokens.iter().copied();
            decoded.push(self.configuration(configuration.memory, configuration.locked, phase, tokens)?);
        }
        Ok(decoded)
    }

    /// A configuration from positions in the certificate's tables.
    fn configuration(
        &mut self,
        memory: MemoryIndex,
        locked: bool,
        phase: u32,
        given: impl ExactSizeIterator<Item = (LocalIndex, bool, Tokens)>,
    ) -> Result<Configuration, CheckFailure> {
        let memory = self.memory_at(memory)?;
        let mut tokens = Vec::with_capacity(given.len());
        for (index, joined, count) in given {
            let local = self.local_at(index)?;
            let is_replicated = self.program.thread(self.local(local).thread).copies == Copies::Any;
            match count {
                Tokens::Finite(0) => reject!(Form, "local state {index} is listed with no threads"),
                Tokens::Omega if !is_replicated => {
                    reject!(Form, "ω threads in local state {index} of a thread with a fixed number of copies")
                }
                _ => tokens.push((Token { local, joined }, count)),
            }
        }
        in_order(&mut tokens);
        if let Some(pair) = tokens.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            reject!(Form, "a configuration lists {} twice", self.local_in_words(pair[0].0.local));
        }
        Ok(Configuration { control: Control { memory, locked, phase }, tokens })
    }
}

/// Tokens off the happens-before path.
fn unjoined(tokens: &[(LocalIndex, Tokens)]) -> impl ExactSizeIterator<Item = (LocalIndex, bool, Tokens)> {
    tokens.iter().map(|(local, count)| (*local, false, *count))
}
