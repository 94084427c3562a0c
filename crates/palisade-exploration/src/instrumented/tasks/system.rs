//! The model: its tables, what it adds to SC, and where searches start.

use super::control::{Attacker, Main, TaskControl, TaskPhase};
use super::hopeful::Hopeful;
use super::place::Place;
use crate::instrumented::fault::Fault;
use crate::instrumented::system::{
    Act, Growth, Helped, InitialTokens, Instrumented, Locals, MemoryModel, Movers, Phase, phase_after,
};
use crate::lazy::{Entry, Interner, Step, Tokens, sort_entries};
use palisade_model::program::{Copies, InstructionId, Posts, Program, ThreadId, Value};

/// Who takes a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Actor {
    /// The invocation on the main thread, not as the attacker.
    Main,
    /// A thread, or a task on a thread of its own.
    Own,
    /// The delaying attacker.
    Attacker,
}

/// What a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deed {
    /// A copy chooses to be of a thread.
    Wake,
    /// An event occurs.
    Occur(ThreadId),
    /// A pending task begins on the main thread.
    Begin,
    /// The invocation on the main thread returns.
    Return,
    /// An instruction is executed, and the local ones behind it.
    Execute(InstructionId),
}

/// The label of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StepLabel {
    /// Who takes it.
    pub actor: Actor,
    /// What is done.
    pub deed: Deed,
    /// The place of the task that is posted.
    pub posted: Option<u32>,
    /// Whether the step is the first delayed store.
    pub delays: bool,
    /// Whether the step is the load, or the plain post, past the delayed stores.
    pub attacks: bool,
}

impl StepLabel {
    pub(super) fn of(actor: Actor, deed: Deed) -> Self {
        Self { actor, deed, posted: None, delays: false, attacks: false }
    }
}

/// TSO for programs with events and tasks: one thread, the main one or another, delays its stores.
#[derive(Clone, Debug)]
pub struct Tasks {
    /// Delaying attackers.
    pub(super) attackers: Interner<Attacker>,
    /// What is known after the attack's load.
    pub(super) helped: Interner<Helped>,
    /// From where an attacker can come to what it needs.
    pub(super) hopeful: Hopeful,
}

/// The instrumented program of events and tasks.
pub type TaskSystem<'p> = Instrumented<'p, Tasks>;

impl MemoryModel for Tasks {
    type Phase = TaskPhase;
    /// Whether the invocation is on the happens-before path.
    type Mark = bool;
    type Label = StepLabel;

    const COPIES_WAKE: bool = true;

