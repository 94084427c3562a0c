//! What memory holds when the roles begin: the snapshot's words, and the file's where there are
//! none.

use super::{Fields, Heap, Image, Snapshot, Stacks};

/// Whether a place of memory may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutability {
    /// The program may write it.
    Writable,
    /// It never changes.
    ReadOnly,
}

/// Memory when the roles begin.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    /// The file.
    pub(crate) image: Image,
    /// The snapshot, empty without one.
    pub(crate) snapshot: Snapshot,
    /// The names of fields, none without debug information.
    pub(crate) fields: Fields,
    /// The blocks that roles may take from the heap; nothing where that is not followed.
    pub(crate) heap: Option<Heap>,
    /// The stacks of roles that others may access; nothing where each has its own to itself.
    pub(crate) stacks: Option<Stacks>,
}

impl Memory {
    /// The number in so many bytes.
    pub(crate) fn number(&self, address: u64, bytes: u8) -> Option<u64> {
        if let Some(number) = self.heap.as_ref().and_then(|heap| heap.number(address)) {
            return Some(number);
        }
        if self.is_of_a_stack(address) {
            return Some(0);
        }
        // What is bound to a function of another file stands for that by its name.
        let is_import = |number: &u64| self.image.is_import(*number);
        let is_fixed = self.mutability(address) == Some(Mutability::ReadOnly);
        let import = if is_fixed { self.image.number(address, bytes).filter(is_import) } else { None };
        let written = || self.snapshot.number(address, bytes);
        import.or_else(written).or_else(|| self.image.number(address, bytes))
    }

    /// Whether the address may change; nothing where there is no memory.
    pub(crate) fn mutability(&self, address: u64) -> Option<Mutability> {
        if self.heap.as_ref().is_some_and(|heap| heap.number(address).is_some()) {
            return Some(Mutability::Writable);
        }
        if self.is_of_a_stack(address) {
            return Some(Mutability::Writable);
        }
        match self.image.is_writable(address) {
            Some(false) => Some(Mutability::ReadOnly),
            Some(true) => Some(Mutability::Writable),
            None => self.snapshot.has(address).then_some(Mutability::Writable),
        }
    }

    /// Whether an address lies in a stack that others may access.
    pub(crate) fn is_of_a_stack(&self, address: u64) -> bool {
        self.stacks.as_ref().is_some_and(|stacks| stacks.has(address))
    }

    /// A cell for people: the field or object that it lies in and how far.
    pub(crate) fn name(&self, address: u64) -> Option<(String, u64)> {
        let on_stack = || Some((self.stacks.as_ref()?.name(address)?, 0));
        self.fields.name(address).or_else(|| self.object(address)).or_else(|| self.block(address)).or_else(on_stack)
    }

    /// The block of the heap that an address lies in and how far; that a block is in use is its
    /// `life`.
    fn block(&self, address: u64) -> Option<(String, u64)> {
        let heap = self.heap.as_ref()?;
        let Some(base) = Heap::of_life(address) else { return heap.name(address) };
        let (name, offset) = heap.name(base).or_else(|| self.fields.name(base)).or_else(|| self.object(base))?;
        let place = if offset == 0 { name } else { format!("{name}+{offset:#x}") };
        Some((format!("{place}.life"), 0))
    }

    /// The symbol or object that an address lies in and how far.
    pub(crate) fn object(&self, address: u64) -> Option<(String, u64)> {
        if let Some((symbol, offset)) = self.image.symbol_at(address, false) {
            return Some((symbol.name.clone(), offset));
        }
        let object = self
            .snapshot
            .objects
            .iter()
            .find(|object| (object.address..object.address + object.size.max(1)).contains(&address))?;
        Some((object.name.clone(), address - object.address))
    }
}
