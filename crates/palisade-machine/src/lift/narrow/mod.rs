//! Counters in fewer bits than the code has, because the user says so.
//!
//! Values flow from the cells that the user names: into registers, from there into other cells.
//! Whatever they come to is computed in so many bits. This changes the program, as a domain that
//! wraps does, and the verdict says that it was done. Addresses must not depend on what was cut
//! off: a narrowed value has to be masked before it becomes one.
//!
//! A register is narrowed web by web: places where it is live and between which nothing writes it
//! belong together.

mod kinds;

pub(crate) use kinds::MOST_BITS;

use super::refusal::Objection;
use kinds::{Kind, Leaves, different, kept, rewritten};
use palisade_model::program::{
    Action, BinaryOperator, Expression, Instruction, LabelId, Liveness, RegisterId, Span, Thread, Value,
};
use std::collections::BTreeMap;

/// What the user wants narrowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Narrowing {
    /// The names of the cells.
    pub(crate) cells: Vec<String>,
    /// The number of bits.
    pub(crate) bits: u8,
}

/// A cell: its address, its bytes, its value at first.
pub(crate) type Cell = (u64, u8, Value);

/// Why narrowing was refused: the thread, the span of the instruction, what is wrong.
#[derive(Debug)]
pub(crate) struct NotNarrow {
    /// The number of the thread.
    pub(crate) thread: usize,
    /// The span of the instruction.
    pub(crate) span: Span,
    /// What is wrong.
    pub(crate) objection: Objection,
}

/// The addresses that an instruction of a thread may access.
pub(crate) type Addresses<'a> = &'a dyn Fn(usize, &Instruction) -> Vec<u64>;

/// Narrows the cells and whatever their values flow into.
pub(crate) fn narrow(
    threads: &mut [&mut Thread],
    cells: &mut [Cell],
    wanted: &BTreeMap<u64, u8>,
    addresses: Addresses<'_>,
) -> Result<(), NotNarrow> {
    let sizes = cells.iter().map(|(address, bytes, _)| (*address, *bytes)).collect();
    let mut flow = Flow { cells: wanted.clone(), sizes, webs: Vec::new(), addresses, changed: true };
    for thread in threads.iter() {
        flow.webs.push(Webs::of(thread));
    }
    while std::mem::take(&mut flow.changed) {
        for (index, thread) in threads.iter().enumerate() {
            for instruction in &thread.instructions {
                flow.instruction(index, instruction).map_err(|objection| at(index, instruction.span, objection))?;
            }
        }
    }
    for (index, thread) in threads.iter_mut().enumerate() {
        for instruction in &mut thread.instructions {
            let (span, action) = (instruction.span, flow.action(index, instruction));
            instruction.action = action.map_err(|objection| at(index, span, objection))?;
        }
    }
    for (address, _, value) in cells {
        if let Some(bits) = flow.cells.get(address) {
            *value &= (1 << bits) - 1;
        }
    }
    Ok(())
}

fn at(thread: usize, span: Span, objection: Objection) -> NotNarrow {
    NotNarrow { thread, span, objection }
}

/// How many bits there are, and whether the code reads them with a sign.
type Narrowed = (u8, bool);

/// The webs of a thread.
struct Webs {
    liveness: Liveness,
    registers: usize,
    /// The web of each label and register: the representative of a union.
    parents: Vec<usize>,
    /// What was narrowed, by representative.
    narrowed: BTreeMap<usize, Narrowed>,
}

impl Webs {
    fn of(thread: &Thread) -> Self {
        let registers = thread.registers.len();
        let parents = (0..registers * thread.labels.len()).collect();
        let mut webs = Self { liveness: Liveness::of(thread), registers, parents, narrowed: BTreeMap::new() };
        for instruction in &thread.instructions {
            let written = instruction.action.written_register();
            let shared: Vec<RegisterId> = webs.liveness.at(instruction.source).collect();
            for register in shared {
                if Some(register) != written && webs.liveness.is_live(instruction.target, register) {
                    webs.join(instruction.source, instruction.target, register);
                }
            }
        }
        // A representative is the least of its web, so that all before are their webs' own already.
        for index in 0..webs.parents.len() {
            webs.parents[index] = webs.parents[webs.parents[index]];
        }
        webs
    }

    fn join(&mut self, one: LabelId, other: LabelId, register: RegisterId) {
        let (one, other) = (self.web(one, register), self.web(other, register));
        self.parents[one.max(other)] = one.min(other);
    }

    fn web(&self, label: LabelId, register: RegisterId) -> usize {
        let mut web = label.index() * self.registers + register.index();
        while self.parents[web] != web {
            web = self.parents[web];
        }
        web
    }

    fn kind(&self, label: LabelId, register: RegisterId) -> Kind {
        match self.narrowed.get(&self.web(label, register)) {
            Some((bits, signed)) => Kind::Narrow { bits: *bits, signed: *signed },
            None => Kind::Plain,
        }
    }
}

/// What was found to be narrowed so far.
struct Flow<'a> {
    /// Cells with their bits.
    cells: BTreeMap<u64, u8>,
    /// The bytes of all cells.
    sizes: BTreeMap<u64, u8>,
    /// The webs of each thread.
    webs: Vec<Webs>,
    addresses: Addresses<'a>,
    changed: bool,
}

