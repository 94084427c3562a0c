//! What a step does to what is known: registers, flags, the frame, and which shared memory it
//! accesses.

use super::abstraction::Abstract;
use super::copies::{Copying, filled, words};
use super::decode::{MemoryOperand, VectorPlace};
use super::environment::Environment;
use super::futex::Futex;
use super::knowledge::{Cell, Knowledge, Loaded, Stretch, Writing};
use super::micro::{Micro, address};
use super::posix::Posix;
use super::refusal::Objection;
use super::stubs::ERROR_NUMBER;
use palisade_model::program::{BinaryOperator as Op, Expression, UnaryOperator, Value};
use palisade_syntax::x86::fold::{binary, select};
use palisade_syntax::x86::lowerer::Slot;
use palisade_syntax::x86::{Access, Atom, Meaning};
use std::collections::BTreeSet;

/// Where an operand in memory is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Spot {
    /// In the role's own frame, so far from where it began.
    Frame(i64),
    /// In shared memory, at this address.
    Fixed(u64),
    /// In shared memory: a part of the cell of so many bytes at this address, from this bit on.
    Part(Cell, u8),
    /// In shared memory, at an address over the atoms: these parts from there on, by their first
    /// bytes and their numbers.
    Computed(Expression, Vec<(u8, u8)>),
    /// In shared memory: in several cells, or in one and beside it, in the order of their
    /// addresses.
    Parts(Vec<Stretch>),
    /// In memory that always holds this value.
    Constant(Value),
}

/// What to do about pointers to what is on a stack.
const SHARE_STACKS: &str = "`.share_stacks()`, `stacks = true` in a file of roles, lets each of a fixed number of copies share what is on its stack";

/// Nothing is said of the order of more accesses than this.
const MOST_PARTS: usize = 6;

impl Spot {
    /// Whether it is in several cells, or in one and beside it.
    pub(crate) fn is_divided(&self) -> bool {
        match self {
            Self::Parts(_) => true,
            Self::Computed(_, parts) => parts.len() > 1,
            _ => false,
        }
    }

    /// How many accesses to shared memory there are.
    pub(crate) fn accesses(&self) -> usize {
        match self {
            Self::Frame(_) | Self::Constant(_) => 0,
            Self::Fixed(_) | Self::Part(..) => 1,
            Self::Computed(_, parts) => parts.len(),
            Self::Parts(stretches) => {
                stretches.iter().filter(|stretch| matches!(stretch.found, Loaded::Cell(_))).count()
            }
        }
    }
}

/// What applying a step has shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Applied {
    /// Where its operands in memory are, with their bytes.
    pub(crate) spots: Vec<(Spot, u8)>,
    /// Registers that hold no number afterwards.
    pub(crate) omitted: Vec<Slot>,
    /// The offsets and bytes of the frame that hold no number afterwards.
    pub(crate) pointers: Vec<(i64, u8)>,
}

/// What is known of an expression over the atoms.
pub(crate) fn known(expression: &Expression, environment: &Environment) -> Abstract {
    Abstract::of(expression, &|register| environment.atom(register, Abstract::Unknown), Abstract::Unknown).whole()
}

/// Applies a step of the instruction at an address.
pub(crate) fn apply(
    micro: &Micro,
    instruction: u64,
    environment: &mut Environment,
    knowledge: &mut Knowledge<'_>,
) -> Result<Applied, Objection> {
    let mut transfer = Transfer { instruction, environment, knowledge, applied: Applied::default() };
    match micro {
        Micro::Table(meaning, memory) => transfer.table(meaning, *memory)?,
        Micro::Vector(to, from, bytes) => transfer.vector(*to, *from, *bytes)?,
        Micro::Copying(copying, bytes) => transfer.copying(*copying, *bytes)?,
        Micro::Futex(futex) => transfer.futex(*futex)?,
        Micro::Posix(posix) => transfer.posix(*posix)?,
        Micro::Heap(step) => step.apply(instruction, transfer.environment, transfer.knowledge)?,
        Micro::Load(memory) => {
            let spot = transfer.spot(*memory, &Access::Load)?;
            transfer.applied.spots.push((spot, memory.bytes));
        }
        Micro::Fence | Micro::StoreFence => {}
    }
    Ok(transfer.applied)
}

/// Whether an expression, which may be the result, is what the operand holds already.
fn is_old(value: &Expression, result: Option<&Expression>) -> bool {
    match value {
        Expression::Old => true,
        Expression::Unary(UnaryOperator::Truncate { .. }, value) => is_old(value, result),
        Expression::Binary(Op::Add | Op::Subtract | Op::BitOr, value, none) => {
            **none == Expression::Constant(0) && is_old(value, result)
        }
        value if *value == Atom::Result.expression() => result.is_some_and(|result| is_old(result, None)),
        _ => false,
    }
}

