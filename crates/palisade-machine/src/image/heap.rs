//! Where roles have the blocks that they take from the heap.
//!
//! Addresses are invented: no process has memory there. Blocks of one size class, a power of two,
//! lie side by side, each copy's own first blocks together. Whether a block is in use is a word of
//! its own, its *life*.

use std::collections::BTreeMap;

/// A role as far as the heap goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeapRole {
    /// Its name.
    pub(crate) name: String,
    /// Whether there is one copy of it: only then has it blocks of its own.
    pub(crate) is_one: bool,
}

/// The heap of the roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Heap {
    /// How many new blocks of each size a copy may take.
    pub(crate) blocks: u8,
    /// The roles, in their order.
    pub(crate) roles: Vec<HeapRole>,
    /// Where roles take the blocks of a size class, if that is one place: by the number of the role
    /// and the class.
    pub(crate) sites: BTreeMap<(usize, u8), String>,
}

/// A block that a role may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Block {
    /// Its size class: it has room for 2 to the power of this bytes.
    pub(crate) class: u8,
    /// Its number in its class.
    pub(crate) index: u8,
}

/// The first address.
const FIRST: u64 = 0x7c00_0000_0000;

/// The bytes for the blocks of a class: 2 to the power of this.
const CLASS_BITS: u32 = 32;

/// How far a block's life is from its first byte: farther than any memory.
const LIFE: u64 = 1 << 60;

impl Block {
    /// The classes: from 16 bytes to 4 KiB.
    pub(crate) const CLASSES: std::ops::RangeInclusive<u8> = 4..=12;

    /// The block that an address lies in.
    pub(crate) fn at(address: u64) -> Option<Self> {
        let from = address.checked_sub(FIRST)?;
        let class = u8::try_from(from >> CLASS_BITS).ok().filter(|class| Self::CLASSES.contains(class))?;
        let index = u8::try_from((from & ((1 << CLASS_BITS) - 1)) >> class).ok()?;
        Some(Self { class, index })
    }

    /// The class of blocks for so many bytes with an alignment; nothing where they are too many.
    pub(crate) fn class_of(bytes: u64, alignment: u64) -> Option<u8> {
        let size = bytes.max(alignment).max(1 << Self::CLASSES.start()).checked_next_power_of_two()?;
        u8::try_from(size.trailing_zeros()).ok().filter(|class| Self::CLASSES.contains(class))
    }

    /// Its first byte.
    pub(crate) fn address(self) -> u64 {
        FIRST + (u64::from(self.class) << CLASS_BITS) + (u64::from(self.index) << self.class)
    }

    /// The number of its bytes.
    pub(crate) fn bytes(self) -> u64 {
        1 << self.class
    }
}

impl Heap {
    /// The most new blocks of a size that a copy may take.
    pub(crate) const MOST_BLOCKS: u8 = 8;

    /// A block is in use. So are all those that were there before the roles began.
    pub(crate) const LIVE: i64 = 0;
    /// Whoever asks for a block may get it.
    pub(crate) const FREE: i64 = 1;
    /// It was freed, and nobody but who freed it gets it again.
    pub(crate) const DEAD: i64 = 2;

    /// What memory holds that nothing has been written to: no number that a program computes.
    pub(crate) const POISON: i64 = 0x5afe_c0de_dead_5a5a;

    /// A new block of a role.
    pub(crate) fn new_block(role: usize, class: u8, number: u8) -> Block {
        let role = u8::try_from(role).expect("a few roles");
        Block { class, index: role * Self::MOST_BLOCKS + number }
    }

    /// Where it stands whether the block is in use that begins at an address.
    pub(crate) fn life(base: u64) -> u64 {
        base + LIFE
    }

    /// The first byte of the block whose life is at an address.
    pub(crate) fn of_life(address: u64) -> Option<u64> {
        (address >> 60 == 1).then_some(address & (LIFE - 1))
    }

    /// What an address of the heap holds at first.
    pub(crate) fn number(&self, address: u64) -> Option<u64> {
        if Self::of_life(address).is_some() {
            return Some(Self::LIVE.cast_unsigned());
        }
        self.role_of(Block::at(address)?).map(|_| Self::POISON.cast_unsigned())
    }

    /// The role whose block it was first.
    fn role_of(&self, block: Block) -> Option<&HeapRole> {
        let role = self.roles.get(usize::from(block.index / Self::MOST_BLOCKS)).filter(|role| role.is_one)?;
        (block.index % Self::MOST_BLOCKS < self.blocks).then_some(role)
    }

    /// The block that an address lies in, and how far: `pusher.block0(stack.rs:23)` is the first
    /// that `pusher` takes there.
    pub(crate) fn name(&self, address: u64) -> Option<(String, u64)> {
        let block = Block::at(address)?;
        let role = self.role_of(block)?;
        let number = block.index % Self::MOST_BLOCKS;
        let site = self.sites.get(&(usize::from(block.index / Self::MOST_BLOCKS), block.class));
        let name = match site {
            Some(site) => format!("{}.block{number}({site})", role.name),
            None => format!("{}.block{number}of{}", role.name, block.bytes()),
        };
        Some((name, address - block.address()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_lie_apart_and_are_found_by_their_addresses() {
        let roles = ["one", "two"].map(|name| HeapRole { name: name.to_owned(), is_one: true }).to_vec();
        let heap = Heap { blocks: 2, roles, sites: BTreeMap::from([((1, 6), "a.rs:3".to_owned())]) };
        let mut met = std::collections::BTreeSet::new();
        for class in Block::CLASSES {
            for (role, number) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let block = Heap::new_block(role, class, number);
                for offset in [0, 1, block.bytes() - 1] {
                    let address = block.address() + offset;
                    assert_eq!(Block::at(address), Some(block));
                    assert_eq!(heap.number(address), Some(Heap::POISON.cast_unsigned()));
                    assert!(met.insert(address) && block.address().is_multiple_of(block.bytes()));
                }
                assert_eq!(Heap::of_life(Heap::life(block.address())), Some(block.address()));
            }
            assert_eq!(heap.number(Heap::new_block(1, class, 2).address()), None);
            assert_eq!(heap.number(Heap::new_block(2, class, 0).address()), None);
        }
        let block = Heap::new_block(1, 5, 1);
        assert_eq!(heap.name(block.address() + 8), Some(("two.block1of32".to_owned(), 8)));
        assert_eq!(heap.name(Heap::new_block(1, 6, 0).address()), Some(("two.block0(a.rs:3)".to_owned(), 0)));
    }

    #[test]
    fn classes_are_powers_of_two() {
        for (bytes, alignment, class) in [
            (1, 1, Some(4)),
            (16, 8, Some(4)),
            (17, 8, Some(5)),
            (24, 64, Some(6)),
            (4096, 8, Some(12)),
            (4097, 8, None),
        ] {
            assert_eq!(Block::class_of(bytes, alignment), class, "{bytes} {alignment}");
        }
    }
}