    fn locals(locals: Locals<'_>) -> Locals<'_> {
        locals.keeping_ends()
    }

    fn initial(&mut self) -> (TaskPhase, bool) {
        (TaskPhase { main: Main::Idle, main_joined: false, attack: Phase::Sc }, false)
    }

    fn place(_: &mut TaskSystem<'_>, local: u32, joined: bool) -> u32 {
        Place::Own(local, joined).number()
    }

    fn token(&self, place: u32) -> (u32, bool) {
        match Place::of_number(place) {
            Place::Own(local, joined) | Place::Pending(local, joined) => (local, joined),
            Place::Start(_) | Place::Spare => unreachable!("what has not begun has no local state"),
        }
    }

    fn label(_: ThreadId, instruction: InstructionId) -> StepLabel {
        StepLabel::of(Actor::Own, Deed::Execute(instruction))
    }

    fn after(&mut self, before: TaskPhase, joined: bool, act: &Act) -> Option<(TaskPhase, bool)> {
        let (attack, joined) = phase_after(&mut self.helped, before.attack, joined, act.holding, act.made())?;
        Some((TaskPhase { attack, ..before }, joined))
    }

    /// Whether the happens-before cycle is closed and the delayed store can reach memory [ESOP13,
    /// Eq. 13].
    fn is_success(net: &TaskSystem<'_>, control: &TaskControl) -> bool {
        matches!(control.phase.attack, Phase::Helped(number) if !control.locked && net.helped(number).is_closed())
    }

    /// The main thread has no token.
    fn movers(_: &TaskSystem<'_>, _: TaskPhase) -> Movers {
        Movers::All
    }

    fn lone_steps(net: &mut TaskSystem<'_>, control: u32) -> Result<(), Fault> {
        net.steps_of_main(net.control(control))
    }

    fn token_steps(net: &mut TaskSystem<'_>, control: u32, place: u32) -> Result<(), Fault> {
        net.steps_of_place(net.control(control), Place::of_number(place))
    }

    fn initial_tokens(net: &mut TaskSystem<'_>) -> Result<Option<InitialTokens>, Fault> {
        let (program, spare) = (net.program(), net.spare_copies());
        let mut threads_alone = program.clone();
        threads_alone.threads.iter_mut().filter(|it| !it.is_thread()).for_each(|it| it.copies = Copies::Exactly(0));
        let tokens = InitialTokens::of(&threads_alone, spare, &mut |thread| {
            let locals = net.first_locals(thread, &[])?;
            Ok(locals.into_iter().filter_map(|local| net.own_place(local, false)).collect())
        })?;
        let Some(mut tokens) = tokens else { return Ok(None) };
        for (event, template) in program.events() {
            if let Copies::Exactly(copies @ 1..) = template.copies {
                let Some(copies) = u32::try_from(copies).ok().filter(|it| *it < u32::MAX) else { return Ok(None) };
                let start = Entry { place: Place::Start(event).number(), tokens: Tokens::finite(copies) };
                tokens.roots.iter_mut().for_each(|entries| entries.push(start));
            }
        }
        tokens.roots.iter_mut().for_each(|entries| sort_entries(entries));
        Ok(Some(tokens))
    }

    fn is_unbounded(_: &TaskSystem<'_>, place: u32) -> bool {
        matches!(Place::of_number(place), Place::Own(..) | Place::Pending(..))
    }

    fn also_puts(net: &TaskSystem<'_>, step: &Step) -> Option<u32> {
        net.label(step).posted
    }
}

impl<'p> TaskSystem<'p> {
    /// The instrumented program, with so many spare copies or any number of them.
    pub fn new(program: &'p Program, growth: Growth, spare: Option<u32>) -> Self {
        let (attackers, helped) = (Interner::default(), Interner::default());
        let model = Tasks { attackers, helped, hopeful: Hopeful::of(program) };
        Self::of(program, model, growth, spare)
    }

    /// A delaying attacker, by number.
    pub fn attacker(&self, number: u32) -> &Attacker {
        self.model.attackers.get(number)
    }

    /// What is known of a path, by number.
    pub fn helped(&self, number: u32) -> &Helped {
        self.model.helped.get(number)
    }

    /// Whether any number of occurrences and copies is meant.
    pub(super) fn is_any_number(&self) -> bool {
        self.spare_copies().is_none()
    }

    pub(super) fn is_plain(&self) -> bool {
        self.program().posts == Posts::Plain
    }

    /// Whether an invocation in a local state has come to its end and gives its thread back: it
    /// does not while it holds the lock.
    pub(super) fn returns(&self, local: u32) -> bool {
        self.is_ended(local) && !self.local(local).holding
    }

    /// Whether an invocation in a local state has come to its end.
    fn is_ended(&self, local: u32) -> bool {
        let local = self.local(local);
        !local.is_stopped() && self.locals.instructions_at(local.thread, local.label).is_empty()
    }

    /// The local states in which an invocation settles, without those where it has stopped if there
    /// are others: an invocation need not go on.
    pub(super) fn settled(&self, targets: &[Option<u32>]) -> Vec<u32> {
        let all: Vec<u32> = targets.iter().copied().flatten().collect();
        let going: Vec<u32> = all.iter().copied().filter(|local| !self.local(*local).is_stopped()).collect();
        if going.is_empty() { all } else { going }
    }

    /// The local states in which an invocation settles first, with its registers as given.
    pub(super) fn first_locals(&mut self, template: ThreadId, arguments: &[Value]) -> Result<Vec<u32>, Fault> {
        let targets = self.locals.initial_with(template, arguments)?;
        Ok(targets.map_or_else(Vec::new, |targets| self.settled(self.locals.targets(targets))))
    }

    /// The place of a thread, or a task on a thread of its own; nothing when it does nothing more.
    pub(super) fn own_place(&self, local: u32, joined: bool) -> Option<u32> {
        let goes_on = !self.local(local).is_stopped() && !self.is_ended(local);
        goes_on.then(|| Place::Own(local, joined).number())
    }
}
