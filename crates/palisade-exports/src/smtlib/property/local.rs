//! The local states of a closed set: how threads settle, and how their buffers are written.

use super::orders_stores;
use palisade_evidence::{BufferEntry, BufferInvariant, BufferedLocal};
use palisade_model::program::{Action, ByLabel, InstructionId, LabelId, Program, ThreadId, Value};
use palisade_semantics::{Model, Target};
use std::collections::{BTreeSet, HashMap};

/// Where a move leads a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum To {
    /// To a local state of the set.
    Local(usize),
    /// To where it executes nothing any more and has nothing in its buffer.
    Nowhere,
    /// To a local state that the set does not list, or into an error of the program.
    Unlisted,
    /// To a target.
    Target,
}

impl To {
    /// The local state of the set.
    pub(super) fn local(&self) -> Option<usize> {
        match self {
            Self::Local(number) => Some(*number),
            _ => None,
        }
    }

    /// Whether the set does not have it.
    pub(super) fn is_outside(self) -> bool {
        matches!(self, Self::Unlisted | Self::Target)
    }
}

/// The local states of a set, with what settling needs to know of the program.
pub(super) struct Locals<'a> {
    pub(super) program: &'a Program,
    pub(super) model: Model,
    targets: &'a [Target],
    pub(super) set: &'a BufferInvariant,
    by_label: Vec<ByLabel>,
    numbers: HashMap<&'a BufferedLocal, usize>,
}

impl<'a> Locals<'a> {
    pub(super) fn new(program: &'a Program, model: Model, targets: &'a [Target], set: &'a BufferInvariant) -> Self {
        let by_label = program.threads.iter().map(palisade_model::program::Thread::instructions_by_label).collect();
        let numbers = set.locals.iter().zip(0..).collect();
        Self { program, model, targets, set, by_label, numbers }
    }

    /// The instructions at a label.
    pub(super) fn at(&self, thread: ThreadId, label: LabelId) -> &[InstructionId] {
        &self.by_label[thread.index()][label.index()]
    }

    /// Whether an action touches neither memory, the buffer nor the lock.
    pub(super) fn is_local(&self, action: &Action) -> bool {
        action.is_local() || *action == Action::StoreFence && orders_stores(self.model)
    }

    /// Where the copies of a thread start.
    pub(super) fn starts(&self, thread: ThreadId) -> Vec<To> {
        let template = self.program.thread(thread);
        let (label, registers) = (Some(template.initial), template.initial_registers());
        self.settled(BufferedLocal { thread, label, registers, holding: false, buffer: Vec::new() })
    }

    /// The number of a local state of the set.
    fn to(&self, local: &BufferedLocal) -> To {
        self.numbers.get(local).map_or(To::Unlisted, |number| To::Local(*number))
    }

    /// What becomes of a thread whose buffer has changed, or which stands where it has settled.
    pub(super) fn resting(&self, local: &BufferedLocal) -> To {
        if local.label.is_none() && local.buffer.is_empty() { To::Nowhere } else { self.to(local) }
    }

    /// Where a thread settles: all states from which local instructions lead no further, and what
    /// it meets on the way.
    pub(super) fn settled(&self, start: BufferedLocal) -> Vec<To> {
        let thread = start.thread;
        let Some(label) = start.label else { return vec![self.resting(&start)] };
        let first = (label, self.only_live(thread, label, start.registers.clone()));
        let (mut seen, mut open) = (BTreeSet::from([first.clone()]), vec![first]);
        let mut found = Vec::new();
        let mut rests = false;
        while let Some((label, registers)) = open.pop() {
            for id in self.at(thread, label) {
                let instruction = self.program.thread(thread).instruction(*id);
                if !self.is_local(&instruction.action) {
                    continue;
                }
                let Some(after) = self.after(thread, *id, &registers) else {
                    found.push(To::Unlisted);
                    continue;
                };
                for after in after {
                    let Some(after) = after else {
                        found.push(To::Target);
                        continue;
                    };
                    let next = (instruction.target, self.only_live(thread, instruction.target, after));
                    if seen.insert(next.clone()) {
                        open.push(next);
                    }
                }
            }
            let is_memory = |id: &InstructionId| !self.is_local(&self.program.thread(thread).instruction(*id).action);
            if self.at(thread, label).iter().any(is_memory) {
                rests = true;
                found.push(self.to(&BufferedLocal { label: Some(label), registers, ..start.clone() }));
            }
        }
        if !rests {
            let registers = vec![0; start.registers.len()];
            found.push(self.resting(&BufferedLocal { label: None, registers, ..start }));
        }
        found
    }

