//! The steps of the sliced program with unbounded store buffers.
//!
//! While a thread holds the lock, only that thread steps: what others can do meanwhile, local
//! instructions, stores into their buffers and fences, they can do before or after (THEORY.md,
//! "Closed sets with store buffers").

use super::Buffering;
use super::local::Threads;
use crate::CheckFailure;
use crate::failure::reject;
use crate::tokens::{self, with_one, without_one};
use palisade_evidence::{BufferEntry, BufferedLocal};
use palisade_model::program::{Action, Expression, InstructionId, ThreadId, Value};

/// Everything but the threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Control {
    /// The number of the memory.
    pub(super) memory: u32,
    /// Whether some thread holds the lock.
    pub(super) locked: bool,
}

/// A configuration: a control, and how many threads are in which state, by number.
pub(super) type Configuration = tokens::Configuration<Control, u32>;

/// A downward-closed set of configurations.
pub(super) type DownSet = tokens::DownSet<Control, u32>;

/// What a thread does next.
#[derive(Clone, Copy, Debug)]
pub(super) enum Move {
    /// It executes an instruction.
    Execute(InstructionId),
    /// A store of its buffer reaches memory.
    Flush,
    /// Memory becomes part of its queue.
    Capture,
}

/// A step and where it leads.
pub(super) struct Successor {
    pub(super) thread: ThreadId,
    pub(super) step: Move,
    pub(super) configuration: Configuration,
}

/// What one thread's step does, before it settles.
pub(super) struct Effect {
    /// The thread after it.
    local: BufferedLocal,
    /// What it writes to memory.
    pub(super) write: Option<(Value, Value)>,
}

