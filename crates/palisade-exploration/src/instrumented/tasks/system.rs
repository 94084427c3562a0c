//! The instrumented program of events and tasks as a lazily built net: its tables, and where searches start.

use super::control::{Attacker, Control, Controls, Main, Phase};
use super::hopeful::Hopeful;
use super::place::Place;
use crate::instrumented::fault::Fault;
use crate::instrumented::system::{Growth, Helped, InitialTokens, Local, Locals, Memory, Root, lookup};
use crate::lazy::{Entry, Exploration, Interner, Step, Tokens, sort_entries};
use palisade_model::limits::{Budget, Halt};
use palisade_model::program::{Copies, InstructionId, Posts, Program, ThreadId, Value};
use rustc_hash::FxHashMap;

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

/// The instrumented program of events and tasks.
#[derive(Clone, Debug)]
pub struct TaskSystem<'p> {
    /// Local states and what they can do.
    pub locals: Locals<'p>,
    /// Controls and their parts.
    pub(super) controls: Controls,
    /// The labels of steps, by number.
    pub(super) labels: Interner<StepLabel>,
    /// From where an attacker can come to what it needs.
    pub(super) hopeful: Hopeful,
    /// How many occurrences and copies there are together of what there is any number of, when that is fixed.
    spare: Option<u32>,
    /// The initial places of threads with any number of copies.
    pub(super) spare_places: Vec<u32>,
    /// Steps of one token, or none, in one control.
    pub(super) cache: FxHashMap<(u32, u32), (u32, u32)>,
    /// The steps that `cache` refers to.
    pub(super) arena: Vec<Step>,
}

impl<'p> TaskSystem<'p> {
    /// The instrumented program, with so many spare copies or any number of them.
    pub fn new(program: &'p Program, growth: Growth, spare: Option<u32>) -> Self {
        Self {
            locals: Locals::new(program, growth).keeping_ends(),
            controls: Controls::default(),
            labels: Interner::default(),
            hopeful: Hopeful::of(program),
            spare,
            spare_places: Vec::new(),
            cache: FxHashMap::default(),
            arena: Vec::new(),
        }
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.locals.program
    }

    /// Whether any number of occurrences and copies is meant.
    pub(super) fn is_any_number(&self) -> bool {
        self.spare.is_none()
    }

    pub(super) fn is_plain(&self) -> bool {
        self.program().posts == Posts::Plain
    }

    /// A local state, by number.
    pub fn local(&self, local: u32) -> &Local {
        self.locals.table.get(local)
    }

    /// Whether an invocation in a local state has come to its end and gives its thread back: it does not while it holds the lock.
    pub(super) fn returns(&self, local: u32) -> bool {
        self.is_ended(local) && !self.local(local).holding
    }

    /// Whether an invocation in a local state has come to its end.
    fn is_ended(&self, local: u32) -> bool {
        let local = self.local(local);
        !local.is_stopped() && self.locals.instructions_at(local.thread, local.label).is_empty()
    }

    /// A control state, by number.
    pub fn control(&self, control: u32) -> Control {
        *self.controls.controls.get(control)
    }

    /// A delaying attacker, by number.
    pub fn attacker(&self, number: u32) -> &Attacker {
        self.controls.attackers.get(number)
    }

    /// What is known of a path, by number.
    pub fn helped(&self, number: u32) -> &Helped {
        self.controls.helped.get(number)
    }

    /// A memory, by number.
    pub fn memory(&self, number: u32) -> &Memory {
        self.controls.memories.get(number)
    }

    /// What a step is.
    pub fn label(&self, step: &Step) -> StepLabel {
        *self.labels.get(step.label)
    }

    pub(super) fn read(&self, memory: u32, address: Value) -> Value {
        lookup(&self.memory(memory).changed, address).unwrap_or_else(|| self.program().initial_value(address))
    }

    pub(super) fn intern(&mut self, control: Control) -> u32 {
        self.controls.controls.intern(control).0
    }

    /// Explores until an attack has succeeded, and where.
    pub fn explore(&mut self, explored: &mut Exploration, budget: &Budget) -> Result<Option<u32>, Halt<Fault>> {
        explored.run_until(self, budget, Self::is_success)
    }

    /// Whether the happens-before cycle is closed and the delayed store can reach memory [ESOP13, Eq. 13].
    pub(super) fn is_success(&self, control: u32) -> bool {
        let control = self.control(control);
        matches!(control.phase, Phase::Helped(number) if !control.locked && self.helped(number).is_closed())
    }

    /// The local states in which an invocation settles, without those where it has stopped if there are others: an invocation need not
    /// go on.
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

    /// The initial configurations; none when there are too many, or too many copies to count.
    pub fn roots(&mut self) -> Result<Option<Vec<Root>>, Fault> {
        let memory = self.controls.memories.intern(Memory::default()).0;
        let control = Control { memory, locked: false, main: Main::Idle, main_joined: false, phase: Phase::Sc };
        let control = self.intern(control);
        let program = self.program();
        let mut threads_alone = program.clone();
        threads_alone.threads.iter_mut().filter(|it| !it.is_thread()).for_each(|it| it.copies = Copies::Exactly(0));
        let tokens = InitialTokens::of(&threads_alone, self.spare, &mut |thread| {
            let locals = self.first_locals(thread, &[])?;
            Ok(locals.into_iter().filter_map(|local| self.own_place(local, false)).collect())
        })?;
        let Some(InitialTokens { roots, spare_places }) = tokens else { return Ok(None) };
        self.spare_places = spare_places;
        let mut starts = Vec::new();
        for (event, template) in program.events() {
            if let Copies::Exactly(copies @ 1..) = template.copies {
                let Some(copies) = u32::try_from(copies).ok().filter(|it| *it < u32::MAX) else { return Ok(None) };
                starts.push(Entry { place: Place::Start(event).number(), tokens: Tokens::finite(copies) });
            }
        }
        let root = |mut entries: Vec<Entry>| {
            entries.extend(&starts);
            sort_entries(&mut entries);
            Root { control, entries }
        };
        Ok(Some(roots.into_iter().map(root).collect()))
    }
}