    /// The registers with 0 for those that are dead at a label.
    fn only_live(&self, thread: ThreadId, label: LabelId, mut registers: Vec<Value>) -> Vec<Value> {
        let live = &self.set.live[thread.index()][label.index()];
        for (index, value) in registers.iter_mut().enumerate() {
            if !live.iter().any(|register| register.index() == index) {
                *value = 0;
            }
        }
        registers
    }

    /// The registers after a local instruction, in each way that it can go; in place of registers
    /// nothing where it meets a target. Nothing at all where it has no value.
    fn after(&self, thread: ThreadId, id: InstructionId, registers: &[Value]) -> Option<Vec<Option<Vec<Value>>>> {
        let domain = self.program.domain;
        let with = |register: usize, value: Value| {
            let mut registers = registers.to_vec();
            registers[register] = value;
            Some(registers)
        };
        let is_target = self.targets.contains(&Target::Instruction { thread, instruction: id });
        let goes_on = || Some(registers.to_vec());
        Some(match &self.program.thread(thread).instruction(id).action {
            Action::Assign { register, value } => {
                vec![with(register.index(), value.evaluate(registers, domain).ok()?)]
            }
            Action::Havoc { register } => domain?.values().map(|value| with(register.index(), value)).collect(),
            Action::Assume(condition) => {
                if condition.holds(registers, domain).ok()? {
                    vec![goes_on()]
                } else {
                    Vec::new()
                }
            }
            Action::Ensure(condition) => {
                let holds = condition.holds(registers, domain).ok()?;
                if is_target && !holds { vec![goes_on(), None] } else { vec![goes_on()] }
            }
            Action::Fail => {
                if is_target {
                    vec![None]
                } else {
                    Vec::new()
                }
            }
            _ => vec![goes_on()],
        })
    }

    /// A buffer as the model writes it.
    pub(super) fn written(&self, mut buffer: Vec<BufferEntry>) -> Vec<BufferEntry> {
        if orders_stores(self.model) {
            return buffer;
        }
        buffer.dedup_by(|next, last| *next == BufferEntry::Mark && *last == BufferEntry::Mark);
        if buffer.first() == Some(&BufferEntry::Mark) {
            buffer.remove(0);
        }
        for between in buffer.split_mut(|entry| *entry == BufferEntry::Mark) {
            between.sort_by_key(|entry| match entry {
                BufferEntry::Store(address, _) => *address,
                BufferEntry::Mark | BufferEntry::Snapshot(_) => Value::MIN,
            });
        }
        buffer
    }

    /// For each instruction of a thread, whether it is a store that nothing overtakes before a
    /// drain.
    pub(super) fn dead_delays(&self, thread: ThreadId) -> Vec<bool> {
        let template = self.program.thread(thread);
        let overtakes = |action: &Action| {
            matches!(action, Action::Load { .. })
                || !orders_stores(self.model) && matches!(action, Action::Store { .. })
        };
        let mut leads_there = vec![false; template.labels.len()];
        for _ in 0..=template.labels.len() {
            for instruction in &template.instructions {
                let on = !instruction.action.drains_buffer() && leads_there[instruction.target.index()];
                leads_there[instruction.source.index()] |= on || overtakes(&instruction.action);
            }
        }
        let is_dead =
            |action: &Action, target: LabelId| matches!(action, Action::Store { .. }) && !leads_there[target.index()];
        template.instructions.iter().map(|own| is_dead(&own.action, own.target)).collect()
    }
}
