//! Programs that know the low bits of what grows, and no more.
//!
//! Positions in rings, sequence numbers and the numbers of rounds grow without end, and programs
//! look at little of them: at the bits that name a slot, and at whether two of them are equal. In
//! the program with *low bits*, addresses and registers that hold such values have so many low bits
//! of them. Equal values have equal low bits, and different ones may have: then a comparison goes
//! both ways, and so does a `cas`. So it does all that the program does (docs/src/low-bits.md).

mod reading;
mod writing;

use super::counters::Blocks;
use super::{
    Action, BinaryOperator as Op, ByLabel, Expression, InstructionId, LabelId, Program, RegisterId, Role, Thread,
    ThreadId, UnaryOperator, Value,
};
use reading::{Reader, Reading, Site, moves};
use std::collections::BTreeSet;
use writing::Writing;

/// With more bits than this, low bits save little.
const MOST_BITS: u8 = 6;

/// Larger programs are not looked at.
const MOST_INSTRUCTIONS: usize = 1 << 12;

/// What has its low bits alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LowBits {
    /// How many.
    pub bits: u8,
    /// The addresses, ascending.
    pub cells: Vec<Value>,
    /// The assignments that cut what they assign, ascending. What is computed of low bits needs no
    /// mention.
    pub assigned: Vec<(ThreadId, InstructionId)>,
}

/// The places of a program that may have low bits.
#[derive(Clone)]
struct Places<'p> {
    program: &'p Program,
    blocks: Blocks,
    /// The blocks that do.
    low: BTreeSet<usize>,
}

impl LowBits {
    /// Low bits of what may grow, with the program that knows no more: as few as tell what the
    /// program does, and then more, so often.
    pub fn all_of(program: &Program, tried: usize) -> impl Iterator<Item = (Self, Program)> {
        let rounds = rounds(program);
        let kinds = if rounds.is_empty() { vec![rounds] } else { vec![Vec::new(), rounds] };
        let places = Places::of(program);
        kinds.into_iter().flat_map(move |assigned| {
            let places = places.clone();
            let candidate = move |bits| {
                let cells = places.as_ref()?.growing(bits, &assigned);
                let own = Self { bits, cells, assigned: assigned.clone() };
                let is_new = !(own.cells.is_empty() && own.assigned.is_empty());
                let low = is_new.then(|| own.apply(program))??;
                Some((own, low))
            };
            (1..=MOST_BITS).filter_map(candidate).take(tried)
        })
    }

    /// The lowest bit of the numbers of rounds, with the program that knows no more of these;
    /// nothing where there are none.
    pub fn of_rounds(program: &Program) -> Option<(Self, Program)> {
        let own = Self { bits: 1, cells: Vec::new(), assigned: rounds(program) };
        let low = (!own.assigned.is_empty()).then(|| own.apply(program))??;
        Some((own, low))
    }

    /// The program that has these low bits alone; nothing where they do not tell what it does.
    pub fn apply(&self, program: &Program) -> Option<Program> {
        let places = Places::of(program)?.with(self)?;
        let mut result = program.clone();
        for (id, thread) in program.thread_ids() {
            let sites = places.sites(id, thread, self)?;
            Writing::new((&places, self), id, &mut result.threads[id.index()]).apply(thread, &sites)?;
        }
        Some(result)
    }
}

impl<'p> Places<'p> {
    /// Nothing where an access may be to any address, or values are those of a domain.
    fn of(program: &'p Program) -> Option<Self> {
        let size: usize = program.threads.iter().map(|thread| thread.instructions.len()).sum();
        let is_thread = program.threads.iter().all(|thread| thread.role == Role::Thread);
        if program.domain.is_some() || !is_thread || size > MOST_INSTRUCTIONS {
            return None;
        }
        let blocks = Blocks::of(program);
        let is_known = |(thread, template): (ThreadId, &Thread)| {
            template.instruction_ids().all(|(id, instruction)| {
                let at = (thread, id);
                let is_placed = blocks.accessed.contains_key(&at) && blocks.sure.contains(&at);
                let is_placed = is_placed || blocks.nowhere.contains(&at);
                instruction.action.address().is_none() || is_placed
            })
        };
        let is_known = program.thread_ids().all(is_known);
        is_known.then_some(Self { program, blocks, low: BTreeSet::new() })
    }

