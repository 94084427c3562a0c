//! What is known of shared memory: which bytes roles may write, and what the others hold for good.
//!
//! A place of memory that no role writes is a constant: a pointer in a structure, an entry of a
//! table of functions. At first nothing is written. Whenever a store turns up that contradicts what
//! was read as a constant, that knowledge is stale, and all roles are gone through again.
//!
//! Stores of different sizes to the same bytes divide them: a cell ends wherever such a store ends,
//! and an access to several cells is one to each of them, in any order (`stretches`). If the roles
//! are robust so divided, they are as they are: a cycle comes into an access at one cell and leaves
//! it at one, and some order of the parts has the first before the second.

use super::abstraction::Abstract;
use super::heap::HeapUse;
use super::refusal::Objection;
use crate::image::{Memory, Mutability};
use palisade_model::program::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes that are accessed together: address and number.
pub(crate) type Cell = (u64, u8);

/// What a load finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loaded {
    /// Always this value.
    Constant(Value),
    /// What a cell holds at the time, or a part of it.
    Cell(Cell),
}

/// Some bytes of an access, and what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// The first of them, from where the access begins.
    pub(crate) at: u8,
    /// Their number.
    pub(crate) bytes: u8,
    /// What is there; from a cell, these bytes of it.
    pub(crate) found: Loaded,
    /// How far into the cell they begin.
    pub(crate) into: u8,
}

/// How memory is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writing {
    /// By a store, which waits in the buffer.
    Plain,
    /// By a locked instruction, which changes memory at once.
    Locked,
}

/// The addresses that an instruction with a computed address has been seen to access.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Computed {
    /// The number of bytes.
    pub(crate) bytes: u8,
    /// Whether it writes.
    pub(crate) writes: bool,
    /// The addresses.
    pub(crate) addresses: BTreeSet<u64>,
    /// The parts of each access, by where they begin and their bytes: cells end at the same places
    /// behind all addresses.
    pub(crate) parts: Vec<(u8, u8)>,
}

/// What is known of shared memory.
#[derive(Debug)]
pub(crate) struct Knowledge<'a> {
    /// Memory when the roles begin.
    pub(crate) memory: &'a Memory,
    /// Whether the threads are to have what the language says of atomic accesses, and not only what
    /// x86 makes of them.
    pub(crate) is_by_language: bool,
    /// Cells that roles may write: address to number of bytes, and how. Plain stores are of whole
    /// cells.
    written: BTreeMap<u64, (u8, Writing)>,
    /// What locked instructions access, which no cell may end in.
    locked: BTreeSet<Cell>,
    /// What was taken for constant: address to the number of bytes.
    assumed: BTreeSet<(u64, u8)>,
    /// Computed accesses, by the address of the instruction.
    pub(crate) computed: BTreeMap<u64, Computed>,
    /// Instructions of which no more is known on any way to them.
    pub(crate) on_no_way: BTreeSet<u64>,
    /// Where instructions that go to computed addresses have been seen to go.
    pub(crate) targets: BTreeMap<u64, BTreeSet<u64>>,
    /// What roles do with the heap.
    pub(crate) heap: HeapUse,
    /// Whether some role may sleep.
    pub(crate) sleeps: bool,
    /// Whether some role may ask what time it is.
    pub(crate) reads_clock: bool,
    /// Whether a role calls functions of POSIX that lock, wait or wake.
    pub(crate) has_posix: bool,
    /// The words of stacks that are accessed by numbers, so that others may.
    shared: BTreeSet<u64>,
    /// Cells in the order in which they were first met.
    met: Vec<Cell>,
    /// Whether something taken for constant may be written.
    stale: bool,
}

impl<'a> Knowledge<'a> {
    /// Nothing is written yet.
    pub(crate) fn new(memory: &'a Memory, is_by_language: bool) -> Self {
        Self {
            memory,
            is_by_language,
            written: BTreeMap::new(),
            locked: BTreeSet::new(),
            assumed: BTreeSet::new(),
            computed: BTreeMap::new(),
            on_no_way: BTreeSet::new(),
            targets: BTreeMap::new(),
            heap: HeapUse::default(),
            sleeps: false,
            reads_clock: false,
            has_posix: false,
            shared: BTreeSet::new(),
            met: Vec::new(),
            stale: false,
        }
    }

    /// Whether the code of a function that locks is followed: it needs data of the thread's own.
    pub(crate) fn follows_locks(&self, function: u64) -> bool {
        !self.memory.image.is_import(function) && !self.memory.snapshot.threads.is_empty()
    }

    /// Whether what was found so far must be found out again; from now on it need not be.
    pub(crate) fn take_stale(&mut self) -> bool {
        let stale = std::mem::take(&mut self.stale);
        if stale {
            self.assumed.clear();
            self.met.clear();
        }
        stale
    }

