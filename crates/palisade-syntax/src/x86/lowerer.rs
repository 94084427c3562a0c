//! From what the table says of an instruction to actions, one after the other.
//!
//! The table's expressions are all about the state before the instruction. The access to memory
//! comes first, then the flags, then the registers; what a later assignment reads and an earlier
//! one overwrites is copied before. Readers of litmus tests and of machine code share this; they
//! differ in where operands in memory are.

use super::code::{Code, TextLabel, ThreadCode, has_old};
use super::fold::{binary, rebuilt, select, truncate};
use super::registers::MachineRegister;
use super::{Access, Architecture, Atom, Flag, Half, Machine, Meaning, Write};
use crate::Diagnostic;
use palisade_model::program::{Action, BinaryOperator as Op, Expression, RegisterId, Span, Value};

/// What a register of the program stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    /// A register of the machine.
    Family(u8),
    /// A flag, or a Boolean function of flags.
    Flag(Flag),
    /// A value on its way.
    Temporary(u8),
    /// Private memory: its bytes are only this thread's.
    Private {
        /// The first byte, from where the reader counts.
        byte: i64,
        /// The number of bytes, 1 to 8.
        bytes: u8,
    },
    /// Half of a vector register.
    Vector {
        /// The register.
        number: u8,
        /// Whether it is the upper half.
        upper: bool,
    },
}

impl Slot {
    /// Half of a vector register.
    pub fn of_half(Half { number, upper }: Half) -> Self {
        Self::Vector { number, upper }
    }

    /// The name the register gets.
    pub fn name(self, architecture: Architecture) -> String {
        match self {
            Self::Family(family) => MachineRegister::whole(family, architecture).name(architecture),
            Self::Flag(flag) => match flag {
                Flag::Zero => "ZF",
                Flag::Less => "SF_neq_OF",
                Flag::Carry => "CF",
                Flag::Sign => "SF",
                Flag::Overflow => "OF",
            }
            .to_owned(),
            Self::Temporary(number) => format!("t{number}"),
            Self::Private { byte, bytes } if byte < 0 => format!("stack_m{}_{bytes}", -byte),
            Self::Private { byte, bytes } => format!("stack_{byte}_{bytes}"),
            Self::Vector { number, upper } => format!("xmm{number}_{}", if upper { "high" } else { "low" }),
        }
    }
}

/// A thread in code, not yet an automaton.
#[derive(Debug)]
pub struct LoweredThread {
    /// The code.
    pub code: ThreadCode,
    /// What its registers stand for.
    pub slots: Vec<Slot>,
    /// Its labels.
    pub labels: Vec<TextLabel>,
}

/// Where the operand in memory is.
#[derive(Clone, Debug)]
pub enum Operand {
    /// There is none.
    None,
    /// In shared memory at this address.
    Shared(Expression),
    /// Some bits of what is in shared memory at this address. It is read, or changed by what is
    /// locked.
    Part(Expression, Piece),
    /// In private memory: these pieces, the lowest first.
    Private(Vec<Piece>),
    /// In memory that holds this value and never another one. It is only read.
    Constant(Value),
    /// Somewhere that the caller looks after: this was there, and what is stored is left in
    /// [`ASIDE`].
    Aside(Expression),
}

/// Some bits of a register for private memory, or of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The first byte of the whole.
    pub byte: i64,
    /// The number of its bytes.
    pub bytes: u8,
    /// The first bit in it.
    pub from: u8,
    /// The number of bits.
    pub bits: u8,
}

impl Piece {
    /// These bits of the whole, as an unsigned number.
    #[must_use]
    pub fn of(self, whole: Expression) -> Expression {
        truncate(binary(Op::ShiftRight, whole, Expression::Constant(self.from.into())), self.bits, false)
    }

    /// The whole with these bits replaced by a number that fits.
    fn put(self, whole: Expression, part: Expression) -> Expression {
        let mask = ((1i128 << self.bits) - 1) << self.from;
        let mask = Value::try_from(palisade_model::program::truncate(!mask, 64, true)).expect("64 bits");
        let kept = binary(Op::BitAnd, whole, Expression::Constant(mask));
        let part = binary(Op::ShiftLeft, part, Expression::Constant(self.from.into()));
        truncate(binary(Op::BitOr, kept, part), self.bytes * 8, self.bytes == 8)
    }
}

/// Flags with what they are given.
type Flags<Value> = Vec<(Flag, Value)>;

/// The temporary for what memory has held; the later ones are for copies.
const LOADED: Slot = Slot::Temporary(0);

