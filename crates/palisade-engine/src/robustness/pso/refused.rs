//! What singularity does not hold for, so that robustness against PSO is not decided.

use palisade_model::program::{Action, InstructionId, Program, ThreadId};

/// Why robustness against PSO is not decided for a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotForPso {
    /// An `sfence`: a store behind it may have to wait as well.
    StoreFence(ThreadId, InstructionId),
    /// A locked section: it reads several addresses at once, and the stores to all of them may have
    /// to wait.
    Section(ThreadId, InstructionId),
    /// Delays are accepted: the argument for that is about TSO.
    AcceptedDelays,
    /// The program has events or tasks.
    Events,
}

impl NotForPso {
    /// The instruction that stands in the way, where it is one.
    pub fn instruction(self) -> Option<(ThreadId, InstructionId)> {
        match self {
            Self::StoreFence(thread, instruction) | Self::Section(thread, instruction) => Some((thread, instruction)),
            Self::AcceptedDelays | Self::Events => None,
        }
    }

    /// Why, in a sentence.
    pub fn describe(self) -> &'static str {
        match self {
            Self::StoreFence(..) => {
                "robustness against PSO is decided for programs without `sfence`: where stores are ordered, one delayed store need not show a violation"
            }
            Self::Section(..) => {
                "robustness against PSO is decided for programs without `lock`: where a section reads several addresses, one delayed store need not show a violation"
            }
            Self::AcceptedDelays => "delays are accepted under TSO alone",
            Self::Events => "robustness against PSO is about threads, and the program has events or tasks",
        }
    }

    /// What the user can do about it.
    pub fn advice(self) -> Option<&'static str> {
        match self {
            Self::StoreFence(..) => Some("`palisade prove --model pso` decides properties of programs with `sfence`"),
            Self::Section(..) => Some(
                "write a section of one address as a locked instruction, such as `cas`, `xchg` or `rmw`; `palisade prove --model pso` decides properties with sections",
            ),
            Self::AcceptedDelays | Self::Events => None,
        }
    }
}

/// What keeps robustness against PSO from being decided; nothing for programs of threads without
/// `sfence`, sections and accepted delays. Threads without copies do not matter.
pub fn not_for_pso(program: &Program) -> Option<NotForPso> {
    if program.is_event_driven() {
        return Some(NotForPso::Events);
    }
    if !program.accepted.is_empty() {
        return Some(NotForPso::AcceptedDelays);
    }
    let threads = program.thread_ids().filter(|(_, thread)| !thread.is_left_out());
    let mut instructions = threads.flat_map(|(id, thread)| thread.instruction_ids().map(move |own| (id, own)));
    instructions.find_map(|(thread, (id, instruction))| match instruction.action {
        Action::StoreFence => Some(NotForPso::StoreFence(thread, id)),
        Action::Lock | Action::Unlock => Some(NotForPso::Section(thread, id)),
        _ => None,
    })
}
