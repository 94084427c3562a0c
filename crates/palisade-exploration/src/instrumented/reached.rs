//! The labels that control is known to reach.

use fixedbitset::FixedBitSet;
use palisade_model::ordered;
use palisade_model::program::{Copies, LabelId, Program, ThreadId};

/// The label at which a thread of the native language stops when its text names none.
const END: &str = "end";

/// A label of a thread.
pub type ThreadLabel = (ThreadId, LabelId);

/// The labels of each thread that control is known to reach.
#[derive(Clone, Debug)]
pub struct Reached {
    /// For each thread, the labels reached.
    labels: Vec<FixedBitSet>,
    /// How many labels have not been reached.
    missing: usize,
}

impl Reached {
    /// Nothing is reached yet. A thread without copies need not reach anything.
    pub fn none(program: &Program) -> Self {
        let mut reached = Self { labels: Vec::new(), missing: 0 };
        for thread in &program.threads {
            let mut labels = FixedBitSet::with_capacity(thread.labels.len());
            if thread.copies == Copies::Exactly(0) {
                labels.insert_range(..);
            } else {
                reached.missing += thread.labels.len();
            }
            reached.labels.push(labels);
        }
        reached
    }

    /// Notes that a thread is at a label.
    pub fn insert(&mut self, thread: ThreadId, label: LabelId) {
        if !self.labels[thread.index()].put(label.index()) {
            self.missing -= 1;
        }
    }

    /// Whether a thread has been at a label.
    pub fn contains(&self, thread: ThreadId, label: LabelId) -> bool {
        self.labels[thread.index()].contains(label.index())
    }

    /// Notes what another exploration has reached.
    pub fn add(&mut self, other: &Self) {
        for (labels, more) in self.labels.iter_mut().zip(&other.labels) {
            self.missing -= more.difference_count(labels);
            labels.union_with(more);
        }
    }

    /// Whether every label of a running thread is reached.
    pub fn is_everything(&self) -> bool {
        self.missing == 0
    }

    /// The labels of running threads that are not reached, in order of the text. The nameless end
    /// of a thread is none, but for roles of machine code, which return there.
    pub fn missing(&self, program: &Program) -> Vec<ThreadLabel> {
        let mut missing = Vec::new();
        for (id, thread) in program.thread_ids() {
            let mut has_instructions = FixedBitSet::with_capacity(thread.labels.len());
            thread.instructions.iter().for_each(|instruction| has_instructions.insert(instruction.source.index()));
            for (index, label) in thread.labels.iter().enumerate() {
                let is_end = label.name == END && !has_instructions.contains(index);
                if (!is_end || program.source.is_listing) && !self.labels[id.index()].contains(index) {
                    missing.push((id, LabelId::from_index(index)));
                }
            }
        }
        ordered::sort_by_key(&mut missing, |(thread, label)| {
            (*thread, program.thread(*thread).label(*label).span, *label)
        });
        missing
    }
}