/// The temporary for what an instruction stores to an [`Operand::Aside`].
pub const ASIDE: Slot = Slot::Temporary(15);

/// Lowers the instructions of one thread.
#[derive(Debug)]
pub struct Lowerer {
    /// The syntax and the width of registers.
    pub architecture: Architecture,
    /// What holds of the machine before the instruction.
    pub machine: Machine,
    /// The code so far.
    pub thread: ThreadCode,
    /// What the registers stand for.
    pub slots: Vec<Slot>,
    /// The instruction being lowered.
    pub span: Span,
    /// What is known to hold before the instruction.
    pub known: Vec<(Slot, Value)>,
    /// What need not be written, as nobody reads it.
    pub omitted: Vec<Slot>,
    /// Whether registers of the machine may be left out where nobody reads them.
    hides_registers: bool,
    /// What memory has held, during an instruction.
    loaded: Expression,
}

impl Lowerer {
    /// With nothing lowered yet, for code whose registers people see.
    pub fn new(architecture: Architecture) -> Self {
        Self {
            architecture,
            machine: Machine::any(architecture),
            thread: ThreadCode::default(),
            slots: Vec::new(),
            span: Span::default(),
            known: Vec::new(),
            omitted: Vec::new(),
            hides_registers: false,
            loaded: Expression::Old,
        }
    }

    /// The same, for code of which only accesses to shared memory count.
    #[must_use]
    pub fn hiding_registers(self) -> Self {
        Self { hides_registers: true, ..self }
    }

    /// What was lowered.
    pub fn finish(self, labels: Vec<TextLabel>) -> LoweredThread {
        LoweredThread { code: self.thread, slots: self.slots, labels }
    }

    /// Appends what an instruction does.
    pub fn effects(&mut self, meaning: &Meaning, operand: Operand) {
        let result = meaning.result.as_ref().map(|result| self.of_atoms(result, None));
        match operand {
            Operand::None => {}
            Operand::Shared(address) => self.access(&meaning.access, address, result.as_ref()),
            Operand::Part(address, piece) => self.part_access(&meaning.access, address, piece, result.as_ref()),
            Operand::Private(pieces) => self.private_access(&meaning.access, &pieces, result.as_ref()),
            Operand::Constant(value) => self.loaded = Expression::Constant(value),
            Operand::Aside(value) => {
                self.loaded = value;
                if let Access::Store(value) | Access::LoadStore(value) = &meaning.access {
                    let stored = self.after_access(value, result.as_ref());
                    self.assign(ASIDE, stored);
                }
            }
        }
        let (early, late) = self.early_and_late_flags(meaning, result.as_ref());
        let mut assignments = Vec::new();
        for (flag, value) in early {
            let value = match value {
                Some(value) => self.after_access(&value, result.as_ref()),
                None => undefined(),
            };
            self.add_assignment(&mut assignments, Slot::Flag(flag), value);
        }
        for (family, value) in meaning.registers() {
            let value = self.after_access(&value, result.as_ref());
            self.add_assignment(&mut assignments, Slot::Family(family), value);
        }
        for (half, value) in &meaning.vectors {
            let value = self.after_access(value, result.as_ref());
            self.add_assignment(&mut assignments, Slot::of_half(*half), value);
        }
        self.assign_at_once(assignments);
        for (flag, value) in late {
            if !self.omitted.contains(&Slot::Flag(flag)) {
                self.assign(Slot::Flag(flag), value);
            }
        }
    }

    fn add_assignment(&mut self, assignments: &mut Vec<(RegisterId, Expression)>, slot: Slot, value: Expression) {
        if !self.omitted.contains(&slot) {
            assignments.push((self.slot(slot), value));
        }
    }

    fn access(&mut self, access: &Access, address: Expression, result: Option<&Expression>) {
        let register = match access {
            Access::None | Access::Store(_) => None,
            _ => Some(self.slot(LOADED)),
        };
        self.loaded = register.map_or(Expression::Old, Expression::Register);
        let load = |lowering: &mut Self| {
            let register = register.expect("what loads has a register for it");
            lowering.act(Action::Load { register, address: address.clone() });
        };
        match access {
            Access::None => {}
            Access::Load => load(self),
            Access::Store(value) => {
                let value = self.of_atoms(value, result);
                self.act(Action::Store { address, value });
            }
            Access::LoadStore(value) => {
                load(self);
                let value = self.after_access(value, result);
                self.act(Action::Store { address, value });
            }
            Access::Locked(value) => {
                let new = self.of_atoms(value, result);
                self.act(Action::Rmw { register, address, new });
            }
            Access::CompareExchange { expected, new } => {
                let (expected, new) = (self.of_atoms(expected, result), self.of_atoms(new, result));
                self.act(Action::Cas { register, address, expected, new });
            }
        }
    }