    /// The cells, in the order in which they were first met.
    pub(crate) fn cells(&self) -> &[Cell] {
        &self.met
    }

    /// A number as a cell of so many bytes holds it.
    pub(crate) fn value(&self, address: u64, bytes: u8) -> Option<Value> {
        self.memory.number(address, bytes).map(u64::cast_signed)
    }

    /// Whether others may access some of so many bytes that a role finds in its own frame.
    pub(crate) fn shares(&self, at: Abstract, bytes: u8) -> bool {
        let Abstract::Constant(address) = at else { return false };
        words(address.cast_unsigned(), bytes).any(|word| self.shared.contains(&word))
    }

    /// Bytes are accessed by a number: if they are of a stack, its owner finds them in memory from
    /// now on.
    pub(crate) fn share(&mut self, address: u64, bytes: u8) {
        if self.memory.is_of_a_stack(address) {
            words(address, bytes).for_each(|word| self.stale |= self.shared.insert(word));
        }
    }

    /// A load from a fixed address: what it finds, stretch by stretch.
    pub(crate) fn load(&mut self, address: u64, bytes: u8) -> Result<Vec<Stretch>, Objection> {
        self.share(address, bytes);
        let mutability = self.mutability(address)?;
        let value = self.value(address, bytes).ok_or_else(|| no_memory(address))?;
        if mutability == Mutability::ReadOnly {
            return Ok(vec![Stretch { at: 0, bytes, found: Loaded::Constant(value), into: 0 }]);
        }
        let mut stretches = Vec::new();
        for access in quadwords(address, bytes) {
            let touched = self.touching(access);
            match touched.as_slice() {
                [cell] if *cell == access || contains(*cell, access) => {}
                [] => {}
                touched if self.may_widen(access, touched) => self.widen(access, touched, Writing::Locked),
                _ => {}
            }
            self.stretches(address, access, &mut stretches)?;
        }
        Ok(stretches)
    }

    /// A store to a fixed address: the cells that it changes, all of each.
    pub(crate) fn store(&mut self, address: u64, bytes: u8) -> Result<Vec<Stretch>, Objection> {
        self.may_be_written(address, bytes)?;
        let mut stretches = Vec::new();
        for access in quadwords(address, bytes) {
            let touched = self.touching(access);
            if self.may_widen(access, &touched) && touched != [access] {
                self.widen(access, &touched, Writing::Plain);
            } else {
                for cell in touched {
                    for boundary in [access.0, access.0 + u64::from(access.1)] {
                        self.cut(access, cell, boundary)?;
                    }
                }
            }
            self.write_gaps(access);
            self.stretches(address, access, &mut stretches)?;
        }
        Ok(stretches)
    }

    /// A locked access to a fixed address: the cell that it changes, or changes a part of.
    pub(crate) fn lock(&mut self, address: u64, bytes: u8) -> Result<Cell, Objection> {
        self.may_be_written(address, bytes)?;
        if !address.is_multiple_of(u64::from(bytes)) {
            let place = self.place(address);
            return Err(Objection::new(format!("this locks {bytes} bytes at {place}, which are not aligned"))
                .with_help("x86-TSO says nothing about such accesses to shared memory"));
        }
        let access = (address, bytes);
        let touched = self.touching(access);
        let found = match touched.as_slice() {
            [] => {
                self.writes(access, Writing::Locked);
                access
            }
            [cell] if contains(*cell, access) => *cell,
            touched if self.may_widen(access, touched) => {
                self.widen(access, touched, Writing::Locked);
                access
            }
            [cell, ..] => return Err(self.mixed(access, *cell)),
        };
        self.locked.insert(access);
        self.meet(found);
        Ok(found)
    }

    fn may_be_written(&mut self, address: u64, bytes: u8) -> Result<(), Objection> {
        if address < FIRST_PAGE {
            return Err(no_memory(address));
        }
        self.share(address, bytes);
        if self.mutability(address)? == Mutability::ReadOnly {
            let place = self.place(address);
            return Err(Objection::new(format!("this writes to {place}, which is read-only")));
        }
        self.value(address, bytes).map(|_| ()).ok_or_else(|| no_memory(address))
    }

    /// Whether the cells that an access touches may become one with it: nothing stores to less of
    /// it, and none has bytes beyond it.
    fn may_widen(&self, access: Cell, touched: &[Cell]) -> bool {
        !touched.is_empty()
            && touched.iter().all(|cell| contains(access, *cell) && self.written[&cell.0].1 == Writing::Locked)
    }

    /// Makes one cell of those that an access touches.
    fn widen(&mut self, access: Cell, touched: &[Cell], writing: Writing) {
        if touched == [access] {
            return;
        }
        for (at, _) in touched {
            self.written.remove(at);
        }
        self.written.insert(access.0, (access.1, writing));
        self.stale = true;
    }

