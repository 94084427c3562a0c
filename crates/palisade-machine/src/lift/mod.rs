//! From machine code to threads.
//!
//! [`lift`] goes through the code of all roles until nothing new is found out about memory, writes
//! each role as the code of a thread, and runs the threads to find the cells that computed
//! addresses are of.

mod abstraction;
mod alike;
mod atomics;
mod awaits;
mod bits;
mod calls;
mod cells;
mod contexts;
mod copies;
mod decode;
mod delays;
mod discover;
mod emit;
mod environment;
mod explore;
mod faint;
mod frame;
mod futex;
mod heap;
mod hints;
mod knowledge;
mod loops;
mod micro;
mod narrow;
mod poison;
mod posix;
mod refusal;
mod rounds;
mod stubs;
mod transfer;
mod vectors;
mod ways;

pub(crate) use atomics::{AtomicCall, Made};
pub(crate) use awaits::conditions;
pub(crate) use contexts::{ContextId, Contexts, Place};
pub(crate) use futex::Futex;
pub(crate) use loops::drop_unreachable;
pub(crate) use narrow::{MOST_BITS, Narrowing};
pub(crate) use posix::{Effect, Trial};
pub(crate) use refusal::{Objection, ObjectionAt, advice_on_call};

use crate::image::{Block, Heap, Memory};
use discover::{Access, Initial};
use emit::{Emitted, Returning, counts_blocks, emit};
use explore::{Explored, explore};
use heap::Taken;
use knowledge::Knowledge;
use palisade_model::program::{HeapBlocks, Instruction, Span, Thread, Value};
use palisade_syntax::x86::{Architecture, automaton};
use std::collections::{BTreeMap, BTreeSet};

/// What is asked of a role.
#[derive(Clone, Debug)]
pub(crate) struct RoleCode {
    /// Its name.
    pub(crate) name: String,
    /// The address of its function.
    pub(crate) function: u64,
    /// The words that it is called with.
    pub(crate) arguments: Vec<Value>,
    /// The copies of it; nothing for any number.
    pub(crate) copies: Option<u64>,
    /// Whether it begins again when it returns.
    pub(crate) repeats: bool,
    /// Whether copies of it may wait for ever.
    pub(crate) is_daemon: bool,
    /// Where its thread's data is counted from, for a role of one copy whose thread is known.
    pub(crate) thread_pointer: Option<u64>,
    /// Where its stack pointer is when it begins, for a role of one copy whose stack others may
    /// access.
    pub(crate) stack: Option<u64>,
}

/// A role as a thread.
#[derive(Debug)]
pub(crate) struct LiftedRole {
    /// The thread: spans from `n` to `n + 1` are about the `n`th place.
    pub(crate) thread: Thread,
    /// The places with the texts of their instructions.
    pub(crate) places: Vec<(Place, String)>,
    /// The chains of calls.
    pub(crate) contexts: Contexts,
    /// Those of them that end in a function that makes an atomic access, where the language is
    /// asked about.
    pub(crate) atomics: BTreeMap<ContextId, AtomicCall>,
    /// Why the code of some places is not understood, by their numbers.
    pub(crate) obstacles: BTreeMap<usize, Objection>,
    /// The places that access memory in parts, in any order, by their numbers; whether the
    /// processor makes such an access at once.
    pub(crate) divided: BTreeMap<usize, bool>,
    /// Places of their own for parts of accesses to computed addresses, by number: where each
    /// begins, and its bytes.
    parts: BTreeMap<usize, (u8, u8)>,
    /// Places that look whether a block is in use, by number.
    lives: BTreeSet<usize>,
    /// The blocks that it takes from the heap, by size class.
    pub(crate) takes: BTreeMap<u8, Taken>,
    /// Places of accesses whose addresses are those of others before them, but for a number; while
    /// cells are being found.
    alike: BTreeMap<usize, BTreeSet<(usize, Value)>>,
    /// The places that sleep or wake sleepers, by number.
    pub(crate) futexes: BTreeMap<usize, Futex>,
    /// The places that wait, sleep or wake sleepers by functions of POSIX, by number.
    pub(crate) effects: BTreeMap<usize, Effect>,
    /// The places that say how many were woken, whatever the number is, by number.
    pub(crate) guesses: BTreeSet<usize>,
    /// Whether copies stop after some round, as they like.
    pub(crate) may_stop: bool,
    /// How many loops that end in a locked instruction became one.
    pub(crate) folded: usize,
}