struct Transfer<'a, 'm> {
    /// The address of the instruction.
    instruction: u64,
    environment: &'a mut Environment,
    knowledge: &'a mut Knowledge<'m>,
    applied: Applied,
}

impl Transfer<'_, '_> {
    fn table(&mut self, meaning: &Meaning, memory: Option<MemoryOperand>) -> Result<(), Objection> {
        let spot = match memory {
            Some(memory) if meaning.access != Access::None => Some((self.spot(memory, &meaning.access)?, memory.bytes)),
            _ => None,
        };
        if let Some((spot, _)) = &spot {
            in_few(spot.accesses())?;
        }
        let old = match &spot {
            None => Abstract::Unknown,
            Some((spot, bytes)) => self.old(spot, *bytes),
        };
        let before = self.environment.clone();
        let result = meaning.result.as_ref().map_or(Abstract::Unknown, |result| {
            Abstract::of(result, &|register| before.atom(register, Abstract::Unknown), old)
        });
        let of = |expression: &Expression| Abstract::of(expression, &|register| before.atom(register, result), old);
        for (flag, value) in &meaning.flags {
            let value = value.as_ref().map_or(Abstract::Number(1), of).whole();
            self.environment.set_flag(*flag, value);
            self.note(Slot::Flag(*flag), value);
        }
        for (family, value) in meaning.registers() {
            let value = of(&value);
            self.environment.set_family(family, value);
            self.note(Slot::Family(family), value);
        }
        for (half, value) in &meaning.vectors {
            self.set_vector(half.number, half.upper, of(value));
        }
        let stored = match &meaning.access {
            Access::None | Access::Load => None,
            // `lock addl $0, (%rsp)` is a fence, and leaves what is there.
            Access::LoadStore(value) | Access::Locked(value) if is_old(value, meaning.result.as_ref()) => None,
            Access::Store(value) | Access::LoadStore(value) | Access::Locked(value) => Some(of(value)),
            Access::CompareExchange { expected, new } => {
                let equal = binary(Op::Equal, expected.clone(), Expression::Old);
                if !of(expected).is_number() && !matches!(spot, Some((Spot::Frame(_), _))) {
                    return Err(escapes());
                }
                let chosen = of(&select(equal, new.clone(), Expression::Old));
                Some(if of(new).is_number() { chosen } else { Abstract::Unknown })
            }
        };
        if let (Some((spot, bytes)), Some(value)) = (&spot, stored) {
            self.stored(spot, *bytes, value)?;
        }
        self.applied.spots.extend(spot);
        Ok(())
    }

    fn note(&mut self, slot: Slot, value: Abstract) {
        // Of a register that was written in part, the part that is a number is right in the program
        // as well.
        if !value.has_number() {
            self.applied.omitted.push(slot);
        }
    }

    /// Where an operand is, and that it may be accessed in this way.
    fn spot(&mut self, memory: MemoryOperand, access: &Access) -> Result<Spot, Objection> {
        let bytes = memory.bytes;
        if !matches!(bytes, 1 | 2 | 4 | 8) {
            return Err(Objection::new("operands of this size are not understood"));
        }
        let writing = match access {
            Access::Load => None,
            Access::Locked(_) | Access::CompareExchange { .. } => Some(Writing::Locked),
            Access::None | Access::Store(_) | Access::LoadStore(_) => Some(Writing::Plain),
        };
        let expression = address(memory);
        let at = known(&expression, self.environment);
        match (at, self.environment.in_frame(at)) {
            (_, Some(offset)) if offset + i64::from(bytes) > 8 => {
                Err(Objection::new("this accesses memory of the role's caller, beyond its own frame"))
            }
            (_, Some(offset)) if !self.knowledge.shares(at, bytes) => Ok(Spot::Frame(offset)),
            (Abstract::Constant(address), _) => {
                let address = address.cast_unsigned();
                let stretches = match writing {
                    None => self.knowledge.load(address, bytes)?,
                    Some(Writing::Plain) => self.knowledge.store(address, bytes)?,
                    Some(Writing::Locked) => {
                        let cell = self.knowledge.lock(address, bytes)?;
                        if cell != (address, bytes) && matches!(access, Access::CompareExchange { .. }) {
                            return Err(self.knowledge.mixed((address, bytes), cell));
                        }
                        let into = u8::try_from(address - cell.0).expect("less than a cell");
                        vec![Stretch { at: 0, bytes, found: Loaded::Cell(cell), into }]
                    }
                };
                Ok(match stretches.as_slice() {
                    [Stretch { found: Loaded::Constant(value), .. }] => Spot::Constant(*value),
                    [Stretch { found: Loaded::Cell(cell), .. }] if *cell == (address, bytes) => Spot::Fixed(address),
                    [Stretch { found: Loaded::Cell(cell), into, .. }] => Spot::Part(*cell, into * 8),
                    _ => Spot::Parts(stretches),
                })
            }
            (Abstract::Number(_), _) => {
                let parts = self.knowledge.compute(self.instruction, bytes, writing)?;
                Ok(Spot::Computed(expression, parts))
            }
            (Abstract::Frame(_) | Abstract::Unknown | Abstract::Low(_), _) => Err(Objection::new(
                "this address may point into the role's own stack frame or not, depending on the path",
            )
            .on_some_ways()
            .with_help(SHARE_STACKS)),
        }
    }

