//! Threads, states and configurations in words, for failures.

use super::Buffering;
use super::local::Threads;
use super::steps::{Configuration, Move};
use palisade_evidence::{BufferEntry, Tokens};
use palisade_model::program::{InstructionId, ThreadId};

impl Threads<'_> {
    /// An instruction.
    pub(super) fn instruction_in_words(&self, thread: ThreadId, instruction: InstructionId) -> String {
        let name = &self.program.thread(thread).name;
        let text = self.program.source.slice(self.program.thread(thread).instruction(instruction).span);
        format!("instruction {instruction} `{text}` of thread `{name}`")
    }

    /// A step.
    pub(super) fn move_in_words(&self, thread: ThreadId, step: Move) -> String {
        match step {
            Move::Execute(instruction) => self.instruction_in_words(thread, instruction),
            Move::Capture => format!("a snapshot taken by thread `{}`", self.program.thread(thread).name),
            Move::Flush => format!("a store of thread `{}` that reaches memory", self.program.thread(thread).name),
        }
    }

    /// A local state.
    pub(super) fn local_in_words(&self, local: u32) -> String {
        let local = self.locals.get(local);
        let thread = self.program.thread(local.thread);
        let label = local.label.map_or("stopped", |label| &thread.label(label).name);
        let registers: Vec<String> =
            thread.registers.iter().zip(&local.registers).map(|(own, value)| format!("{}={value}", own.name)).collect();
        let entry = |entry: &BufferEntry| match entry {
            BufferEntry::Store(address, value) => format!("{}={value}", self.program.address_name(*address)),
            BufferEntry::Mark => "|".to_owned(),
            BufferEntry::Snapshot(memory) => format!("<{}>", self.memory_in_words(*memory)),
        };
        let buffer: Vec<String> = local.buffer.iter().map(entry).collect();
        let what = if self.buffering == Buffering::Lagging { "lagging on" } else { "buffering" };
        let buffer = if self.buffering == Buffering::Noted {
            match local.buffer.first() {
                None => String::new(),
                Some(BufferEntry::Store(address, _)) => {
                    format!(" having stored {}", self.program.address_name(*address))
                }
                Some(_) => " having stored several addresses".to_owned(),
            }
        } else if buffer.is_empty() {
            String::new()
        } else {
            format!(" {what} {}", buffer.join(" "))
        };
        let holding = if local.holding { " with the lock" } else { "" };
        format!("{}@{label}({}){buffer}{holding}", thread.name, registers.join(","))
    }

    /// A memory by number.
    fn memory_in_words(&self, memory: u32) -> String {
        let memory = self.memories.get(memory);
        let values: Vec<String> =
            memory.iter().map(|(address, value)| format!("{}={value}", self.program.address_name(*address))).collect();
        if values.is_empty() { "-".to_owned() } else { values.join(" ") }
    }

    /// A configuration.
    pub(super) fn in_words(&self, configuration: &Configuration) -> String {
        let mut parts = vec![format!("memory {}", self.memory_in_words(configuration.control.memory))];
        if configuration.control.locked {
            parts.push("locked".to_owned());
        }
        for (local, count) in &configuration.tokens {
            let count = match count {
                Tokens::Finite(count) => count.to_string(),
                Tokens::Omega => "ω".to_owned(),
            };
            parts.push(format!("{count} × {}", self.local_in_words(*local)));
        }
        format!("[{}]", parts.join("; "))
    }
}
