//! Enriched programs: some loads drain the store buffer, and threads keep what these overtake in
//! registers.
//!
//! After *Lazy TSO Reachability* \[FASE15\]: where few loads overtake stores to any effect, let
//! these do so in the program itself, and ask whether what is left is robust. In the program
//! *enriched for* some loads each of them stands behind an `mfence`. Where control leads from a
//! store to such a load before a drain, its thread may *keep* the store: it goes on with a copy of
//! what the store reads, lets its own loads see it, and *releases* it later, as a store like any
//! other. Stores behind one that is kept are kept as well, so that they come in order. There is
//! room for a few; a thread that has to keep more than that reaches a `fail` of its own. THEORY.md
//! ("Enriched programs") proves that every TSO computation of the program is one of the enriched
//! program or leads to that `fail`, and says how labels, registers and instructions are numbered.
//!
//! DIVERGENCE from \[FASE15\]: there a program gets one sequence of instructions at a time, from
//! the store to the load of an attack. Here it gets the load, with every store that it can
//! overtake, so that no path has to be told apart from others, and loads only ever become more.

use fixedbitset::FixedBitSet;
use palisade_exploration::buffered::{Range, Values, addresses_of};
use palisade_model::program::{
    Action, BinaryOperator, ByLabel, Expression, Instruction, InstructionId, Label, LabelId, Program, Register,
    RegisterId, Span, Thread, ThreadId,
};
use palisade_semantics::Target;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::{BTreeSet, VecDeque};

/// An instruction of a thread.
pub(super) type Place = (ThreadId, InstructionId);

/// An enriched thread has no more labels than these.
const MOST_LABELS: usize = 1 << 12;

/// What is known of the slice that a program is.
#[derive(Clone, Copy, Debug)]
pub(super) struct SliceFacts<'a> {
    /// Bounds of the addresses that are computed.
    pub(super) bounds: Option<&'a Values<'a>>,
    /// The addresses that the instructions left out may write.
    pub(super) written: &'a Range,
}

/// A program enriched for some loads.
#[derive(Clone, Debug)]
pub(super) struct Enriched {
    /// The enriched program.
    pub(super) program: Program,
    /// For each thread and instruction, the instruction of the program that it comes from; none
    /// where a thread has no room left.
    origins: Vec<Vec<Option<InstructionId>>>,
}

impl Enriched {
    /// A program enriched for loads, with room for so many stores in each thread. None when it is
    /// not known whether two accesses meet, or when it has too many labels.
    pub(super) fn of(program: &Program, loads: &BTreeSet<Place>, room: usize, slice: SliceFacts<'_>) -> Option<Self> {
        let mut enriched = Self { program: program.clone(), origins: Vec::new() };
        enriched.program.never.clear();
        for (id, thread) in program.thread_ids() {
            let loads: BTreeSet<InstructionId> = loads.iter().filter(|load| load.0 == id).map(|load| load.1).collect();
            let origins = if loads.is_empty() {
                thread.instruction_ids().map(|(id, _)| Some(id)).collect()
            } else {
                let mut weaving = Weaving::new(program, id, &loads, room, slice);
                weaving.weave()?;
                let own = &mut enriched.program.threads[id.index()];
                own.registers.extend(weaving.copies());
                (own.labels, own.instructions, own.initial) =
                    (weaving.labels, weaving.instructions, LabelId::from_index(0));
                weaving.origins
            };
            enriched.origins.push(origins);
        }
        Some(enriched)
    }

    /// The instruction that one of the enriched program comes from.
    pub(super) fn origin(&self, (thread, instruction): Place) -> Option<Place> {
        self.origins[thread.index()][instruction.index()].map(|origin| (thread, origin))
    }