    /// An access to some bits of a cell: all of it is read, or changed at once.
    fn part_access(&mut self, access: &Access, address: Expression, piece: Piece, result: Option<&Expression>) {
        let register = self.slot(LOADED);
        self.loaded = piece.of(Expression::Register(register));
        let Access::Locked(value) = access else {
            debug_assert!(*access == Access::Load, "only what is locked changes a part of a cell");
            return self.act(Action::Load { register, address });
        };
        let value = self.of_atoms(value, result);
        let value = rebuilt(&value, &|leaf| (*leaf == Expression::Old).then(|| piece.of(Expression::Old)));
        let new = piece.put(Expression::Old, value);
        self.act(Action::Rmw { register: Some(register), address, new });
    }

    /// An access to private memory: what is locked drains the store buffer, and the rest is local.
    fn private_access(&mut self, access: &Access, pieces: &[Piece], result: Option<&Expression>) {
        if matches!(access, Access::Locked(_) | Access::CompareExchange { .. }) {
            self.act(Action::Fence);
        }
        if !matches!(access, Access::None | Access::Store(_)) {
            let value = self.read_private(pieces);
            self.loaded = Expression::Register(self.slot(LOADED));
            self.assign(LOADED, value);
        }
        let stored = match access {
            Access::None | Access::Load => return,
            Access::Store(value) | Access::LoadStore(value) | Access::Locked(value) => self.after_access(value, result),
            Access::CompareExchange { expected, new } => {
                let (expected, new) = (self.after_access(expected, result), self.after_access(new, result));
                let equal = binary(Op::Equal, expected, self.loaded.clone());
                select(equal, new, self.loaded.clone())
            }
        };
        self.write_private(pieces, &stored);
    }

    /// The value of pieces of private memory, canonical for their width.
    pub fn read_private(&mut self, pieces: &[Piece]) -> Expression {
        let total: u8 = pieces.iter().map(|piece| piece.bits).sum();
        let (mut sum, mut position) = (Expression::Constant(0), 0);
        for piece in pieces {
            let slot = Slot::Private { byte: piece.byte, bytes: piece.bytes };
            let whole = self.value_of(slot);
            if pieces.len() == 1 && piece.bits == piece.bytes * 8 {
                return whole;
            }
            let part = piece.of(whole);
            sum = binary(Op::BitOr, sum, binary(Op::ShiftLeft, part, Expression::Constant(position)));
            position += Value::from(piece.bits);
        }
        truncate(sum, total, total == 64)
    }

    /// Writes a canonical value to pieces of private memory.
    pub fn write_private(&mut self, pieces: &[Piece], value: &Expression) {
        let mut position: Value = 0;
        for piece in pieces {
            let slot = Slot::Private { byte: piece.byte, bytes: piece.bytes };
            let width = piece.bytes * 8;
            let moved = binary(Op::ShiftRight, value.clone(), Expression::Constant(position));
            let written = if piece.bits == width && pieces.len() == 1 {
                value.clone()
            } else if piece.bits == width {
                truncate(moved, width, width == 64)
            } else {
                piece.put(self.value_of(slot), truncate(moved, piece.bits, false))
            };
            position += Value::from(piece.bits);
            if !self.omitted.contains(&slot) {
                self.assign(slot, written);
            }
        }
    }

    /// Flags that are functions of the result in a register are computed from the register once it
    /// is written: then the old value need not be kept for them.
    fn early_and_late_flags(
        &mut self,
        meaning: &Meaning,
        result: Option<&Expression>,
    ) -> (Flags<Option<Expression>>, Flags<Expression>) {
        let atom = Atom::Result.expression();
        let written = match (result, meaning.writes.as_slice()) {
            (Some(result), [Write { register, value, condition: None }])
                if *value == atom
                    && !result.is_constant()
                    && !self.omitted.contains(&Slot::Family(register.family)) =>
            {
                self.machine.read(*register)
            }
            _ => return (meaning.flags.clone(), Vec::new()),
        };
        let known = std::mem::take(&mut self.known);
        let written = self.of_atoms(&written, None);
        self.known = known;
        let (late, early) = meaning.flags.iter().cloned().partition::<Vec<_>, _>(|(_, value)| {
            value.as_ref().is_some_and(|value| reads_only_the_result(value, &atom))
        });
        let late = late.into_iter().filter_map(|(flag, value)| Some((flag, self.of_atoms(&value?, Some(&written)))));
        (early, late.collect())
    }

