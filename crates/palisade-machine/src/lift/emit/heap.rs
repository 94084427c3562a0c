//! Memory that is taken from the heap and given back, and whether it is in use where it is
//! accessed.

use super::Emitter;
use crate::image::{Block, Heap};
use crate::lift::abstraction::Abstract;
use crate::lift::cells::checked;
use crate::lift::contexts::Place;
use crate::lift::copies::words;
use crate::lift::decode::{MemoryOperand, VectorPlace};
use crate::lift::environment::Environment;
use crate::lift::futex::Futex;
use crate::lift::heap::HeapStep;
use crate::lift::knowledge::Knowledge;
use crate::lift::micro::{Micro, address};
use crate::lift::refusal::Objection;
use crate::lift::transfer::known;
use palisade_model::program::{Action, BinaryOperator as Op, Expression, MemoryFault, Span, Value};
use palisade_syntax::x86::Access;
use palisade_syntax::x86::code::Code;
use palisade_syntax::x86::fold::{binary, not};
use palisade_syntax::x86::lowerer::Slot;
use std::collections::{BTreeMap, BTreeSet};

/// The temporary for a life.
const LIFE: Slot = Slot::Temporary(240);

/// The temporary that counts the new blocks of a class.
fn new_ones(class: u8) -> Slot {
    Slot::Temporary(200 + class)
}

/// The temporary for the blocks of a class that the copy has freed and kept, a bit for each.
fn kept(class: u8) -> Slot {
    Slot::Temporary(220 + class)
}

/// Whether a register of this name counts blocks, or tells which are kept: a copy begins with none.
pub(crate) fn counts_blocks(name: &str) -> bool {
    let number = name.strip_prefix('t').and_then(|number| number.parse::<u8>().ok());
    number.is_some_and(|number| Block::CLASSES.into_iter().any(|class| [200 + class, 220 + class].contains(&number)))
}

/// More blocks of a class are not told apart by bits.
const MOST_KEPT: usize = 62;

