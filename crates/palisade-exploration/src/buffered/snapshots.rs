//! Loads that lag behind: the normal form of the load-buffer semantics of TSO \[AABN18\], as steps
//! of one token each.
//!
//! A store is executed when it reaches memory. A load that overtakes it is executed behind it, and
//! reads memory as it was when the load was issued. So a thread that stands at a store may
//! *capture* memory, any number of times, and executes the loads that lag directly behind the
//! store, each on a snapshot or on an own store that came after it. Then it stands at the next
//! store, or its queue is empty. THEORY.md ("Snapshots") has the proof that this reaches what TSO
//! reaches.
//!
//! DIVERGENCE from [AABN18]: there messages are propagated at any time, for each address by itself.
//! Here they come as whole snapshots, only at stores, and only as many as loads can follow.
//!
//! A queue consists of snapshots and own stores, oldest first, and is kept in a *form*: snapshots
//! are restricted to the addresses that may still be loaded, of the stores only the youngest to
//! each of these addresses are left, equal neighbours are one, and the first is a snapshot.

use super::buffer::Buffers;
use super::system::{BufferSystem, Control, StoreEffect};
use crate::instrumented::Fault;
use crate::instrumented::system::{Move, Operation};
use crate::lazy::Step;
use palisade_evidence::BufferEntry;
use palisade_model::program::Value;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// Where a thread has come whose loads have caught up with a store as far as they could.
#[derive(Debug, Default)]
struct CaughtUp {
    /// Its places; nothing where it is gone.
    places: Vec<Option<u32>>,
    /// The targets violated on the way.
    violated: Vec<u32>,
}

