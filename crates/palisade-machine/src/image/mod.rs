//! What is in the file that holds the code: bytes at addresses, symbols, positions in the sources.
//!
//! The libraries that read ELF and DWARF are used here and nowhere else.

mod elf;
mod fields;
mod heap;
mod lines;
mod memory;
mod snapshot;
mod stacks;
mod types;

pub(crate) use elf::Image;
pub(crate) use fields::Fields;
pub(crate) use heap::{Block, Heap, HeapRole};
pub(crate) use lines::{Frame, Lines, is_header};
pub(crate) use memory::{Memory, Mutability};
pub(crate) use snapshot::{SharedObject, Snapshot, SnapshotError, SnapshotThread};
pub(crate) use stacks::Stacks;
