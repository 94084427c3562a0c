//! Where a set leaves steps out: whether a few copies are enough to go on from a configuration.
//!
//! They are if no other copy, from where it is on, ever touches what one of them touches next, and
//! one of them keeps going. docs/src/fewer-steps.md has the definitions and the proof.

use super::copies::{Configuration, Control, Threads};
use crate::CheckFailure;
use crate::failure::reject;
use crate::property::Buffering;
use hashbrown::HashMap;
use palisade_evidence::{BufferEntry, WaitingLocal, WaitingSet};
use palisade_model::program::{Action, Copies, Expression, Instruction, Program, Thread, Value};
use std::collections::BTreeSet;

/// Addresses; nothing stands for each that there is.
type Addresses = BTreeSet<Option<Value>>;

/// What steps read and write. To sleep at an address, and to wake others there, writes it.
#[derive(Clone, Debug, Default)]
struct Touched {
    reads: Addresses,
    writes: Addresses,
}

impl Touched {
    fn add(&mut self, other: &Self) {
        self.reads.extend(&other.reads);
        self.writes.extend(&other.writes);
    }

    /// Whether it may matter which of two steps is first.
    fn meets(&self, other: &Self) -> bool {
        share(&self.writes, &other.writes) || share(&self.writes, &other.reads) || share(&self.reads, &other.writes)
    }
}

fn share(one: &Addresses, other: &Addresses) -> bool {
    let is_any = (one.contains(&None) && !other.is_empty()) || (other.contains(&None) && !one.is_empty());
    is_any || one.intersection(other).next().is_some()
}

/// What is known of the copies of a program whose set leaves steps out.
pub(super) struct Few {
    /// For each thread and label, all that is touched from there on.
    later: Vec<Vec<Touched>>,
    /// For each thread and label, whether a way without a store leads back to it.
    comes_back: Vec<Vec<bool>>,
    /// Whether a copy in the second state may, from there on, touch what one in the first touches
    /// next.
    meetings: HashMap<(u32, u32), bool>,
}

impl Few {
    /// Of a program, if its set leaves steps out.
    pub(super) fn of(program: &Program, set: &WaitingSet) -> Result<Option<Self>, CheckFailure> {
        if !set.leaves_out {
            return Ok(None);
        }
        if program.threads.iter().any(|thread| thread.copies == Copies::Any) || !set.rows.is_empty() {
            reject!(Form, "steps may be left out where the number of copies is fixed alone");
        }
        if !set.counters.is_empty() {
            reject!(Form, "no step may be left out where values of counters are not told apart");
        }
        let mut actions = program.threads.iter().flat_map(|thread| &thread.instructions).map(|own| &own.action);
        if actions.any(|action| matches!(action, Action::Lock | Action::Unlock)) {
            reject!(Form, "no step may be left out where a copy locks out all others");
        }
        let later = program.threads.iter().map(touched_later).collect();
        let comes_back = program.threads.iter().map(comes_back).collect();
        Ok(Some(Self { later, comes_back, meetings: HashMap::new() }))
    }

    /// Sets of states, each of which is enough to go on from.
    pub(super) fn enough(
        &mut self,
        threads: &mut Threads<'_>,
        from: &Configuration,
    ) -> Result<BTreeSet<BTreeSet<u32>>, CheckFailure> {
        let mut found = BTreeSet::new();
        for (state, _) in &from.tokens {
            if self.keeps_going(threads, from.control, *state)? {
                found.insert(self.with_others(threads, *state, from)?);
            }
        }
        Ok(found)
    }

    /// A state with all others of whose copies one may touch what a copy in the set touches next.
    fn with_others(
        &mut self,
        threads: &Threads<'_>,
        first: u32,
        from: &Configuration,
    ) -> Result<BTreeSet<u32>, CheckFailure> {
        let mut set = BTreeSet::from([first]);
        let mut open = vec![first];
        while let Some(one) = open.pop() {
            for (other, _) in &from.tokens {
                if !set.contains(other) && self.may_meet(threads, one, *other)? {
                    set.insert(*other);
                    open.push(*other);
                }
            }
        }
        Ok(set)
    }

