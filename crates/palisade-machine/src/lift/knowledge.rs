//! What is known of shared memory: which bytes roles may write, and what the others hold for good.
//!
//! A place of memory that no role writes is a constant: a pointer in a structure, an entry of a table of functions. At
//! first nothing is written. Whenever a store turns up that contradicts what was read as a constant, that knowledge is
//! stale, and all roles are gone through again.

use super::refusal::Objection;
use crate::image::{Memory, Mutability};
use palisade_model::program::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What a load finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loaded {
    /// Always this value.
    Constant(Value),
    /// What a cell holds at the time.
    Cell,
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
    /// Cells that roles may write: address to number of bytes.
    written: BTreeMap<u64, u8>,
    /// What was taken for constant: address to the number of bytes.
    assumed: BTreeSet<(u64, u8)>,
    /// Computed accesses, by the address of the instruction.
    pub(crate) computed: BTreeMap<u64, Computed>,
    /// Where instructions that go to computed addresses have been seen to go.
    pub(crate) targets: BTreeMap<u64, BTreeSet<u64>>,
    /// Cells in the order in which they were first met.
    met: Vec<(u64, u8)>,
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
    pub(crate) fn cells(&self) -> &[(u64, u8)] {
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
        self.whole_cell(address, bytes, &touched)?;
        self.meet(address, bytes);
        Ok(Loaded::Cell)
    }

    /// A store to a fixed address, or a locked access.
    pub(crate) fn store(&mut self, address: u64, bytes: u8) -> Result<(), Objection> {
        if self.mutability(address)? == Mutability::ReadOnly {
            let place = self.place(address);
            return Err(Objection::new(format!("this writes to {place}, which is read-only")));
        }
        let touched = self.touching(address, bytes);
        self.whole_cell(address, bytes, &touched)?;
        self.value(address, bytes).ok_or_else(|| no_memory(address))?;
        if touched.is_empty() {
            self.written.insert(address, bytes);
            let end = address + u64::from(bytes);
            let overlaps = |(at, length): &(u64, u8)| *at < end && at + u64::from(*length) > address;
            self.stale |= self.assumed.iter().any(overlaps);
        }
        self.meet(address, bytes);
        Ok(())
    }

    /// An access to an address that is computed as the code runs.
    pub(crate) fn compute(&mut self, instruction: u64, bytes: u8, writes: bool) -> Result<(), Objection> {
        let entry = self.computed.entry(instruction).or_default();
        (entry.bytes, entry.writes) = (bytes, writes);
        let addresses = entry.addresses.clone();
        for address in addresses {
            if writes {
                self.store(address, bytes)?;
            } else {
                let touched = self.touching(address, bytes);
                self.value(address, bytes).ok_or_else(|| no_memory(address))?;
                self.whole_cell(address, bytes, &touched)?;
                self.meet(address, bytes);
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

    fn meet(&mut self, address: u64, bytes: u8) {
        if !self.met.contains(&(address, bytes)) {
            self.met.push((address, bytes));
        }
    }

    fn mutability(&self, address: u64) -> Result<Mutability, Objection> {
        self.memory.mutability(address).ok_or_else(|| no_memory(address))
    }

    /// The cells that some of the bytes belong to.
    fn touching(&self, address: u64, bytes: u8) -> Vec<(u64, u8)> {
        let end = address.saturating_add(u64::from(bytes));
        let near = self.written.range(address.saturating_sub(7)..end);
        near.map(|(at, length)| (*at, *length)).filter(|(at, length)| at + u64::from(*length) > address).collect()
    }

    /// Refuses what is not exactly one cell.
    fn whole_cell(&self, address: u64, bytes: u8, touched: &[(u64, u8)]) -> Result<(), Objection> {
        if !address.is_multiple_of(u64::from(bytes)) {
            let place = self.place(address);
            return Err(Objection::new(format!("this accesses {bytes} bytes at {place}, which are not aligned"))
                .with_help("x86-TSO says nothing about such accesses to shared memory"));
        }
        match touched {
            [] => Ok(()),
            [cell] if *cell == (address, bytes) => Ok(()),
            [(other, length), ..] => {
                let (place, other) = (self.place(address), self.place(*other));
                Err(Objection::new(format!(
                    "this accesses {bytes} bytes at {place}, and other code {length} bytes at {other}: accesses of \
                     different sizes to the same bytes are not understood"
                )))
            }
        }
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