impl Emitter<'_> {
    /// Takes memory from the heap, or gives it back.
    pub(super) fn heap(
        &mut self,
        step: HeapStep,
        place: Place,
        knowledge: &mut Knowledge<'_>,
    ) -> Result<(), Objection> {
        match step {
            HeapStep::Take { class, is_zero } => {
                self.taken.entry(class).or_default().insert(self.lowerer.span.start);
                self.take(class, is_zero, knowledge)?;
            }
            HeapStep::TakeComputed { size, alignment, is_zero } => {
                let size = self.lowerer.of_atoms(&size.expression(), None);
                let classes = knowledge.classes(place.address, alignment);
                self.each_known(size, classes, knowledge, |own, class, knowledge| match class {
                    Some(class) => {
                        own.taken.entry(class).or_default().insert(own.lowerer.span.start);
                        own.take(class, is_zero, knowledge)
                    }
                    None => Err(Objection::new("more than 4 KiB are allocated at once")),
                })?;
            }
            HeapStep::Give(layout) => self.give(layout, place, knowledge)?,
        }
        let known = |slot: &Slot| *slot == Slot::Family(0);
        self.lowerer.known.retain(|(slot, _)| !known(slot));
        Ok(())
    }

    fn take(&mut self, class: u8, is_zero: bool, knowledge: &mut Knowledge<'_>) -> Result<(), Objection> {
        let [all, own, others] = knowledge.given(class);
        if all.len() > MOST_KEPT {
            return Err(Objection::new("the roles free too many blocks of one size"));
        }
        let heap = knowledge.memory.heap.as_ref().expect("the heap is followed");
        let new: Vec<u64> =
            (0..heap.blocks).map(|n| Heap::new_block(knowledge.heap.role, class, n).address()).collect();
        let (again, end) = (self.fresh_label(), self.fresh_label());
        self.lowerer.thread.code.push(Code::Mark(again));
        let count = Expression::Register(self.lowerer.slot(new_ones(class)));
        for base in &own {
            let (mask, bit) = self.bit(*base, class, &all);
            let has_none = binary(Op::Equal, binary(Op::BitAnd, mask.clone(), bit.clone()), Expression::Constant(0));
            let other = self.choose();
            self.branch(has_none, other);
            self.lowerer.assign(kept(class), binary(Op::BitXor, mask, bit));
            let life = self.life_of(*base, knowledge);
            self.lowerer.act(Action::Store { address: life, value: Expression::Constant(Heap::LIVE) });
            self.taken(*base, is_zero, end, knowledge)?;
            self.mark(other);
        }
        for base in others.union(&self.released_by_itself(class, &own, knowledge)) {
            let other = self.choose();
            let address = self.life_of(*base, knowledge);
            let (register, free) = (self.lowerer.slot(LIFE), Expression::Constant(Heap::FREE));
            let new = Expression::Constant(Heap::LIVE);
            self.lowerer.act(Action::Cas { register: Some(register), address, expected: free.clone(), new });
            let is_other = binary(Op::NotEqual, Expression::Register(register), free);
            self.branch(is_other, again);
            self.taken(*base, is_zero, end, knowledge)?;
            self.mark(other);
        }
        for (number, base) in (0..).zip(new) {
            let other = self.fresh_label();
            self.branch(binary(Op::NotEqual, count.clone(), Expression::Constant(number)), other);
            self.lowerer.assign(new_ones(class), Expression::Constant(number + 1));
            self.taken(base, is_zero, end, knowledge)?;
            self.mark(other);
        }
        // There is no other block.
        self.lowerer.act(Action::Assume(Expression::Constant(0)));
        self.lowerer.thread.code.push(Code::Stop);
        self.mark(end);
        Ok(())
    }

    /// What a copy has freed for others it may get again in the same way.
    fn released_by_itself(&self, class: u8, own: &BTreeSet<u64>, knowledge: &Knowledge<'_>) -> BTreeSet<u64> {
        if knowledge.takers(class).1 { own.clone() } else { BTreeSet::new() }
    }

    /// A block is taken; control goes to the end.
    fn taken(&mut self, base: u64, is_zero: bool, end: usize, knowledge: &mut Knowledge<'_>) -> Result<(), Objection> {
        if is_zero {
            self.fill(base, 0, knowledge)?;
        }
        self.lowerer.assign(Slot::Family(0), Expression::Constant(base.cast_signed()));
        self.lowerer.thread.code.push(Code::Jump(end, self.lowerer.span));
        Ok(())
    }

    /// Writes a value to all cells of a block.
    fn fill(&mut self, base: u64, value: Value, knowledge: &mut Knowledge<'_>) -> Result<(), Objection> {
        let (bytes, _) = knowledge.block(base).expect("a block");
        for (cell, _) in knowledge.cells_in(base, bytes)? {
            let address = Expression::Constant(cell.cast_signed());
            self.lowerer.act(Action::Store { address, value: Expression::Constant(value) });
        }
        Ok(())
    }

    fn give(
        &mut self,
        layout: Option<(u64, u8)>,
        place: Place,
        knowledge: &mut Knowledge<'_>,
    ) -> Result<(), Objection> {
        let targets = knowledge.targets.get(&place.address).into_iter().flatten().map(|base| (*base, *base)).collect();
        let pointer = self.lowerer.value_of(Slot::Family(7));
        self.each_known(pointer, targets, knowledge, |own, base, knowledge| match base {
            0 => Ok(()),
            base => own.given(base, layout, place, knowledge),
        })?;
        self.set(Slot::Family(0), Expression::Constant(0));
        Ok(())
    }

    /// Does something for each number that a value has been seen to be. That it is another one is
    /// found out by the search; before that is checked, runs are shown the value as the address of
    /// an access.
    fn each_known<T>(
        &mut self,
        value: Expression,
        seen: BTreeMap<u64, T>,
        knowledge: &mut Knowledge<'_>,
        mut each: impl FnMut(&mut Self, T, &mut Knowledge<'_>) -> Result<(), Objection>,
    ) -> Result<(), Objection> {
        let (span, end) = (self.lowerer.span, self.fresh_label());
        for (number, what) in seen {
            let other = self.fresh_label();
            self.branch(binary(Op::NotEqual, value.clone(), Expression::Constant(number.cast_signed())), other);
            each(self, what, knowledge)?;
            self.lowerer.thread.code.push(Code::Jump(end, span));
            self.mark(other);
        }
        if self.checks {
            let nothing = Expression::binary(Op::Divide, Expression::Constant(0), Expression::Constant(0));
            self.lowerer.act(Action::Assume(nothing));
        } else {
            let register = self.lowerer.slot(LIFE);
            self.lowerer.span = Span { end: span.start, ..span };
            self.lowerer.act(Action::Load { register, address: value });
            self.lowerer.span = span;
        }
        self.lowerer.thread.code.push(Code::Stop);
        self.mark(end);
        Ok(())
    }

    /// The block that begins at an address is given back.
    fn given(
        &mut self,
        base: u64,
        layout: Option<(u64, u8)>,
        place: Place,
        knowledge: &mut Knowledge<'_>,
    ) -> Result<(), Objection> {
        let Some((_, class)) = knowledge.block(base) else {
            self.fail(place, MemoryFault::NoBlock);
            return Ok(());
        };
        if layout.is_some_and(|(_, own)| own != class) {
            self.fail(place, MemoryFault::OtherSize);
            return Ok(());
        }
        let life = self.life_of(base, knowledge);
        self.look(life.clone(), place, MemoryFault::DoubleFree);
        let (by_itself, by_others) = knowledge.takers(class);
        let store = |own: &mut Self, value: Value| {
            own.lowerer.act(Action::Store { address: life.clone(), value: Expression::Constant(value) });
        };
        store(self, Heap::DEAD);
        if by_itself || by_others {
            self.fill(base, Heap::POISON, knowledge)?;
        }
        let released = self.fresh_label();
        if by_itself {
            let other = if by_others { self.choose() } else { self.fresh_label() };
            let [all, ..] = knowledge.given(class);
            let (mask, bit) = self.bit(base, class, &all);
            self.lowerer.assign(kept(class), binary(Op::BitOr, mask, bit));
            self.lowerer.thread.code.push(Code::Jump(released, self.lowerer.span));
            self.mark(other);
        }
        if by_others {
            store(self, Heap::FREE);
        }
        self.mark(released);
        Ok(())
    }

    /// The blocks that the copy keeps, and the bit of one.
    fn bit(&mut self, base: u64, class: u8, all: &BTreeSet<u64>) -> (Expression, Expression) {
        let position = all.iter().position(|other| *other == base).expect("it is given");
        let mask = Expression::Register(self.lowerer.slot(kept(class)));
        (mask, Expression::Constant(1 << position))
    }

    fn life_of(&mut self, base: u64, knowledge: &mut Knowledge<'_>) -> Expression {
        Expression::Constant(knowledge.life(base).cast_signed())
    }

    /// What follows is done, or what stands at the label that is returned, whichever.
    fn choose(&mut self) -> usize {
        let other = self.fresh_label();
        self.lowerer.thread.code.push(Code::Choice(other, self.lowerer.span));
        other
    }

    fn branch(&mut self, condition: Expression, label: usize) {
        self.lowerer.thread.code.push(Code::Branch(condition, label, self.lowerer.span));
    }

    fn mark(&mut self, label: usize) {
        self.lowerer.thread.code.push(Code::Mark(label));
    }

    /// A place of its own in the listing, with what it says.
    fn remark(&mut self, place: Place, fault: MemoryFault) -> Span {
        let number = self.places.len();
        self.places.push((place, fault.listed()));
        Span { start: number, end: number + 1 }
    }

    /// The role has failed.
    fn fail(&mut self, place: Place, fault: MemoryFault) {
        let span = self.lowerer.span;
        self.lowerer.span = self.remark(place, fault);
        self.lowerer.act(Action::Fail);
        self.lowerer.thread.code.push(Code::Stop);
        self.lowerer.span = span;
    }

    /// Looks at the life of a block, and fails unless it is in use.
    fn look(&mut self, life: Expression, place: Place, fault: MemoryFault) {
        let span = self.lowerer.span;
        self.lowerer.span = self.remark(place, fault);
        self.lives.insert(self.lowerer.span.start);
        let register = self.lowerer.slot(LIFE);
        self.lowerer.act(Action::Load { register, address: life });
        let live = self.fresh_label();
        let is_live = binary(Op::Equal, Expression::Register(register), Expression::Constant(Heap::LIVE));
        self.branch(is_live, live);
        self.lowerer.act(Action::Fail);
        self.lowerer.thread.code.push(Code::Stop);
        self.mark(live);
        self.lowerer.span = span;
    }

    /// Looks whether the blocks are in use that a step accesses.
    pub(super) fn look_at_lives(
        &mut self,
        step: &Micro,
        place: Place,
        before: &Environment,
        knowledge: &mut Knowledge<'_>,
    ) {
        if !knowledge.follows_heap() {
            return;
        }
        for operand in operands(step) {
            match known(&address(operand), before) {
                Abstract::Constant(at) => {
                    if let Some((base, _)) = knowledge.freed_at(at.cast_unsigned()) {
                        let life = self.life_of(base, knowledge);
                        self.look(life, place, MemoryFault::UseAfterFree);
                    }
                }
                Abstract::Number(_) => self.look_at_computed(operand, place, knowledge),
                _ => {}
            }
        }
    }

    fn look_at_computed(&mut self, operand: MemoryOperand, place: Place, knowledge: &mut Knowledge<'_>) {
        let Some(seen) = knowledge.computed.get(&place.address).map(|seen| seen.addresses.clone()) else { return };
        let classes: BTreeSet<u8> = seen.iter().filter_map(|at| Some(Block::at(*at)?.class)).collect();
        let freed: BTreeSet<(u64, u64)> = seen.iter().filter_map(|at| knowledge.freed_at(*at)).collect();
        let at = self.lowerer.of_atoms(&address(operand), None);
        for class in classes {
            let bases = seen.iter().filter_map(|at| Block::at(*at)).filter(|block| block.class == class);
            let bases: BTreeSet<u64> = bases.map(Block::address).collect();
            let lives: BTreeSet<u64> = bases.iter().map(|base| knowledge.life(*base)).collect();
            let (first, last) = (bases.first().expect("a block"), bases.last().expect("a block") + (1 << class) - 1);
            let other = self.fresh_label();
            self.branch(not(within(&at, *first, last)), other);
            let mask = Expression::Constant(-(1 << class));
            let difference = Heap::life(0).cast_signed();
            let life = binary(Op::Add, binary(Op::BitAnd, at.clone(), mask), Expression::Constant(difference));
            let life = if self.checks { checked(life, &lives) } else { life };
            self.look(life, place, MemoryFault::UseAfterFree);
            self.mark(other);
        }
        for (base, bytes) in freed {
            let other = self.fresh_label();
            self.branch(not(within(&at, base, base + bytes - 1)), other);
            let life = self.life_of(base, knowledge);
            self.look(life, place, MemoryFault::UseAfterFree);
            self.mark(other);
        }
    }
}