impl Flow<'_> {
    /// The cells of an instruction as one: narrowed where one of them is.
    fn cell(&self, thread: usize, instruction: &Instruction) -> Kind {
        let all = (self.addresses)(thread, instruction);
        let signed = all.iter().any(|address| self.sizes.get(address).is_none_or(|bytes| *bytes == 8));
        match all.iter().find_map(|address| self.cells.get(address)) {
            Some(bits) => Kind::Narrow { bits: *bits, signed },
            None => Kind::Plain,
        }
    }

    /// An expression of an instruction, rewritten, with what it is.
    fn value(
        &self,
        thread: usize,
        instruction: &Instruction,
        expression: &Expression,
    ) -> Result<(Expression, Kind), Objection> {
        let webs = &self.webs[thread];
        let register = |register| webs.kind(instruction.source, register);
        rewritten(expression, &Leaves { register: &register, old: self.cell(thread, instruction) })
    }

    /// What an expression is; what is refused for now may be understood when more is narrowed, and
    /// is refused again otherwise.
    fn kind(&self, thread: usize, instruction: &Instruction, expression: &Expression) -> Kind {
        self.value(thread, instruction, expression).map_or(Kind::Plain, |(_, kind)| kind)
    }

    /// Narrows all cells of an instruction.
    fn narrow_cells(&mut self, thread: usize, instruction: &Instruction, bits: u8) -> Result<(), Objection> {
        for address in (self.addresses)(thread, instruction) {
            match self.cells.insert(address, bits) {
                None => self.changed = true,
                Some(known) if known != bits => return Err(different(known, bits)),
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Narrows the register behind an instruction, where it is read.
    fn narrow_register(
        &mut self,
        thread: usize,
        label: LabelId,
        register: RegisterId,
        kind: Kind,
    ) -> Result<(), Objection> {
        let Kind::Narrow { bits, signed } = kind else { return Ok(()) };
        let webs = &mut self.webs[thread];
        if !webs.liveness.is_live(label, register) {
            return Ok(());
        }
        let web = webs.web(label, register);
        let known = webs.narrowed.get(&web).copied();
        let new = match known {
            Some((other, _)) if other != bits => return Err(different(other, bits)),
            Some((_, before)) => (bits, before || signed),
            None => (bits, signed),
        };
        if known != Some(new) {
            webs.narrowed.insert(web, new);
            self.changed = true;
        }
        Ok(())
    }

    /// Lets narrowed values flow through an instruction.
    fn instruction(&mut self, thread: usize, instruction: &Instruction) -> Result<(), Objection> {
        let mut into_cell = Vec::new();
        match &instruction.action {
            Action::Assign { register, value } => {
                let kind = self.kind(thread, instruction, value);
                return self.narrow_register(thread, instruction.target, *register, kind);
            }
            Action::Store { value, .. } => into_cell.push(self.kind(thread, instruction, value)),
            Action::Rmw { new, .. } => into_cell.push(self.kind(thread, instruction, new)),
            Action::Cas { expected, new, .. } => {
                into_cell.push(self.kind(thread, instruction, expected));
                into_cell.push(self.kind(thread, instruction, new));
            }
            Action::Load { .. } => {}
            _ => return Ok(()),
        }
        let read = instruction.action.written_register();
        if let Some(register) = read
            && self.webs[thread].liveness.is_live(instruction.target, register)
        {
            into_cell.push(self.webs[thread].kind(instruction.target, register));
        }
        into_cell.push(self.cell(thread, instruction));
        for bits in into_cell.into_iter().filter_map(Kind::bits) {
            self.narrow_cells(thread, instruction, bits)?;
        }
        let cell = self.cell(thread, instruction);
        match read {
            Some(register) => self.narrow_register(thread, instruction.target, register, cell),
            None => Ok(()),
        }
    }

    /// The instruction as it is with all that is narrowed.
    fn action(&self, thread: usize, instruction: &Instruction) -> Result<Action, Objection> {
        let value = |expression: &Expression| self.value(thread, instruction, expression);
        let cell = self.cell(thread, instruction).bits();
        let address = |expression: &Expression| match value(expression) {
            Ok((address, Kind::Plain | Kind::Constant(_))) => Ok(address),
            _ => Err(Objection::new(
                "an address is computed from a narrowed value that is not masked to as many bits, or fewer",
            )
            .with_help("narrow to as many bits as the mask has, or more; a narrowed value itself is no address")),
        };
        Ok(match &instruction.action {
            Action::Load { register, address: from } => Action::Load { register: *register, address: address(from)? },
            Action::Store { address: to, value: stored } => {
                Action::Store { address: address(to)?, value: kept(value(stored)?, cell)? }
            }
            Action::Assign { register, value: assigned } => {
                let webs = &self.webs[thread];
                let is_live = webs.liveness.is_live(instruction.target, *register);
                let bits = webs.kind(instruction.target, *register).bits().filter(|_| is_live);
                let assigned = if is_live { kept(value(assigned)?, bits)? } else { Expression::Constant(0) };
                Action::Assign { register: *register, value: assigned }
            }
            Action::Assume(condition) => Action::Assume(match value(condition)? {
                (condition, Kind::Narrow { bits, .. }) => kinds::cut(condition, bits),
                (condition, _) => condition,
            }),
            Action::Cas { register, address: to, expected, new } => {
                // Refuses what a comparison cannot be made with.
                value(&Expression::binary(BinaryOperator::Equal, Expression::Old, expected.clone()))?;
                let expected = value(expected)?;
                Action::Cas {
                    register: *register,
                    address: address(to)?,
                    expected: kept(expected, cell)?,
                    new: kept(value(new)?, cell)?,
                }
            }
            Action::Rmw { register, address: to, new } => {
                Action::Rmw { register: *register, address: address(to)?, new: kept(value(new)?, cell)? }
            }
            Action::Havoc { register } => {
                if self.webs[thread].kind(instruction.target, *register).bits().is_some() {
                    return Err(Objection::new("a narrowed value is chosen from all numbers"));
                }
                instruction.action.clone()
            }
            other => other.clone(),
        })
    }
}