impl BufferSystem<'_> {
    /// The steps of one token.
    pub(super) fn lagging_steps(
        &mut self,
        before: Control,
        place: u32,
        steps: &mut SmallVec<[Step; 4]>,
    ) -> Result<(), Fault> {
        let (local, queue) = self.place_numbers(place);
        let (first, last) = self.locals.moves(local);
        for index in first..last {
            if queue == Buffers::EMPTY {
                self.execution_steps(before, place, index, steps)?;
            } else {
                self.overtaken_store_steps(before, place, index, steps)?;
            }
        }
        self.capture_steps(before, place, steps);
        Ok(())
    }

    /// Whether a store of a token waits for memory, and loads can overtake it meanwhile.
    fn is_overtaken(&self, before: Control, place: u32, step: Move) -> bool {
        let Operation::Store(address, value) = step.operation else { return false };
        let thread = self.place(place).0.thread;
        self.can_be_overtaken(thread, step.instruction)
            && self.store_effect(before, place, step.instruction, (address, value)) != StoreEffect::Silent
    }

    /// Memory as it is becomes part of the queue of a token that stands at a store.
    fn capture_steps(&mut self, before: Control, place: u32, steps: &mut SmallVec<[Step; 4]>) {
        let (local, queue) = self.place_numbers(place);
        let (first, last) = self.locals.moves(local);
        let waits = (first..last).any(|index| self.is_overtaken(before, place, self.locals.move_at(index)));
        if !waits || self.place(place).0.holding {
            return;
        }
        let mut longer = self.buffers.entries(queue).to_vec();
        longer.push(BufferEntry::Snapshot(before.memory));
        let longer = self.in_form(local, &longer);
        let snapshots = self.buffers.snapshots(longer);
        let state = self.place(place).0;
        if longer == queue || self.lag().are_too_many(state.thread, state.label, snapshots) {
            return;
        }
        if snapshots > self.shape().capacity {
            self.note_overflow();
            return;
        }
        let put = self.place_of(local, longer);
        let control = self.control_number(before);
        steps.push(Step { control, take: Some(place), put, label: Self::CAPTURE });
    }

    /// A store that loads have overtaken reaches memory, and these loads are executed.
    fn overtaken_store_steps(
        &mut self,
        before: Control,
        place: u32,
        index: u32,
        steps: &mut SmallVec<[Step; 4]>,
    ) -> Result<(), Fault> {
        let step = self.locals.move_at(index);
        let Operation::Store(address, value) = step.operation else { return Ok(()) };
        if !self.is_overtaken(before, place, step) {
            return Ok(());
        }
        let (local, queue) = self.place_numbers(place);
        let Some(outcome) = self.locals.outcome(local, step, 0)? else { return Ok(()) };
        let after = Control { memory: self.write(before.memory, address, value), ..before };
        let mut entries = self.buffers.entries(queue).to_vec();
        entries.push(BufferEntry::Store(address, value));
        let mut caught_up = CaughtUp { places: Vec::new(), violated: self.locals.violated(outcome.targets).to_vec() };
        let starts = self.targets(outcome.targets).into_iter().map(|target| (target, self.in_form(target, &entries)));
        let starts = starts.collect();
        self.catch_up(after, starts, &mut caught_up)?;
        let label = self.label_of(self.place(place).0.thread, step.instruction);
        caught_up.violated.sort_unstable();
        caught_up.violated.dedup();
        for target in caught_up.violated {
            steps.push(Step { control: Self::reaching(target), take: Some(place), put: None, label });
        }
        caught_up.places.sort_unstable();
        caught_up.places.dedup();
        let control = self.control_number(after);
        steps.extend(caught_up.places.into_iter().map(|put| Step { control, take: Some(place), put, label }));
        Ok(())
    }

    /// Executes loads on the queue, until it is empty or the thread stands at the next store.
    fn catch_up(&mut self, control: Control, starts: Vec<(u32, u32)>, found: &mut CaughtUp) -> Result<(), Fault> {
        let mut open: Vec<(u32, u32)> = starts;
        let mut seen: FxHashSet<(u32, u32)> = FxHashSet::default();
        while let Some((local, queue)) = open.pop() {
            if !seen.insert((local, queue)) {
                continue;
            }
            if queue == Buffers::EMPTY {
                found.places.push(self.place_of(local, queue));
                continue;
            }
            let place = self.place_of(local, queue).expect("its queue is not empty");
            let mut rests = false;
            let (first, last) = self.locals.moves(local);
            for index in first..last {
                let step = self.locals.move_at(index);
                match step.operation {
                    Operation::Faulty(fault) => return Err(self.locals.faults[fault as usize].clone()),
                    Operation::Load(address) => {
                        self.watch_read(address);
                        let read = self.read_behind(queue, address);
                        let advanced = self.advanced(queue);
                        self.go_on(local, step, read, &[queue, advanced], &mut open, found)?;
                    }
                    Operation::Store(..) if self.is_overtaken(control, place, step) => rests = true,
                    Operation::Store(address, value)
                        if self.store_effect(control, place, step.instruction, (address, value))
                            == StoreEffect::Silent =>
                    {
                        self.go_on(local, step, 0, &[queue], &mut open, found)?;
                    }
                    _ => {}
                }
            }
            let state = self.place(place).0;
            if rests && !self.lag().are_too_many(state.thread, state.label, self.buffers.snapshots(queue)) {
                found.places.push(Some(place));
            }
        }
        Ok(())
    }

    /// What a thread can go on with after an instruction, with each of these queues.
    fn go_on(
        &mut self,
        local: u32,
        step: Move,
        read: Value,
        queues: &[u32],
        open: &mut Vec<(u32, u32)>,
        found: &mut CaughtUp,
    ) -> Result<(), Fault> {
        let Some(outcome) = self.locals.outcome(local, step, read)? else { return Ok(()) };
        found.violated.extend_from_slice(self.locals.violated(outcome.targets));
        for target in self.targets(outcome.targets) {
            for queue in queues {
                let entries = self.buffers.entries(*queue).to_vec();
                open.push((target, self.in_form(target, &entries)));
            }
        }
        Ok(())
    }

    /// What a load reads that lags: its thread's youngest store in the queue, or the oldest
    /// snapshot.
    fn read_behind(&self, queue: u32, address: Value) -> Value {
        self.buffers.youngest(queue, address).unwrap_or_else(|| match self.buffers.entries(queue)[0] {
            BufferEntry::Snapshot(memory) => self.read(memory, address),
            _ => unreachable!("a queue begins with a snapshot"),
        })
    }

    /// A queue without its oldest snapshot.
    fn advanced(&mut self, queue: u32) -> u32 {
        let rest = self.buffers.entries(queue)[1..].to_vec();
        let first = rest.iter().position(|entry| matches!(entry, BufferEntry::Snapshot(_))).unwrap_or(rest.len());
        self.buffers.intern(&rest[first..])
    }

    /// A queue in its form for a local state.
    fn in_form(&mut self, local: u32, entries: &[BufferEntry]) -> u32 {
        let state = self.locals.table.get(local);
        let (thread, label) = (state.thread, state.label);
        let mut form: Vec<BufferEntry> = Vec::with_capacity(entries.len());
        for (index, entry) in entries.iter().enumerate() {
            match *entry {
                BufferEntry::Snapshot(memory) => {
                    let snapshot = BufferEntry::Snapshot(self.restricted(memory, thread, label));
                    if form.last() != Some(&snapshot) {
                        form.push(snapshot);
                    }
                }
                BufferEntry::Store(address, _) => {
                    let is_youngest = !entries[index + 1..]
                        .iter()
                        .any(|it| matches!(it, BufferEntry::Store(of, _) if *of == address));
                    if !form.is_empty() && is_youngest && self.lag().may_load(thread, label, address) {
                        form.push(*entry);
                    }
                }
                BufferEntry::Mark => {}
            }
        }
        self.buffers.intern(&form)
    }
}
