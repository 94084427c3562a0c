//! Small configurations in which given facts hold, and the facts that hold after a step.

use crate::program::configuration::{Configuration, Control, DelayingThread, Memory, Path, Phase, Token};
use crate::program::model::Model;
use palisade_evidence::{Attacker, Fact, Tokens};
use palisade_model::program::{ThreadId, Value};
use std::collections::BTreeMap;
use std::rc::Rc;

impl Model<'_> {
    /// The configuration with one thread in which just these facts hold: in phase SC if the load
    /// has not happened by them, else in phase Helped.
    pub(super) fn configuration_of(&mut self, token: Token, locked: bool, facts: &[Fact]) -> Configuration {
        let phase = if facts.contains(&Fact::Loaded(false)) { Phase::Sc } else { Phase::Helped(Rc::new(path(facts))) };
        let (memory, phase) = (self.memory_of(facts), self.phase_number(phase));
        Configuration { control: Control { memory, locked, phase }, tokens: vec![(token, Tokens::Finite(1))] }
    }

    /// The configuration with nobody but the attacker in which just these facts hold, and the lock
    /// is free.
    pub(super) fn delaying_of(&mut self, delaying: &DelayingThread, facts: &[Fact]) -> Configuration {
        let (memory, phase) = (self.memory_of(facts), self.phase_number(Phase::Delayed(Rc::new(delaying.clone()))));
        Configuration { control: Control { memory, locked: false, phase }, tokens: Vec::new() }
    }

    /// The number of the memory that these facts describe.
    fn memory_of(&mut self, facts: &[Fact]) -> u32 {
        let mut memory = Memory::new();
        for fact in facts {
            if let Fact::Memory(address, value) = fact
                && *value != self.program.initial_value(*address)
            {
                memory.insert(*address, *value);
            }
        }
        self.memories.number(memory)
    }

    /// What has become of a fact.
    pub(super) fn afterwards(&self, fact: &Fact, control: &Control) -> Fact {
        match (fact, self.phase(control)) {
            (Fact::Memory(address, _), _) => Fact::Memory(*address, self.read(control, *address)),
            (Fact::Locked(_), _) => Fact::Locked(control.locked),
            (Fact::Level(address, _), Phase::Helped(path)) => Fact::Level(*address, path.levels.get(address).copied()),
            (Fact::Section(_), Phase::Helped(path)) => {
                Fact::Section(path.section.iter().map(|(address, kind)| (*address, *kind)).collect())
            }
            _ => fact.clone(),
        }
    }

    /// The fact that a thread is in a state.
    pub(super) fn thread_fact(&self, token: Token) -> Fact {
        Fact::Thread(self.local(token.local).clone(), token.joined)
    }

    /// The fact that the attacker is where the configuration has it, unless it is hopeless there.
    pub(super) fn attacker_fact(&self, thread: ThreadId, configuration: &Configuration) -> Option<Fact> {
        match self.phase(&configuration.control) {
            Phase::Delayed(delaying) if !self.is_hopeless(thread, configuration) => Some(fact_of_attacker(delaying)),
            _ => None,
        }
    }

    /// An address whose level a step has raised without looking at it.
    pub(super) fn level_not_looked_at(&self, after: &Control, looked_at: &[Fact]) -> Option<Value> {
        let Phase::Helped(path) = self.phase(after) else { return None };
        let is_seen =
            |address: &Value| looked_at.iter().any(|fact| matches!(fact, Fact::Level(own, _) if own == address));
        path.levels.keys().copied().find(|address| !is_seen(address))
    }
}

/// The fact that the attacker is in a state.
pub(super) fn fact_of_attacker(delaying: &DelayingThread) -> Fact {
    let DelayingThread { label, registers, buffer, store_address } = delaying.clone();
    Fact::Attacker(Attacker { label, registers, buffer: buffer.into_iter().collect(), store_address })
}

/// The happens-before path by the facts. No step of a thread asks for the store address.
fn path(facts: &[Fact]) -> Path {
    let mut path = Path { store_address: 0, levels: BTreeMap::new(), section: BTreeMap::new() };
    for fact in facts {
        match fact {
            Fact::Level(address, Some(level)) => drop(path.levels.insert(*address, *level)),
            Fact::Section(section) => path.section = section.iter().copied().collect(),
            _ => {}
        }
    }
    path
}

/// How much of a fact there is to look at.
pub(super) fn size(fact: &Fact) -> usize {
    1 + match fact {
        Fact::Attacker(attacker) => attacker.registers.len() + attacker.buffer.len(),
        Fact::Section(section) => section.len(),
        Fact::Thread(local, _) => local.registers.len(),
        _ => 0,
    }
}
