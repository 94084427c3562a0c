//! Configurations of programs with a guessed access, decoded and in words.

use super::Guessing;
use super::knowledge::{Place, Thread};
use crate::CheckFailure;
use crate::failure::reject;
use crate::tokens::{self, in_order, strictly_ascending};
use palisade_evidence::{StaleConfiguration, StaleGoal, Tokens};
use palisade_model::program::Value;
use std::collections::BTreeMap;

/// A configuration.
pub(super) type Configuration = tokens::Configuration<Control, Token>;

/// A downward-closed set of configurations.
pub(super) type DownSet = tokens::DownSet<Control, Token>;

/// A thread in a local state, with what it knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Token {
    /// The number of the local state in the model.
    pub(super) local: u32,
    pub(super) thread: Thread,
}

/// Everything but the tokens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Control {
    /// The number of the memory in the model.
    pub(super) memory: u32,
    /// The guessed access; nothing under SC.
    pub(super) guess: Option<Guess>,
}

/// A guessed access.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Guess {
    pub(super) address: Value,
    pub(super) goal: StaleGoal,
    /// What is known at addresses.
    pub(super) places: BTreeMap<Value, Place>,
}

impl Guess {
    /// What is known at an address.
    pub(super) fn place(&self, address: Value) -> Place {
        self.places.get(&address).copied().unwrap_or_default()
    }
}

impl Guessing<'_> {
    /// A configuration of the certificate.
    pub(super) fn decode(&self, given: &StaleConfiguration) -> Result<Configuration, CheckFailure> {
        let Some(memory) = self.model.memory_numbers.get(given.memory as usize).copied() else {
            reject!(Form, "there is no memory {} in the table", given.memory);
        };
        let guess = match &given.attack {
            None => None,
            Some(attack) => {
                let mut places = BTreeMap::new();
                for (address, place) in strictly_ascending(&attack.locations, "addresses")? {
                    places.insert(address, Place::decode(place)?);
                }
                Some(Guess { address: attack.address, goal: attack.goal, places })
            }
        };
        let mut tokens = Vec::with_capacity(given.tokens.len());
        for (local, view, count) in &given.tokens {
            if *count == Tokens::Finite(0) {
                reject!(Form, "a configuration counts 0 of something");
            }
            let Some(local) = self.model.local_numbers.get(*local as usize).copied() else {
                reject!(Form, "there is no local state {local} in the table");
            };
            tokens.push((Token { local, thread: Thread::decode(*view)? }, *count));
        }
        in_order(&mut tokens);
        if tokens.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            reject!(Form, "a configuration counts something twice");
        }
        Ok(Configuration { control: Control { memory, guess }, tokens })
    }

    /// A configuration in words.
    pub(super) fn in_words(&self, configuration: &Configuration) -> String {
        let Control { memory, guess } = &configuration.control;
        let mut parts = vec![format!("memory {:?}", self.model.memories.get(*memory))];
        if let Some(Guess { address, goal, places }) = guess {
            parts.push(format!("{goal:?} of {}: {places:?}", self.model.program.address_name(*address)));
        }
        for (token, count) in &configuration.tokens {
            let count = if let Tokens::Finite(count) = count { count.to_string() } else { "ω".to_owned() };
            parts.push(format!("{count} × {} {:?}", self.model.local_in_words(token.local), token.thread));
        }
        format!("[{}]", parts.join("; "))
    }
}