    fn old(&self, spot: &Spot, bytes: u8) -> Abstract {
        match spot {
            Spot::Frame(offset) => self.environment.read_frame(*offset, bytes),
            Spot::Constant(value) => Abstract::Constant(*value),
            Spot::Fixed(_) | Spot::Part(..) | Spot::Computed(..) | Spot::Parts(_) => Abstract::Number(bytes * 8),
        }
    }

    fn stored(&mut self, spot: &Spot, bytes: u8, value: Abstract) -> Result<(), Objection> {
        match spot {
            Spot::Frame(offset) => {
                self.environment.write_frame(*offset, bytes, value);
                if !value.is_number() {
                    self.applied.pointers.push((*offset, bytes));
                }
                Ok(())
            }
            _ if !value.is_number() => Err(escapes()),
            _ => Ok(()),
        }
    }

    /// A copy sleeps at a word, or wakes those that do.
    fn futex(&mut self, futex: Futex) -> Result<(), Objection> {
        self.word(Futex::WORD)?;
        self.knowledge.sleeps |= futex.is_wait();
        self.environment.write_frame(ERROR_NUMBER, 4, Abstract::Number(32));
        self.returned(futex.result());
        Ok(())
    }

    /// A copy locks, waits or wakes by a function of POSIX.
    fn posix(&mut self, posix: Posix) -> Result<(), Objection> {
        for operand in posix.operands() {
            self.word(operand)?;
            if !matches!(self.applied.spots.last(), Some((Spot::Fixed(_), _))) {
                return Err(Objection::new("it is not known which lock, semaphore or condition variable this is"));
            }
        }
        if let Some(Abstract::Constant(mutex)) = posix.mutex().map(|mutex| known(&address(mutex), self.environment)) {
            let kind = self.knowledge.value(Posix::kind_of(mutex.cast_unsigned()), 4);
            if !kind.is_some_and(Posix::is_plain) {
                return Err(Objection::new(
                    "this mutex is recursive, checks errors, or outlives its owner: plain ones alone are understood",
                ));
            }
        }
        self.knowledge.sleeps |= posix.may_wait();
        self.knowledge.has_posix = true;
        if posix.sets_error() {
            self.environment.write_frame(ERROR_NUMBER, 4, Abstract::Number(32));
        }
        let done = Abstract::Constant(0);
        self.returned(posix.failure().map_or(done, |(number, _)| done.join(Abstract::Constant(number))));
        Ok(())
    }

    /// A word at which copies wait. Where it lies on a stack that others access, it is in memory
    /// from now on.
    fn word(&mut self, word: MemoryOperand) -> Result<(), Objection> {
        let (expected, new) = (Expression::Constant(0), Expression::Old);
        let access = Access::CompareExchange { expected, new };
        // Compilers merge calls about several words, of which each has sleepers of its own.
        let is_computed = matches!(known(&address(word), self.environment), Abstract::Number(_));
        if is_computed && !self.knowledge.on_no_way.contains(&self.instruction) {
            return Err(Objection::wish());
        }
        let mut spot = self.spot(word, &access)?;
        if let Spot::Frame(offset) = spot {
            let Abstract::Constant(at) = self.environment.frame_at(offset) else {
                return Err(
                    Objection::new("copies sleep at a word in the role's own stack frame").with_help(SHARE_STACKS)
                );
            };
            self.knowledge.share(at.cast_unsigned(), word.bytes);
            spot = self.spot(word, &access)?;
        }
        self.applied.spots.push((spot, word.bytes));
        Ok(())
    }

    /// What a function returns.
    fn returned(&mut self, result: Abstract) {
        self.environment.set_family(0, result);
        self.note(Slot::Family(0), result);
    }

