//! Which tokens stand at loads and stores that race.

use super::system::{BufferSystem, Control};
use crate::instrumented::Fault;
use crate::instrumented::system::InitialTokens;
use crate::lazy::{Entry, Exploration, Tokens, Visit};
use palisade_model::limits::{Budget, Halt};
use palisade_model::program::{Action, InstructionId, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A race in a marking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RacingPair {
    /// Where the copy stands that loads.
    pub reader: u32,
    /// The load.
    pub load: InstructionId,
    /// Where the copy stands that stores to the same address.
    pub writer: u32,
    /// The store, or the locked instruction that stores.
    pub store: InstructionId,
}

/// What a token in a place does next that may race, whatever memory holds.
#[derive(Clone, Debug, Default)]
struct Accesses {
    /// Loads after a store to another address.
    loads: SmallVec<[(InstructionId, Value); 1]>,
    /// Stores, and locked instructions, which may not store in every memory.
    stores: SmallVec<[(InstructionId, Value); 1]>,
    /// Whether its section is open.
    holding: bool,
}

/// The accesses of tokens, computed once for each place.
#[derive(Debug, Default)]
pub struct Racing {
    by_place: FxHashMap<u32, Accesses>,
    /// The addresses that tokens of a marking store to next, with the number of the entry; sorted.
    /// Kept for its memory.
    writers: Vec<(Value, usize)>,
}

impl Racing {
    /// Explores until a marking has a race, and where.
    pub fn explore(
        &mut self,
        system: &mut BufferSystem<'_>,
        explored: &mut Exploration,
        budget: &Budget,
    ) -> Result<Option<u32>, Halt<Fault>> {
        explored.run(system, budget, |system, control, entries| {
            if self.pair(system, control, entries).is_some() { Visit::Stop } else { Visit::Expand }
        })
    }

    /// A race in a marking, the first one in the order of places.
    pub fn pair(&mut self, system: &BufferSystem<'_>, control: u32, entries: &[Entry]) -> Option<RacingPair> {
        let control = system.control(control);
        for entry in entries {
            self.enter(system, entry.place);
        }
        let reads =
            |entry: &&Entry| entry.place != InitialTokens::SPARE && !self.by_place[&entry.place].loads.is_empty();
        if !entries.iter().any(|entry| reads(&entry)) {
            return None;
        }
        // There may be thousands of readers and of writers, few of which meet.
        let mut writers = std::mem::take(&mut self.writers);
        writers.clear();
        for (index, entry) in entries.iter().enumerate() {
            let one = [entry.place];
            for place in places(system, &one) {
                writers.extend(self.by_place[place].stores.iter().map(|(_, address)| (*address, index)));
            }
        }
        writers.sort_unstable();
        writers.dedup();
        let found = entries.iter().filter(reads).find_map(|entry| {
            self.by_place[&entry.place].loads.iter().find_map(|(load, address)| {
                let first = writers.partition_point(|(other, _)| other < address);
                let meeting = writers[first..].iter().take_while(|(other, _)| other == address);
                let (writer, store) = meeting.map(|(_, index)| entries[*index]).find_map(|other| {
                    let is_other = other.place != entry.place || other.tokens != Tokens::finite(1);
                    is_other.then(|| self.writer(system, control, other.place, *address)).flatten()
                })?;
                Some(RacingPair { reader: entry.place, load: *load, writer, store })
            })
        });
        self.writers = writers;
        found
    }

    fn enter(&mut self, system: &BufferSystem<'_>, place: u32) {
        for place in places(system, &[place]) {
            self.by_place.entry(*place).or_insert_with(|| accesses(system, *place));
        }
    }

    /// The place of a token in a place (or of a spare one) that stores to an address next, with the
    /// instruction.
    fn writer(
        &self,
        system: &BufferSystem<'_>,
        control: Control,
        place: u32,
        address: Value,
    ) -> Option<(u32, InstructionId)> {
        places(system, &[place]).iter().find_map(|place| {
            let Accesses { stores, holding, .. } = &self.by_place[place];
            if control.locked && !holding {
                return None;
            }
            let stores_there = |(id, to): &&(InstructionId, Value)| {
                *to == address && stores_with(system, *place, *id, system.read(control.memory, address))
            };
            stores.iter().find(stores_there).map(|(id, _)| (*place, *id))
        })
    }
}

/// Where a token in a place may stand: there, or where spare ones begin.
fn places<'a>(system: &'a BufferSystem<'_>, place: &'a [u32; 1]) -> &'a [u32] {
    if place[0] == InitialTokens::SPARE { system.spare_places() } else { place }
}

/// The accesses of a token in a place. What has no address is at fault when the step is explored.
fn accesses(system: &BufferSystem<'_>, place: u32) -> Accesses {
    let (local, note) = system.place(place);
    let mut found = Accesses { holding: local.holding, ..Accesses::default() };
    if local.is_stopped() {
        return found;
    }
    for id in system.locals.instructions_at(local.thread, local.label) {
        let action = &system.program().thread(local.thread).instruction(*id).action;
        let Some(Ok(address)) = action.address().map(|address| address.evaluate_address(&local.registers)) else {
            continue;
        };
        match action {
            Action::Load { .. } if system.buffers.notes_another(note, address) => found.loads.push((*id, address)),
            Action::Load { .. } => {}
            _ => found.stores.push((*id, address)),
        }
    }
    found
}

/// Whether an instruction that may store does so when memory holds `read` there.
fn stores_with(system: &BufferSystem<'_>, place: u32, id: InstructionId, read: Value) -> bool {
    let (local, _) = system.place(place);
    match &system.program().thread(local.thread).instruction(id).action {
        Action::Cas { expected, .. } => {
            expected.evaluate(&local.registers, system.locals.domain()).is_ok_and(|expected| expected == read)
        }
        _ => true,
    }
}
