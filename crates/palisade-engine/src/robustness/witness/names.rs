//! Names for the tokens of an exact exploration: which copy stands on which place.

use palisade_exploration::instrumented::system::InitialTokens;
use palisade_exploration::lazy::Entry;
use palisade_model::program::{Program, ThreadId};
use palisade_semantics::CopyId;

/// Which copy stands on which place. Spare copies are the caller's to name.
pub(in crate::robustness) struct Names {
    /// The copies that have acted, with their places.
    acting: Vec<(CopyId, u32)>,
    /// How many copies of fixed threads have not acted yet, by their place.
    idle: Vec<(u32, ThreadId, u32)>,
    /// For fixed threads, how many copies have acted.
    next: Vec<u64>,
}

impl Names {
    /// The names of initial tokens.
    pub(in crate::robustness) fn new(program: &Program, initial: &[Entry], thread: impl Fn(u32) -> ThreadId) -> Self {
        let fixed = initial.iter().filter(|entry| entry.place != InitialTokens::SPARE);
        let count = |entry: &Entry| entry.tokens.count().expect("exact searches have no ω");
        let idle = fixed.map(|entry| (entry.place, thread(entry.place), count(entry))).collect();
        Self { acting: Vec::new(), idle, next: vec![0; program.threads.len()] }
    }

    /// The copy on a place, which leaves it: one that has acted, or one that is there from the
    /// beginning.
    pub(in crate::robustness) fn take(&mut self, place: u32) -> CopyId {
        if let Some(index) = self.acting.iter().position(|(_, at)| *at == place) {
            return self.acting.swap_remove(index).0;
        }
        let idle = self.idle.iter_mut().find(|(at, _, count)| *at == place && *count > 0);
        let (_, thread, count) = idle.expect("a step takes a token from a place that has one");
        *count -= 1;
        let next = &mut self.next[thread.index()];
        *next += 1;
        CopyId { thread: *thread, copy: *next - 1 }
    }

    /// Puts a copy on a place; one that has stopped is on none.
    pub(in crate::robustness) fn put(&mut self, copy: CopyId, place: Option<u32>) {
        self.acting.extend(place.map(|place| (copy, place)));
    }
}
