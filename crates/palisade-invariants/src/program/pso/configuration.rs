//! Configurations of programs under PSO with a single delayed store, decoded and in words.

use super::Delays;
use crate::CheckFailure;
use crate::failure::reject;
use crate::program::configuration;
use crate::tokens::{self, in_order, strictly_ascending};
use palisade_evidence::{Level, LocalIndex, PsoConfiguration, Tokens};
use palisade_model::program::Value;
use std::collections::BTreeMap;

/// A configuration.
pub(super) type Configuration = tokens::Configuration<Control, Token>;

/// A downward-closed set of configurations.
pub(super) type DownSet = tokens::DownSet<Control, Token>;

/// A thread in a local state, on the path or not.
pub(super) type Token = configuration::Token;

/// Everything but the tokens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Control {
    /// The number of the memory in the model.
    pub(super) memory: u32,
    /// The attack under way; nothing under SC.
    pub(super) attack: Option<Attack>,
}

/// An attack under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Attack {
    /// The address of the delayed store.
    pub(super) store_address: Value,
    /// The attacker's local state, by number, with the value that it has delayed; nothing once it is forgotten.
    pub(super) attacker: Option<(u32, Value)>,
    /// The strongest access on the path by address; none before it begins.
    pub(super) levels: BTreeMap<Value, Level>,
}

impl Delays<'_> {
    fn number_of(&self, index: LocalIndex) -> Result<u32, CheckFailure> {
        match self.model.local_numbers.get(index as usize) {
            Some(number) => Ok(*number),
            None => reject!(Form, "there is no local state {index} in the table"),
        }
    }

    /// A configuration of the certificate.
    pub(super) fn decode(&self, given: &PsoConfiguration) -> Result<Configuration, CheckFailure> {
        let Some(memory) = self.model.memory_numbers.get(given.memory as usize).copied() else {
            reject!(Form, "there is no memory {} in the table", given.memory);
        };
        let attack = match &given.attack {
            None => None,
            Some(attack) => {
                let local = attack.attacker.map(|(local, value)| Ok((self.number_of(local)?, value)));
                Some(Attack {
                    store_address: attack.store_address,
                    attacker: local.transpose()?,
                    levels: strictly_ascending(&attack.levels, "levels")?,
                })
            }
        };
        let mut tokens = Vec::with_capacity(given.tokens.len());
        for (local, joined, count) in &given.tokens {
            if *count == Tokens::Finite(0) {
                reject!(Form, "a configuration counts 0 of something");
            }
            tokens.push((Token { local: self.number_of(*local)?, joined: *joined }, *count));
        }
        in_order(&mut tokens);
        if tokens.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            reject!(Form, "a configuration counts something twice");
        }
        Ok(Configuration { control: Control { memory, attack }, tokens })
    }

    /// A configuration in words.
    pub(super) fn in_words(&self, configuration: &Configuration) -> String {
        let Control { memory, attack } = &configuration.control;
        let local = |number: u32| self.model.local_in_words(number);
        let mut parts = vec![format!("memory {:?}", self.model.memories.get(*memory))];
        if let Some(attack) = attack {
            let address = self.model.program.address_name(attack.store_address);
            parts.push(match attack.attacker {
                Some((number, value)) => format!("attacker {} delays {address} = {value}", local(number)),
                None => format!("a store to {address} is delayed"),
            });
            parts.push(format!("path {:?}", attack.levels));
        }
        for (token, count) in &configuration.tokens {
            let count = if let Tokens::Finite(count) = count { count.to_string() } else { "ω".to_owned() };
            let on_path = if token.joined { " on the path" } else { "" };
            parts.push(format!("{count} × {}{on_path}", local(token.local)));
        }
        format!("[{}]", parts.join("; "))
    }
}