    /// Lets a cell end at an address within it.
    fn cut(&mut self, access: Cell, cell: Cell, boundary: u64) -> Result<(), Objection> {
        let is_within = |(at, bytes): Cell| at < boundary && boundary < at + u64::from(bytes);
        // The cell may have been cut before.
        let Some((at, (bytes, writing))) = self.written.range(..boundary).next_back().map(|(at, own)| (*at, *own))
        else {
            return Ok(());
        };
        if !is_within(cell) || !is_within((at, bytes)) {
            return Ok(());
        }
        if self.locked.iter().any(|locked| is_within(*locked)) {
            return Err(self.mixed(access, cell));
        }
        let first = u8::try_from(boundary - at).expect("less than a cell");
        self.written.insert(at, (first, writing));
        self.written.insert(boundary, (bytes - first, writing));
        self.stale = true;
        Ok(())
    }

    /// Lets a store write all bytes of its access: cells are written plainly, and what is between
    /// them becomes one.
    fn write_gaps(&mut self, access: Cell) {
        for (at, bytes, is_cell) in pieces(access, &self.touching(access)) {
            if is_cell {
                self.written.insert(at, (bytes, Writing::Plain));
            } else {
                self.writes((at, bytes), Writing::Plain);
            }
        }
    }

    /// What is at the bytes of an access that begins at an address, from a part of it on.
    fn stretches(&mut self, address: u64, access: Cell, found: &mut Vec<Stretch>) -> Result<(), Objection> {
        let touched = self.touching(access);
        for (at, bytes, is_cell) in pieces(access, &touched) {
            let offset = |from: u64, to: u64| u8::try_from(to - from).expect("at most 16 bytes");
            let mut stretch = Stretch { at: offset(address, at), bytes, found: Loaded::Constant(0), into: 0 };
            if is_cell {
                let cell = *touched.iter().find(|cell| contains(**cell, (at, bytes))).expect("a piece is a cell's");
                self.meet(cell);
                (stretch.found, stretch.into) = (Loaded::Cell(cell), offset(cell.0, at));
            } else {
                let value = self.value(at, bytes).ok_or_else(|| no_memory(at))?;
                self.assumed.insert((at, bytes));
                stretch.found = Loaded::Constant(value);
            }
            found.push(stretch);
        }
        Ok(())
    }

    /// A cell may be written that was not known to be.
    fn writes(&mut self, (address, bytes): Cell, writing: Writing) {
        self.written.insert(address, (bytes, writing));
        let end = address + u64::from(bytes);
        let overlaps = |(at, length): &Cell| *at < end && at + u64::from(*length) > address;
        self.stale |= self.assumed.iter().any(overlaps);
    }

    /// An access to an address that is computed as the code runs: its parts.
    pub(crate) fn compute(
        &mut self,
        instruction: u64,
        bytes: u8,
        writing: Option<Writing>,
    ) -> Result<Vec<(u8, u8)>, Objection> {
        let entry = self.computed.entry(instruction).or_default();
        (entry.bytes, entry.writes) = (bytes, writing.is_some());
        let addresses = entry.addresses.clone();
        let mut ends = BTreeSet::from([0, bytes]);
        for address in addresses.iter().copied() {
            self.share(address, bytes);
            let access = (address, bytes);
            let stretches = match writing {
                Some(Writing::Plain) => self.store(address, bytes)?,
                Some(Writing::Locked) => {
                    let cell = self.lock(address, bytes)?;
                    if cell != access {
                        return Err(self.mixed(access, cell));
                    }
                    continue;
                }
                // What nobody writes is the same in any order.
                None if self.touching(access).is_empty() => {
                    self.value(address, bytes).ok_or_else(|| no_memory(address))?;
                    continue;
                }
                None => self.load(address, bytes)?,
            };
            ends.extend(stretches.iter().flat_map(|stretch| [stretch.at, stretch.at + stretch.bytes]));
        }
        let ends: Vec<u8> = ends.into_iter().collect();
        for address in addresses {
            for end in &ends {
                let boundary = address + u64::from(*end);
                for cell in self.touching((boundary.saturating_sub(1), 2)) {
                    self.cut((address, bytes), cell, boundary)?;
                }
            }
            for pair in ends.windows(2) {
                // What nobody writes is looked up as well.
                self.meet((address + u64::from(pair[0]), pair[1] - pair[0]));
            }
        }
        let parts: Vec<(u8, u8)> = ends.windows(2).map(|pair| (pair[0], pair[1] - pair[0])).collect();
        self.computed.entry(instruction).or_default().parts.clone_from(&parts);
        Ok(parts)
    }

    /// Adds an address that an instruction with a computed address has accessed; whether it is new.
    pub(crate) fn discover(&mut self, instruction: u64, address: u64) -> bool {
        self.computed.entry(instruction).or_default().addresses.insert(address)
    }

