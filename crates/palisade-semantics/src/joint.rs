//! Joint control states in the states of an instance.

use super::machine::{Machine, State};
use palisade_model::program::{JointState, LabelId, Program, ThreadId};

/// Whether different copies stand at all the places of a joint state.
pub fn is_reached(joint: &JointState, machine: &Machine<'_>, state: &State) -> bool {
    joint.groups().all(|(place, count)| {
        let copies = &state.threads()[machine.positions(place.thread)];
        copies.iter().filter(|copy| copy.label == Some(place.label)).take(count).count() == count
    })
}

/// The labels that the joint states of a program are about.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    /// For each thread and label, whether a joint state names it.
    labels: Vec<Vec<bool>>,
}

impl Watched {
    /// Those of a program.
    pub(super) fn of(program: &Program) -> Self {
        let mut labels: Vec<Vec<bool>> =
            program.threads.iter().map(|thread| vec![false; thread.labels.len()]).collect();
        for place in program.never.iter().flat_map(JointState::places) {
            labels[place.thread.index()][place.label.index()] = true;
        }
        Self { labels }
    }

    /// Whether a joint state names a label.
    pub(super) fn contains(&self, thread: ThreadId, label: LabelId) -> bool {
        self.labels[thread.index()][label.index()]
    }
}