    /// The same with the blocks of these addresses, which have to be whole ones, and to hold low
    /// bits at first.
    fn with(self, low_bits: &LowBits) -> Option<Self> {
        let cells: BTreeSet<Value> = low_bits.cells.iter().copied().collect();
        let low: Option<BTreeSet<usize>> = cells.iter().map(|cell| self.blocks.of.get(cell).copied()).collect();
        let low = low?;
        let is_whole = self.blocks.of.iter().all(|(cell, block)| low.contains(block) == cells.contains(cell));
        let holds = |cell: &Value| (0..1 << low_bits.bits).contains(&self.program.initial_value(*cell));
        (is_whole && cells.iter().all(holds)).then_some(Self { low, ..self })
    }

    /// Whether an instruction accesses what has its low bits alone.
    fn is_low(&self, thread: ThreadId, instruction: InstructionId) -> bool {
        self.blocks.accessed.get(&(thread, instruction)).is_some_and(|block| self.low.contains(block))
    }

    /// What is known at each label of a thread; nothing of those that no path leads to, and nothing
    /// at all where low bits do not tell what an instruction assigns.
    fn sites(&self, id: ThreadId, thread: &Thread, low_bits: &LowBits) -> Option<Vec<Option<Site>>> {
        let mut sites: Vec<Option<Site>> = vec![None; thread.labels.len()];
        sites[thread.initial.index()] = Some(Site::initial(thread));
        let by_label = thread.instructions_by_label();
        let mut open = vec![thread.initial];
        while let Some(label) = open.pop() {
            let before = sites[label.index()].clone()?;
            for position in &by_label[label.index()] {
                let instruction = thread.instruction(*position);
                let reader = self.reader((id, thread), *position, (&before, low_bits.bits));
                let is_cut = low_bits.assigned.contains(&(id, *position));
                let after = before.after(reader, instruction, is_cut)?;
                let target: LabelId = instruction.target;
                let has_changed = match &mut sites[target.index()] {
                    Some(known) => known.join(&after),
                    unknown => {
                        *unknown = Some(after);
                        true
                    }
                };
                if has_changed {
                    open.push(target);
                }
            }
        }
        Some(sites)
    }

