//! Programs by their language: the same instructions, with the actions that the text states in
//! place of what x86 makes of them.

use super::axioms::Axioms;
use super::graph::EventKind;
use palisade_model::program::{
    Action, Instruction, InstructionId, NameSpace, Operation, Ordering, Program, Register, RegisterId, Thread, ThreadId,
};

/// Why a program has no execution graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotInLanguage {
    /// An instruction that neither C nor Rust has: `sfence`, `lock` or `unlock`; sleeping and
    /// waking.
    Instruction(ThreadId, InstructionId),
    /// The program has events or tasks.
    Events,
    /// Delays are accepted: that is about store buffers.
    AcceptedDelays,
}

impl NotInLanguage {
    /// The instruction that stands in the way, where it is one.
    pub fn instruction(self) -> Option<(ThreadId, InstructionId)> {
        match self {
            Self::Instruction(thread, instruction) => Some((thread, instruction)),
            Self::Events | Self::AcceptedDelays => None,
        }
    }

    /// Why, in a sentence.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Instruction(..) => "C11 has no `sfence`, no `lock` that makes several accesses one, and no sleepers",
            Self::Events => "robustness against C11 is about threads, and the program has events or tasks",
            Self::AcceptedDelays => "delays are accepted under TSO alone",
        }
    }

    /// What the user can do about it.
    pub fn advice(self) -> Option<&'static str> {
        match self {
            Self::Instruction(..) => {
                Some("say `fence(release)`; `cas`, `xchg` or `rmw` for a section of one address; `await` for sleeping")
            }
            Self::Events | Self::AcceptedDelays => None,
        }
    }
}

/// What keeps a program from having execution graphs. Threads without copies do not matter.
pub fn not_in_language(program: &Program) -> Option<NotInLanguage> {
    if program.is_event_driven() {
        return Some(NotInLanguage::Events);
    }
    if !program.accepted.is_empty() {
        return Some(NotInLanguage::AcceptedDelays);
    }
    let threads = program.thread_ids().filter(|(_, thread)| !thread.is_left_out());
    let mut instructions = threads.flat_map(|(id, thread)| thread.instruction_ids().map(move |own| (id, own)));
    let is_foreign = |own: &Instruction| {
        own.queue().is_some() || matches!(own.action, Action::StoreFence | Action::Lock | Action::Unlock)
    };
    let found = instructions.find(|(_, (_, instruction))| is_foreign(instruction));
    found.map(|(thread, (id, _))| NotInLanguage::Instruction(thread, id))
}

/// The program in which each instruction does what its language says, under SC as on x86: a store
/// is a store whatever its ordering, weak fences are fences, and behind the instructions of each
/// thread come the loads that its weak compare-exchanges are when they fail for no reason.
pub fn by_language(program: &Program) -> Program {
    let mut stated = program.clone();
    for thread in &mut stated.threads {
        for index in 0..thread.instructions.len() {
            let instruction = &mut thread.instructions[index];
            match instruction.operation() {
                Some(Operation::Fence { .. }) => instruction.action = Action::Fence,
                Some(Operation::Store { address, value, .. }) => instruction.action = Action::Store { address, value },
                Some(operation @ Operation::Update { spurious: Some(_), .. }) => {
                    fail_for_no_reason(thread, index, operation)
                }
                Some(Operation::Load { .. } | Operation::Update { .. }) | None => {}
            }
        }
    }
    stated
}

/// Adds the load that a weak compare-exchange is when it fails for no reason.
fn fail_for_no_reason(thread: &mut Thread, index: usize, operation: Operation) {
    let Operation::Update { register, address, failure, spurious: Some(target), .. } = operation else { return };
    let (source, span) = (thread.instructions[index].source, thread.instructions[index].span);
    let register = register.unwrap_or_else(|| unused_register(thread));
    let mut load = Instruction::new(source, target, Action::Nop, span);
    load.set_operation(Operation::Load { register, address, ordering: failure, until: None });
    thread.instructions.push(load);
}

/// A register for values that nobody looks at.
fn unused_register(thread: &mut Thread) -> RegisterId {
    let name = NameSpace::with_taken(thread.registers.iter().map(|register| register.name.as_str())).fresh("unused");
    let (span, id) = (thread.span, RegisterId::from_index(thread.registers.len()));
    thread.registers.push(Register { name, initial: 0, is_initialised: false, span });
    id
}

/// What an instruction of such a program is to the axioms, as kind and ordering; `stores` says
/// whether it writes. Nothing where it is no event.
pub fn access(axioms: Axioms, instruction: &Instruction, stores: bool) -> Option<(EventKind, Ordering)> {
    let (kind, ordering) = match instruction.operation()? {
        Operation::Load { ordering, .. } => (EventKind::Read, ordering),
        Operation::Store { ordering, .. } => (EventKind::Write, ordering),
        Operation::Update { success, .. } if stores => (EventKind::Update, success),
        Operation::Update { expected: Some(_), failure, .. } => (EventKind::Read, failure),
        // It always stores, and has no ordering for when it does not.
        Operation::Update { expected: None, .. } => return None,
        Operation::Fence { ordering } => (EventKind::Fence, ordering),
    };
    axioms.access(kind, ordering)
}