impl Threads<'_> {
    /// All steps from a configuration.
    pub(super) fn successors(&mut self, configuration: &Configuration) -> Result<Vec<Successor>, CheckFailure> {
        let mut successors = Vec::new();
        for (token, _) in &configuration.tokens {
            let local = self.locals.get(*token).clone();
            if configuration.control.locked && !local.holding {
                continue;
            }
            if self.buffering == Buffering::Lagging && !local.holding {
                self.lagging_steps(&mut successors, configuration, *token, &local)?;
            }
            if self.buffering == Buffering::Lagging && !local.buffer.is_empty() {
                continue;
            }
            for effect in self.flushes(&local) {
                self.add(&mut successors, configuration, *token, Move::Flush, effect)?;
            }
            let Some(label) = local.label else { continue };
            for id in self.instructions_at(local.thread, label).to_vec() {
                if let Some(effect) = self.execution(configuration.control, &local, id)? {
                    self.add(&mut successors, configuration, *token, Move::Execute(id), effect)?;
                }
            }
        }
        Ok(successors)
    }

    /// Adds where a step leads: one configuration for each way to settle.
    fn add(
        &mut self,
        successors: &mut Vec<Successor>,
        configuration: &Configuration,
        token: u32,
        step: Move,
        effect: Effect,
    ) -> Result<(), CheckFailure> {
        let mut control = configuration.control;
        let was_holding = self.locals.get(token).holding;
        let thread = effect.local.thread;
        if effect.local.holding != was_holding {
            control.locked = effect.local.holding;
        }
        if let Some((address, value)) = effect.write {
            let mut memory = self.memories.get(control.memory).clone();
            memory.insert(address, value);
            if value == self.program.initial_value(address) {
                memory.remove(&address);
            }
            control.memory = self.memories.number(memory);
        }
        let rest = without_one(&configuration.tokens, token);
        let settled = match step {
            // A flush executes no instruction, and a settled thread stays so.
            Move::Flush if effect.local.label.is_some() => vec![self.locals.number(effect.local)],
            _ => self.settle(effect.local)?,
        };
        if settled.is_empty() {
            successors.push(Successor { thread, step, configuration: Configuration { control, tokens: rest } });
            return Ok(());
        }
        for local in settled {
            let tokens = with_one(&rest, local)?;
            successors.push(Successor { thread, step, configuration: Configuration { control, tokens } });
        }
        Ok(())
    }

    /// The stores of a thread's buffer that may reach memory next: the oldest under TSO; under PSO
    /// the oldest to each address, before the first mark.
    fn flushes(&self, local: &BufferedLocal) -> Vec<Effect> {
        let mut flushes = Vec::new();
        if self.buffering == Buffering::Noted {
            return flushes;
        }
        let mut addresses = Vec::new();
        for (position, entry) in local.buffer.iter().enumerate() {
            let BufferEntry::Store(address, value) = *entry else { break };
            if position > 0 && self.buffering != Buffering::PerAddress {
                break;
            }
            if addresses.contains(&address) {
                continue;
            }
            addresses.push(address);
            let mut buffer = local.buffer.clone();
            buffer.remove(position);
            let local = BufferedLocal { buffer: self.in_form(buffer), ..local.clone() };
            flushes.push(Effect { local, write: Some((address, value)) });
        }
        flushes
    }

    /// What an instruction does, when it is not local and enabled.
    pub(super) fn execution(
        &self,
        control: Control,
        local: &BufferedLocal,
        id: InstructionId,
    ) -> Result<Option<Effect>, CheckFailure> {
        let (thread, registers) = (local.thread, &local.registers);
        let instruction = self.instruction(thread, id);
        let action = &instruction.action;
        let waits = self.buffering != Buffering::Noted && !local.buffer.is_empty();
        if self.buffering.is_local(action) || action.drains_buffer() && waits {
            return Ok(None);
        }
        let domain = self.program.domain;
        let address_of = |address: &Expression| self.address(thread, id, address, registers);
        let read_at = |address: &Expression| self.address_read(thread, id, address, registers);
        let mut after = BufferedLocal { label: Some(instruction.target), ..local.clone() };
        let mut write = None;
        if self.buffering == Buffering::Noted && action.drains_buffer() {
            after.buffer.clear();
        }
        match action {
            Action::Fence => {}
            Action::StoreFence => {
                after.buffer.push(BufferEntry::Mark);
                after.buffer = self.in_form(after.buffer);
            }
            Action::Load { register, address } => {
                let address = read_at(address)?;
                after.registers[register.index()] = self.seen(control, local, address);
            }
            Action::Store { address, value } => {
                let address = address_of(address)?;
                let value = self.value(thread, id, value.evaluate(registers, domain))?;
                let is_silent = self.silent.contains(&address) && self.seen(control, local, address) == value;
                let is_dead = self.dead_delays[thread.index()][id.index()] && local.buffer.is_empty();
                if is_silent {
                } else if self.buffering == Buffering::Noted {
                    write = Some((address, value));
                    after.buffer = if self.dead_delays[thread.index()][id.index()] {
                        Vec::new()
                    } else {
                        noted(&local.buffer, address)
                    };
                } else if matches!(self.buffering, Buffering::Nothing | Buffering::Lagging) || is_dead {
                    write = Some((address, value));
                } else {
                    after.buffer.push(BufferEntry::Store(address, value));
                    after.buffer = self.in_form(after.buffer);
                }
            }
            Action::Cas { register, address, expected, new } => {
                let address = read_at(address)?;
                let old = self.in_memory(control, address);
                if old == self.value(thread, id, expected.evaluate(registers, domain))? {
                    write = Some((address, self.value(thread, id, new.evaluate(registers, domain))?));
                }
                if let Some(register) = register {
                    after.registers[register.index()] = old;
                }
            }
            Action::Rmw { register, address, new } => {
                let address = read_at(address)?;
                let old = self.in_memory(control, address);
                write = Some((address, self.value(thread, id, new.evaluate_with_old(registers, old, domain))?));
                if let Some(register) = register {
                    after.registers[register.index()] = old;
                }
            }
            Action::Lock if !control.locked => after.holding = true,
            Action::Unlock if local.holding => after.holding = false,
            _ => return Ok(None),
        }
        Ok(Some(Effect { local: after, write }))
    }

    /// The address that an instruction accesses. Rejects when shifts of counters do not commute
    /// with that.
    fn address(
        &self,
        thread: ThreadId,
        id: InstructionId,
        address: &Expression,
        registers: &[Value],
    ) -> Result<Value, CheckFailure> {
        let address = self.value(thread, id, address.evaluate_address(registers))?;
        if self.shifts.as_ref().is_some_and(|shifts| !shifts.keep_to(thread, id, address)) {
            reject!(Form, "{} comes to a counter, or leaves its own", self.instruction_in_words(thread, id));
        }
        Ok(address)
    }

    /// The address that an instruction reads. Rejects when the slice may write there.
    pub(super) fn address_read(
        &self,
        thread: ThreadId,
        id: InstructionId,
        address: &Expression,
        registers: &[Value],
    ) -> Result<Value, CheckFailure> {
        let address = self.address(thread, id, address, registers)?;
        if self.written_by_slice.contains(i128::from(address)) {
            let instruction = self.instruction_in_words(thread, id);
            reject!(Safe, "{instruction} reads address {address}, which instructions of the slice may write");
        }
        Ok(address)
    }

    /// A buffer that steps have made, in the form of the model.
    fn in_form(&self, buffer: Vec<BufferEntry>) -> Vec<BufferEntry> {
        self.buffering.in_form(buffer).expect("steps put into a buffer only what the model has")
    }

    /// The value that a thread sees at an address: the youngest in its buffer, or the one in
    /// memory.
    fn seen(&self, control: Control, local: &BufferedLocal, address: Value) -> Value {
        if self.buffering == Buffering::Noted {
            return self.in_memory(control, address);
        }
        let own = local.buffer.iter().rev().find_map(|entry| match entry {
            BufferEntry::Store(own, value) if *own == address => Some(*value),
            _ => None,
        });
        own.unwrap_or_else(|| self.in_memory(control, address))
    }

    /// The value of an address in memory.
    pub(super) fn in_memory(&self, control: Control, address: Value) -> Value {
        let memory = self.memories.get(control.memory);
        memory.get(&address).copied().unwrap_or_else(|| self.program.initial_value(address))
    }
}

/// What a thread has stored since it last drained its buffer, after one more store.
fn noted(note: &[BufferEntry], address: Value) -> Vec<BufferEntry> {
    let is_same = |entry: &BufferEntry| *entry == BufferEntry::Store(address, 0);
    if note.iter().all(is_same) { vec![BufferEntry::Store(address, 0)] } else { vec![BufferEntry::Mark] }
}
