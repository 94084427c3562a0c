//! Persistent sets: copies whose next steps no other copy can meet, so that theirs alone are
//! explored [Valmari, *Stubborn sets for reduced state space generation*, 1990; Godefroid,
//! *Partial-Order Methods*, 1996].
//!
//! A copy belongs to the set with each other copy that may ever touch what it touches next. One of
//! them *keeps going*: where others have gone on without it, it does not rest, or can go where it
//! does not come back from. docs/src/fewer-steps.md has the proof that stuck states are kept.

use super::system::{Control, System};
use crate::buffered::Order;
use crate::instrumented::Fault;
use fixedbitset::FixedBitSet;
use palisade_evidence::BufferEntry;
use palisade_model::program::{Action, Copies, Expression, Instruction, Program, Queue, Thread, Value};
use rustc_hash::FxHashMap;

/// What is read and written, a bit for each address. Addresses that share a bit are taken for one.
/// To sleep at an address, and to wake who sleeps there, is to write it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Access {
    reads: u128,
    writes: u128,
}

impl Access {
    /// Whether the order of two steps may matter.
    fn meets(self, other: Self) -> bool {
        self.writes & (other.reads | other.writes) | self.reads & other.writes != 0
    }

    fn and(self, other: Self) -> Self {
        Self { reads: self.reads | other.reads, writes: self.writes | other.writes }
    }
}

/// What copies touch, and where they may go round.
#[derive(Clone, Debug)]
pub(super) struct Persistence {
    /// The addresses met so far.
    addresses: FxHashMap<Value, usize>,
    /// For each thread and label, what the instructions from there on touch.
    later: Vec<Vec<Access>>,
    /// For each thread and label, whether a copy may come back to it without a store.
    returning: Vec<Vec<bool>>,
    /// For each place met, what a copy there touches next, and from there on.
    places: FxHashMap<u32, (Access, Access)>,
}

impl Persistence {
    /// What is known before anything is explored; nothing where a step holds up all other copies,
    /// or there is any number of copies.
    pub(super) fn of(program: &Program) -> Option<Self> {
        let is_plain = |thread: &Thread| {
            let mut actions = thread.instructions.iter().map(|own| &own.action);
            thread.copies != Copies::Any && actions.all(|action| !matches!(action, Action::Lock | Action::Unlock))
        };
        if !program.threads.iter().all(is_plain) {
            return None;
        }
        let returning = program.threads.iter().map(Thread::returning).collect();
        let mut found =
            Self { addresses: FxHashMap::default(), later: Vec::new(), returning, places: FxHashMap::default() };
        found.later = program.threads.iter().map(|thread| found.from_labels_on(thread)).collect();
        Some(found)
    }

    /// What the instructions of a thread touch from each label on.
    fn from_labels_on(&mut self, thread: &Thread) -> Vec<Access> {
        let mut found = vec![Access::default(); thread.labels.len()];
        let own: Vec<Access> = thread.instructions.iter().map(|own| self.touched(own, None)).collect();
        loop {
            let before = found.clone();
            for (instruction, own) in thread.instructions.iter().zip(&own).rev() {
                let source = instruction.source.index();
                found[source] = found[source].and(*own).and(found[instruction.target.index()]);
            }
            if found == before {
                return found;
            }
        }
    }

    /// What an instruction touches with some registers, or with any.
    fn touched(&mut self, instruction: &Instruction, registers: Option<&[Value]>) -> Access {
        let mut bit = |address: Option<&Expression>| {
            let Some(address) = address else { return 0 };
            let is_known = registers.is_some() || address.is_constant();
            let value = is_known.then(|| address.evaluate_address(registers.unwrap_or_default()).ok()).flatten();
            value.map_or(u128::MAX, |address| self.bit(address))
        };
        let (place, queue) = (bit(instruction.action.address()), bit(instruction.queue().map(Queue::address)));
        match &instruction.action {
            Action::Load { .. } => Access { reads: place, writes: queue },
            _ => Access { reads: 0, writes: place | queue },
        }
    }

    fn bit(&mut self, address: Value) -> u128 {
        let next = self.addresses.len();
        1 << (*self.addresses.entry(address).or_insert(next) % 128)
    }

