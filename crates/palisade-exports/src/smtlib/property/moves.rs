//! What the threads of a closed set can do, one move for each local state, instruction and value
//! that it can read.

use super::local::{Locals, To};
use super::orders_stores;
use palisade_evidence::{BufferEntry, BufferedLocal};
use palisade_model::program::{Action, Expression, InstructionId, Value};
use palisade_semantics::Model;
use std::collections::{BTreeMap, BTreeSet};

/// A move of a thread.
#[derive(Clone, Debug)]
pub(super) struct Move {
    /// What it is, as a comment.
    pub(super) words: String,
    /// The local state of the thread.
    pub(super) from: usize,
    /// Addresses with the values that memory must have there.
    pub(super) reads: Vec<(Value, Value)>,
    /// The address that is written, and the value.
    pub(super) write: Option<(Value, Value)>,
    /// Whether the lock is held afterwards, where that changes.
    pub(super) lock: Option<bool>,
    pub(super) to: To,
}

/// What a thread's step does before it settles; nothing where it has no value.
struct Effect {
    after: Option<BufferedLocal>,
    reads: Vec<(Value, Value)>,
    write: Option<(Value, Value)>,
}

/// All moves, where addresses have these values in the set, and others the initial ones.
pub(super) fn moves(locals: &Locals<'_>, values: &BTreeMap<Value, BTreeSet<Value>>) -> Vec<Move> {
    let dead: Vec<Vec<bool>> = locals.program.thread_ids().map(|(id, _)| locals.dead_delays(id)).collect();
    let mut moves = Vec::new();
    for (from, local) in locals.set.locals.iter().enumerate() {
        let thread = locals.program.thread(local.thread);
        for (position, address, value) in reaching_memory(local, locals.model) {
            let mut buffer = local.buffer.clone();
            buffer.remove(position);
            let after = BufferedLocal { buffer: locals.written(buffer), ..local.clone() };
            let words = format!("{}: a store reaches {}", thread.name, locals.program.address_name(address));
            let to = locals.resting(&after);
            moves.push(Move { words, from, reads: Vec::new(), write: Some((address, value)), lock: None, to });
        }
        let Some(label) = local.label else { continue };
        for id in locals.at(local.thread, label) {
            let action = &thread.instruction(*id).action;
            let is_enabled = match action {
                Action::Lock => !local.holding,
                Action::Unlock => local.holding,
                _ => true,
            };
            if locals.is_local(action) || !is_enabled || action.drains_buffer() && !local.buffer.is_empty() {
                continue;
            }
            let words = format!("{} {}: instruction {}", thread.name, thread.label(label).name, id.index());
            let step = Step { locals, local, id: *id, dead: dead[local.thread.index()][id.index()] };
            for effect in step.effects(values) {
                let Effect { after, reads, write } = effect;
                let lock = after.as_ref().filter(|after| after.holding != local.holding).map(|after| after.holding);
                let ends = after.map_or_else(|| vec![To::Unlisted], |after| locals.settled(after));
                moves.extend(ends.into_iter().map(|to| {
                    let (words, reads) = (words.clone(), reads.clone());
                    Move { words, from, reads, write, lock, to }
                }));
            }
        }
    }
    moves
}

/// The stores of a buffer that may reach memory next: position, address and value.
fn reaching_memory(local: &BufferedLocal, model: Model) -> Vec<(usize, Value, Value)> {
    let mut found: Vec<(usize, Value, Value)> = Vec::new();
    for (position, entry) in local.buffer.iter().enumerate() {
        match *entry {
            BufferEntry::Mark | BufferEntry::Snapshot(_) => break,
            BufferEntry::Store(..) if position > 0 && orders_stores(model) => break,
            BufferEntry::Store(address, _) if found.iter().any(|(_, own, _)| *own == address) => {}
            BufferEntry::Store(address, value) => found.push((position, address, value)),
        }
    }
    found
}

/// A thread in a local state at an instruction.
struct Step<'a> {
    locals: &'a Locals<'a>,
    local: &'a BufferedLocal,
    id: InstructionId,
    /// Whether it is a store that nothing overtakes before a drain.
    dead: bool,
}

