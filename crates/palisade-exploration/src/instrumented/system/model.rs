//! What a memory model adds to a program that runs under SC.
//!
//! Programs are instrumented so that a violation of robustness is a reachable state of a program
//! under SC that carries a little more: who attacks, with what in its buffer; for each thread,
//! whether it is on the happens-before path; for each location, how it has been accessed there. A
//! step under SC changes only what its own thread and the location that it accesses carry. So
//! [`Instrumented`] has all of stepping – local states, the lock, memory, counted copies – and a
//! [`MemoryModel`] says what the rest is, how a step changes it ([`after`](MemoryModel::after)),
//! which steps it adds, and when an attack has succeeded.

use super::path::{OnPath, access};
use super::{Control, InitialTokens, Instrumented, Locals, Move, Operation, Targets};
use crate::instrumented::fault::Fault;
use crate::lazy::Step;
use palisade_model::program::{Copies, InstructionId, ThreadId, Value};
use std::fmt::Debug;
use std::hash::Hash;

/// What a thread does in a step under SC, as memory models see it.
#[derive(Clone, Copy, Debug)]
pub struct Act {
    /// The thread.
    pub thread: ThreadId,
    /// The instruction.
    pub instruction: InstructionId,
    /// The operation.
    pub operation: Operation,
    /// Whether the thread's locked section is open before it.
    pub holding: bool,
    /// The value that it reads from memory; 0 if it reads none.
    pub read: Value,
    /// What it stores if it updates memory.
    pub stored: Option<Value>,
}

impl Act {
    /// The operation with the access that it makes, if it makes one. A read-modify-write that does
    /// not store is a load.
    pub(crate) fn made(&self) -> OnPath {
        (self.operation, access(self.operation, self.stored.is_some()))
    }
}

/// What a step of a token under SC leads to, up to where its thread settles.
#[derive(Clone, Copy, Debug)]
pub struct Moved<M: MemoryModel> {
    /// What was done.
    pub act: Act,
    /// The control after it.
    pub after: Control<M::Phase>,
    /// What the token carries then.
    pub mark: M::Mark,
    /// Where it settles.
    pub(crate) targets: Targets,
}

/// Who may take steps in a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Movers {
    /// Tokens.
    Tokens,
    /// Tokens, and who has no token.
    All,
    /// Only who has no token.
    Lone,
}

/// A memory model, as what it adds to a program under SC.
pub trait MemoryModel: Clone + Debug {
    /// What a control has besides memory and the lock.
    type Phase: Copy + Debug + Eq + Hash;
    /// What a token has besides its local state.
    type Mark: Copy + Debug;
    /// What a step is.
    type Label: Copy + Debug + Eq + Hash;

    /// Whether copies that have not chosen their thread do so in steps of their own, which
    /// [`token_steps`](Self::token_steps) lists.
    const COPIES_WAKE: bool = false;