    /// What the enriched program must not reach for a program not to reach some targets, ascending:
    /// the instructions that come from them, and the end of room.
    pub(super) fn targets(&self, of: &[Target]) -> Vec<Target> {
        let is_sought = |thread: ThreadId, origin: &Option<InstructionId>| {
            origin.is_none_or(|instruction| of.contains(&Target::Instruction { thread, instruction }))
        };
        let mut targets = Vec::new();
        for ((thread, own), origins) in self.program.thread_ids().zip(&self.origins) {
            let sought = own.instruction_ids().zip(origins).filter(|(_, origin)| is_sought(thread, origin));
            targets.extend(sought.map(|((instruction, _), _)| Target::Instruction { thread, instruction }));
        }
        targets
    }

    /// The target of the program that one of the enriched program stands for; none for the end of
    /// room.
    pub(super) fn stands_for(&self, target: Target) -> Option<Target> {
        let Target::Instruction { thread, instruction } = target else { return Some(target) };
        let (thread, instruction) = self.origin((thread, instruction))?;
        Some(Target::Instruction { thread, instruction })
    }
}

/// The stores that a thread keeps, oldest first, each with the number of its copies.
type Kept = SmallVec<[(InstructionId, usize); 4]>;

/// Whether two accesses are to one address.
enum Meeting {
    Always,
    Never,
    /// If this holds.
    If(Expression),
}

/// One thread that is being enriched.
struct Weaving<'a> {
    program: &'a Program,
    id: ThreadId,
    thread: &'a Thread,
    loads: &'a BTreeSet<InstructionId>,
    room: usize,
    slice: SliceFacts<'a>,
    by_label: ByLabel,
    /// The labels from which control leads to one of the loads before a drain.
    open: FixedBitSet,
    /// The registers that stores read.
    read: Vec<RegisterId>,
    labels: Vec<Label>,
    instructions: Vec<Instruction>,
    origins: Vec<Option<InstructionId>>,
    /// Labels with what is kept there, by number.
    states: FxHashMap<(LabelId, Kept), LabelId>,
    waiting: VecDeque<(LabelId, Kept, LabelId)>,
}

impl<'a> Weaving<'a> {
    fn new(
        program: &'a Program,
        id: ThreadId,
        loads: &'a BTreeSet<InstructionId>,
        room: usize,
        slice: SliceFacts<'a>,
    ) -> Self {
        let thread = program.thread(id);
        let mut read = BTreeSet::new();
        for instruction in thread.instructions.iter().filter(|own| matches!(own.action, Action::Store { .. })) {
            for expression in instruction.action.expressions() {
                expression.for_each_register(&mut |register| {
                    read.insert(register);
                });
            }
        }
        Self {
            program,
            id,
            thread,
            loads,
            room,
            slice,
            by_label: thread.instructions_by_label(),
            open: leading_to(thread, loads),
            read: read.into_iter().collect(),
            labels: Vec::new(),
            instructions: Vec::new(),
            origins: Vec::new(),
            states: FxHashMap::default(),
            waiting: VecDeque::new(),
        }
    }

    /// The registers for copies: for each store that there is room for, one for each register that
    /// stores read.
    fn copies(&self) -> Vec<Register> {
        let copy = |number: usize, of: &RegisterId| {
            let name = format!("{}_kept{number}", self.thread.registers[of.index()].name);
            Register { name, initial: 0, is_initialised: false, span: Span::default() }
        };
        (0..self.room).flat_map(|number| self.read.iter().map(move |of| copy(number, of))).collect()
    }

    /// The register that holds a copy of a register that stores read.
    fn copy_of(&self, number: usize, register: RegisterId) -> RegisterId {
        let place = self.read.binary_search(&register).expect("stores read it");
        RegisterId::from_index(self.thread.registers.len() + number * self.read.len() + place)
    }