impl Step<'_> {
    /// What it can do, for each value that it can read.
    fn effects(&self, values: &BTreeMap<Value, BTreeSet<Value>>) -> Vec<Effect> {
        let instruction = self.locals.program.thread(self.local.thread).instruction(self.id);
        let after = || BufferedLocal { label: Some(instruction.target), ..self.local.clone() };
        let Some(read) = self.address_read(&instruction.action) else {
            return vec![self.effect(&instruction.action, after(), None)];
        };
        let Ok(address) = read.evaluate_address(&self.local.registers) else { return vec![Effect::error()] };
        let is_buffered = |entry: &BufferEntry| matches!(entry, BufferEntry::Store(own, _) if *own == address);
        let own = self.local.buffer.iter().rev().find(|entry| is_buffered(entry));
        if let Some(BufferEntry::Store(_, value)) = own {
            return vec![self.effect(&instruction.action, after(), Some((address, *value, false)))];
        }
        let initial = BTreeSet::from([self.locals.program.initial_value(address)]);
        let all = values.get(&address).unwrap_or(&initial);
        all.iter().map(|value| self.effect(&instruction.action, after(), Some((address, *value, true)))).collect()
    }

    /// The address that an action looks at: that of a load or a locked instruction, and of a store
    /// that may be silent.
    fn address_read<'e>(&self, action: &'e Action) -> Option<&'e Expression> {
        match action {
            Action::Load { address, .. } | Action::Cas { address, .. } | Action::Rmw { address, .. } => Some(address),
            Action::Store { address, .. } if !self.locals.set.silent.is_empty() => Some(address),
            _ => None,
        }
    }

    /// What an action does when it sees a value at an address, in memory or in the buffer.
    fn effect(&self, action: &Action, after: BufferedLocal, seen: Option<(Value, Value, bool)>) -> Effect {
        let reads = seen.filter(|(.., in_memory)| *in_memory).map(|(address, value, _)| (address, value));
        let effect = Effect { after: None, reads: reads.into_iter().collect(), write: None };
        self.result(action, after, seen.map(|(_, value, _)| value), effect).unwrap_or_else(Effect::error)
    }

    fn result(
        &self,
        action: &Action,
        mut after: BufferedLocal,
        seen: Option<Value>,
        mut effect: Effect,
    ) -> Option<Effect> {
        let (registers, domain) = (&self.local.registers, self.locals.program.domain);
        let old = seen.unwrap_or_default();
        match action {
            Action::Fence => {}
            Action::StoreFence => {
                after.buffer.push(BufferEntry::Mark);
                after.buffer = self.locals.written(after.buffer);
            }
            Action::Load { register, .. } => after.registers[register.index()] = old,
            Action::Store { address, value } => {
                let (address, value) =
                    (address.evaluate_address(registers).ok()?, value.evaluate(registers, domain).ok()?);
                let is_silent = self.locals.set.silent.contains(&address) && old == value;
                if !self.locals.set.silent.contains(&address) {
                    effect.reads.clear();
                }
                if is_silent {
                } else if self.locals.model == Model::Sc || self.dead && self.local.buffer.is_empty() {
                    effect.write = Some((address, value));
                } else {
                    after.buffer.push(BufferEntry::Store(address, value));
                    after.buffer = self.locals.written(after.buffer);
                }
            }
            Action::Cas { register, address, expected, new } => {
                if old == expected.evaluate(registers, domain).ok()? {
                    let address = address.evaluate_address(registers).ok()?;
                    effect.write = Some((address, new.evaluate(registers, domain).ok()?));
                }
                register.iter().for_each(|register| after.registers[register.index()] = old);
            }
            Action::Rmw { register, address, new } => {
                let address = address.evaluate_address(registers).ok()?;
                effect.write = Some((address, new.evaluate_with_old(registers, old, domain).ok()?));
                register.iter().for_each(|register| after.registers[register.index()] = old);
            }
            Action::Lock => after.holding = true,
            Action::Unlock => after.holding = false,
            _ => return None,
        }
        effect.after = Some(after);
        Some(effect)
    }
}

impl Effect {
    /// A step without a value: the program is in error, and the set has nothing for that.
    fn error() -> Self {
        Self { after: None, reads: Vec::new(), write: None }
    }
}
