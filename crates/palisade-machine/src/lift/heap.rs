//! Memory that roles take from the heap and give back: what is known of it, and what a call does.
//!
//! The allocator is not followed. By contract it gives a block to another thread under a lock, and
//! leaves blocks in use alone. So a call that takes memory returns one of three kinds of block,
//! whichever:
//!
//! - A new one, of which each copy has a few of its own. That drains no store buffer: `Box::new` is
//!   no fence.
//! - One that the same copy has freed and kept, as caches of threads do. That drains nothing
//!   either.
//! - One that somebody has freed for others. What he stored before is in memory by then, since his
//!   stores are in order; and whoever takes it holds the allocator's lock, so that his own stores
//!   are in memory as well.
//!
//! A call that frees a block says so in its *life*, by stores that wait in the buffer behind older
//! ones; it writes poison over it if somebody may get it again. Whoever accesses a block looks at
//! its life first: a block that is not in use is a failure there. Reading memory that nothing has
//! written finds poison, with which nothing may be computed (`poison`).

use super::RoleCode;
use super::abstraction::Abstract;
use super::contexts::Place;
use super::environment::{ARGUMENTS, Environment};
use super::knowledge::Knowledge;
use super::micro::Micro;
use super::refusal::Objection;
use super::transfer::known;
use crate::image::{Block, Heap, Memory};
use palisade_model::program::{BinaryOperator as Op, Expression, HeapBlocks};
use palisade_syntax::x86::Atom;
use palisade_syntax::x86::fold::binary;
use std::collections::{BTreeMap, BTreeSet};

/// A function of an allocator, with where its arguments are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeapFunction {
    /// It takes memory: the number of bytes, and the alignment where it is given one.
    Take { bytes: usize, alignment: Option<usize>, is_zero: bool },
    /// It takes so many elements of so many bytes, all 0.
    TakeMany,
    /// It gives back what its first argument points to: the number of bytes and the alignment where
    /// it is told.
    Give { bytes: Option<usize>, alignment: Option<usize> },
    /// It changes the size of a block.
    Resize,
}

/// What a step does to the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeapStep {
    /// A block of a size class is taken; it may have to hold 0.
    Take { class: u8, is_zero: bool },
    /// A block is taken whose size is computed as the code runs, with an alignment.
    TakeComputed { size: Size, alignment: u64, is_zero: bool },
    /// A block is given back: what is known of its bytes, and its class.
    Give(Option<(u64, u8)>),
}

/// Where a number of bytes is that is computed as the code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// In this register.
    In(u8),
    /// It is the product of the first two arguments.
    Product,
}

impl Size {
    /// The number, over the atoms.
    pub(crate) fn expression(self) -> Expression {
        match self {
            Self::In(family) => Atom::Family(family).expression(),
            Self::Product => {
                let [one, two] = [ARGUMENTS[0], ARGUMENTS[1]].map(|family| Atom::Family(family).expression());
                binary(Op::Multiply, one, two)
            }
        }
    }
}

const NAMES: [(&str, HeapFunction); 17] = [
    ("__rust_alloc", taking(0, Some(1), false)),
    ("__rust_alloc_zeroed", taking(0, Some(1), true)),
    ("__rust_dealloc", HeapFunction::Give { bytes: Some(1), alignment: Some(2) }),
    ("__rust_realloc", HeapFunction::Resize),
    ("malloc", taking(0, None, false)),
    ("calloc", HeapFunction::TakeMany),
    ("realloc", HeapFunction::Resize),
    ("aligned_alloc", taking(1, Some(0), false)),
    ("memalign", taking(1, Some(0), false)),
    ("free", HeapFunction::Give { bytes: None, alignment: None }),
    ("cfree", HeapFunction::Give { bytes: None, alignment: None }),
    // C++: `operator new` and `operator delete`, for one and for several.
    ("_Znwm", taking(0, None, false)),
    ("_Znam", taking(0, None, false)),
    ("_ZdlPv", HeapFunction::Give { bytes: None, alignment: None }),
    ("_ZdaPv", HeapFunction::Give { bytes: None, alignment: None }),
    ("_ZdlPvm", HeapFunction::Give { bytes: Some(1), alignment: None }),
    ("_ZdaPvm", HeapFunction::Give { bytes: Some(1), alignment: None }),
];

const fn taking(bytes: usize, alignment: Option<usize>, is_zero: bool) -> HeapFunction {
    HeapFunction::Take { bytes, alignment, is_zero }
}