    fn may_meet(&mut self, threads: &Threads<'_>, one: u32, other: u32) -> Result<bool, CheckFailure> {
        if let Some(known) = self.meetings.get(&(one, other)) {
            return Ok(*known);
        }
        let next = touched_next(threads, one)?;
        let mut later = touched_next(threads, other)?;
        let local = &threads.states.get(other).local;
        if let Some(label) = local.label {
            later.add(&self.later[local.thread.index()][label.index()]);
        }
        let meets = next.meets(&later);
        self.meetings.insert((one, other), meets);
        Ok(meets)
    }

    /// Whether a copy keeps going.
    fn keeps_going(&self, threads: &mut Threads<'_>, control: Control, state: u32) -> Result<bool, CheckFailure> {
        if threads.states.get(state).asleep.is_some() {
            return Ok(false);
        }
        let ways = threads.ways(control, state)?;
        let local = &threads.states.get(state).local;
        let goes_round = local.label.is_some_and(|label| self.comes_back[local.thread.index()][label.index()]);
        Ok(ways.may_be_stopped || ways.all.iter().any(|way| way.does_something || !goes_round))
    }
}

/// What a copy in a state touches next. What waits in its buffer is all taken for next.
fn touched_next(threads: &Threads<'_>, state: u32) -> Result<Touched, CheckFailure> {
    let WaitingLocal { local, asleep } = threads.states.get(state);
    let mut next = Touched::default();
    for entry in &local.buffer {
        if let BufferEntry::Store(address, _) = entry {
            next.writes.insert(Some(*address));
        }
    }
    if asleep.is_some() {
        next.writes.extend(threads.slept_at(state)?.map(Some));
        return Ok(next);
    }
    let thread = threads.program.thread(local.thread);
    let here = thread.instructions.iter().enumerate().filter(|(_, own)| Some(own.source) == local.label);
    for (id, instruction) in here {
        // A store that waits in the buffer first is seen by nobody else.
        let is_hidden = matches!(instruction.action, Action::Store { .. })
            && threads.buffering != Buffering::Nothing
            && !(local.buffer.is_empty() && threads.is_dead_delay(local.thread, id));
        if !is_hidden {
            next.add(&touched(instruction, |address| address.evaluate_address(&local.registers).ok()));
        }
    }
    Ok(next)
}

/// What an instruction touches, by the values that its addresses are known to have.
fn touched(instruction: &Instruction, value: impl Fn(&Expression) -> Option<Value>) -> Touched {
    let mut touched = Touched::default();
    let address = instruction.action.address().map(&value);
    match instruction.action {
        Action::Load { .. } => touched.reads.extend(address),
        _ => touched.writes.extend(address),
    }
    touched.writes.extend(instruction.queue().map(|queue| value(queue.address())));
    touched
}

/// For each label of a thread what is touched from there on.
fn touched_later(thread: &Thread) -> Vec<Touched> {
    let constant = |address: &Expression| {
        let is_constant = address.is_constant();
        is_constant.then(|| address.evaluate_address(&[]).ok()).flatten()
    };
    let all_behind = |label| {
        let mut all = Touched::default();
        for instruction in behind(thread, label, |_| true) {
            all.add(&touched(instruction, constant));
        }
        all
    };
    (0..thread.labels.len()).map(all_behind).collect()
}

/// For each label of a thread, whether some way leads back to it on which nothing is stored.
fn comes_back(thread: &Thread) -> Vec<bool> {
    let stores_nothing = |own: &Instruction| !matches!(own.action, Action::Store { .. } | Action::Fail);
    let is_left = |label| behind(thread, label, stores_nothing).any(|own| own.target.index() == label);
    (0..thread.labels.len()).map(is_left).collect()
}

/// The instructions of one kind that a copy at a label may come to by instructions of that kind.
fn behind(
    thread: &Thread,
    label: usize,
    is_of_kind: impl Fn(&Instruction) -> bool,
) -> impl Iterator<Item = &Instruction> {
    let mut is_reached = vec![false; thread.labels.len()];
    is_reached[label] = true;
    let goes_on = |own: &&Instruction| is_of_kind(own);
    let kind: Vec<&Instruction> = thread.instructions.iter().filter(goes_on).collect();
    while let Some(own) = kind.iter().find(|own| is_reached[own.source.index()] && !is_reached[own.target.index()]) {
        is_reached[own.target.index()] = true;
    }
    kind.into_iter().filter(move |own| is_reached[own.source.index()])
}
