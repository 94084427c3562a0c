//! Slices: the instructions that do not matter for some targets.
//!
//! Backward from the targets: flow-sensitive for registers, thread by thread, and flow-insensitive for memory. What
//! matters are the conditions of `assert` and of the targets; then what writes a register that matters where it is
//! written, with its address if it loads; and every store to an address that such a load may read. Everything else is
//! `nop`, or `mfence` where it is locked.
//!
//! *Exact for reaching the targets*: what is left out computes nothing that is looked at. A run of the sliced program becomes one
//! of the program when each thread takes the steps that nobody sees as early as it can ([`replay`](super::replay)): right after its
//! last step that needed memory no other thread held the lock, so a load or a locked instruction that is left out can be taken there.
//! A store that is left out leaves its buffer before the next one that matters does.

use super::goal::Goal;
use fixedbitset::FixedBitSet;
use palisade_evidence::Interval;
use palisade_model::program::{Action, Expression, InstructionId, Program, Thread, ThreadId, Value};
use palisade_model::semantics::Target;

/// A set of addresses as disjoint intervals; no order.
#[derive(Clone, Debug, Default)]
pub(super) struct Addresses(Vec<Interval>);

impl Addresses {
    /// The addresses that an expression of a thread may have.
    pub(super) fn of(address: &Expression) -> Self {
        let constant = address.is_constant().then(|| address.evaluate_address(&[]).ok()).flatten();
        Self(vec![constant.map_or(Interval { low: Value::MIN, high: Value::MAX }, |it| Interval { low: it, high: it })])
    }

    /// Whether some address is in both.
    pub(super) fn meets(&self, other: &Self) -> bool {
        self.0.iter().any(|one| other.0.iter().any(|two| one.low <= two.high && two.low <= one.high))
    }

    /// The only address, if there is only one.
    pub(super) fn single(&self) -> Option<Value> {
        match self.0.as_slice() {
            [only] if only.low == only.high => Some(only.low),
            _ => None,
        }
    }

    /// Whether an address is among them.
    pub(super) fn contains(&self, address: Value) -> bool {
        self.0.iter().any(|part| part.low <= address && address <= part.high)
    }

    /// Adds addresses; whether some were not there.
    fn add(&mut self, more: &Self) -> bool {
        let covers = |part: &Interval| self.0.iter().any(|own| own.low <= part.low && part.high <= own.high);
        let new: Vec<Interval> = more.0.iter().filter(|part| !covers(part)).copied().collect();
        self.0.extend(&new);
        !new.is_empty()
    }
}

/// For each thread, which of its instructions do not matter for a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slice {
    /// For each thread, its instructions that are left out.
    left_out: Vec<FixedBitSet>,
}

impl Slice {
    /// The slice that leaves nothing out but other targets.
    pub(super) fn whole(program: &Program, goal: &Goal<'_>) -> Self {
        let mut slice = Self::empty(program);
        slice.leave_out_other_targets(program, goal);
        slice
    }

    fn empty(program: &Program) -> Self {
        let none = |thread: &Thread| FixedBitSet::with_capacity(thread.instructions.len());
        Self { left_out: program.threads.iter().map(none).collect() }
    }

    /// What does not matter for a goal.
    pub(super) fn of(program: &Program, goal: &Goal<'_>) -> Self {
        let mut relevance = Relevance::new(program, goal);
        while relevance.grow() {}
        let mut slice = Self::empty(program);
        for (id, thread) in program.thread_ids() {
            for (instruction, it) in thread.instruction_ids() {
                let computes = matches!(
                    it.action,
                    Action::Load { .. }
                        | Action::Store { .. }
                        | Action::Assign { .. }
                        | Action::Havoc { .. }
                        | Action::Cas { .. }
                        | Action::Rmw { .. }
                );
                if computes && !relevance.matters[id.index()].contains(instruction.index()) {
                    slice.left_out[id.index()].insert(instruction.index());
                }
            }
        }
        slice.leave_out_other_targets(program, goal);
        slice
    }

    fn leave_out_other_targets(&mut self, program: &Program, goal: &Goal<'_>) {
        for (thread, template) in program.thread_ids() {
            for (instruction, it) in template.instruction_ids() {
                if matches!(it.action, Action::Ensure(_)) {
                    let is_target = goal.number(Target::Instruction { thread, instruction }).is_some();
                    self.left_out[thread.index()].set(instruction.index(), !is_target);
                }
            }
        }
    }

