//! What is known of shared memory: which bytes roles may write, and what the others hold for good.
//!
//! A place of memory that no role writes is a constant: a pointer in a structure, an entry of a table of functions. At
//! first nothing is written. Whenever a store turns up that contradicts what was read as a constant, that knowledge is
//! stale, and all roles are gone through again.

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
}

/// What is known of shared memory.
#[derive(Debug)]
pub(crate) struct Knowledge<'a> {
    /// Memory when the roles begin.
    pub(crate) memory: &'a Memory,
    /// Cells that roles may write: address to number of bytes, and how. Plain stores are of whole cells.
    written: BTreeMap<u64, (u8, Writing)>,
    /// What was taken for constant: address to the number of bytes.
    assumed: BTreeSet<(u64, u8)>,
    /// Computed accesses, by the address of the instruction.
    pub(crate) computed: BTreeMap<u64, Computed>,
    /// Where instructions that go to computed addresses have been seen to go.
    pub(crate) targets: BTreeMap<u64, BTreeSet<u64>>,
    /// Cells in the order in which they were first met.
    met: Vec<Cell>,
    /// Whether something taken for constant may be written.
    stale: bool,
}

impl<'a> Knowledge<'a> {
    /// Nothing is written yet.
    pub(crate) fn new(memory: &'a Memory) -> Self {
        Self {
            memory,
            written: BTreeMap::new(),
            assumed: BTreeSet::new(),
            computed: BTreeMap::new(),
            targets: BTreeMap::new(),
            met: Vec::new(),
            stale: false,
        }
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

    /// A load from a fixed address.
    pub(crate) fn load(&mut self, address: u64, bytes: u8) -> Result<Loaded, Objection> {
        let mutability = self.mutability(address)?;
        let touched = self.touching(address, bytes);
        if mutability == Mutability::ReadOnly || touched.is_empty() {
            let value = self.value(address, bytes).ok_or_else(|| no_memory(address))?;
            if mutability == Mutability::Writable {
                self.assumed.insert((address, bytes));
            }
            return Ok(Loaded::Constant(value));
        }
        Ok(Loaded::Cell(self.cell(address, bytes, &touched, Writing::Locked)?))
    }

    /// A store to a fixed address, or a locked access; the cell that it changes.
    pub(crate) fn store(&mut self, address: u64, bytes: u8, writing: Writing) -> Result<Cell, Objection> {
        if self.mutability(address)? == Mutability::ReadOnly {
            let place = self.place(address);
            return Err(Objection::new(format!("this writes to {place}, which is read-only")));
        }
        let touched = self.touching(address, bytes);
        let cell = self.cell(address, bytes, &touched, writing)?;
        self.value(address, bytes).ok_or_else(|| no_memory(address))?;
        if touched.is_empty() {
            self.writes(cell, writing);
        } else if writing == Writing::Plain {
            self.written.insert(cell.0, (cell.1, writing));
        }
        Ok(cell)
    }

    /// A cell may be written that was not known to be.
    fn writes(&mut self, (address, bytes): Cell, writing: Writing) {
        self.written.insert(address, (bytes, writing));
        let end = address + u64::from(bytes);
        let overlaps = |(at, length): &Cell| *at < end && at + u64::from(*length) > address;
        self.stale |= self.assumed.iter().any(overlaps);
    }

    /// An access to an address that is computed as the code runs.
    pub(crate) fn compute(&mut self, instruction: u64, bytes: u8, writing: Option<Writing>) -> Result<(), Objection> {
        let entry = self.computed.entry(instruction).or_default();
        (entry.bytes, entry.writes) = (bytes, writing.is_some());
        let addresses = entry.addresses.clone();
        for address in addresses {
            let cell = if let Some(writing) = writing {
                self.store(address, bytes, writing)?
            } else {
                let touched = self.touching(address, bytes);
                self.value(address, bytes).ok_or_else(|| no_memory(address))?;
                self.cell(address, bytes, &touched, Writing::Locked)?
            };
            if cell != (address, bytes) {
                return Err(self.mixed((address, bytes), cell));
            }
        }
        Ok(())
    }

    /// Adds an address that an instruction with a computed address has accessed; whether it is new.
    pub(crate) fn discover(&mut self, instruction: u64, address: u64) -> bool {
        self.computed.entry(instruction).or_default().addresses.insert(address)
    }

    /// Adds an address that an instruction has gone to; whether it is new.
    pub(crate) fn discover_target(&mut self, instruction: u64, target: u64) -> bool {
        self.targets.entry(instruction).or_default().insert(target)
    }

    fn meet(&mut self, cell: Cell) {
        if !self.met.contains(&cell) {
            self.met.push(cell);
        }
    }

    fn mutability(&self, address: u64) -> Result<Mutability, Objection> {
        self.memory.mutability(address).ok_or_else(|| no_memory(address))
    }

    /// The cells that some of the bytes belong to.
    fn touching(&self, address: u64, bytes: u8) -> Vec<Cell> {
        let end = address.saturating_add(u64::from(bytes));
        let near = self.written.range(address.saturating_sub(7)..end);
        let cells = near.map(|(at, (length, _))| (*at, *length));
        cells.filter(|(at, length)| at + u64::from(*length) > address).collect()
    }

    /// The cell that an access is to. A load or a locked access may be to a part of one: a load finds all of the store that it reads from,
    /// since stores are of whole cells, and what is locked changes memory with nothing in the buffer. A wider access makes a wider cell, as
    /// long as nothing stores to less of it.
    fn cell(&mut self, address: u64, bytes: u8, touched: &[Cell], writing: Writing) -> Result<Cell, Objection> {
        if !address.is_multiple_of(u64::from(bytes)) {
            let place = self.place(address);
            return Err(Objection::new(format!("this accesses {bytes} bytes at {place}, which are not aligned"))
                .with_help("x86-TSO says nothing about such accesses to shared memory"));
        }
        let access = (address, bytes);
        let is_stored = |cell: &&Cell| self.written[&cell.0].1 == Writing::Plain;
        let found = match touched {
            [] => access,
            [cell] if *cell == access => access,
            // Both are aligned, so that one lies in the other.
            [cell] if cell.1 > bytes && writing == Writing::Locked => *cell,
            [cell] if cell.1 > bytes => return Err(self.mixed(access, *cell)),
            _ => {
                if let Some(cell) = touched.iter().find(is_stored) {
                    return Err(self.mixed(access, *cell));
                }
                for (at, _) in touched {
                    self.written.remove(at);
                }
                self.written.insert(address, (bytes, writing));
                self.stale = true;
                access
            }
        };
        self.meet(found);
        Ok(found)
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

/// Why an access to no memory is refused.
fn no_memory(address: u64) -> Objection {
    Objection::new(format!(
        "this accesses the address {address:#x}, where neither the image nor the snapshot has memory"
    ))
    .with_help("give the roles shared data that exists before they run")
}