    fn weave(&mut self) -> Option<()> {
        self.state(self.thread.initial, Kept::new());
        while let Some((label, kept, from)) = self.waiting.pop_front() {
            if kept.is_empty() || self.open.contains(label.index()) {
                let here = self.by_label[label.index()].to_vec();
                for instruction in here {
                    self.instruction(instruction, &kept, from)?;
                }
            }
            if let Some((oldest, number)) = kept.first() {
                let action = self.over_copies(*oldest, *number);
                let rest = kept[1..].iter().copied().collect();
                self.chain(from, vec![action], (label, rest), Some(*oldest));
            }
            if self.labels.len() > MOST_LABELS {
                return None;
            }
        }
        Some(())
    }

    /// What an instruction becomes at a label where stores are kept.
    fn instruction(&mut self, id: InstructionId, kept: &Kept, from: LabelId) -> Option<()> {
        let Instruction { target, action, .. } = self.thread.instruction(id);
        let target = *target;
        match action {
            Action::Load { .. } => return self.load(id, kept, from),
            Action::Store { .. } => {
                if kept.is_empty() {
                    self.chain(from, vec![action.clone()], (target, Kept::new()), Some(id));
                }
                if self.open.contains(target.index()) {
                    self.keep(id, kept, from);
                }
            }
            action if action.drains_buffer() && !kept.is_empty() => {}
            action => self.chain(from, vec![action.clone()], (target, kept.clone()), Some(id)),
        }
        Some(())
    }

    fn keep(&mut self, store: InstructionId, kept: &Kept, from: LabelId) {
        let target = self.thread.instruction(store).target;
        if kept.len() >= self.room {
            let source = self.thread.instruction(store).source;
            return self.chain(from, vec![Action::Fail], (source, kept.clone()), None);
        }
        // Copies are taken in turn: the oldest are the first to be free again.
        let number = kept.last().map_or(0, |(_, youngest)| (youngest + 1) % self.room);
        let mut read = BTreeSet::new();
        for expression in self.thread.instruction(store).action.expressions() {
            expression.for_each_register(&mut |register| {
                read.insert(register);
            });
        }
        let copy = |register: RegisterId| Action::Assign {
            register: self.copy_of(number, register),
            value: Expression::Register(register),
        };
        let mut actions: Vec<Action> = read.into_iter().map(copy).collect();
        if actions.is_empty() {
            actions.push(Action::Nop);
        }
        let mut longer = kept.clone();
        longer.push((store, number));
        self.chain(from, actions, (target, longer), Some(store));
    }

    /// A load sees the youngest store to its address that is kept, or else what it sees in the
    /// program.
    fn load(&mut self, id: InstructionId, kept: &Kept, from: LabelId) -> Option<()> {
        let Instruction { target, action, .. } = self.thread.instruction(id);
        let Action::Load { register, address } = action else { unreachable!("it is a load") };
        let to = (*target, kept.clone());
        // That it meets none of the younger stores.
        let mut apart: Vec<Action> = Vec::new();
        for (store, number) in kept.iter().rev() {
            let Action::Store { address: other, value } = self.over_copies(*store, *number) else {
                unreachable!("stores are kept")
            };
            let found = |condition: Option<Expression>| -> Vec<Action> {
                let value = Action::Assign { register: *register, value: value.clone() };
                apart.iter().cloned().chain(condition.map(Action::Assume)).chain([value]).collect()
            };
            match self.meeting(*store, address, &other)? {
                Meeting::Never => {}
                Meeting::Always => {
                    let actions = found(None);
                    self.chain(from, actions, to, Some(id));
                    return Some(());
                }
                Meeting::If(condition) => {
                    let actions = found(Some(condition));
                    self.chain(from, actions, to.clone(), Some(id));
                    let other = Expression::binary(BinaryOperator::NotEqual, address.clone(), other);
                    apart.push(Action::Assume(other));
                }
            }
        }
        if self.loads.contains(&id) {
            apart.push(Action::Fence);
        }
        apart.push(action.clone());
        self.chain(from, apart, to, Some(id));
        Some(())
    }

