//! Instances: a fixed number of copies of each thread.

use palisade_model::program::{Copies, Program, ThreadId};

/// One copy of a thread; copies count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CopyId {
    /// The thread it is a copy of.
    pub thread: ThreadId,
    /// The number of the copy.
    pub copy: u64,
}

/// How many copies of each thread run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instance {
    counts: Vec<u64>,
}

impl Instance {
    /// The instance with so many copies of each thread, in the program's order.
    pub fn new(counts: Vec<u64>) -> Self {
        Self { counts }
    }

    /// The instance a program declares; nothing when a thread has any number of copies.
    pub fn of(program: &Program) -> Option<Self> {
        let count = |copies| match copies {
            Copies::Exactly(count) => Some(count),
            Copies::Any => None,
        };
        program.threads.iter().map(|thread| count(thread.copies)).collect::<Option<_>>().map(Self::new)
    }

    /// The number of copies of a thread.
    pub fn count(&self, thread: ThreadId) -> u64 {
        self.counts.get(thread.index()).copied().unwrap_or(0)
    }

    /// The number of copies of each thread, in the program's order.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The number of all copies.
    pub fn total(&self) -> u64 {
        self.counts.iter().fold(0, |total, count| total.saturating_add(*count))
    }

    /// The position of a copy among all: copies count by thread, then by number. None when there is
    /// no such copy.
    pub fn position(&self, copy: CopyId) -> Option<u64> {
        let before =
            self.counts.get(..copy.thread.index())?.iter().try_fold(0u64, |sum, count| sum.checked_add(*count))?;
        (copy.copy < self.count(copy.thread)).then(|| before.checked_add(copy.copy)).flatten()
    }

    /// The copy at a position, if there is one.
    pub fn copy_at(&self, position: u64) -> Option<CopyId> {
        let mut copy = position;
        for (thread, count) in self.counts.iter().enumerate() {
            if copy < *count {
                return Some(CopyId { thread: ThreadId::from_index(thread), copy });
            }
            copy -= count;
        }
        None
    }

    /// All copies: by thread, then by number.
    pub fn copies(&self) -> impl Iterator<Item = CopyId> + '_ {
        self.counts.iter().enumerate().flat_map(|(thread, count)| {
            (0..*count).map(move |copy| CopyId { thread: ThreadId::from_index(thread), copy })
        })
    }

    /// The name of a copy for people: the thread's, with `#2` for its second copy where there are
    /// several.
    pub fn copy_name(&self, program: &Program, copy: CopyId) -> String {
        let name = &program.thread(copy.thread).name;
        if self.count(copy.thread) > 1 { format!("{name}#{}", copy.copy + 1) } else { name.clone() }
    }
}
