//! Attacks [ESOP13, Definition 1] and the ones that control flow alone rules out.

use fixedbitset::FixedBitSet;
use palisade_model::program::{Action, Copies, InstructionId, LabelId, Program, Thread, ThreadId};

/// An attack: a thread, one of its stores to be delayed and one of its loads to be overstepped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Attack {
    /// The attacker.
    pub thread: ThreadId,
    /// The store `stinst`.
    pub store: InstructionId,
    /// The load `ldinst`.
    pub load: InstructionId,
}

/// All attacks of a program, in program order: by thread, store, load. Threads without copies have none.
pub fn attacks(program: &Program) -> Vec<Attack> {
    let mut attacks = Vec::new();
    for (id, thread) in program.thread_ids() {
        if thread.copies == Copies::Exactly(0) {
            continue;
        }
        let of_kind = |wanted: fn(&Action) -> bool| {
            thread.instruction_ids().filter(move |(_, instruction)| wanted(&instruction.action)).map(|(id, _)| id)
        };
        for store in of_kind(|action| matches!(action, Action::Store { .. })) {
            for load in of_kind(|action| matches!(action, Action::Load { .. })) {
                attacks.push(Attack { thread: id, store, load });
            }
        }
    }
    attacks
}

/// For one store, the labels its thread can reach while the store stays in the buffer: from the store's target along
/// instructions that do not drain the buffer.
#[derive(Clone, Debug)]
pub struct DelayRange {
    labels: FixedBitSet,
}

impl DelayRange {
    /// The range of a store of a thread.
    pub fn of(thread: &Thread, store: InstructionId) -> Self {
        let by_label = thread.instructions_by_label();
        let mut labels = FixedBitSet::with_capacity(thread.labels.len());
        let mut open = vec![thread.instruction(store).target];
        labels.insert(open[0].index());
        while let Some(label) = open.pop() {
            for id in &by_label[label.index()] {
                let instruction = thread.instruction(*id);
                if !instruction.action.drains_buffer() && !labels.put(instruction.target.index()) {
                    open.push(instruction.target);
                }
            }
        }
        Self { labels }
    }

    /// Whether the label is in the range. An attack whose load stands at a label outside is *pruned*: every path to it
    /// passes a fence or a locked instruction.
    pub fn contains(&self, label: LabelId) -> bool {
        self.labels.contains(label.index())
    }

    /// The labels of the range, ascending.
    pub fn labels(&self) -> impl Iterator<Item = LabelId> + '_ {
        self.labels.ones().map(LabelId::from_index)
    }
}

/// Whether control flow alone rules the attack out.
pub fn is_pruned(program: &Program, attack: &Attack) -> bool {
    let thread = program.thread(attack.thread);
    !DelayRange::of(thread, attack.store).contains(thread.instruction(attack.load).source)
}
