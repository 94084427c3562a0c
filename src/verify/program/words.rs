//! Threads, states and configurations in words, for failures.

use super::configuration::{Configuration, Phase};
use super::model::Model;
use crate::evidence::{Level, Tokens};
use crate::program::{InstructionId, LabelId, ThreadId, Value};

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
        let local = self.local(local);
        let holding = if local.holding { " with the lock" } else { "" };
        self.state_in_words(local.thread, local.label, &local.registers) + holding
    }

    /// A configuration.
    pub(super) fn in_words(&self, configuration: &Configuration) -> String {
        let control = &configuration.control;
        let values = |(address, value): (&Value, &Value)| format!("{} = {value}", self.program.address_name(*address));
        let level = |(address, level): (&Value, &Level)| {
            let kind = if *level == Level::Store { "stored" } else { "loaded" };
            format!("{} {kind}", self.program.address_name(*address))
        };
        let list = |items: Vec<String>| if items.is_empty() { "-".to_owned() } else { items.join(", ") };
        let mut parts =
            vec![format!("memory {}", list(self.memories.get(control.memory).iter().map(values).collect()))];
        if control.locked {
            parts.push("locked".to_owned());
        }
        match &control.phase {
            Phase::Sc => {}
            Phase::Delayed(attacker) => {
                parts.push(format!("buffer {}", list(attacker.buffer.iter().map(values).collect())));
                parts.push(format!("attacker at {}, registers {:?}", attacker.label, attacker.registers));
            }
            Phase::Helped(path) => {
                parts.push(format!("delayed store to {}", self.program.address_name(path.store_address)));
                parts.push(format!("path {}", list(path.levels.iter().map(level).collect())));
                if !path.section.is_empty() {
                    parts.push(format!("section {}", list(path.section.iter().map(level).collect())));
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