impl HeapFunction {
    /// The function of a name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let name = name.trim_start_matches("__rustc::");
        NAMES.iter().find(|(listed, _)| *listed == name).map(|(_, function)| *function)
    }

    /// The steps of a call with the arguments that it is given.
    pub(crate) fn steps(self, environment: &Environment, knowledge: &Knowledge<'_>) -> Result<Vec<Micro>, Objection> {
        let argument = |index: usize| environment.family(ARGUMENTS[index]);
        let number = |index: usize| argument(index).constant().map(i64::cast_unsigned);
        let class = |bytes: u64, alignment: u64| {
            Block::class_of(bytes, alignment)
                .ok_or_else(|| Objection::new(format!("{bytes} bytes are allocated at once, more than 4 KiB")))
        };
        let taking = |bytes: Option<u64>, size: Size, alignment: Option<u64>, is_zero: bool| {
            let alignment = alignment.unwrap_or(1);
            match bytes {
                Some(bytes) => Ok(HeapStep::Take { class: class(bytes, alignment)?, is_zero }),
                None if known(&size.expression(), environment).is_number() => {
                    Ok(HeapStep::TakeComputed { size, alignment, is_zero })
                }
                None => Err(Objection::new("memory is allocated, and how much is not known")),
            }
        };
        let step = match self {
            Self::Take { bytes, alignment, is_zero } => {
                taking(number(bytes), Size::In(ARGUMENTS[bytes]), alignment.and_then(number), is_zero)?
            }
            Self::TakeMany => {
                let bytes = number(0).zip(number(1)).and_then(|(count, bytes)| count.checked_mul(bytes));
                taking(bytes, Size::Product, None, true)?
            }
            Self::Give { .. } if argument(0).constant() == Some(0) => return Ok(Vec::new()),
            Self::Give { bytes, alignment } => {
                let layout = bytes.and_then(number).map(|bytes| {
                    let alignment = alignment.and_then(number).unwrap_or(1);
                    class(bytes, alignment).map(|class| (bytes, class))
                });
                HeapStep::Give(layout.transpose()?)
            }
            Self::Resize => return Err(Objection::new("the size of allocated memory is changed")),
        };
        let takes = !matches!(step, HeapStep::Give(_));
        if takes && !knowledge.memory.heap.as_ref().is_some_and(|heap| heap.roles[knowledge.heap.role].is_one) {
            return Err(Objection::new("a role of any number of copies takes memory from the heap")
                .with_help("ask about a fixed number of copies"));
        }
        Ok(vec![Micro::Heap(step)])
    }
}

/// What roles do with the heap, as far as it is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct HeapUse {
    /// The role that is being looked at.
    pub(crate) role: usize,
    /// The size classes that roles take.
    takes: BTreeMap<usize, BTreeSet<u8>>,
    /// The calls by which roles give back, by the addresses of the instructions.
    gives: BTreeMap<usize, BTreeSet<u64>>,
    /// The blocks from before the roles began that they may free: where they begin to their bytes
    /// and size classes.
    freed: BTreeMap<u64, (u64, u8)>,
}

impl HeapStep {
    /// Applies the step at an instruction.
    pub(crate) fn apply(
        self,
        instruction: u64,
        environment: &mut Environment,
        knowledge: &mut Knowledge<'_>,
    ) -> Result<(), Objection> {
        let role = knowledge.heap.role;
        match self {
            Self::Take { class, .. } => {
                knowledge.heap.takes.entry(role).or_default().insert(class);
                environment.set_family(0, Abstract::Number(64));
            }
            Self::TakeComputed { alignment, .. } => {
                let classes: Vec<u8> = knowledge.classes(instruction, alignment).into_values().flatten().collect();
                knowledge.heap.takes.entry(role).or_default().extend(classes);
                environment.set_family(0, Abstract::Number(64));
            }
            Self::Give(layout) => {
                knowledge.heap.gives.entry(role).or_default().insert(instruction);
                match environment.family(ARGUMENTS[0]).whole() {
                    Abstract::Constant(pointer) => {
                        knowledge.discover_target(instruction, pointer.cast_unsigned());
                    }
                    Abstract::Number(_) => {}
                    _ => return Err(Objection::new("what is freed may be memory of the role's own stack frame")),
                }
                for base in knowledge.targets.get(&instruction).cloned().unwrap_or_default() {
                    if base == 0 || Block::at(base).is_some() || knowledge.memory.number(base, 1).is_none() {
                        continue;
                    }
                    let Some((bytes, class)) = layout else {
                        let place = knowledge.place(base);
                        return Err(Objection::new(format!("{place} is freed, and how large it is, is not known")));
                    };
                    let known = knowledge.heap.freed.entry(base).or_insert((bytes, class));
                    known.0 = known.0.max(bytes);
                }
                environment.set_family(0, Abstract::Constant(0));
            }
        }
        Ok(())
    }
}