    fn written(&mut self, addresses: impl IntoIterator<Item = Value>) -> Access {
        let writes = addresses.into_iter().map(|address| self.bit(address)).fold(0, |all, bit| all | bit);
        Access { reads: 0, writes }
    }

    /// What a copy in a place touches next, and from there on.
    fn of_place(&mut self, system: &System<'_>, place: u32) -> (Access, Access) {
        if let Some(known) = self.places.get(&place) {
            return *known;
        }
        let (local, buffer) = (system.local(place), system.buffer(place));
        let stores = buffer.iter().filter_map(|entry| match entry {
            BufferEntry::Store(address, _) => Some(*address),
            BufferEntry::Mark | BufferEntry::Snapshot(_) => None,
        });
        let mut next = self.written(stores.chain(system.slept_at(place)));
        let mut later = next;
        if let Some(label) = local.label {
            later = later.and(self.later[local.thread.index()][label.index()]);
            if local.asleep.is_none() {
                for id in system.locals.instructions_at(local.thread, label) {
                    let instruction = system.program().thread(local.thread).instruction(*id);
                    if !system.is_put_off(place, instruction) {
                        next = next.and(self.touched(instruction, Some(&local.registers)));
                    }
                }
            }
        }
        self.places.insert(place, (next, later));
        (next, later)
    }
}

impl System<'_> {
    /// Whether a store goes into the buffer, where nobody sees it.
    fn is_put_off(&self, place: u32, instruction: &Instruction) -> bool {
        let is_seen = || {
            let overtaking = &self.overtaking[self.local(place).thread.index()];
            self.buffer(place).is_empty() && !overtaking.contains(instruction.target.index())
        };
        matches!(instruction.action, Action::Store { .. }) && self.shape.order != Order::Sc && !is_seen()
    }
}

impl Persistence {
    /// The places of the copies that are enough to go on from a configuration; nothing where all
    /// are needed.
    pub(super) fn movers(
        &mut self,
        system: &mut System<'_>,
        control: Control,
        tokens: &[(u32, u64)],
    ) -> Result<Option<Vec<u32>>, Fault> {
        let touched: Vec<(Access, Access)> = tokens.iter().map(|(place, _)| self.of_place(system, *place)).collect();
        let mut steps = Vec::with_capacity(tokens.len());
        for (place, _) in tokens {
            let changes = system.changes(control, *place)?;
            steps.push(changes.end - changes.start);
        }
        let mut fewest: Option<(u32, FixedBitSet)> = None;
        for (first, (place, _)) in tokens.iter().enumerate() {
            if self.keeps_going(system, control, *place)? {
                let set = closed(first, &touched);
                let count = set.ones().map(|own| steps[own]).sum();
                if set.count_ones(..) < tokens.len() && fewest.as_ref().is_none_or(|(fewest, _)| count < *fewest) {
                    fewest = Some((count, set));
                }
            }
        }
        Ok(fewest.map(|(_, set)| set.ones().map(|own| tokens[own].0).collect()))
    }

    /// Whether a copy in a place keeps going: others that do not touch what it touches next leave
    /// it without rest, or where it can move to what it does not come back from.
    fn keeps_going(&self, system: &mut System<'_>, control: Control, place: u32) -> Result<bool, Fault> {
        let local = system.local(place);
        if local.asleep.is_some() {
            return Ok(false);
        }
        let may_return = local.label.is_some_and(|label| self.returning[local.thread.index()][label.index()]);
        let changes = system.changes(control, place)?;
        let mut own = (changes.start..changes.end).map(|index| system.change(index));
        Ok(changes.may_die || own.any(|change| change.is_effect || !may_return))
    }
}

/// The least set with one copy, and with each whose steps may meet a next step of one in it.
fn closed(first: usize, touched: &[(Access, Access)]) -> FixedBitSet {
    let mut set = FixedBitSet::with_capacity(touched.len());
    let mut open = vec![first];
    set.insert(first);
    while let Some(one) = open.pop() {
        for other in 0..touched.len() {
            if !set.contains(other) && touched[one].0.meets(touched[other].1) {
                set.insert(other);
                open.push(other);
            }
        }
    }
    set
}