    /// Memory that a function copies, fills or compares: what it reads, then what it writes.
    fn copying(&mut self, copying: Copying, bytes: u16) -> Result<(), Objection> {
        let (mut parts, mut computed, mut values) = (0, BTreeSet::new(), Vec::new());
        let (reads_first, reads_second) = copying.reads();
        for (is_first, is_read) in [(true, reads_first), (false, reads_second)] {
            for word in words(is_first, bytes).into_iter().filter(|_| is_read) {
                let spot = self.spot(word, &Access::Load)?;
                parts += spot.accesses();
                if matches!(spot, Spot::Computed(..)) {
                    computed.insert((is_first, word.bytes));
                }
                values.push(self.old(&spot, word.bytes));
                self.applied.spots.push((spot, word.bytes));
            }
        }
        in_few(parts)?;
        if !copying.writes() {
            if values.iter().any(|value| !value.is_number()) {
                return Err(Objection::new("pointers into the role's own stack frame are compared byte by byte"));
            }
            self.environment.set_family(0, Abstract::Number(32));
            return only_one_computed(&computed);
        }
        let (returned, second) = (self.environment.family(7), self.environment.family(6));
        let mut parts = 0;
        for (index, word) in words(true, bytes).into_iter().enumerate() {
            let spot = self.spot(word, &Access::Store(Expression::Constant(0)))?;
            parts += spot.accesses();
            if matches!(spot, Spot::Computed(..)) {
                computed.insert((true, word.bytes));
            }
            let value = values.get(index).copied().unwrap_or_else(|| match second.truncated(8, false) {
                Abstract::Constant(byte) => known(&filled(Expression::Constant(byte), word.bytes), self.environment),
                byte if byte.is_number() => Abstract::Number(word.bytes * 8),
                _ => Abstract::Unknown,
            });
            self.stored(&spot, word.bytes, value)?;
            self.applied.spots.push((spot, word.bytes));
        }
        in_few(parts)?;
        self.environment.set_family(0, returned);
        self.note(Slot::Family(0), returned);
        only_one_computed(&computed)
    }

    fn set_vector(&mut self, number: u8, upper: bool, value: Abstract) {
        let value = value.whole();
        self.environment.set_vector(number, upper, value);
        self.note(Slot::Vector { number, upper }, value);
    }

    /// Copies of up to 16 bytes, as one or two of at most 8.
    fn vector(&mut self, to: VectorPlace, from: VectorPlace, bytes: u8) -> Result<(), Objection> {
        let halves: &[(Value, u8)] = if bytes == 16 { &[(0, 8), (8, 8)] } else { &[(0, bytes)] };
        let (mut values, mut read, mut written) = (Vec::new(), 0, 0);
        for (offset, length) in halves {
            values.push(
                match from {
                    VectorPlace::Vector(number) => self.environment.vector(number, *offset == 8),
                    VectorPlace::General(family, _) => self.environment.family(family),
                    VectorPlace::Memory(memory) => {
                        let half = half(memory, *offset, *length);
                        let spot = self.spot(half, &Access::Load)?;
                        read += spot.accesses();
                        let value = self.old(&spot, *length);
                        self.applied.spots.push((spot, *length));
                        value
                    }
                }
                .truncated(length * 8, *length == 8),
            );
        }
        for ((offset, length), value) in halves.iter().zip(values.clone()) {
            match to {
                VectorPlace::Vector(number) => self.set_vector(number, *offset == 8, value),
                VectorPlace::General(family, _) => {
                    self.environment.set_family(family, value);
                    self.note(Slot::Family(family), value);
                }
                VectorPlace::Memory(memory) => {
                    let access = Access::Store(Expression::Constant(0));
                    let spot = self.spot(half(memory, *offset, *length), &access)?;
                    written += spot.accesses();
                    self.stored(&spot, *length, value)?;
                    self.applied.spots.push((spot, *length));
                }
            }
        }
        in_few(read)?;
        in_few(written)?;
        // A copy from memory, or of less than 16 bytes from another register, clears the upper
        // half.
        if let (VectorPlace::Vector(number), true) = (to, bytes < 16) {
            self.set_vector(number, true, Abstract::Constant(0));
        }
        Ok(())
    }
}

/// Cells of computed addresses are known by instruction: they are all of one size, and either read
/// or written.
fn only_one_computed(computed: &BTreeSet<(bool, u8)>) -> Result<(), Objection> {
    if computed.len() <= 1 {
        return Ok(());
    }
    Err(Objection::new(
        "memory is copied or compared by a function between addresses that are computed as the code runs",
    ))
}

/// An access in a few parts is one in any order of them.
fn in_few(parts: usize) -> Result<(), Objection> {
    if parts <= MOST_PARTS {
        return Ok(());
    }
    Err(Objection::new(format!(
        "this accesses {parts} cells of shared memory at once, and nothing says in which order"
    ))
    .with_help("keep shared data in words of at most 8 bytes, each accessed as a whole"))
}

fn half(memory: MemoryOperand, offset: Value, bytes: u8) -> MemoryOperand {
    MemoryOperand { displacement: memory.displacement.wrapping_add(offset), bytes, ..memory }
}

fn escapes() -> Objection {
    Objection::new("a pointer into the role's own stack frame is stored where others can read it")
        .with_help(SHARE_STACKS)
}
