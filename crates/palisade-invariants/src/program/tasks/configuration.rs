//! Configurations of event-driven programs, decoded and in words.

use super::Tasks;
use crate::CheckFailure;
use crate::failure::reject;
use crate::program::closed::{count_in_words, counted};
use crate::program::configuration::Path;
use crate::tokens::{self, strictly_ascending};
use palisade_evidence::{MainState, TaskConfiguration, TaskPhase, TaskToken, Tokens};
use palisade_model::program::{ThreadId, Value};
use std::collections::BTreeMap;

/// A configuration.
pub(super) type Configuration = tokens::Configuration<Control, Token>;

/// Everything but the tokens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Control {
    /// The number of the memory in the model.
    pub(super) memory: u32,
    /// Whether someone holds the lock.
    pub(super) locked: bool,
    pub(super) main: Main,
    /// Whether the main thread is on the happens-before path.
    pub(super) main_joined: bool,
    pub(super) phase: Phase,
}

/// The main thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Main {
    Idle,
    /// It runs an invocation, in a local state by number.
    Runs(u32),
    /// Its invocation never returns.
    Blocked,
}

/// The phases.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    Sc,
    Delayed(Delaying),
    Helped(Path),
}

/// The attacker.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Delaying {
    pub(super) on_main: bool,
    /// Its local state by number; nothing for the main thread between two invocations.
    pub(super) local: Option<u32>,
    /// The last value delayed for each address.
    pub(super) buffer: BTreeMap<Value, Value>,
    /// The address of the first delayed store.
    pub(super) store_address: Value,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Token {
    /// A thread, or a task on a thread of its own; whether it is on the path.
    Own(u32, bool),
    /// A task that has not begun on the main thread.
    Pending(u32, bool),
    /// One more occurrence of an event.
    Start(ThreadId),
}

impl Tasks<'_> {
    /// A configuration of the certificate.
    pub(super) fn decode(&self, given: &TaskConfiguration) -> Result<Configuration, CheckFailure> {
        let memory = self.model.memory_at(given.memory)?;
        let main = match given.main {
            MainState::Idle => Main::Idle,
            MainState::Blocked => Main::Blocked,
            MainState::Runs(local) => Main::Runs(self.model.local_at(local)?),
        };
        let phase = self.decode_phase(&given.phase)?;
        let token = |(token, count): &(TaskToken, Tokens)| {
            let token = match token {
                TaskToken::Own(local, joined) => Token::Own(self.model.local_at(*local)?, *joined),
                TaskToken::Pending(local, joined) => Token::Pending(self.model.local_at(*local)?, *joined),
                TaskToken::Start(event) if event.index() < self.program().threads.len() => Token::Start(*event),
                TaskToken::Start(event) => reject!(Form, "there is no event {event}"),
            };
            Ok((token, *count))
        };
        let tokens = counted(given.tokens.iter().map(token))?;
        let control = Control { memory, locked: given.locked, main, main_joined: given.main_joined, phase };
        Ok(Configuration { control, tokens })
    }

    fn decode_phase(&self, given: &TaskPhase) -> Result<Phase, CheckFailure> {
        Ok(match given {
            TaskPhase::Sc => Phase::Sc,
            TaskPhase::Delayed { on_main, local, buffer, store_address } => Phase::Delayed(Delaying {
                on_main: *on_main,
                local: local.map(|local| self.model.local_at(local)).transpose()?,
                buffer: strictly_ascending(buffer, "buffer")?,
                store_address: *store_address,
            }),
            TaskPhase::Helped { store_address, levels, section } => Phase::Helped(Path {
                store_address: *store_address,
                levels: strictly_ascending(levels, "levels")?,
                section: strictly_ascending(section, "section")?,
            }),
        })
    }

    /// A configuration in words.
    pub(super) fn describe(&self, configuration: &Configuration) -> String {
        let Control { memory, locked, main, main_joined, phase } = &configuration.control;
        let local = |number: u32| self.model.local_in_words(number);
        let on_path = |joined: bool| if joined { " on the path" } else { "" };
        let main = match main {
            Main::Idle => "idle".to_owned(),
            Main::Blocked => "blocked".to_owned(),
            Main::Runs(number) => local(*number),
        };
        let mut parts = vec![format!("memory {:?}", self.model.memories.get(*memory))];
        parts.extend(locked.then(|| "locked".to_owned()));
        parts.push(format!("main {main}{}", on_path(*main_joined)));
        match phase {
            Phase::Sc => {}
            Phase::Delayed(attacker) => {
                let at = attacker.local.map_or_else(|| "between invocations".to_owned(), local);
                parts.push(format!("attacker {at}, buffer {:?}", attacker.buffer));
            }
            Phase::Helped(path) => {
                let address = self.program().address_name(path.store_address);
                parts.push(format!("delayed store to {address}, path {:?}", path.levels));
            }
        }
        for (token, count) in &configuration.tokens {
            let count = count_in_words(*count);
            parts.push(match token {
                Token::Own(number, joined) => format!("{count} × {}{}", local(*number), on_path(*joined)),
                Token::Pending(number, joined) => {
                    format!("{count} × pending {}{}", local(*number), on_path(*joined))
                }
                Token::Start(event) => format!("{count} × start of {}", self.program().thread(*event).name),
            });
        }
        format!("[{}]", parts.join("; "))
    }
}