    /// The slice without properties: equal for goals that can share an exploration.
    pub(super) fn without_properties(&self, program: &Program) -> Self {
        let mut slice = self.clone();
        for (left_out, thread) in slice.left_out.iter_mut().zip(&program.threads) {
            for (instruction, it) in thread.instruction_ids() {
                if matches!(it.action, Action::Ensure(_)) {
                    left_out.set(instruction.index(), false);
                }
            }
        }
        slice
    }

    /// For each thread, the instructions that are left out, ascending.
    pub(super) fn instructions(&self) -> Vec<Vec<InstructionId>> {
        let ids = |left_out: &FixedBitSet| left_out.ones().map(InstructionId::from_index).collect();
        self.left_out.iter().map(ids).collect()
    }

    /// The program in which nothing is left but what matters.
    pub(super) fn apply(&self, program: &Program) -> Program {
        let mut sliced = program.clone();
        for (left_out, thread) in self.left_out.iter().zip(&mut sliced.threads) {
            for index in left_out.ones() {
                let action = &mut thread.instructions[index].action;
                *action = if action.drains_buffer() { Action::Fence } else { Action::Nop };
            }
        }
        sliced
    }
}

/// What matters, growing to a fixed point.
struct Relevance<'p> {
    program: &'p Program,
    /// For each thread, the instructions that matter.
    matters: Vec<FixedBitSet>,
    /// For each thread and label, the registers that matter there.
    needed: Vec<Vec<FixedBitSet>>,
    /// The addresses whose contents matter.
    addresses: Addresses,
}

impl<'p> Relevance<'p> {
    fn new(program: &'p Program, goal: &Goal<'_>) -> Self {
        let none = |thread: &Thread| FixedBitSet::with_capacity(thread.instructions.len());
        let unneeded = |thread: &Thread| vec![FixedBitSet::with_capacity(thread.registers.len()); thread.labels.len()];
        let mut relevance = Self {
            program,
            matters: program.threads.iter().map(none).collect(),
            needed: program.threads.iter().map(unneeded).collect(),
            addresses: Addresses::default(),
        };
        for (id, thread) in program.thread_ids() {
            for (instruction, it) in thread.instruction_ids() {
                if matches!(it.action, Action::Assume(_)) {
                    relevance.matters[id.index()].insert(instruction.index());
                }
            }
        }
        for (thread, instruction, _) in goal.properties() {
            relevance.matters[thread.index()].insert(instruction.index());
        }
        for (observed, (needed, thread)) in
            goal.observed_registers(program).iter().flatten().zip(relevance.needed.iter_mut().zip(&program.threads))
        {
            for (at, needed) in thread.instructions_by_label().iter().zip(needed) {
                if at.is_empty() {
                    needed.extend(observed.iter().map(|register| register.index()));
                }
            }
        }
        let observed = goal.observed_addresses().into_iter().map(|it| Interval { low: it, high: it });
        relevance.addresses.0.extend(observed);
        relevance
    }

    /// Looks at every instruction once, backwards; whether anything new matters.
    fn grow(&mut self) -> bool {
        let mut grew = false;
        for (id, thread) in self.program.thread_ids() {
            for index in (0..thread.instructions.len()).rev() {
                grew |= self.look(id, thread, index);
            }
        }
        grew
    }

    fn look(&mut self, id: ThreadId, thread: &Thread, index: usize) -> bool {
        let instruction = &thread.instructions[index];
        let needed = &self.needed[id.index()];
        let writes = instruction.action.written_register();
        let is_needed = writes.is_some_and(|register| needed[instruction.target.index()].contains(register.index()));
        let (reads_memory, writes_memory) = match instruction.action {
            Action::Load { .. } => (true, false),
            Action::Store { .. } => (false, true),
            Action::Cas { .. } | Action::Rmw { .. } => (true, true),
            _ => (false, false),
        };
        let address = instruction.action.address().map(Addresses::of);
        let is_seen = writes_memory && address.as_ref().is_some_and(|address| address.meets(&self.addresses));
        let mut grew = false;
        if is_needed || is_seen {
            grew |= !self.matters[id.index()].put(index);
        }
        let matters = self.matters[id.index()].contains(index);
        let mut wanted = needed[instruction.target.index()].clone();
        if let Some(register) = writes {
            wanted.remove(register.index());
        }
        if matters {
            for expression in instruction.action.expressions() {
                expression.for_each_register(&mut |register| wanted.insert(register.index()));
            }
            if let Some(address) = address.filter(|_| reads_memory) {
                grew |= self.addresses.add(&address);
            }
        }
        let source = &mut self.needed[id.index()][instruction.source.index()];
        if !wanted.is_subset(source) {
            source.union_with(&wanted);
            grew = true;
        }
        grew
    }
}