    fn reader<'s>(
        &self,
        (id, thread): (ThreadId, &Thread),
        position: InstructionId,
        (site, bits): (&'s Site, u8),
    ) -> Reader<'s> {
        let success = RegisterId::from_index(thread.registers.len());
        Reader { bits, site, is_old_low: self.is_low(id, position), success }
    }

    /// The addresses whose values come of what they held before, moved by numbers, and those that
    /// such values come to.
    fn growing(&self, bits: u8, assigned: &[(ThreadId, InstructionId)]) -> Vec<Value> {
        let own = |block: usize| self.closed(BTreeSet::from([block]), (bits, assigned));
        let mut low = BTreeSet::new();
        for block in self.written() {
            if !low.contains(&block)
                && let Some((closed, true)) = own(block)
            {
                low.extend(closed);
            }
        }
        let closed = self.closed(low, (bits, assigned)).map_or(BTreeSet::new(), |(closed, _)| closed);
        self.blocks.of.iter().filter(|(_, block)| closed.contains(block)).map(|(cell, _)| *cell).collect()
    }

    /// The blocks to which something else than constants is written.
    fn written(&self) -> BTreeSet<usize> {
        let accessed = self.blocks.accessed.iter();
        let is_written = |(thread, id): (ThreadId, InstructionId)| {
            let values = match &self.program.thread(thread).instruction(id).action {
                Action::Store { value, .. } | Action::Rmw { new: value, .. } => Some(value),
                Action::Cas { new, .. } => Some(new),
                _ => None,
            };
            values.is_some_and(|value| !value.is_constant())
        };
        accessed.filter(|(at, _)| is_written(**at)).map(|(_, block)| *block).collect()
    }

    /// The least set of blocks with these to which alone low bits come; whether they come to the
    /// first of these, and some of them are moved on the way.
    fn closed(
        &self,
        low: BTreeSet<usize>,
        (bits, assigned): (u8, &[(ThreadId, InstructionId)]),
    ) -> Option<(BTreeSet<usize>, bool)> {
        let first = low.first().copied();
        let mut places = Places { program: self.program, blocks: self.blocks.clone(), low };
        let low_bits = LowBits { bits, cells: Vec::new(), assigned: assigned.to_vec() };
        loop {
            let (mut more, mut comes_back, mut is_moved) = (places.low.clone(), false, false);
            for (id, thread) in self.program.thread_ids() {
                let sites = places.sites(id, thread, &low_bits)?;
                for (position, instruction) in thread.instruction_ids() {
                    let Some(site) = &sites[instruction.source.index()] else { continue };
                    let reader = places.reader((id, thread), position, (site, bits));
                    let is_low = |value| matches!(reader.read(value), Some(Reading::Low(_)));
                    let written = match &instruction.action {
                        Action::Store { value, .. } | Action::Rmw { new: value, .. } => [Some(value), None],
                        Action::Cas { expected, new, .. } => [Some(new), Some(expected)],
                        Action::Assign { value, .. } => {
                            is_moved |= is_low(value) && moves(value);
                            continue;
                        }
                        _ => continue,
                    };
                    let block = self.blocks.accessed.get(&(id, position));
                    for value in written.into_iter().flatten().filter(|value| is_low(value)) {
                        more.extend(block);
                        comes_back |= block.copied() == first;
                        is_moved |= moves(value);
                    }
                }
            }
            if more == places.low {
                return Some((more, comes_back && is_moved));
            }
            places.low = more;
        }
    }
}

/// The assignments that add a number to a register again and again, perhaps by way of others: the
/// numbers of rounds.
fn rounds(program: &Program) -> Vec<(ThreadId, InstructionId)> {
    let mut all = Vec::new();
    for (id, thread) in program.thread_ids() {
        let by_label = thread.instructions_by_label();
        for (position, instruction) in thread.instruction_ids() {
            let Action::Assign { register, value } = &instruction.action else { continue };
            let is_moved = copied(value).filter(|_| moves(value));
            if is_moved.is_some_and(|from| {
                comes((thread, &by_label), (instruction.target, *register), (instruction.source, from))
            }) {
                all.push((id, position));
            }
        }
    }
    all
}

/// The register that an expression copies, perhaps with numbers added and cut to some bits.
fn copied(expression: &Expression) -> Option<RegisterId> {
    match expression {
        Expression::Register(register) => Some(*register),
        Expression::Unary(UnaryOperator::Truncate { .. }, inner) => copied(inner),
        Expression::Binary(Op::Add, left, right) => match (&**left, &**right) {
            (inner, Expression::Constant(_)) | (Expression::Constant(_), inner) => copied(inner),
            _ => None,
        },
        Expression::Binary(Op::Subtract, inner, by) if by.is_constant() => copied(inner),
        _ => None,
    }
}

/// Whether what a register holds at a label comes to another one at another label by copies.
fn comes((thread, by_label): (&Thread, &ByLabel), from: (LabelId, RegisterId), to: (LabelId, RegisterId)) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some((label, register)) = open.pop() {
        if (label, register) == to {
            return true;
        }
        for own in by_label[label.index()].iter().map(|id| thread.instruction(*id)) {
            let written = own.action.written_register();
            let stays = (written != Some(register)).then_some(register);
            let copy = match &own.action {
                Action::Assign { register: into, value } if copied(value) == Some(register) => Some(*into),
                _ => None,
            };
            for next in [stays, copy].into_iter().flatten().map(|next| (own.target, next)) {
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
    }
    false
}