impl Knowledge<'_> {
    /// Whether the heap is followed.
    pub(crate) fn follows_heap(&self) -> bool {
        self.memory.heap.is_some()
    }

    /// The numbers of bytes that an instruction has been seen to take, with their size classes.
    pub(crate) fn classes(&self, instruction: u64, alignment: u64) -> BTreeMap<u64, Option<u8>> {
        let sizes = self.targets.get(&instruction).into_iter().flatten();
        sizes.map(|bytes| (*bytes, Block::class_of(*bytes, alignment))).collect()
    }

    /// The bytes and the size class of a block that begins at an address.
    pub(crate) fn block(&self, base: u64) -> Option<(u64, u8)> {
        let own = Block::at(base).filter(|block| block.address() == base).map(|block| (block.bytes(), block.class));
        own.or_else(|| self.heap.freed.get(&base).copied())
    }

    /// The block from before the roles began that an address lies in, and that may be freed.
    pub(crate) fn freed_at(&self, address: u64) -> Option<(u64, u64)> {
        let (base, (bytes, _)) = self.heap.freed.range(..=address).next_back()?;
        (address - base < *bytes).then_some((*base, *bytes))
    }

    /// Whether what an address holds may be gone, and nothing be written there again.
    pub(crate) fn may_be_poison(&self, address: u64) -> bool {
        Block::at(address).is_some()
            || self.memory.is_of_a_stack(address)
            || self
                .freed_at(address)
                .is_some_and(|(base, _)| self.block(base).is_some_and(|(_, class)| self.is_taken(class)))
    }

    fn is_taken(&self, class: u8) -> bool {
        self.heap.takes.values().any(|classes| classes.contains(&class))
    }

    /// Who may get a block of a class that the role which is being looked at has freed: the same
    /// copy, others.
    pub(crate) fn takers(&self, class: u8) -> (bool, bool) {
        let mut takers = self.heap.takes.iter().filter(|(_, classes)| classes.contains(&class)).map(|(role, _)| *role);
        let own = self.heap.role;
        (takers.clone().any(|role| role == own), takers.any(|role| role != own))
    }

    /// All blocks of a class that some role may free, in order; those that the role which is being
    /// looked at may free; those that others may.
    pub(crate) fn given(&self, class: u8) -> [BTreeSet<u64>; 3] {
        let mut given: [BTreeSet<u64>; 3] = Default::default();
        for (role, instructions) in &self.heap.gives {
            let bases = instructions.iter().filter_map(|instruction| self.targets.get(instruction)).flatten();
            let of_class = bases.filter(|base| self.block(**base).is_some_and(|(_, own)| own == class));
            for base in of_class {
                given[0].insert(*base);
                given[if *role == self.heap.role { 1 } else { 2 }].insert(*base);
            }
        }
        given
    }

    /// The address of the life of a block.
    pub(crate) fn life(&mut self, base: u64) -> u64 {
        let life = Heap::life(base);
        self.meet((life, 8));
        life
    }
}

/// The blocks of one size class that a role takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    /// How many at most; nothing for any number.
    pub(crate) most: Option<u64>,
    /// The places that take them, by number.
    pub(crate) places: BTreeSet<usize>,
}

/// How many blocks of each class control takes at most on its way from a place; nothing for any
/// number.
pub(crate) fn most_taken(
    ways: &BTreeMap<Place, Vec<Place>>,
    takes: &BTreeMap<Place, BTreeSet<u8>>,
) -> BTreeMap<u8, Option<u64>> {
    // Which other places that take follow on each of them.
    let mut follows: BTreeMap<Place, BTreeSet<Place>> = BTreeMap::new();
    for place in takes.keys() {
        let (mut met, mut open) = (BTreeSet::new(), vec![*place]);
        while let Some(place) = open.pop() {
            open.extend(ways.get(&place).into_iter().flatten().filter(|next| met.insert(**next)));
        }
        follows.insert(*place, met.into_iter().filter(|place| takes.contains_key(place)).collect());
    }
    let mut most = BTreeMap::new();
    for class in takes.values().flatten().copied().collect::<BTreeSet<u8>>() {
        let of_class: Vec<Place> =
            takes.iter().filter(|(_, own)| own.contains(&class)).map(|(place, _)| *place).collect();
        let is_again = of_class.iter().any(|place| follows[place].contains(place));
        // Whoever is followed by fewer comes later: there are no circles.
        let mut longest: BTreeMap<Place, u64> = BTreeMap::new();
        let mut ordered = of_class.clone();
        ordered.sort_by_key(|place| follows[place].iter().filter(|other| of_class.contains(other)).count());
        for place in ordered {
            let behind = follows[&place].iter().filter_map(|other| longest.get(other)).max().copied().unwrap_or(0);
            longest.insert(place, behind + 1);
        }
        most.insert(class, longest.values().max().copied().filter(|_| !is_again));
    }
    most
}

/// The sizes of blocks that roles take, with how many new ones a copy has where it could take more.
pub(crate) fn blocks<'r>(
    memory: &Memory,
    roles: &[RoleCode],
    takes: impl Iterator<Item = &'r BTreeMap<u8, Taken>>,
) -> Vec<HeapBlocks> {
    let Some(heap) = &memory.heap else { return Vec::new() };
    let mut all: BTreeMap<u8, Option<u64>> = BTreeMap::new();
    for (role, takes) in roles.iter().zip(takes) {
        for (class, Taken { most, .. }) in takes {
            let is_enough = !role.repeats && most.is_some_and(|most| most <= heap.blocks.into());
            let known = all.entry(*class).or_default();
            *known = known.or((!is_enough).then_some(heap.blocks.into()));
        }
    }
    all.into_iter().map(|(class, most)| HeapBlocks { bytes: 1 << class, most }).collect()
}