    /// Assigns as if all at once: what a later one reads and an earlier one changes is copied
    /// first.
    fn assign_at_once(&mut self, mut assignments: Vec<(RegisterId, Expression)>) {
        let mut copies = 0;
        for index in 0..assignments.len() {
            let (register, value) = assignments[index].clone();
            let reads = |value: &Expression| {
                let mut reads = false;
                value.for_each_register(&mut |read| reads |= read == register);
                reads
            };
            let changes = value != Expression::Register(register);
            if changes && assignments[index + 1..].iter().any(|(_, later)| reads(later)) {
                copies += 1;
                let copy = self.slot(Slot::Temporary(copies));
                self.act(Action::Assign { register: copy, value: Expression::Register(register) });
                let copy = Expression::Register(copy);
                for (_, later) in &mut assignments[index + 1..] {
                    let leaf = |leaf: &Expression| (*leaf == Expression::Register(register)).then(|| copy.clone());
                    *later = rebuilt(later, &leaf);
                }
            }
            self.act(Action::Assign { register, value });
        }
    }

    /// An expression of the table over the program's registers, with `result` in place of the
    /// result.
    pub fn of_atoms(&mut self, expression: &Expression, result: Option<&Expression>) -> Expression {
        let mut slots = Vec::new();
        expression.for_each_register(&mut |register| slots.extend(slot_of(register)));
        let values: Vec<(Slot, Expression)> = slots.into_iter().map(|slot| (slot, self.value_of(slot))).collect();
        rebuilt(expression, &|leaf| match leaf {
            Expression::Register(register) => match slot_of(*register) {
                Some(slot) => values.iter().find(|(known, _)| *known == slot).map(|(_, value)| value.clone()),
                None => result.cloned(),
            },
            _ => None,
        })
    }

    /// What is in a slot before the instruction.
    pub fn value_of(&mut self, slot: Slot) -> Expression {
        match self.known.iter().find(|(known, _)| *known == slot) {
            Some((_, value)) => Expression::Constant(*value),
            None => Expression::Register(self.slot(slot)),
        }
    }

    /// The same, with what memory has held.
    fn after_access(&mut self, expression: &Expression, result: Option<&Expression>) -> Expression {
        let expression = self.of_atoms(expression, result);
        if !has_old(&expression) {
            return expression;
        }
        rebuilt(&expression, &|leaf| (*leaf == Expression::Old).then(|| self.loaded.clone()))
    }

    /// The register for a register of the machine.
    pub fn family(&mut self, family: u8) -> RegisterId {
        self.slot(Slot::Family(family))
    }

    /// The register for a slot, new at its first mention.
    pub fn slot(&mut self, slot: Slot) -> RegisterId {
        let known = self.slots.iter().position(|known| *known == slot);
        known.map_or_else(
            || {
                self.slots.push(slot);
                self.thread.own.push(self.hides_registers || !matches!(slot, Slot::Family(_)));
                RegisterId::from_index(self.slots.len() - 1)
            },
            RegisterId::from_index,
        )
    }

    /// Appends an assignment to a slot.
    pub fn assign(&mut self, slot: Slot, value: Expression) {
        let register = self.slot(slot);
        self.act(Action::Assign { register, value });
    }

    /// Appends an action.
    pub fn act(&mut self, action: Action) {
        self.thread.code.push(Code::Action(action, self.span));
    }

    /// Instructions whose undefined flags somebody reads.
    pub fn undefined_flags(&self) -> Vec<Diagnostic> {
        let undefined = self.thread.code.iter().filter_map(|element| match element {
            Code::Action(Action::Assign { value, .. }, span) if has_old(value) => Some(*span),
            _ => None,
        });
        undefined
            .map(|span| Diagnostic::error("a later instruction reads a flag that this one leaves undefined", span))
            .collect()
    }
}

/// What an atom of the table is in the program; the result is nothing there.
fn slot_of(atom: RegisterId) -> Option<Slot> {
    match Atom::of(atom) {
        Atom::Family(family) => Some(Slot::Family(family)),
        Atom::Flag(flag) => Some(Slot::Flag(flag)),
        Atom::Vector(half) => Some(Slot::of_half(half)),
        Atom::Result => None,
    }
}

fn reads_only_the_result(value: &Expression, result: &Expression) -> bool {
    let mut only = !has_old(value);
    value.for_each_register(&mut |register| only &= Expression::Register(register) == *result);
    only && !value.is_constant()
}

/// What stands for a flag without a value; nothing but a locked instruction's new value may
/// otherwise contain it.
fn undefined() -> Expression {
    Expression::Old
}
