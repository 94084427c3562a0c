//! From where an attacker can come to the load, or the plain post, that its delayed stores
//! overstep: other attackers may be left out.

use palisade_model::program::{Action, LabelId, Posts, Program, ThreadId};
use std::collections::BTreeSet;

/// The labels from which there is a way.
pub(super) struct Hopeful {
    /// For an attacker on a thread of its own.
    own: BTreeSet<(ThreadId, LabelId)>,
    /// For the main thread, which goes on after an end where posts are plain.
    main: BTreeSet<(ThreadId, LabelId)>,
}

impl Hopeful {
    pub(super) fn of(program: &Program) -> Self {
        Self { own: labels(program, false), main: labels(program, true) }
    }

    /// Whether an attacker at a label may still come to what it needs.
    pub(super) fn contains(&self, thread: ThreadId, label: LabelId, on_main: bool) -> bool {
        if on_main { &self.main } else { &self.own }.contains(&(thread, label))
    }
}

/// The least set with the labels of loads and plain posts, with the ends where the main thread goes
/// on from them, and with the sources of all instructions into it that do not need an empty buffer.
fn labels(program: &Program, on_main: bool) -> BTreeSet<(ThreadId, LabelId)> {
    let is_plain = program.posts == Posts::Plain;
    let mut labels = BTreeSet::new();
    for (id, thread) in program.thread_ids() {
        for (label, here) in thread.instructions_by_label().iter().enumerate() {
            if here.is_empty() && is_plain && on_main {
                labels.insert((id, LabelId::from_index(label)));
            }
        }
    }
    loop {
        let before = labels.len();
        for (id, thread) in program.thread_ids() {
            for instruction in &thread.instructions {
                let leads_there = match &instruction.action {
                    Action::Load { .. } => true,
                    Action::Post { .. } if is_plain => true,
                    Action::Post { .. } | Action::Fail => false,
                    action => !action.drains_buffer() && labels.contains(&(id, instruction.target)),
                };
                if leads_there {
                    labels.insert((id, instruction.source));
                }
            }
        }
        if labels.len() == before {
            return labels;
        }
    }
}