/// Whether an address lies between two.
fn within(at: &Expression, first: u64, last: u64) -> Expression {
    let bound = |number: u64| Expression::Constant(number.cast_signed());
    let above = binary(Op::GreaterOrEqual, at.clone(), bound(first));
    binary(Op::And, above, binary(Op::LessOrEqual, at.clone(), bound(last)))
}

/// Where a step accesses memory: of what lies side by side, the ends.
fn operands(step: &Micro) -> Vec<MemoryOperand> {
    let of_vector = |place: &VectorPlace| match place {
        VectorPlace::Memory(memory) => Some(*memory),
        _ => None,
    };
    let ends = |first: bool, bytes: u16| {
        let words = words(first, bytes);
        let ends: Vec<MemoryOperand> =
            words.first().into_iter().chain(words[1.min(words.len())..].last()).copied().collect();
        ends
    };
    match step {
        Micro::Table(meaning, Some(memory)) if meaning.access != Access::None => vec![*memory],
        Micro::Load(memory) => vec![*memory],
        Micro::Futex(_) => vec![Futex::WORD],
        Micro::Posix(posix) => posix.operands(),
        Micro::Vector(to, from, _) => [from, to].into_iter().filter_map(of_vector).collect(),
        Micro::Copying(copying, bytes) => {
            let (reads_first, reads_second) = copying.reads();
            let mut operands = Vec::new();
            if reads_first || copying.writes() {
                operands.extend(ends(true, *bytes));
            }
            if reads_second {
                operands.extend(ends(false, *bytes));
            }
            operands
        }
        Micro::Table(..) | Micro::Heap(_) | Micro::Fence | Micro::StoreFence => Vec::new(),
    }
}
