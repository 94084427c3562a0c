//! What control flow says about store buffers: where they can hold something, and where that can
//! matter.

use fixedbitset::FixedBitSet;
use palisade_model::program::{Action, InstructionId, LabelId, Thread};
use palisade_semantics::Model;

/// What a thread's control flow says about its store buffer under a model.
#[derive(Clone, Debug)]
pub struct BufferFlow {
    /// The labels at which stores can be buffered.
    filled: FixedBitSet,
    /// The labels from which an access that can overtake a store is reached before the buffer is
    /// drained: a load, or under PSO a load or a store.
    overtaking: FixedBitSet,
    /// The labels from which a store is reached before the buffer is drained.
    storing: FixedBitSet,
    /// The labels whose instructions nobody else sees, from which control leads on for ever through
    /// no others.
    settling: FixedBitSet,
}

impl BufferFlow {
    /// Solves the equations for a thread.
    pub fn of(thread: &Thread, model: Model) -> Self {
        let is_store = |action: &Action| matches!(action, Action::Store { .. });
        let overtakes =
            |action: &Action| matches!(action, Action::Load { .. }) || model == Model::Pso && is_store(action);
        Self {
            filled: filled(thread),
            overtaking: before_drain(thread, overtakes),
            storing: before_drain(thread, is_store),
            settling: settling(thread, model),
        }
    }

    /// Whether a fence at a label can make a difference: stores can be buffered there, and
    /// something can overtake them.
    pub fn fence_bears(&self, label: LabelId) -> bool {
        self.filled.contains(label.index()) && self.overtaking.contains(label.index())
    }

    /// Whether a store fence at a label can make a difference under PSO.
    pub fn store_fence_bears(&self, label: LabelId) -> bool {
        self.filled.contains(label.index()) && self.storing.contains(label.index())
    }

    /// Whether an exchange in the place of a store can make a difference: something can overtake
    /// the store, or it stores that are buffered before it.
    pub fn exchange_bears(&self, thread: &Thread, store: InstructionId) -> bool {
        let instruction = thread.instruction(store);
        self.overtaking.contains(instruction.target.index()) || self.fence_bears(instruction.source)
    }

    /// Whether nothing overtakes a store that enters an empty buffer: it might as well reach memory
    /// at once.
    pub(super) fn is_dead_delay(&self, thread: &Thread, store: InstructionId) -> bool {
        !self.overtaking.contains(thread.instruction(store).target.index())
    }

    /// Whether steps that nobody else sees can be taken at once at a label without an end to it.
    pub(super) fn settles(&self, label: LabelId) -> bool {
        self.settling.contains(label.index())
    }
}

/// The labels that control reaches with a store in the buffer.
fn filled(thread: &Thread) -> FixedBitSet {
    let mut filled = FixedBitSet::with_capacity(thread.labels.len());
    let mut grows = true;
    while grows {
        grows = false;
        for instruction in &thread.instructions {
            let stays = filled.contains(instruction.source.index()) && !instruction.action.drains_buffer();
            let is_store = matches!(instruction.action, Action::Store { .. });
            grows |= (stays || is_store) && !filled.put(instruction.target.index());
        }
    }
    filled
}

/// The labels from which control reaches such an action before one that drains the buffer.
fn before_drain(thread: &Thread, wanted: impl Fn(&Action) -> bool) -> FixedBitSet {
    let mut labels = FixedBitSet::with_capacity(thread.labels.len());
    let mut grows = true;
    while grows {
        grows = false;
        for instruction in thread.instructions.iter().rev() {
            let leads = !instruction.action.drains_buffer() && labels.contains(instruction.target.index());
            grows |= (leads || wanted(&instruction.action)) && !labels.put(instruction.source.index());
        }
    }
    labels
}

/// The labels all of whose instructions can be unseen by others, less those on a cycle of such
/// labels.
fn settling(thread: &Thread, model: Model) -> FixedBitSet {
    let unseen = |action: &Action| {
        action.is_local()
            || matches!(action, Action::Fence | Action::StoreFence)
            || model.has_buffers() && matches!(action, Action::Store { .. })
    };
    let mut candidates = FixedBitSet::with_capacity(thread.labels.len());
    candidates.insert_range(..);
    for instruction in thread.instructions.iter().filter(|instruction| !unseen(&instruction.action)) {
        candidates.set(instruction.source.index(), false);
    }
    // A label is settling when all its targets among the candidates are: what is left has a cycle
    // ahead.
    let by_label = thread.instructions_by_label();
    let labels: Vec<usize> = candidates.ones().collect();
    let mut settling = FixedBitSet::with_capacity(thread.labels.len());
    let mut grows = true;
    while grows {
        grows = false;
        // Texts go on downwards, so that most is known after one pass upwards.
        for label in labels.iter().rev() {
            if settling.contains(*label) {
                continue;
            }
            let mut targets = by_label[*label].iter().map(|id| thread.instruction(*id).target.index());
            if targets.all(|target| !candidates.contains(target) || settling.contains(target)) {
                settling.insert(*label);
                grows = true;
            }
        }
    }
    settling
}
