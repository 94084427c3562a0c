//! Threads, states and configurations in words, for failures.

use super::configuration::{Configuration, Phase};
use super::model::Model;
use palisade_evidence::{Attacker, Fact, Level, LocalState, Tokens};
use palisade_model::program::{InstructionId, LabelId, ThreadId, Value};

impl Model<'_> {
    /// A thread.
    pub(super) fn thread_in_words(&self, thread: ThreadId) -> String {
        format!("thread `{}`", self.program.thread(thread).name)
    }

    /// An instruction.
    pub(super) fn instruction_in_words(&self, thread: ThreadId, instruction: InstructionId) -> String {
        let name = &self.program.thread(thread).name;
        let text = self.program.source.slice(self.program.thread(thread).instruction(instruction).span);
        format!("instruction {instruction} `{text}` of thread `{name}`")
    }

    /// A local state.
    pub(super) fn local_in_words(&self, local: u32) -> String {
        self.local_state_in_words(self.local(local))
    }

    /// What a place of the net of an attack by a thread stands for.
    pub(super) fn fact_in_words(&self, attacker: ThreadId, fact: &Fact) -> String {
        let address = |address: &Value| self.program.address_name(*address);
        match fact {
            Fact::Memory(own, value) => format!("{} = {value}", address(own)),
            Fact::Locked(locked) => if *locked { "locked" } else { "unlocked" }.to_owned(),
            Fact::Loaded(loaded) => if *loaded { "after the load" } else { "before the load" }.to_owned(),
            Fact::Idle => "nobody delays".to_owned(),
            Fact::Attacker(Attacker { label, registers, buffer, store_address }) => {
                let state = self.state_in_words(attacker, *label, registers);
                let buffer = list(buffer.iter().map(|(own, value)| format!("{} = {value}", address(own))));
                format!("attacker {state}, buffer {buffer}, delayed store to {}", address(store_address))
            }
            Fact::Gone(store_address) => format!("attacker gone, delayed store to {}", address(store_address)),
            Fact::Level(own, None) => format!("path without {}", address(own)),
            Fact::Level(own, Some(level)) => format!("path {}", self.access_in_words(*own, *level)),
            Fact::Section(accesses) => {
                let accesses = accesses.iter().map(|(own, kind)| self.access_in_words(*own, *kind));
                format!("section {}", list(accesses))
            }
            Fact::Thread(local, joined) => self.local_state_in_words(local) + if *joined { " on the path" } else { "" },
            Fact::Start(thread) => format!("{} not started", self.thread_in_words(*thread)),
            Fact::Success => "success".to_owned(),
        }
    }

    /// A configuration.
    pub(super) fn in_words(&self, configuration: &Configuration) -> String {
        let control = &configuration.control;
        let values = |(address, value): (&Value, &Value)| format!("{} = {value}", self.program.address_name(*address));
        let level = |(address, level): (&Value, &Level)| self.access_in_words(*address, *level);
        let mut parts = vec![format!("memory {}", list(self.memories.get(control.memory).iter().map(values)))];
        if control.locked {
            parts.push("locked".to_owned());
        }
        match self.phase(control) {
            Phase::Sc => {}
            Phase::Delayed(attacker) => {
                parts.push(format!("buffer {}", list(attacker.buffer.iter().map(values))));
                parts.push(format!("attacker at {}, registers {:?}", attacker.label, attacker.registers));
            }
            Phase::Helped(path) => {
                parts.push(format!("delayed store to {}", self.program.address_name(path.store_address)));
                parts.push(format!("path {}", list(path.levels.iter().map(level))));
                if !path.section.is_empty() {
                    parts.push(format!("section {}", list(path.section.iter().map(level))));
                }
            }
        }
        for (token, count) in &configuration.tokens {
            let count = match count {
                Tokens::Finite(count) => count.to_string(),
                Tokens::Omega => "ω".to_owned(),
            };
            let joined = if token.joined { " on the path" } else { "" };
            parts.push(format!("{count} × {}{joined}", self.local_in_words(token.local)));
        }
        format!("[{}]", parts.join("; "))
    }

    fn access_in_words(&self, address: Value, level: Level) -> String {
        let kind = if level == Level::Store { "stored" } else { "loaded" };
        format!("{} {kind}", self.program.address_name(address))
    }

    fn local_state_in_words(&self, local: &LocalState) -> String {
        let holding = if local.holding { " with the lock" } else { "" };
        self.state_in_words(local.thread, local.label, &local.registers) + holding
    }

    fn state_in_words(&self, thread: ThreadId, label: LabelId, registers: &[Value]) -> String {
        let thread = self.program.thread(thread);
        let named: Vec<String> = thread
            .registers
            .iter()
            .zip(registers)
            .map(|(register, value)| format!("{}={value}", register.name))
            .collect();
        format!("{}@{}({})", thread.name, thread.label(label).name, named.join(","))
    }
}

fn list(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    if items.is_empty() { "-".to_owned() } else { items.join(", ") }
}