/// All roles, and the cells that they share.
#[derive(Debug)]
pub(crate) struct Lifted {
    /// The roles, in their order.
    pub(crate) roles: Vec<LiftedRole>,
    /// The cells in the order in which they were first met: address, bytes, value at first.
    pub(crate) cells: Vec<(u64, u8, Value)>,
    /// The sizes of the blocks that they take from the heap.
    pub(crate) heap: Vec<HeapBlocks>,
    /// Whether they may ask what time it is.
    pub(crate) reads_clock: bool,
    /// Whether they call functions of POSIX that lock, wait or wake.
    pub(crate) has_posix: bool,
    /// The cells that instructions with computed addresses may access.
    computed: BTreeMap<u64, BTreeSet<u64>>,
}

/// Why code was refused: the role, the place, the calls that led there.
#[derive(Debug)]
pub(crate) struct Refused {
    /// The number of the role.
    pub(crate) role: usize,
    /// What is wrong, and where.
    pub(crate) at: ObjectionAt,
    /// The chains of calls.
    pub(crate) contexts: Contexts,
}

/// More rounds than this mean that the roles access new memory without end.
const MOST_ROUNDS: usize = 200;

/// Lifts all roles; with what their language says of atomic accesses, if `is_by_language`.
pub(crate) fn lift(memory: &Memory, roles: &[RoleCode], is_by_language: bool) -> Result<Lifted, Box<Refused>> {
    let mut knowledge = Knowledge::new(memory, is_by_language);
    for _ in 0..MOST_ROUNDS {
        let mut explored = everything(&mut knowledge, roles)?;
        let mut threads = Vec::new();
        for (index, role) in roles.iter().enumerate() {
            threads.push(written(role, index, &mut explored[index], false, &mut knowledge)?);
        }
        if knowledge.take_stale() || find_cells(&threads, roles, &mut knowledge) || find_alike(&threads, &mut knowledge)
        {
            continue;
        }
        let mut lifted = Vec::new();
        for (index, role) in roles.iter().enumerate() {
            lifted.push(written(role, index, &mut explored[index], true, &mut knowledge)?);
        }
        let value = |(address, bytes): &(u64, u8)| (*address, *bytes, knowledge.value(*address, *bytes).unwrap_or(0));
        let cells = knowledge.cells().iter().map(value).collect();
        let Knowledge { reads_clock, has_posix, .. } = knowledge;
        let computed = knowledge.computed.into_iter().map(|(at, computed)| (at, computed.addresses)).collect();
        let heap = heap::blocks(memory, roles, lifted.iter().map(|role| &role.takes));
        return Ok(Lifted { roles: lifted, cells, heap, reads_clock, has_posix, computed });
    }
    let explored = everything(&mut knowledge, roles)?;
    let start = explored[0].start;
    let objection = Objection::new("the roles come to access ever more cells of memory");
    Err(Box::new(Refused { role: 0, at: objection.at(start), contexts: explored[0].contexts.clone() }))
}

impl Lifted {
    /// Computes the cells of these addresses, and whatever their values flow into, in so many bits.
    pub(crate) fn narrow(&mut self, wanted: &BTreeMap<u64, u8>) -> Result<(), Box<Refused>> {
        let offsets = self.offsets();
        let (mut threads, cells, places, computed) = self.parts();
        let addresses = |thread: usize, own: &Instruction| addresses(places[thread], &offsets[thread], computed, own);
        let narrowed = narrow::narrow(&mut threads, cells, wanted, &addresses);
        narrowed.map_err(|not| self.refused(not.thread, not.span, not.objection))
    }

    /// Lets the loads of some places, by role and number, find any value that their cells may hold.
    pub(crate) fn weaken(&mut self, hints: &[BTreeSet<usize>], roles: &[RoleCode]) -> Result<(), Box<Refused>> {
        let copies: Vec<u64> = roles.iter().map(|role| role.copies.unwrap_or(u64::MAX)).collect();
        let offsets = self.offsets();
        let (mut threads, cells, places, computed) = self.parts();
        let addresses = |thread: usize, own: &Instruction| addresses(places[thread], &offsets[thread], computed, own);
        let weakened = hints::weaken(&mut threads, &copies, cells, hints, &addresses);
        weakened.map_err(|(thread, span, objection)| self.refused(thread, span, objection))
    }

    /// Cuts what registers hold to the bits that are looked at.
    pub(crate) fn cut(&mut self) {
        self.roles.iter_mut().for_each(|role| bits::cut(&mut role.thread));
    }

    /// How far each access of a thread is into one to a computed address.
    fn offsets(&self) -> Vec<Offsets> {
        self.roles.iter().map(|role| (role.parts.clone(), role.lives.clone())).collect()
    }