    /// Adds an address that an instruction has gone to; whether it is new.
    pub(crate) fn discover_target(&mut self, instruction: u64, target: u64) -> bool {
        self.targets.entry(instruction).or_default().insert(target)
    }

    /// The cells in so many bytes from an address on. What roles read there and none writes is a
    /// cell from now on.
    pub(crate) fn cells_in(&mut self, base: u64, bytes: u64) -> Result<Vec<Cell>, Objection> {
        let end = base + bytes;
        let is_read = |(at, length): &Cell| *at < end && at + u64::from(*length) > base;
        let read: Vec<Cell> = self.met.iter().chain(&self.assumed).copied().filter(is_read).collect();
        for cell in read {
            if pieces(cell, &self.touching(cell)).iter().any(|(_, _, is_cell)| !is_cell) {
                self.store(cell.0, cell.1)?;
                self.stale = true;
            }
        }
        let cells: Vec<Cell> = self.written.range(base..end).map(|(at, (length, _))| (*at, *length)).collect();
        cells.iter().for_each(|cell| self.meet(*cell));
        Ok(cells)
    }

    /// Takes in a cell.
    pub(crate) fn meet(&mut self, cell: Cell) {
        if !self.met.contains(&cell) {
            self.met.push(cell);
        }
    }

    fn mutability(&self, address: u64) -> Result<Mutability, Objection> {
        self.memory.mutability(address).ok_or_else(|| no_memory(address))
    }

    /// The cells that some of the bytes belong to, in their order.
    fn touching(&self, (address, bytes): Cell) -> Vec<Cell> {
        let end = address.saturating_add(u64::from(bytes));
        let near = self.written.range(address.saturating_sub(7)..end);
        let cells = near.map(|(at, (length, _))| (*at, *length));
        cells.filter(|(at, length)| at + u64::from(*length) > address).collect()
    }

    /// Why accesses of different sizes are refused.
    pub(crate) fn mixed(&self, (address, bytes): Cell, (other, length): Cell) -> Objection {
        let (place, other) = (self.place(address), self.place(other));
        Objection::new(format!(
            "this accesses {bytes} bytes at {place}, and other code {length} bytes at {other}: stores of \
             different sizes to the same bytes are not understood"
        ))
    }

    /// An address for people.
    pub(crate) fn place(&self, address: u64) -> String {
        match self.memory.name(address) {
            Some((name, 0)) => format!("`{name}`"),
            Some((name, offset)) => format!("`{name}+{offset:#x}`"),
            None => format!("{address:#x}"),
        }
    }
}

/// The words of 8 bytes that some bytes lie in.
fn words(address: u64, bytes: u8) -> impl Iterator<Item = u64> {
    (address & !7..address.saturating_add(u64::from(bytes))).step_by(8)
}

/// Whether a cell has all bytes of another.
fn contains((at, bytes): Cell, (other, length): Cell) -> bool {
    at <= other && other + u64::from(length) <= at + u64::from(bytes)
}

/// The parts of an access that lie in different words of 8 bytes: it is none to both at once.
fn quadwords(address: u64, bytes: u8) -> Vec<Cell> {
    let end = address + u64::from(bytes);
    let (mut parts, mut at) = (Vec::new(), address);
    while at < end {
        let next = end.min((at & !7) + 8);
        parts.push((at, u8::try_from(next - at).expect("at most 8")));
        at = next;
    }
    parts
}

/// The parts of an access that lie in different cells, and those that lie in none.
fn pieces((address, bytes): Cell, touched: &[Cell]) -> Vec<(u64, u8, bool)> {
    let end = address + u64::from(bytes);
    let (mut pieces, mut at) = (Vec::new(), address);
    let mut piece = |from: u64, to: u64, is_cell: bool| {
        if from < to {
            pieces.push((from, u8::try_from(to - from).expect("at most 8"), is_cell));
        }
    };
    for (cell, length) in touched {
        piece(at, *cell, false);
        let next = end.min(cell + u64::from(*length));
        piece(at.max(*cell), next, true);
        at = next;
    }
    piece(at, end, false);
    pieces
}

/// Why an access to no memory is refused.
/// The bytes at the lowest addresses, which no process has.
const FIRST_PAGE: u64 = 4096;

fn no_memory(address: u64) -> Objection {
    if address < FIRST_PAGE {
        return Objection::new(format!("this accesses the address {address:#x}: a null pointer, or near one"))
            .with_help("`args` in a file of roles gives a role its arguments, which are 0 otherwise");
    }
    Objection::new(format!(
        "this accesses the address {address:#x}, where neither the image nor the snapshot has memory"
    ))
    .with_help("give the roles shared data that exists before they run")
}