    /// Whether a load is from the address of a store that is kept, given what these are. None where
    /// neither constants nor, in a domain that wraps, bounds tell, and where the store's address
    /// may be one that the slice writes.
    fn meeting(&self, store: InstructionId, load: &Expression, kept: &Expression) -> Option<Meeting> {
        let Action::Store { address: written, .. } = &self.thread.instruction(store).action else {
            unreachable!("stores are kept")
        };
        if load.is_constant() && written.is_constant() {
            let is_one = load.evaluate_address(&[]).ok()? == written.evaluate_address(&[]).ok()?;
            return Some(if is_one { Meeting::Always } else { Meeting::Never });
        }
        let addresses = |address| addresses_of(self.slice.bounds, self.id, address);
        if self.program.domain.is_some_and(|domain| domain.wrap) {
            return (!addresses(load).meets(&addresses(written))).then_some(Meeting::Never);
        }
        // What a load takes from a store that is kept, no exploration sees it read.
        if addresses(written).meets(self.slice.written) {
            return None;
        }
        Some(Meeting::If(Expression::binary(BinaryOperator::Equal, load.clone(), kept.clone())))
    }

    /// A store over the copies of what it reads.
    fn over_copies(&self, store: InstructionId, number: usize) -> Action {
        let Action::Store { address, value } = &self.thread.instruction(store).action else {
            unreachable!("stores are kept")
        };
        let renamed = |expression: &Expression| renamed(expression, &|register| self.copy_of(number, register));
        Action::Store { address: renamed(address), value: renamed(value) }
    }

    /// The number of a label with what is kept there.
    fn state(&mut self, label: LabelId, kept: Kept) -> LabelId {
        if let Some(known) = self.states.get(&(label, kept.clone())) {
            return *known;
        }
        let own = self.thread.label(label);
        let name = if kept.is_empty() { own.name.to_string() } else { format!("{}_keeping{}", own.name, kept.len()) };
        let number = self.label(name, own.span);
        self.states.insert((label, kept.clone()), number);
        self.waiting.push_back((label, kept, number));
        number
    }

    fn label(&mut self, name: String, span: Span) -> LabelId {
        self.labels.push(Label::new(name, span));
        LabelId::from_index(self.labels.len() - 1)
    }

    /// Actions one after the other, from a label to one with what is kept there.
    fn chain(&mut self, from: LabelId, actions: Vec<Action>, to: (LabelId, Kept), origin: Option<InstructionId>) {
        let end = self.state(to.0, to.1);
        let span = origin.map_or_else(Span::default, |origin| self.thread.instruction(origin).span);
        let mut source = from;
        let last = actions.len() - 1;
        for (index, action) in actions.into_iter().enumerate() {
            let target = if index == last { end } else { self.label("between".to_owned(), span) };
            self.instructions.push(Instruction::new(source, target, action, span));
            self.origins.push(origin);
            source = target;
        }
    }
}

/// The labels from which control leads to one of these loads before the buffer is drained.
fn leading_to(thread: &Thread, loads: &BTreeSet<InstructionId>) -> FixedBitSet {
    let mut open = FixedBitSet::with_capacity(thread.labels.len());
    let mut grew = true;
    while grew {
        grew = false;
        for (id, own) in thread.instruction_ids() {
            let goes_on = !own.action.drains_buffer() && open.contains(own.target.index());
            grew |= (loads.contains(&id) || goes_on) && !open.put(own.source.index());
        }
    }
    open
}

/// An expression over other registers.
fn renamed(expression: &Expression, name: &impl Fn(RegisterId) -> RegisterId) -> Expression {
    match expression {
        Expression::Register(register) => Expression::Register(name(*register)),
        Expression::Unary(operator, operand) => Expression::unary(*operator, renamed(operand, name)),
        Expression::Binary(operator, left, right) => {
            Expression::binary(*operator, renamed(left, name), renamed(right, name))
        }
        Expression::Constant(_) | Expression::Address { .. } | Expression::Old => expression.clone(),
    }
}