    /// The threads, with what is known of them.
    fn parts(&mut self) -> Parts<'_> {
        let Self { roles, cells, computed, .. } = self;
        let (mut threads, mut places) = (Vec::new(), Vec::new());
        for role in roles.iter_mut() {
            threads.push(&mut role.thread);
            places.push(role.places.as_slice());
        }
        (threads, cells, places, computed)
    }

    /// Why a role is refused at the place of a span.
    pub(crate) fn refused(&self, thread: usize, span: Span, objection: Objection) -> Box<Refused> {
        let role = &self.roles[thread];
        let place = role.places[span.start].0;
        Box::new(Refused { role: thread, at: objection.at(place), contexts: role.contexts.clone() })
    }
}

/// Threads, cells, places and computed addresses.
type Parts<'a> =
    (Vec<&'a mut Thread>, &'a mut Vec<(u64, u8, Value)>, Vec<&'a [(Place, String)]>, &'a BTreeMap<u64, BTreeSet<u64>>);

/// How far places are into accesses to computed addresses; those that look whether a block is in
/// use.
type Offsets = (BTreeMap<usize, (u8, u8)>, BTreeSet<usize>);

/// The addresses that an instruction may access.
fn addresses(
    places: &[(Place, String)],
    (offsets, lives): &Offsets,
    computed: &BTreeMap<u64, BTreeSet<u64>>,
    instruction: &Instruction,
) -> Vec<u64> {
    let Some(address) = instruction.action.address() else { return Vec::new() };
    if address.is_constant() {
        return address.evaluate_address(&[]).map_or(Vec::new(), |address| vec![address.cast_unsigned()]);
    }
    let place = places.get(instruction.span.start);
    let known = place.and_then(|(place, _)| computed.get(&place.address));
    if lives.contains(&instruction.span.start) {
        let bases = known.into_iter().flatten().filter_map(|address| Some(Block::at(*address)?.address()));
        return bases.map(Heap::life).collect();
    }
    let offset = offsets.get(&instruction.span.start).map_or(0, |(at, _)| u64::from(*at));
    known.map_or(Vec::new(), |known| known.iter().map(|address| address + offset).collect())
}

/// Goes through all roles until nothing is stale.
fn everything(knowledge: &mut Knowledge<'_>, roles: &[RoleCode]) -> Result<Vec<Explored>, Box<Refused>> {
    loop {
        let mut all = Vec::new();
        for (index, role) in roles.iter().enumerate() {
            knowledge.heap.role = index;
            let explored =
                explore(role, knowledge).map_err(|(at, contexts)| Box::new(Refused { role: index, at, contexts }))?;
            all.push(explored);
        }
        if !knowledge.take_stale() {
            return Ok(all);
        }
    }
}

fn written(
    role: &RoleCode,
    index: usize,
    explored: &mut Explored,
    checks: bool,
    knowledge: &mut Knowledge<'_>,
) -> Result<LiftedRole, Box<Refused>> {
    knowledge.heap.role = index;
    let returning = match () {
        () if !role.repeats => Returning::Ends,
        // While it goes on, nobody sees whom it has forgotten.
        () if knowledge.sleeps && !role.is_daemon => Returning::MayStop,
        () => Returning::Repeats,
    };
    let emitted = emit(explored, returning, checks, knowledge);
    let Emitted { thread, mut places, obstacles, divided, parts, lives, takes, futexes, effects, guesses } =
        emitted.map_err(|at| Box::new(Refused { role: index, at, contexts: explored.contexts.clone() }))?;
    let built =
        automaton::build(role.name.clone(), Span::default(), &thread, Architecture::X86_64, &BTreeMap::new(), &[]);
    let mut thread = built.thread;
    thread.registers.iter_mut().for_each(|own| own.is_initialised |= counts_blocks(&own.name));
    let is_sought = !checks && !knowledge.computed.is_empty();
    let alike = if is_sought { alike::before(&thread) } else { BTreeMap::new() };
    // A loop of the source that compares and exchanges has weaker orderings than one access would
    // have.
    let folded = if knowledge.is_by_language {
        faint::leave_out(&mut thread);
        0
    } else {
        loops::fold(&mut thread)
    };
    if !knowledge.is_by_language {
        rounds::forget(&mut thread, &lives);
        faint::leave_out(&mut thread);
    }
    delays::leave_out(&mut thread);
    if checks && knowledge.follows_heap() {
        poison::guard(&mut thread, &mut places, &lives, knowledge);
    }
    let (contexts, atomics) = (explored.contexts.clone(), explored.atomics.clone());
    Ok(LiftedRole {
        thread,
        places,
        contexts,
        atomics,
        obstacles,
        divided,
        parts,
        lives,
        takes,
        alike,
        futexes,
        effects,
        guesses,
        may_stop: returning == Returning::MayStop,
        folded,
    })
}

