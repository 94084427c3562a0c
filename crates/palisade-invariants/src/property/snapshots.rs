//! Steps of threads whose loads lag behind on snapshots of memory (THEORY.md, "Snapshots").

use super::local::{Memory, Threads};
use super::steps::{Configuration, Control, Move, Successor};
use crate::CheckFailure;
use crate::failure::reject;
use crate::tokens::{MOST_CHOICES, with_one, without_one};
use hashbrown::HashSet;
use palisade_evidence::{BufferEntry, BufferedLocal};
use palisade_model::program::{Action, InstructionId, LabelId, ThreadId, Value};

impl Threads<'_> {
    /// A local state of the evidence with the numbers that its snapshots have here.
    pub(super) fn with_own_numbers(&self, mut local: BufferedLocal) -> Result<BufferedLocal, CheckFailure> {
        for entry in &mut local.buffer {
            if let BufferEntry::Snapshot(memory) = entry {
                match self.memory_numbers.get(*memory as usize) {
                    Some(number) => *memory = *number,
                    None => reject!(Form, "there is no memory {memory} in the table"),
                }
            }
        }
        Ok(local)
    }

    /// Whether the queue of a local state is in the form that steps give it, and belongs to a
    /// thread without the lock.
    pub(super) fn is_queue_in_form(&mut self, local: &BufferedLocal) -> bool {
        let Some(label) = local.label else { return false };
        !local.holding && self.queue_in_form(local.thread, label, &local.buffer) == local.buffer
    }

    /// The steps of a thread without the lock that its queue is about: a capture, and stores that
    /// loads have overtaken.
    pub(super) fn lagging_steps(
        &mut self,
        successors: &mut Vec<Successor>,
        configuration: &Configuration,
        token: u32,
        local: &BufferedLocal,
    ) -> Result<(), CheckFailure> {
        let (thread, Some(label)) = (local.thread, local.label) else { return Ok(()) };
        let control = configuration.control;
        let mut overtaken = Vec::new();
        for id in self.instructions_at(thread, label).to_vec() {
            let store = self.overtaken_store(control, thread, &local.registers, id)?;
            overtaken.extend(store.map(|(address, value)| (id, address, value)));
        }
        let rest = without_one(&configuration.tokens, token);
        if !overtaken.is_empty() {
            let mut queue = local.buffer.clone();
            queue.push(BufferEntry::Snapshot(control.memory));
            let queue = self.queue_in_form(thread, label, &queue);
            if !self.lag.exceeds(thread, label, snapshots(&queue)) {
                let after = self.locals.number(BufferedLocal { buffer: queue, ..local.clone() });
                let configuration = Configuration { control, tokens: with_one(&rest, after)? };
                successors.push(Successor { thread, step: Move::Capture, configuration });
            }
        }
        if local.buffer.is_empty() {
            return Ok(());
        }
        for (id, address, value) in overtaken {
            let mut memory = self.memories.get(control.memory).clone();
            memory.insert(address, value);
            memory.retain(|address, value| *value != self.program.initial_value(*address));
            let control = Control { memory: self.memories.number(memory), ..control };
            let mut queue = local.buffer.clone();
            queue.push(BufferEntry::Store(address, value));
            let target = self.instruction(thread, id).target;
            let start = BufferedLocal { label: Some(target), buffer: queue, ..local.clone() };
            for after in self.caught_up(control, start)? {
                let tokens = match after {
                    Some(after) => with_one(&rest, after)?,
                    None => rest.clone(),
                };
                let configuration = Configuration { control, tokens };
                successors.push(Successor { thread, step: Move::Execute(id), configuration });
            }
        }
        Ok(())
    }

    /// The address and value of an instruction that is a store, not silent, which loads may
    /// overtake before a drain.
    fn overtaken_store(
        &self,
        control: Control,
        thread: ThreadId,
        registers: &[Value],
        id: InstructionId,
    ) -> Result<Option<(Value, Value)>, CheckFailure> {
        let store = self.store(thread, registers, id)?;
        Ok(store.filter(|store| !self.dead_delays[thread.index()][id.index()] && !self.is_silent(control, *store)))
    }

    /// The address and value of an instruction that is a store.
    fn store(
        &self,
        thread: ThreadId,
        registers: &[Value],
        id: InstructionId,
    ) -> Result<Option<(Value, Value)>, CheckFailure> {
        let Action::Store { address, value } = &self.instruction(thread, id).action else { return Ok(None) };
        let address = self.value(thread, id, address.evaluate_address(registers))?;
        let value = self.value(thread, id, value.evaluate(registers, self.program.domain))?;
        Ok(Some((address, value)))
    }

    fn is_silent(&self, control: Control, (address, value): (Value, Value)) -> bool {
        self.silent.contains(&address) && self.in_memory(control, address) == value
    }

    /// Where a thread can come behind a store by loads on its queue: with an empty queue, in any
    /// state in which it settles or gone; with others, at a store that loads overtake.
    fn caught_up(&mut self, control: Control, start: BufferedLocal) -> Result<Vec<Option<u32>>, CheckFailure> {
        let mut found = Vec::new();
        let mut seen: HashSet<BufferedLocal> = HashSet::new();
        let mut waiting = vec![start];
        while let Some(local) = waiting.pop() {
            if !seen.insert(local.clone()) {
                continue;
            }
            if seen.len() > MOST_CHOICES {
                reject!(Form, "thread `{}` has too many ways to catch up", self.program.thread(local.thread).name);
            }
            let thread = local.thread;
            let label = local.label.expect("it has just executed an instruction");
            let places = self.places(thread, label, local.registers.clone())?;
            if snapshots(&local.buffer) == 0 {
                if places.is_empty() {
                    found.push(None);
                }
                for (label, registers) in places {
                    let after = BufferedLocal { label: Some(label), registers, buffer: Vec::new(), ..local.clone() };
                    found.push(Some(self.locals.number(after)));
                }
                continue;
            }
            for (label, registers) in places {
                let buffer = self.queue_in_form(thread, label, &local.buffer);
                let at = BufferedLocal { label: Some(label), registers, buffer, ..local.clone() };
                let mut rests = false;
                for id in self.instructions_at(thread, label).to_vec() {
                    rests |= self.overtaken_store(control, thread, &at.registers, id)?.is_some();
                    waiting.extend(self.behind(control, &at, id)?);
                }
                if rests && !self.lag.exceeds(thread, label, snapshots(&at.buffer)) {
                    found.push(Some(self.locals.number(at)));
                }
            }
        }
        Ok(found)
    }

    /// The states behind a load on the queue, or a silent store.
    fn behind(
        &self,
        control: Control,
        at: &BufferedLocal,
        id: InstructionId,
    ) -> Result<Vec<BufferedLocal>, CheckFailure> {
        let instruction = self.instruction(at.thread, id);
        let mut after = BufferedLocal { label: Some(instruction.target), ..at.clone() };
        match &instruction.action {
            Action::Load { register, address } => {
                let address = self.address_read(at.thread, id, address, &at.registers)?;
                after.registers[register.index()] = self.lagging_value(&at.buffer, address);
                let next = at.buffer.iter().skip(1).position(|entry| matches!(entry, BufferEntry::Snapshot(_)));
                let rest = next.map_or_else(Vec::new, |next| at.buffer[next + 1..].to_vec());
                Ok(vec![BufferedLocal { buffer: rest, ..after.clone() }, after])
            }
            Action::Store { .. } => {
                let store = self.store(at.thread, &at.registers, id)?;
                Ok(if store.is_some_and(|store| self.is_silent(control, store)) { vec![after] } else { Vec::new() })
            }
            _ => Ok(Vec::new()),
        }
    }

    /// What a load on a queue reads: the youngest own store to its address, or what the first
    /// snapshot has there.
    fn lagging_value(&self, queue: &[BufferEntry], address: Value) -> Value {
        let own = queue.iter().rev().find_map(|entry| match entry {
            BufferEntry::Store(own, value) if *own == address => Some(*value),
            _ => None,
        });
        let snapshot = queue.iter().find_map(|entry| match entry {
            BufferEntry::Snapshot(memory) => Some(Control { memory: *memory, locked: false }),
            _ => None,
        });
        let snapshot = snapshot.expect("a queue that is not empty has a snapshot");
        own.unwrap_or_else(|| self.in_memory(snapshot, address))
    }

    /// A queue in its form for a label: snapshots have the initial value wherever nothing is loaded
    /// any more, of own stores only the youngest to each address that may be loaded is there, none
    /// before the first snapshot, and of equal neighbours one.
    fn queue_in_form(&mut self, thread: ThreadId, label: LabelId, queue: &[BufferEntry]) -> Vec<BufferEntry> {
        let mut form = Vec::new();
        let mut younger: HashSet<Value> = HashSet::new();
        for entry in queue.iter().rev() {
            match *entry {
                BufferEntry::Snapshot(memory) => {
                    let mut kept: Memory = self.memories.get(memory).clone();
                    kept.retain(|address, _| self.lag.may_load(thread, label, *address));
                    form.push(BufferEntry::Snapshot(self.memories.number(kept)));
                }
                BufferEntry::Store(address, _) => {
                    if younger.insert(address) && self.lag.may_load(thread, label, address) {
                        form.push(*entry);
                    }
                }
                BufferEntry::Mark => {}
            }
        }
        // Youngest first so far.
        while matches!(form.last(), Some(BufferEntry::Store(..))) {
            form.pop();
        }
        form.reverse();
        form.dedup();
        form
    }
}

/// How many snapshots a queue has.
fn snapshots(queue: &[BufferEntry]) -> usize {
    queue.iter().filter(|entry| matches!(entry, BufferEntry::Snapshot(_))).count()
}
