//! Threads with the same code, whose copies are counted together.

use palisade_model::program::{Copies, Instruction, Program, Thread, ThreadId};
use palisade_semantics::{CopyId, Instance};

/// A program in which the first of all threads with the same code has the copies of all.
pub(super) struct Together {
    /// The program.
    pub(super) program: Program,
    /// For each thread, the one that has its copies.
    first: Vec<ThreadId>,
    /// The copies that each thread had.
    copies: Vec<Copies>,
}

impl Together {
    /// Counts threads together, fixed copies with fixed ones and any number with any number.
    pub(super) fn of(program: &Program) -> Self {
        let copies = program.threads.iter().map(|thread| thread.copies).collect();
        let mut counted = program.clone();
        let mut first: Vec<ThreadId> = Vec::new();
        for (id, thread) in program.thread_ids() {
            let is_same =
                |(earlier, other): &(ThreadId, &Thread)| first[earlier.index()] == *earlier && same(other, thread);
            let earlier = program.thread_ids().take(id.index()).find(is_same).map_or(id, |(earlier, _)| earlier);
            first.push(earlier);
            if earlier == id {
                continue;
            }
            let own = std::mem::replace(&mut counted.threads[id.index()].copies, Copies::Exactly(0));
            let sum = &mut counted.threads[earlier.index()].copies;
            if let (Copies::Exactly(sum), Copies::Exactly(own)) = (sum, own) {
                *sum += own;
            }
        }
        Self { program: counted, first, copies }
    }

    /// The copy of the original program that a copy stands for.
    pub(super) fn copy(&self, copy: CopyId) -> CopyId {
        let mut number = copy.copy;
        for (thread, first) in self.first.iter().enumerate().filter(|(_, first)| **first == copy.thread) {
            match self.copies[thread] {
                Copies::Exactly(count) if number >= count => number -= count,
                _ => return CopyId { thread: ThreadId::from_index(thread), copy: number },
            }
            debug_assert!(first.index() <= thread, "the first thread comes first");
        }
        unreachable!("the copies of a thread are those of threads with its code")
    }

    /// The instance of the original program that an instance stands for.
    pub(super) fn instance(&self, instance: &Instance) -> Instance {
        let counted = instance.counts().iter().zip(&self.copies);
        let counts = counted.map(|(count, copies)| match copies {
            Copies::Exactly(own) => *own,
            Copies::Any => *count,
        });
        Instance::new(counts.collect())
    }
}

/// Whether two threads do the same, and have copies of the same kind.
fn same(one: &Thread, other: &Thread) -> bool {
    let code = |own: &Instruction| (own.source, own.target, own.action.clone(), own.stated.clone());
    let are_fixed = [one, other].map(|thread| matches!(thread.copies, Copies::Exactly(1..)));
    let are_any = [one, other].map(|thread| thread.copies == Copies::Any);
    (are_fixed == [true; 2] || are_any == [true; 2])
        && one.labels.len() == other.labels.len()
        && one.initial == other.initial
        && one.initial_registers() == other.initial_registers()
        && one.instructions.len() == other.instructions.len()
        && one.instructions.iter().zip(&other.instructions).all(|(one, other)| code(one) == code(other))
}
