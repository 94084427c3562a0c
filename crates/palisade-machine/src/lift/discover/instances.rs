//! All interleavings of small instances: one copy of each role, then two, then three, as far as a
//! fixed number of states goes.
//!
//! What a copy does between two accesses to memory follows at once, since no other copy sees it.
//! Registers that are not live are 0.

use super::{Access, Copy, Initial, Memory};
use palisade_model::program::{ByLabel, Liveness, Thread, Value};
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

/// How many states each instance is explored to.
const STATES: usize = 6_000;
/// How many copies of a role run at most.
const COPIES: u64 = 3;
/// How many local states a copy passes between two accesses at most.
const LOCAL_STATES: usize = 20_000;

/// Copies in order, and memory where it has changed.
type State = (Vec<Copy>, BTreeMap<u64, Value>);

impl Memory for BTreeMap<u64, Value> {
    fn written(&self, address: u64) -> Option<Value> {
        self.get(&address).copied()
    }

    fn write(&mut self, address: u64, value: Value) {
        self.insert(address, value);
    }
}

/// A thread with what is looked up in it.
struct Code<'a> {
    thread: &'a Thread,
    by_label: ByLabel,
    live: Liveness,
}

impl Code<'_> {
    /// The states of a copy before its next accesses to memory.
    fn settled(&self, copy: Copy) -> BTreeSet<Copy> {
        let (mut settled, mut met, mut open) = (BTreeSet::new(), HashSet::new(), vec![copy]);
        while let Some(mut copy) = open.pop() {
            self.live.forget_dead(copy.label, &mut copy.registers);
            if met.len() >= LOCAL_STATES || !met.insert(copy.clone()) {
                continue;
            }
            let actions = self.by_label[copy.label.index()].iter().map(|id| self.thread.instruction(*id));
            for instruction in actions {
                if !instruction.action.is_local() {
                    settled.insert(copy.clone());
                    continue;
                }
                let mut after = copy.clone();
                // Local actions leave memory alone.
                if after.act(&instruction.action, None, &mut BTreeMap::new()).is_some() {
                    after.label = instruction.target;
                    open.push(after);
                }
            }
        }
        settled
    }
}

/// Explores the threads, of which there are so many copies; calls `visit` with each access.
pub(crate) fn explore(threads: &[(Thread, u64)], initial: &impl Initial, visit: &mut impl FnMut(Access)) {
    let codes: Vec<Code<'_>> = threads
        .iter()
        .map(|(thread, _)| Code { thread, by_label: thread.instructions_by_label(), live: Liveness::of(thread) })
        .collect();
    let mut before = Vec::new();
    for most in 1..=COPIES {
        let counts: Vec<u64> = threads.iter().map(|(_, count)| (*count).min(most)).collect();
        if counts != before {
            instance(&codes, &counts, initial, visit);
        }
        before = counts;
    }
}

/// Explores so many copies of each.
fn instance(codes: &[Code<'_>], counts: &[u64], initial: &impl Initial, visit: &mut impl FnMut(Access)) {
    let mut starts: Vec<Vec<Copy>> = vec![Vec::new()];
    for (index, (code, count)) in codes.iter().zip(counts).enumerate() {
        for _ in 0..*count {
            let settled = code.settled(Copy::of(index, code.thread));
            // A copy that accesses no memory is none.
            if !settled.is_empty() {
                starts = starts.iter().flat_map(|copies| with_one(copies, &settled)).take(STATES).collect();
            }
        }
    }
    let mut met: HashSet<State> = HashSet::new();
    let mut open: VecDeque<State> = VecDeque::new();
    let mut add = |state: State, open: &mut VecDeque<State>| {
        if met.len() < STATES && met.insert(state.clone()) {
            open.push_back(state);
        }
    };
    starts.into_iter().for_each(|copies| add((copies, BTreeMap::new()), &mut open));
    while let Some((copies, memory)) = open.pop_front() {
        for (index, copy) in
            copies.iter().enumerate().filter(|(index, copy)| *index == 0 || copies[index - 1] != **copy)
        {
            let code = &codes[copy.thread];
            let mut rest = copies.clone();
            rest.remove(index);
            for id in &code.by_label[copy.label.index()] {
                let instruction = code.thread.instruction(*id);
                if instruction.action.is_local() {
                    continue;
                }
                let (mut after, mut memory) = (copy.clone(), memory.clone());
                if after.take(instruction, &mut memory, initial, visit).is_none() {
                    continue;
                }
                let settled = code.settled(after);
                if settled.is_empty() {
                    add((rest.clone(), memory), &mut open);
                } else {
                    for copies in with_one(&rest, &settled) {
                        add((copies, memory.clone()), &mut open);
                    }
                }
            }
        }
    }
}

/// The copies with one more in any of these states, in order.
fn with_one(copies: &[Copy], settled: &BTreeSet<Copy>) -> Vec<Vec<Copy>> {
    let with = |one: &Copy| {
        let mut copies = copies.to_vec();
        copies.insert(copies.partition_point(|other| other < one), one.clone());
        copies
    };
    settled.iter().map(with).collect()
}