    /// The table of local states, with what the model needs of it.
    fn locals(locals: Locals<'_>) -> Locals<'_> {
        locals
    }

    /// The phase in which computations begin, and what tokens have then.
    fn initial(&mut self) -> (Self::Phase, Self::Mark);

    /// The place of a local state with a mark.
    fn place(net: &mut Instrumented<'_, Self>, local: u32, mark: Self::Mark) -> u32;

    /// The local state of a place, with the mark.
    fn token(&self, place: u32) -> (u32, Self::Mark);

    /// The label of a thread's instruction under SC, with the local ones behind it.
    fn label(thread: ThreadId, instruction: InstructionId) -> Self::Label;

    /// How a step of a token changes what the model knows, and what the token has; nothing when the
    /// step may not be taken.
    fn after(&mut self, before: Self::Phase, mark: Self::Mark, act: &Act) -> Option<(Self::Phase, Self::Mark)>;

    /// Whether an attack has succeeded.
    fn is_success(net: &Instrumented<'_, Self>, control: &Control<Self::Phase>) -> bool;

    /// Who may take steps.
    fn movers(net: &Instrumented<'_, Self>, phase: Self::Phase) -> Movers {
        let _ = (net, phase);
        Movers::Tokens
    }

    /// Lists the steps that take no token.
    fn lone_steps(net: &mut Instrumented<'_, Self>, control: u32) -> Result<(), Fault> {
        let _ = (net, control);
        Ok(())
    }

    /// Lists the steps of a token.
    fn token_steps(net: &mut Instrumented<'_, Self>, control: u32, place: u32) -> Result<(), Fault> {
        net.thread_steps(control, place)
    }

    /// Lists the steps in which an attack succeeds by an instruction of a token on `place`, before
    /// those that it has under SC.
    fn successes(
        net: &mut Instrumented<'_, Self>,
        before: &Control<Self::Phase>,
        place: u32,
        step: Move,
    ) -> Result<(), Fault> {
        let _ = (net, before, place, step);
        Ok(())
    }

    /// Lists what else may happen in place of a step of a token from `place` that settles in
    /// `target`: where an attack may start.
    fn branches(
        net: &mut Instrumented<'_, Self>,
        before: &Control<Self::Phase>,
        place: u32,
        moved: &Moved<Self>,
        target: Option<u32>,
    ) -> Result<(), Fault> {
        let _ = (net, before, place, moved, target);
        Ok(())
    }

    /// The tokens of initial configurations; none when there are too many, or too many copies to
    /// count.
    fn initial_tokens(net: &mut Instrumented<'_, Self>) -> Result<Option<InitialTokens>, Fault> {
        let (program, spare) = (net.program(), net.spare_copies());
        InitialTokens::of(program, spare, &mut |thread| {
            let (_, mark) = net.model.initial();
            let locals = net.initial_locals(thread)?;
            Ok(locals.into_iter().map(|local| Self::place(net, local, mark)).collect())
        })
    }

    /// Whether a place may hold any number of tokens.
    fn is_unbounded(net: &Instrumented<'_, Self>, place: u32) -> bool {
        let is_replicated = || {
            let (local, _) = net.model.token(place);
            net.program().thread(net.local(local).thread).copies == Copies::Any
        };
        net.is_unbounded_net() && is_replicated()
    }

    /// A place on which a step puts one more token.
    #[inline]
    fn also_puts(net: &Instrumented<'_, Self>, step: &Step) -> Option<u32> {
        let _ = (net, step);
        None
    }

    /// What the phase becomes by a turn of counters. Models whose nets are explored up to turns
    /// ([`Instrumented::counting`]) say it.
    fn turned(net: &mut Instrumented<'_, Self>, phase: Self::Phase, turn: u32) -> Self::Phase {
        let _ = (net, phase, turn);
        unreachable!("nets of this model are not explored up to turns")
    }
}

impl<M: MemoryModel> Instrumented<'_, M> {
    /// One instruction of a token under SC; nothing when it is disabled.
    #[inline]
    pub(crate) fn execute(
        &mut self,
        before: &Control<M::Phase>,
        (local, mark): (u32, M::Mark),
        step: Move,
    ) -> Result<Option<Moved<M>>, Fault> {
        let Move { instruction, operation } = step;
        let (thread, holding) = (self.local(local).thread, self.local(local).holding);
        let enabled = match operation {
            Operation::Faulty(fault) => return Err(self.locals.faults[fault as usize].clone()),
            Operation::Lock => !before.locked && !holding,
            Operation::Unlock => holding,
            Operation::Post => true,
            _ => !before.locked || holding,
        };
        if !enabled {
            return Ok(None);
        }
        let read = match operation {
            Operation::Load(address) | Operation::Update(address) => self.read(before.memory, address),
            _ => 0,
        };
        let Some(outcome) = self.locals.outcome(local, step, read)? else { return Ok(None) };
        let act = Act { thread, instruction, operation, holding, read, stored: outcome.stored };
        let Some((phase, mark)) = self.model.after(before.phase, mark, &act) else { return Ok(None) };
        let memory = match (operation, outcome.stored) {
            (Operation::Store(address, value), _) | (Operation::Update(address), Some(value)) => {
                self.write(before.memory, address, value)
            }
            _ => before.memory,
        };
        let locked = match operation {
            Operation::Lock => true,
            Operation::Unlock => false,
            _ => before.locked,
        };
        Ok(Some(Moved { act, after: Control { memory, locked, phase }, mark, targets: outcome.targets }))
    }

    /// Lists the steps of a token under SC, with what the model adds to each.
    pub(crate) fn thread_steps(&mut self, control: u32, place: u32) -> Result<(), Fault> {
        let before = self.control(control);
        let (local, mark) = self.model.token(place);
        let thread = self.local(local).thread;
        let (first, last) = self.locals.moves(local);
        for index in first..last {
            let step = self.locals.move_at(index);
            M::successes(self, &before, place, step)?;
            let Some(moved) = self.execute(&before, (local, mark), step)? else { continue };
            let label = self.number_label(M::label(thread, step.instruction));
            let control = self.intern(moved.after);
            for index in 0..self.locals.targets(moved.targets).len() {
                let target = self.locals.targets(moved.targets)[index];
                let put = target.map(|local| M::place(self, local, moved.mark));
                let taken = self.turns_taken(local, target);
                if taken.is_empty() {
                    self.list(Step { control, take: Some(place), put, label });
                } else {
                    // A thread whose turn it is not stops, and does less than where it goes on
                    // without a turn.
                    self.list(Step { control, take: Some(place), put: None, label });
                    if let Some(memory) = self.with_turns_taken(moved.after.memory, &taken) {
                        let control = self.intern(Control { memory, ..moved.after });
                        self.list(Step { control, take: Some(place), put, label });
                    }
                }
                M::branches(self, &before, place, &moved, target)?;
            }
        }
        Ok(())
    }

    /// Lists a step.
    pub(crate) fn push(&mut self, after: Control<M::Phase>, (take, put): (Option<u32>, Option<u32>), label: M::Label) {
        let (control, label) = (self.intern(after), self.number_label(label));
        self.list(Step { control, take, put, label });
    }
}
