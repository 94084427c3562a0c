//! Slices: the instructions that do not matter for some targets.
//!
//! Backward from the targets: flow-sensitive for registers, thread by thread, and flow-insensitive
//! for memory. What matters are the conditions of `assert` and of the targets; then what writes a
//! register that matters where it is written, with its address if it loads; and every store to an
//! address that such a load may read. Everything else is `nop`, or `mfence` where it is locked.
//!
//! *Exact for reaching the targets*: what is left out computes nothing that is looked at. A run of
//! the sliced program becomes one of the program when each thread takes the steps that nobody sees
//! as early as it can (`properties::replay` of the engine): right after its last step that needed
//! memory no other thread held the lock, so a load or a locked instruction that is left out can be
//! taken there. A store that is left out leaves its buffer before the next one that matters does.
//!
//! Where the address of a load is computed and bounds say next to nothing of it, the load is
//! *assumed* to stay in the array that it names, as otherwise nothing could be left out. The
//! exploration watches that nothing reads what the instructions left out may write; if something
//! does, the targets are asked again without the assumption. Up to the first such read the slice is
//! exact.

use super::goal::Goal;
use super::range::Range;
use super::values::Values;
use fixedbitset::FixedBitSet;
use palisade_model::program::{
    Action, AddressId, Copies, Expression, InstructionId, LabelId, Program, RegisterSets, Thread, ThreadId,
};
use palisade_semantics::Target;

/// The addresses that an address expression of a thread may have: the one it names, or what bounds
/// say.
pub fn addresses_of(bounds: Option<&Values<'_>>, thread: ThreadId, address: &Expression) -> Range {
    match bounds {
        _ if address.is_constant() => address.evaluate_address(&[]).map(Range::only).unwrap_or_default(),
        Some(bounds) => bounds.addresses_in(thread, address),
        None => Range::all(None),
    }
}

/// Accesses to more addresses than this are taken to stay in the arrays that they name, where that
/// may be assumed.
const MOST_ADDRESSES: u128 = 1 << 12;

/// The addresses that a load is taken to read: where bounds say next to nothing, those of the
/// arrays that its address names.
fn assumed_addresses(program: &Program, all: &Range, address: &Expression) -> Range {
    if all.count() <= MOST_ADDRESSES {
        return all.clone();
    }
    let mut named = Vec::new();
    for_each_name(address, &mut |id| {
        let entry = &program.addresses[id.index()];
        let first = i128::from(entry.address);
        named.push((first, first + i128::from(entry.length) - 1));
    });
    if named.is_empty() { all.clone() } else { Range::of(named) }
}

fn for_each_name(expression: &Expression, visit: &mut impl FnMut(AddressId)) {
    match expression {
        Expression::Address { id, .. } => visit(*id),
        Expression::Unary(_, operand) => for_each_name(operand, visit),
        Expression::Binary(_, left, right) => {
            for_each_name(left, visit);
            for_each_name(right, visit);
        }
        Expression::Constant(_) | Expression::Register(_) | Expression::Old => {}
    }
}

/// For each thread, which of its instructions do not matter for a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The addresses that the instructions left out may write. What is left must not read them:
    /// then the slice is none, and another one is needed.
    pub written: Range,
    /// For each thread, its instructions that are left out.
    left_out: Vec<FixedBitSet>,
}

impl Slice {
    /// The slice that leaves nothing out but other targets.
    pub fn whole(program: &Program, goal: &Goal<'_>) -> Self {
        let mut slice = Self::empty(program);
        slice.leave_out_other_targets(program, goal);
        slice
    }

    fn empty(program: &Program) -> Self {
        let none = |thread: &Thread| FixedBitSet::with_capacity(thread.instructions.len());
        Self { written: Range::default(), left_out: program.threads.iter().map(none).collect() }
    }

