//! How many steps a computation still takes at least, read off control flow: what guides the search
//! for a shortest one.

use super::attacks::Attack;
use palisade_model::program::{Action, Instruction, Program, Thread};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// No way leads there. Sums of a few of these do not overflow.
pub(super) const NEVER: u32 = u32::MAX / 8;

/// The steps that an instruction takes: a store is issued, and reaches memory.
pub(super) fn length_of(action: &Action) -> u32 {
    if matches!(action, Action::Store { .. }) { 2 } else { 1 }
}

/// Least numbers of steps by label, those of the instruction that they lead up to included.
#[derive(Debug)]
pub(super) struct Estimate {
    /// From a label of the attacker's thread, until st_A was issued and ld_A executed.
    pub(super) attack: Vec<u32>,
    /// The same once st_A was issued: no instruction on the way empties the buffer.
    pub(super) load: Vec<u32>,
    /// For each thread, until it has written to memory.
    pub(super) write: Vec<Vec<u32>>,
    /// For each thread, until it has accessed memory.
    pub(super) access: Vec<Vec<u32>>,
}

impl Estimate {
    /// The estimates for one attack.
    pub(super) fn of(program: &Program, attack: Attack) -> Self {
        let thread = program.thread(attack.thread);
        let (store, load) = (thread.instruction(attack.store), thread.instruction(attack.load));
        let to_load = least(thread, |instruction| match instruction {
            _ if std::ptr::eq(instruction, load) => Passing::Arrives(1),
            _ if instruction.action.drains_buffer() => Passing::Never,
            _ => Passing::Goes,
        });
        let after_store = to_load[store.target.index()];
        let to_attack = least(thread, |instruction| {
            if std::ptr::eq(instruction, store) { Passing::Either(2 + after_store) } else { Passing::Goes }
        });
        let until = |reached: fn(&Action) -> bool| -> Vec<Vec<u32>> {
            let arrives = |instruction: &Instruction| {
                let action = &instruction.action;
                if reached(action) { Passing::Arrives(length_of(action)) } else { Passing::Goes }
            };
            program.threads.iter().map(|thread| least(thread, arrives)).collect()
        };
        let writes = |action: &Action| matches!(action, Action::Store { .. } | Action::Cas { .. } | Action::Rmw { .. });
        let write = until(writes);
        let access = until(|action| action.address().is_some());
        Self { attack: to_attack, load: to_load, write, access }
    }
}

/// What an instruction means for a way through control flow.
enum Passing {
    /// The way ends with it, in so many steps.
    Arrives(u32),
    /// The way leads on.
    Goes,
    /// Either.
    Either(u32),
    /// No way leads through it.
    Never,
}

/// For each label, the least number of steps until a way ends.
fn least(thread: &Thread, passing: impl Fn(&Instruction) -> Passing) -> Vec<u32> {
    let mut into: Vec<Vec<(usize, u32)>> = vec![Vec::new(); thread.labels.len()];
    let mut least = vec![NEVER; thread.labels.len()];
    let mut open = BinaryHeap::new();
    for instruction in &thread.instructions {
        let source = instruction.source.index();
        let passing = passing(instruction);
        if let Passing::Arrives(steps) | Passing::Either(steps) = passing
            && steps < least[source]
        {
            least[source] = steps;
            open.push(Reverse((steps, source)));
        }
        if let Passing::Goes | Passing::Either(_) = passing {
            into[instruction.target.index()].push((source, length_of(&instruction.action)));
        }
    }
    while let Some(Reverse((steps, label))) = open.pop() {
        if steps > least[label] {
            continue;
        }
        for (source, length) in &into[label] {
            if steps + length < least[*source] {
                least[*source] = steps + length;
                open.push(Reverse((steps + length, *source)));
            }
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::super::attacks;
    use super::*;
    use palisade_model::program::{Copies, InstructionId, ThreadId};
    use palisade_semantics::random::{self, Shape};

    /// The estimate is no more than the way that begins with the store itself; one step is left
    /// where the load stands.
    #[test]
    fn one_way_leads_through_the_store() {
        let shape = Shape::default();
        for seed in 0..200 {
            let program = random::program(seed, &shape);
            assert!(program.threads.iter().all(|thread| thread.copies != Copies::Any));
            for attack in attacks(&program) {
                let estimate = Estimate::of(&program, attack);
                let thread = program.thread(ThreadId::from_index(attack.thread.index()));
                let after = estimate.load[thread.instruction(attack.store).target.index()];
                let source = thread.instruction(attack.store).source.index();
                assert!(estimate.attack[source] <= 2 + after);
                let loads = |id: InstructionId| thread.instruction(id).source.index();
                assert_eq!(estimate.load[loads(attack.load)], 1);
            }
        }
    }
}