/// What memory holds at first, for instructions with computed addresses among others.
struct InitialCells<'a, 'm> {
    roles: &'a [LiftedRole],
    knowledge: &'a Knowledge<'m>,
    sizes: BTreeMap<u64, u8>,
}

impl Initial for InitialCells<'_, '_> {
    fn value(&self, thread: usize, span: Span, address: u64) -> Option<Value> {
        let instruction = self.roles[thread].places.get(span.start)?.0.address;
        let part = self.roles[thread].parts.get(&span.start).map(|(_, bytes)| *bytes);
        let bytes = match self.knowledge.computed.get(&instruction) {
            Some(computed) => part.unwrap_or(computed.bytes),
            None => *self.sizes.get(&address)?,
        };
        self.knowledge.value(address, bytes)
    }
}

/// Gives accesses the cells of those before them that have the same address, or another field of
/// the same object; whether one is new.
fn find_alike(threads: &[LiftedRole], knowledge: &mut Knowledge<'_>) -> bool {
    let mut new = false;
    for role in threads {
        let instruction = |place: usize| role.places.get(place).map(|(place, _)| place.address);
        for (place, others) in &role.alike {
            let Some(own) = instruction(*place) else { continue };
            for (other, difference) in others {
                let known = instruction(*other).and_then(|other| knowledge.computed.get(&other));
                let addresses = known.map_or(BTreeSet::new(), |known| known.addresses.clone());
                let Some(bytes) = knowledge.computed.get(&own).map(|own| own.bytes) else { continue };
                let into = |place: &usize| role.parts.get(place).map_or(0, |(at, _)| Value::from(*at));
                let difference = difference + into(other) - into(place);
                for address in addresses.iter().map(|address| address.wrapping_add_signed(difference)) {
                    new |= knowledge.value(address, bytes).is_some() && knowledge.discover(own, address);
                }
            }
        }
    }
    new
}

/// Which interleavings are looked at.
enum Ways {
    /// A few, by chance.
    AFew,
    /// All of small instances.
    AllOfSmall,
    /// Many, by chance.
    Many,
}

/// Runs the roles; whether an address was computed that was not known, of memory or of code. All
/// interleavings of small instances are explored where a few of them show nothing new, and many
/// more by chance where these do not either.
fn find_cells(threads: &[LiftedRole], roles: &[RoleCode], knowledge: &mut Knowledge<'_>) -> bool {
    if knowledge.computed.is_empty() && knowledge.targets.is_empty() {
        return false;
    }
    let counted: Vec<_> = threads
        .iter()
        .zip(roles)
        .map(|(lifted, role)| (lifted.thread.clone(), role.copies.unwrap_or(u64::MAX)))
        .collect();
    let ends_soon = roles.iter().all(|role| role.copies.is_some() && !role.repeats);
    let mut new = false;
    for way in [Some(Ways::AFew), Some(Ways::AllOfSmall), ends_soon.then_some(Ways::Many)].into_iter().flatten() {
        let (mut found, mut targets) = (BTreeSet::new(), BTreeSet::new());
        let sizes = knowledge.cells().iter().copied().collect();
        let initial = InitialCells { roles: threads, knowledge, sizes };
        let mut visit = |access: Access| {
            let instruction = threads[access.thread].places.get(access.span.start).map(|(place, _)| place.address);
            if let Some(instruction) = instruction.filter(|_| access.span.start == access.span.end) {
                targets.insert((instruction, access.address));
            } else if let Some(instruction) = instruction
                && let Some(computed) = knowledge.computed.get(&instruction)
                && Heap::of_life(access.address).is_none()
                && let into = threads[access.thread].parts.get(&access.span.start).map_or(0, |(at, _)| u64::from(*at))
                && let address = access.address.wrapping_sub(into)
                && !computed.addresses.contains(&address)
                // Where there is no memory, the check of addresses says so if the search comes
                // there as well.
                && knowledge.value(address, computed.bytes).is_some()
            {
                found.insert((instruction, address));
            }
        };
        match way {
            Ways::AFew => discover::run(&counted, &initial, &mut visit),
            Ways::AllOfSmall => discover::explore(&counted, &initial, &mut visit),
            Ways::Many => discover::run_often(&counted, &initial, &mut visit),
        }
        for (instruction, address) in found {
            new |= knowledge.discover(instruction, address);
        }
        for (instruction, target) in targets {
            new |= knowledge.discover_target(instruction, target);
        }
        if new {
            break;
        }
    }
    new
}
