//! Instances: a fixed number of copies of each thread.

use crate::program::{Copies, Program, ThreadId};

/// One copy of a thread; copies count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CopyId {
    /// The thread it is a copy of.
    pub thread: ThreadId,
    /// Which copy.
    pub copy: u32,
}

/// How many copies of each thread run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instance {
    counts: Vec<u32>,
}

impl Instance {
    /// The instance with so many copies of each thread, in the program's order.
    pub fn new(counts: Vec<u32>) -> Self {
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
    pub fn count(&self, thread: ThreadId) -> u32 {
        self.counts.get(thread.index()).copied().unwrap_or(0)
    }

    /// The number of copies of each thread, in the program's order.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// The number of all copies.
    pub fn total(&self) -> usize {
        self.counts.iter().map(|count| *count as usize).sum()
    }

    /// All copies: by thread, then by number.
    pub fn copies(&self) -> impl Iterator<Item = CopyId> + '_ {
        self.counts.iter().enumerate().flat_map(|(thread, count)| {
            (0..*count).map(move |copy| CopyId { thread: ThreadId::from_index(thread), copy })
        })
    }

    /// The name of a copy for people: the thread's, with `#2` for its second copy where there are several.
    pub fn copy_name(&self, program: &Program, copy: CopyId) -> String {
        let name = &program.thread(copy.thread).name;
        if self.count(copy.thread) > 1 { format!("{name}#{}", copy.copy + 1) } else { name.clone() }
    }
}