    /// What does not matter for a goal. Loads may be assumed to stay in the arrays that their
    /// addresses name; whether they do, an exploration tells.
    pub fn of(program: &Program, goal: &Goal<'_>, bounds: Option<&Values<'_>>, assumes: bool) -> Self {
        let mut relevance = Relevance::new(program, goal, bounds, assumes);
        while relevance.grow() {}
        let mut slice = Self::empty(program);
        let mut written: Vec<&Range> = Vec::new();
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
                    let writes = matches!(it.action, Action::Store { .. } | Action::Cas { .. } | Action::Rmw { .. });
                    let accessed = relevance.accessed[id.index()][instruction.index()].as_ref();
                    written.extend(accessed.filter(|_| writes && thread.copies != Copies::Exactly(0)));
                }
            }
        }
        slice.written = Range::of(written.into_iter().flat_map(|range| range.intervals().iter().copied()));
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
    #[must_use]
    pub fn without_properties(&self, program: &Program) -> Self {
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
    pub fn instructions(&self) -> Vec<Vec<InstructionId>> {
        let ids = |left_out: &FixedBitSet| left_out.ones().map(InstructionId::from_index).collect();
        self.left_out.iter().map(ids).collect()
    }

    /// The program in which nothing is left but what matters. Its reads do not wait, as registers
    /// and conditions may be left out on which that rests.
    pub fn apply(&self, program: &Program) -> Program {
        // Properties are asked of all executions.
        let mut sliced = Program { accepted: Vec::new(), ..program.spinning() };
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
    /// For each thread and instruction, the addresses that it may access.
    accessed: Vec<Vec<Option<Range>>>,
    /// Whether loads are assumed to stay in the arrays that they name.
    assumes: bool,
    /// For each thread, the instructions that matter.
    matters: Vec<FixedBitSet>,
    /// For each thread and label, the registers that matter there.
    needed: Vec<RegisterSets>,
    /// The addresses whose contents matter.
    addresses: Range,
}

impl<'p> Relevance<'p> {
    fn new(program: &'p Program, goal: &Goal<'_>, bounds: Option<&Values<'_>>, assumes: bool) -> Self {
        let accessed = program.thread_ids().map(|(id, thread)| {
            let actions = thread.instructions.iter().map(|instruction| &instruction.action);
            actions.map(|action| action.address().map(|address| addresses_of(bounds, id, address))).collect()
        });
        let none = |thread: &Thread| FixedBitSet::with_capacity(thread.instructions.len());
        let mut relevance = Self {
            program,
            accessed: accessed.collect(),
            assumes,
            matters: program.threads.iter().map(none).collect(),
            needed: program.threads.iter().map(RegisterSets::empty).collect(),
            addresses: Range::default(),
        };
        for (id, thread) in program.thread_ids() {
            for (instruction, it) in thread.instruction_ids() {
                if matches!(it.action, Action::Assume(_)) || program.rests_on(&it.action) {
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
            for (label, at) in thread.instructions_by_label().iter().enumerate() {
                if at.is_empty() {
                    observed.iter().for_each(|register| {
                        needed.insert(LabelId::from_index(label), *register);
                    });
                }
            }
        }
        let observed = goal.observed_addresses().into_iter().map(|it| (i128::from(it), i128::from(it)));
        relevance.addresses = Range::of(observed);
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
        let writes = instruction.action.written_register();
        let is_needed = writes.is_some_and(|register| self.needed[id.index()].contains(instruction.target, register));
        let (reads_memory, writes_memory) = match instruction.action {
            Action::Load { .. } => (true, false),
            Action::Store { .. } => (false, true),
            Action::Cas { .. } | Action::Rmw { .. } => (true, true),
            _ => (false, false),
        };
        let accessed = self.accessed[id.index()][index].as_ref();
        let is_anywhere = |accessed: &Range| self.assumes && accessed.count() > MOST_ADDRESSES;
        let is_seen =
            writes_memory && accessed.is_some_and(|accessed| accessed.meets(&self.addresses) || is_anywhere(accessed));
        let mut grew = false;
        if is_needed || is_seen {
            grew |= !self.matters[id.index()].put(index);
        }
        let matters = self.matters[id.index()].contains(index);
        grew |= self.needed[id.index()].flow_back(instruction);
        if matters {
            grew |= self.needed[id.index()].add_read(instruction);
            if let (Some(accessed), Some(address)) = (accessed.filter(|_| reads_memory), instruction.action.address()) {
                let read =
                    if self.assumes { assumed_addresses(self.program, accessed, address) } else { accessed.clone() };
                if !self.addresses.includes(&read) {
                    self.addresses = self.addresses.union(&read);
                    grew = true;
                }
            }
        }
        grew
    }
}
